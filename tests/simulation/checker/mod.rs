//! The one model of the documented rules: what a scaler may know and what it may write.

pub mod assumptions;
pub mod change_invariants;
pub mod check_settled;
pub mod check_write;
pub mod known;
pub mod object;
pub mod observer;
pub mod outcome;
pub mod override_rules;
pub mod phase;
pub mod request;
pub mod rules;
pub mod shown;
pub mod texts;
pub mod timeline;
pub mod troubled;
