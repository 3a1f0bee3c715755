//! The controller: watches, an in-memory scheduler, and queues before the sender.
//!
//! Watch events become knowledge of each object (`objects`); from that `reconcile` decides what is
//! due, which waits in lanes (`queue`, `send`) until it may leave (`retry`, `time`). `telemetry` is
//! for readers outside.

mod calendar_feed;
mod ids;
mod jobs;
mod notices;
mod objects;
mod queue;
mod reconcile;
mod report;
mod retry;
mod reverts;
mod run;
mod send;
mod settings;
mod starts;
mod telemetry;
mod time;
mod watch;

pub use calendar_feed::{CalendarFeed, CalendarPublisher};
pub use run::run;
pub use settings::{OwnPod, Scope, Settings};
pub use telemetry::metrics::Telemetry;
pub use telemetry::outcome::{EventOutcome, Outcome};
pub use telemetry::readiness::Condition;
pub use telemetry::snapshot::{ObjectSnapshot, Snapshot, WorkStatus};
pub use time::scheduler::Scheduler;
