//! The model of the documented rules: what each controller can know, and which writes it may make.
//!
//! - `objects/`: the parts of an object
//! - `rules/`: the outcomes that the rules allow at a time
//! - `scalers/`: the knowledge of each controller
//! - `switches`: the effect of a write on an on/off field
//! - `reporting`: the Events and metrics of writes
//! - `description`: a write in words
//! - `observer`: receives every write; `traffic`: requests and responses; `check_write` and `check_settled`: the
//!   checks

pub mod assumptions;
pub mod change_invariants;
pub mod check_settled;
pub mod check_write;
pub mod description;
pub mod objects;
pub mod observer;
pub mod reporting;
pub mod rules;
pub mod scalers;
pub mod switches;
pub mod traffic;
