//! The loop of the controller.

use std::{sync::Arc, time::Duration};

use dayshift_cluster::{
    Writer,
    clock::Clock,
    connect::{Exchange, instrument},
};
use futures::StreamExt as _;
use kube::Client;
use tokio::{
    task::{JoinHandle, spawn, yield_now},
    time::timeout,
};
use tracing::instrument::WithSubscriber as _;

use crate::{
    reconcile::engine::Engine,
    settings::Settings,
    telemetry::{metrics::Telemetry, object_log::log_overdue, readiness::Condition},
    time::{guarded_clock::GuardedClock, skew::ServerClock},
    watch::{states::WatchStates, streams},
};

/// How long requests in flight may take to end after a shutdown.
const GRACE: Duration = Duration::from_secs(10);

/// Whether the server has done what it was asked, or has said why it cannot: a conflict or a
/// missing object is an answer, a missing permission or an overload is not. Events do not count.
fn is_answer(verb: &str, code: u16) -> bool {
    verb != "create" && (code < 400 || matches!(code, 404 | 409 | 422))
}

/// Scales workloads at the times in their annotations until `shutdown`, then lets the requests in
/// flight end, for at most 10 s, and reports their results.
///
/// It needs nothing but the API server, keeps no state outside the labels on the workloads, and
/// never gives up: it waits for an absent server or a missing permission.
pub async fn run(
    client: Client,
    clock: Clock,
    settings: Settings,
    telemetry: Arc<Telemetry>,
    shutdown: impl Future<Output = ()>,
) {
    let server_clock = ServerClock::default();
    let client = instrument(client, {
        let (server_clock, telemetry, clock) =
            (server_clock.clone(), telemetry.clone(), clock.clone());
        move |exchange: Exchange| {
            telemetry.api_request(exchange.verb, exchange.code);
            if exchange
                .code
                .is_some_and(|code| is_answer(exchange.verb, code))
            {
                telemetry.set(Condition::Reachable, true);
            }
            if let Some(date) = exchange.date {
                server_clock.heard(date, clock.monotonic());
            }
        }
    });
    let states = WatchStates::of(&settings.scope);
    states.publish(&telemetry);
    let mut calendars = settings.calendars.clone();
    let mut watches = streams::workloads(&client, &settings.scope, settings.seed);
    let mut engine = Engine::new(
        Writer::new(
            client.clone(),
            settings.prefix.clone(),
            settings.instance.clone(),
        ),
        GuardedClock::new(clock.clone(), server_clock, settings.max_clock_skew),
        settings,
        telemetry.clone(),
        states,
    );
    let overdue = log_overdue(Arc::clone(engine.publisher.objects())).with_current_subscriber();
    let _overdue = AbortOnDrop(spawn(overdue));
    tokio::pin!(shutdown);
    loop {
        if engine.take_relist() {
            let Settings { scope, seed, .. } = &engine.settings;
            watches = streams::workloads(&client, scope, *seed);
        }
        engine.act();
        engine.publish();
        let wake = engine.next_wake();
        tokio::select! {
            biased;
            () = &mut shutdown => break,
            // Before what is in flight, or the list would wait for every patch in the queue.
            Some((watch, event)) = watches.next() => engine.observe(watch, event),
            Some(outcome) = engine.sender.in_flight.next(), if engine.sender.in_flight.len() > 0 => {
                engine.finished(outcome);
            }
            other = calendars.changed() => engine.calendars_changed(other),
            () = yield_now(), if engine.index.has_unpublished() => {}
            () = clock.doze_until(wake) => {}
        }
    }
    telemetry.shutting_down();
    tracing::info!(in_flight = engine.sender.in_flight.len(), "shutting down");
    let rest = async {
        while let Some(outcome) = engine.sender.in_flight.next().await {
            engine.finish_up(outcome);
            engine.publish();
        }
    };
    if timeout(GRACE, rest).await.is_err() {
        tracing::warn!("gave up requests that took too long");
    }
}

/// A task beside the controller, which ends with it.
struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
