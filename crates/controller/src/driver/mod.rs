//! The asynchronous part of the controller: waits for an input, reads the clocks, steps the core, and
//! carries out the effects. Makes no decisions.

use std::{sync::Arc, time::Duration};

use dayshift_cluster::{Writer, clock::Clock, watch::WatchSet};
use futures::StreamExt as _;
use kube::Client;
use tokio::{task::yield_now, time::timeout};

use crate::{
    clock::guard::Now,
    core::{
        Core,
        io::{Effect, Input, WatchInput},
    },
    driver::{clocks::Clocks, requests::Requests},
    feed::{CalendarFeed, ScheduleFeed},
    settings::Settings,
    telemetry::{
        metrics::Telemetry,
        object_log::log_ready,
        published::{PublishedObjects, Publisher},
    },
};

pub(crate) use clocks::ServerClock;

mod clocks;
mod requests;
mod streams;

/// How long a shutdown waits for requests in flight.
const GRACE: Duration = Duration::from_secs(10);

/// The maximum number of objects that are published between two steps.
const MAX_PUBLISHED: usize = 16;

/// The maximum number of steps between two polls of other tasks on the thread, such as probes. Without a
/// limit, they would wait until no response is left, for example at a boundary of many objects. After a step
/// that has left work to the next one, they are polled at once.
const MAX_STEPS: usize = 8;

/// The maximum number of watch events before a response that has arrived.
const MAX_WATCHED: usize = 64;

/// Runs the core.
pub(crate) struct Driver {
    core: Box<Core>,
    clocks: Clocks,
    watches: WatchSet<WatchInput>,
    requests: Requests,
    calendars: CalendarFeed,
    schedules: ScheduleFeed,
    publisher: Publisher,
    telemetry: Arc<Telemetry>,
    effects: Vec<Effect>,
}

impl Driver {
    /// Creates a driver, and a core that has not observed anything yet.
    pub(crate) fn new(
        client: &Client,
        clock: Clock,
        server: ServerClock,
        settings: Settings,
        telemetry: Arc<Telemetry>,
    ) -> Self {
        let writer = Writer::new(
            client.clone(),
            settings.prefix.clone(),
            settings.instance.clone(),
        );
        Self {
            watches: streams::watch(client, &settings.scope, settings.seed),
            requests: Requests::new(writer),
            calendars: settings.calendars.clone(),
            schedules: settings.schedules.clone(),
            publisher: telemetry.publisher(&clock, &settings),
            clocks: Clocks::new(clock, server),
            core: Box::new(Core::new(settings, Arc::clone(&telemetry))),
            telemetry,
            effects: Vec::new(),
        }
    }

    /// The published objects.
    pub(crate) const fn objects(&self) -> &Arc<PublishedObjects> {
        self.publisher.objects()
    }

    /// Runs until `shutdown`, then waits for the requests in flight, for at most 10 s.
    pub(crate) async fn run(mut self, shutdown: impl Future<Output = ()>) {
        tokio::pin!(shutdown);
        let mut input = Input::Tick;
        let mut steps = 0;
        // The number of watch events since the last other input.
        let mut watched = 0;
        loop {
            watched = match input {
                Input::Watch(..) => watched + 1,
                _ => 0,
            };
            let (now, is_flush) = self.step(input);
            let wake = self.core.next_wake(now);
            steps += 1;
            if is_flush || wake <= now.wall || steps == MAX_STEPS {
                // Tokio now polls the task of the request, and then the connection that it writes to.
                yield_now().await;
                steps = 0;
            }
            self.publish(now);
            // Watches that always have an event must not delay the responses, because the slots of their requests
            // would never be free.
            if watched >= MAX_WATCHED
                && let Some((id, response)) = self.requests.try_next()
            {
                input = Input::Response(id, response);
                continue;
            }
            input = tokio::select! {
                biased;
                () = &mut shutdown => break,
                // Watches come before responses. Otherwise, the first list would wait until all queued
                // patches have been sent.
                Some((watch, event)) = self.watches.next() => Input::Watch(watch, event),
                Some((id, response)) = self.requests.next(), if !self.requests.is_empty() => {
                    Input::Response(id, response)
                }
                calendars = self.calendars.changed() => Input::Calendars(calendars),
                schedules = self.schedules.changed() => Input::Schedules(schedules),
                () = yield_now(), if self.core.store.has_unpublished() => Input::Tick,
                () = self.clocks.doze_until(wake) => Input::Tick,
            };
        }
        let (now, _) = self.step(Input::Shutdown);
        self.publish(now);
        tracing::info!(in_flight = self.core.flight.len(), "shutting down");
        if timeout(GRACE, self.finish()).await.is_err() {
            tracing::warn!("aborted requests that took too long");
        }
    }

    /// Waits for the requests in flight, and passes their responses to the core.
    async fn finish(&mut self) {
        while !self.core.is_done() {
            let Some((id, response)) = self.requests.next().await else {
                return;
            };
            let (now, _) = self.step(Input::Response(id, response));
            self.publish(now);
        }
    }

    /// Makes one step, and carries out its effects. Returns its time, and whether the requests should
    /// be written before any other work. The clocks are read before the step, so no request is sent too
    /// early.
    fn step(&mut self, input: Input) -> (Now, bool) {
        let now = self.clocks.now();
        self.core.step(now, input, &mut self.effects);
        let mut is_flush = false;
        for effect in self.effects.drain(..) {
            match effect {
                Effect::Send(id, request) => self.requests.send(id, request),
                Effect::Abort(id) => self.requests.abort(id),
                Effect::Flush => is_flush = true,
                Effect::Relist => self.watches.relist(),
                Effect::Team { namespace, team } => {
                    let at = self.clocks.instant(now);
                    self.publisher.set_team(&namespace, team.as_deref(), at);
                }
            }
        }
        (now, is_flush)
    }

    /// Publishes some of the objects that have changed, and records the step for liveness.
    fn publish(&mut self, now: Now) {
        let instant = self.clocks.instant(now);
        self.telemetry.record_step(instant);
        let at = (now.wall, instant);
        let publisher = &self.publisher;
        let store = &mut self.core.store;
        store.publish(MAX_PUBLISHED, now.wall, |id, snapshot| {
            publisher.publish(id, snapshot, at);
        });
        if self.core.take_ready() {
            let objects = Arc::clone(self.publisher.objects());
            log_ready(objects, self.core.boundaries.next(), &self.core.settings);
        }
    }
}
