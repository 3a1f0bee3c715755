//! From what the watch shows and what the scheduler says is due to requests, and back.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use futures::stream::FuturesUnordered;
use kube::{Client, runtime::watcher};
use tokio::time::Instant;

use crate::{
    clock::Clock,
    cluster::{Deployment, ReadError, Writer, withheld},
    workload::{Decision, Notice, Phase},
};

use super::{
    forbidden::Forbidden,
    index::{Entry, Errand, INVALID, Id, Index, Sight},
    metrics::{EventOutcome, Telemetry},
    pause::Pause,
    queue::{Announcement, Queue},
    readiness::Condition,
    requests::{Finished, Request},
    scheduler::Scheduler,
    settings::Settings,
    skew::{ClockGuard, SharedServerClock},
    watch::{Event, OpenWatches, WatchId},
};

/// How many boundaries are taken from the scheduler before the next request is sent.
const BATCH: usize = 256;

/// How often the objects are counted at most.
const COUNT_PAUSE: Duration = Duration::from_secs(1);

/// The whole state of a running controller.
pub(super) struct Engine {
    pub(super) clock: Clock,
    pub(super) settings: Settings,
    pub(super) telemetry: Arc<Telemetry>,
    pub(super) writer: Writer,
    pub(super) index: Index,
    pub(super) queue: Queue,
    pub(super) in_flight: FuturesUnordered<Request>,
    pub(super) retries: Scheduler<Id, Instant>,
    pub(super) random: fastrand::Rng,
    agenda: Scheduler<Id, DateTime<Utc>>,
    pub(super) pause: Pause,
    pub(super) forbidden: Forbidden,
    clock_guard: ClockGuard,
    lists_wanted: Vec<WatchId>,
    first_tries: Vec<WatchId>,
    open_watches: OpenWatches,
    changed: bool,
    counted: Option<Instant>,
    /// What the clock showed when it was looked at last.
    shown: Option<(DateTime<Utc>, Instant)>,
}

impl Engine {
    pub(super) fn new(
        client: Client,
        clock: Clock,
        settings: Settings,
        telemetry: Arc<Telemetry>,
        server_clock: SharedServerClock,
        watches: usize,
        open_watches: OpenWatches,
    ) -> Self {
        Self {
            writer: Writer::new(client, settings.prefix.clone(), settings.instance.clone()),
            index: Index::new(&settings),
            queue: Queue::default(),
            in_flight: FuturesUnordered::new(),
            agenda: Scheduler::new(),
            retries: Scheduler::new(),
            pause: Pause::new(settings.max_in_flight.get()),
            forbidden: Forbidden::default(),
            random: fastrand::Rng::with_seed(settings.seed),
            lists_wanted: (0..watches).collect(),
            first_tries: (0..watches).collect(),
            open_watches,
            changed: false,
            counted: None,
            shown: None,
            clock_guard: ClockGuard::new(server_clock, settings.max_clock_skew),
            telemetry,
            settings,
            clock,
        }
    }

    /// Takes in what a watch shows.
    pub(super) fn saw(&mut self, watch: WatchId, event: Event) {
        self.look_at_the_clock();
        match event {
            Ok(watcher::Event::Apply(deployment) | watcher::Event::InitApply(deployment)) => {
                self.saw_deployment(&deployment, watch);
            }
            Ok(watcher::Event::Delete(deployment)) => {
                // What was tried in vain may have been about this one, and is tried no more.
                self.telemetry.set(Condition::Reachable, true);
                let gone = self.index.gone(&deployment);
                self.forgot(gone);
            }
            Ok(watcher::Event::Init) => self.index.list_begins(watch),
            Ok(watcher::Event::InitDone) => {
                let vanished = self.index.list_ends(watch);
                self.forgot(vanished);
                self.lists_wanted.retain(|wanted| *wanted != watch);
                self.first_tries.retain(|tried| *tried != watch);
                self.telemetry
                    .set(Condition::Listed, self.lists_wanted.is_empty());
                if self.lists_wanted.is_empty() {
                    tracing::debug!("listed");
                }
            }
            Err(error) => {
                self.first_tries.retain(|tried| *tried != watch);
                self.telemetry.watch_restart();
                self.open_watches.failed(watch);
                self.telemetry.set(Condition::Reachable, false);
                self.telemetry.set(Condition::Watching, false);
                tracing::warn!(error = %chain(&error), "the watch failed; it is begun anew");
            }
        }
    }

    pub(super) fn saw_deployment(&mut self, deployment: &Deployment, watch: WatchId) {
        if let Some(id) = self.index.saw(deployment, watch, self.sight()) {
            self.consider(id);
        }
    }

    /// When something that is seen now is seen.
    pub(super) fn sight(&self) -> Sight {
        let monotonic = self.clock.monotonic();
        Sight {
            by_clock: self.clock_guard.correct(self.clock.now()),
            unsure: self.clock_guard.is_wrong().then_some(monotonic),
        }
    }

    /// Whether a first list is still under way. Adoptions wait for its end, so that they do not
    /// slow it down; a list that fails holds nothing up.
    pub(super) const fn is_listing(&self) -> bool {
        !self.first_tries.is_empty()
    }

    fn forgot(&mut self, ids: impl IntoIterator<Item = Id>) {
        for id in ids {
            self.agenda.cancel(id);
            self.retries.cancel(id);
            self.changed = true;
            self.pass_on(id);
        }
    }

    /// This object has nothing to ask for: those that waited for its answer ask for themselves.
    fn pass_on(&mut self, id: Id) {
        let waiting = self.forbidden.forget(id);
        self.release(waiting);
    }

    pub(super) fn release(&mut self, ids: impl IntoIterator<Item = Id>) {
        for id in ids {
            if let Some(entry) = self.index.get_mut(id) {
                entry.errand.held = false;
            }
            self.consider(id);
        }
    }

    pub(super) fn forget(&mut self, id: Id) {
        self.index.forget(id);
        self.forgot([id]);
    }

    /// Decides about an object, and queues it or notes when it is due.
    pub(super) fn consider(&mut self, id: Id) {
        self.changed = true;
        let busy = |errand: &Errand| errand.queued || errand.in_flight || errand.held;
        if self.clock_guard.is_wrong() || self.index.get(id).is_none_or(|entry| busy(&entry.errand))
        {
            return;
        }
        match self.index.decide(id, self.clock.now()) {
            Some(Decision::Wait { due }) => {
                if let Some(entry) = self.index.get_mut(id) {
                    entry.errand.conflicts = 0;
                }
                self.wait(id, due);
            }
            Some(Decision::HandsOff { due, notice }) => {
                self.wait(id, due);
                self.hands_off(id, notice);
            }
            Some(decision @ Decision::Write(_)) => {
                if let Some(entry) = self.index.get_mut(id) {
                    entry.errand.queued = true;
                }
                self.queue.push(id, &decision);
                return;
            }
            None => {}
        }
        self.pass_on(id);
    }

    fn wait(&mut self, id: Id, due: Option<DateTime<Utc>>) {
        match due {
            Some(due) => self.agenda.set(id, due),
            None => self.agenda.cancel(id),
        }
        if due.is_none() && self.index.get(id).is_some_and(Entry::is_over) {
            self.forget(id);
        }
    }

    fn hands_off(&mut self, id: Id, notice: Notice) {
        let Some(entry) = self.index.get_mut(id) else {
            return;
        };
        if entry.tell_hands_off() {
            tracing::warn!(object = %entry.object(), "{}", notice.text);
            self.announce(id, notice);
        }
    }

    pub(super) fn announce(&mut self, id: Id, notice: Notice) {
        let Some(entry) = self.index.get(id) else {
            return;
        };
        let object = entry.object().clone();
        if self.settings.dry_run {
            tracing::info!(%object, reason = %notice.reason, "would tell: {}", notice.text);
            return;
        }
        let at = self.clock.now();
        let room = self.queue.announce(Announcement {
            object,
            notice,
            at,
            tries: 0,
        });
        if !room {
            self.telemetry.event(EventOutcome::Dropped);
        }
    }

    /// Does all that can be done now: what is due is queued, what is queued is sent.
    pub(super) fn act(&mut self) {
        self.look_at_the_clock();
        if self.clock_guard.is_wrong() {
            return;
        }
        let (now, monotonic) = (self.clock.now(), self.clock.monotonic());
        for _ in 0..BATCH {
            let Some((id, _)) = self.agenda.take_due(now) else {
                break;
            };
            if let Some(entry) = self.index.get_mut(id)
                && !entry.errand.queued
                && !entry.errand.in_flight
            {
                entry.errand.queued = true;
                entry.errand.held = false;
                self.queue.push_transition(id);
            }
        }
        while let Some((id, _)) = self.retries.take_due(monotonic) {
            self.release([id]);
        }
        if self.pause.is_over(monotonic) {
            self.dispatch();
        }
    }

    /// When there is something to do again, as far as is known now.
    pub(super) fn next_wake(&self) -> DateTime<Utc> {
        let (now, monotonic) = (self.clock.now(), self.clock.monotonic());
        let wall = |at: Instant| {
            now + TimeDelta::from_std(at.saturating_duration_since(monotonic)).unwrap_or_default()
        };
        let may_act = !self.clock_guard.is_wrong();
        // Where there is no room, an answer is what is waited for, however long the pause is over.
        let waits = may_act && self.has_room() && self.queue.waits(self.is_listing());
        let pause = self.pause.until().filter(|_| waits);
        let due = self.agenda.next().filter(|_| may_act);
        let probe = self.clock_guard.next_probe(monotonic);
        let count = self
            .counted
            .filter(|_| self.changed)
            .map(|counted| counted + COUNT_PAUSE);
        [pause, self.retries.next().filter(|_| may_act), probe, count]
            .into_iter()
            .flatten()
            .map(wall)
            .chain(due)
            .min()
            .unwrap_or(now + TimeDelta::days(1))
    }

    /// Publishes how much is queued and, at most once a second, how many objects are in which
    /// state: counting them costs as much as there are.
    pub(super) fn publish(&mut self) {
        self.telemetry
            .set(Condition::Permitted, self.forbidden.is_empty());
        for (class, depth) in self.queue.depths() {
            self.telemetry.queue_depth(class, depth);
        }
        let now = self.clock.monotonic();
        if self.changed
            && self
                .counted
                .is_none_or(|counted| now >= counted + COUNT_PAUSE)
        {
            self.changed = false;
            self.counted = Some(now);
            self.count_workloads();
            self.telemetry.next_boundary(self.agenda.next());
        }
    }

    fn count_workloads(&self) {
        let census = self.index.census();
        for phase in Phase::ALL {
            let count = census.get(phase.name()).copied().unwrap_or_default();
            self.telemetry.workloads(phase.name(), count);
        }
        self.telemetry
            .invalid_schedules(census.get(INVALID).copied().unwrap_or_default());
    }

    /// Rule 13: while the clock is wrong nothing is due and nothing is written.
    fn look_at_the_clock(&mut self) {
        let (now, monotonic) = (self.clock.now(), self.clock.monotonic());
        let has_turned = self.clock_guard.look(now, monotonic);
        if self.was_set_back(now, monotonic) {
            self.index.look_again(now);
            self.consider_all();
        }
        let Some(skew) = self.clock_guard.skew().map(TimeDelta::as_seconds_f64) else {
            return;
        };
        self.telemetry.clock_skew(skew);
        if has_turned && self.clock_guard.is_wrong() {
            self.telemetry.set(Condition::Clock, false);
            tracing::error!(
                skew,
                "the clock is too far from the API server's: nothing is done until it is right"
            );
        } else if has_turned {
            self.telemetry.set(Condition::Clock, true);
            tracing::info!(skew, "the clock is right again");
            self.index.make_sure(now, monotonic);
            self.consider_all();
        }
        if self.clock_guard.take_probe(monotonic) {
            self.ask_the_time();
        }
    }

    /// Whether the clock was set back since it was looked at last: then what was done by it may
    /// be from the future, and nothing else would look at it before that has come.
    fn was_set_back(&mut self, now: DateTime<Utc>, monotonic: Instant) -> bool {
        let shown = self.shown.replace((now, monotonic));
        shown.is_some_and(|(before, at)| {
            let gone = TimeDelta::from_std(monotonic - at).unwrap_or_default();
            now - before < gone - TimeDelta::seconds(1)
        })
    }

    fn consider_all(&mut self) {
        for id in self.index.ids() {
            self.consider(id);
        }
    }

    fn ask_the_time(&self) {
        let writer = self.writer.clone();
        let namespace = self.settings.scope.namespaces.first().cloned();
        self.in_flight.push(Box::pin(async move {
            Finished::ToldTheTime(writer.ask_the_time(namespace.as_deref()).await)
        }));
    }

    pub(super) fn told_the_time(result: Result<(), ReadError>) {
        if let Err(error) = result {
            tracing::warn!(error = %error, "cannot ask the API server for its time");
        }
    }
}

/// An error and what caused it, in one line.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    if let Some(told) = withheld(error) {
        return told;
    }
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text += &format!(": {cause_text}");
        }
        source = cause.source();
    }
    text
}
