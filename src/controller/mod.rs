//! The controller: a watch, an in-memory scheduler, and a queue before the sender.

mod answers;
mod backoff;
mod backpressure;
mod dispatch;
mod engine;
mod entry;
mod events;
mod in_flight;
mod index;
mod metrics;
mod observe;
mod outcome;
mod parse_cache;
mod permission_backoff;
mod process_metrics;
mod queue;
mod readiness;
mod run;
mod scheduler;
mod settings;
mod skew;
mod watch;
mod watch_states;
mod work;

pub use metrics::Telemetry;
pub use outcome::{EventOutcome, Outcome};
pub use readiness::Condition;
pub use run::run;
pub use scheduler::Scheduler;
pub use settings::{OwnPod, Scope, Settings};
