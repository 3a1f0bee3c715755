//! The controller: a watch, an in-memory scheduler, and a queue before the sender.

mod answers;
mod backoff;
mod backpressure;
mod dispatch;
mod engine;
mod entry;
mod events;
mod footprint;
mod in_flight;
mod index;
mod metrics;
mod observe;
mod outcome;
mod permission_backoff;
mod queue;
mod readiness;
mod readings;
mod run;
mod scheduler;
mod settings;
mod skew;
mod watch;
mod work;

pub use metrics::Telemetry;
pub use outcome::{EventOutcome, Outcome};
pub use readiness::Condition;
pub use run::run;
pub use scheduler::Scheduler;
pub use settings::{OwnPod, Scope, Settings};
