//! The controller: a watch, an in-memory scheduler, and a queue before the sender.

mod answers;
mod backoff;
mod backpressure;
mod dispatch;
mod engine;
mod events;
mod footprint;
mod in_flight;
mod index;
mod metrics;
mod observe;
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

pub use metrics::{EventOutcome, Outcome, Telemetry};
pub use readiness::Condition;
pub use run::run;
pub use scheduler::Scheduler;
pub use settings::{OwnPod, Scope, Settings};
