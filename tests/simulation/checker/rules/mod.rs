//! What the documented rules allow at an instant, without any code of dayshift.

pub mod moment;
pub mod outcome;
pub mod override_rules;
pub mod timeline;
