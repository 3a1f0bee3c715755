//! The controller: a state machine without I/O, and a thin driver.
//!
//! [`run`] starts the `driver`, which reads the clocks, waits for watch events and responses, and steps
//! the `core`. The core decides and returns the requests to send. `gate`, `followups` and `events`
//! contain the rules for starts, for the time after a change, and for reports to users. `store`,
//! `outbox` and `throttle` contain the observed objects, the queues of requests and the limits on
//! sending. All of them use `object` and `clock`. `telemetry` publishes metrics and snapshots.

mod clock;
mod core;
mod driver;
mod events;
mod feed;
mod followups;
mod gate;
mod ids;
mod object;
mod outbox;
mod run;
mod settings;
mod store;
mod telemetry;
mod throttle;

pub use clock::scheduler::Scheduler;
pub use feed::{CalendarFeed, CalendarPublisher, Feed, Publisher, ScheduleFeed, SchedulePublisher};
pub use run::run;
pub use settings::{OwnPod, Scope, Settings};
pub use telemetry::metrics::Telemetry;
pub use telemetry::outcome::{EventOutcome, Outcome};
pub use telemetry::readiness::Condition;
pub use telemetry::snapshot::{ObjectSnapshot, Snapshot, WorkStatus};
pub use telemetry::wake_log::{RecordedWake, WakeHistory};
