//! What the documented rules allow at an instant, without any code of dayshift.

pub mod adoption;
pub mod due;
pub mod moment;
pub mod outcome;
pub mod override_rules;
pub mod timeline;
pub mod upkeep;
