//! Running a controller.

use std::sync::Arc;

use dayshift_cluster::{
    clock::Clock,
    connect::{Exchange, instrument},
};
use kube::Client;
use tokio::task::{JoinHandle, spawn};
use tracing::instrument::WithSubscriber as _;

use crate::{
    driver::{Driver, ServerClock},
    settings::Settings,
    telemetry::{metrics::Telemetry, object_log::log_overdue, readiness::Condition},
};

/// Whether the server has done the request, or has responded why it cannot: a conflict or a missing
/// object is such a response, a missing permission or an overload is not. Events do not count.
fn is_response(verb: &str, code: u16) -> bool {
    verb != "create" && (code < 400 || matches!(code, 404 | 409 | 422))
}

/// Scales workloads at the times in their annotations until `shutdown`, then lets the requests in
/// flight end, for at most 10 s, and reports their results.
///
/// It needs only the API server, keeps no state outside the labels on the workloads, and never gives
/// up: it waits for an absent server or a missing permission.
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
                server_clock.heard(date, clock.monotonic());
            }
        }
    });
    let driver = Driver::new(&client, clock, server_clock, settings, telemetry);
    let overdue = log_overdue(Arc::clone(driver.objects())).with_current_subscriber();
    let _overdue = AbortOnDrop(spawn(overdue));
    driver.run(shutdown).await;
}

/// A task beside the controller, which ends with it.
struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
