//! The entry point: connects the client, the clocks and the metrics, and runs the driver.

use std::sync::Arc;

use dayshift_cluster::{
    clock::Clock,
    connect::{Exchange, instrument},
};
use kube::Client;
use tokio::task::JoinSet;
use tracing::instrument::WithSubscriber as _;

use crate::{
    driver::{Driver, ServerClock},
    settings::Settings,
    telemetry::{metrics::Telemetry, object_log::log_overdue, readiness::Condition},
};

/// Whether a response shows that the server works: success, a conflict, a missing object or a rejection,
/// but not a missing permission or an overload. Responses to Events (verb `create`) are ignored.
fn is_response(verb: &str, code: u16) -> bool {
    verb != "create" && (code < 400 || matches!(code, 404 | 409 | 422))
}

/// Scales workloads at the times in their annotations until `shutdown`. Then waits for the requests in
/// flight, for at most 10 s, and reports their results.
///
/// Needs only the API server, and stores its state only in the workloads. If the server is unavailable
/// or a permission is missing, it retries until that changes.
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
                .is_some_and(|code| is_response(exchange.verb, code))
            {
                telemetry.set(Condition::Reachable, true);
            }
            if let Some(date) = exchange.date {
                server_clock.record(date, clock.monotonic());
            }
        }
    });
    let driver = Driver::new(&client, clock, server_clock, settings, telemetry);
    let overdue = log_overdue(Arc::clone(driver.objects())).with_current_subscriber();
    // A set aborts its tasks when it is dropped.
    let mut tasks = JoinSet::new();
    tasks.spawn(overdue);
    driver.run(shutdown).await;
}
