//! The one model of the documented rules: what a scaler may know and what it may write.
//!
//! - `objects/`: what stands on an object
//! - `rules/`: what the rules allow at an instant
//! - `scalers/`: what each scaler knows
//! - `switches`: what a write makes of what says whether an object runs
//! - `telling`: the Events and metrics of writes
//! - `told`: a write in words
//! - `observer`: sees every write, and `traffic` what scalers ask and hear; `check_write` and `check_settled` judge it

pub mod assumptions;
pub mod change_invariants;
pub mod check_settled;
pub mod check_write;
pub mod objects;
pub mod observer;
pub mod rules;
pub mod scalers;
pub mod switches;
pub mod telling;
pub mod told;
pub mod traffic;
