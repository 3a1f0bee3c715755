//! The outcomes that the documented rules allow at a time, without code of dayshift.

pub mod adoption;
pub mod due;
pub mod outcome;
pub mod override_rules;
pub mod rule_inputs;
pub mod timeline;
pub mod upkeep;
