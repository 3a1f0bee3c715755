//! The running scaler, and what it publishes of itself.

mod footprint;
mod metrics;
mod readiness;

pub use metrics::{EventOutcome, Outcome, Telemetry};
pub use readiness::Condition;
