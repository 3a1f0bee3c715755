//! The controller: a watch, an in-memory scheduler, and a queue before the sender.

mod backoff;
mod dispatch;
mod engine;
mod footprint;
mod forbidden;
mod index;
mod metrics;
mod pause;
mod queue;
mod readiness;
mod readings;
mod requests;
mod run;
mod scheduler;
mod settings;
mod skew;
mod watch;

pub use metrics::{EventOutcome, Outcome, Telemetry};
pub use readiness::Condition;
pub use run::run;
pub use scheduler::Scheduler;
pub use settings::{OwnPod, Scope, Settings};
