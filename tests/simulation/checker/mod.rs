//! The model of the documented rules: what each controller can know, and which writes it may make.
//!
//! - `objects/`: the parts of an object
//! - `rules/`: the outcomes that the rules allow at a time
//! - `scalers/`: the knowledge of each controller
//! - `switches`: the effect of a write on an on/off field
//! - `telling`: the Events and metrics of writes
//! - `told`: a write in words
//! - `observer`: receives every write; `traffic`: requests and responses; `check_write` and `check_settled`: the
//!   checks

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
