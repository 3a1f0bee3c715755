//! The controller: a watch, an in-memory scheduler, and a queue before the sender.

mod answers;
mod backoff;
mod backpressure;
mod census;
mod dispatch;
mod due;
mod engine;
mod entry;
mod events;
mod guarded_clock;
mod in_flight;
mod index;
mod metrics;
mod observe;
mod outbox;
mod outcome;
mod parse_cache;
mod permission_backoff;
mod process_metrics;
mod queue;
mod readiness;
mod retry_policy;
mod run;
mod scheduler;
mod sender;
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
