//! What stands on an object: its count, its state labels, and what its annotations ask for.

pub mod asked;
pub mod managers;
pub mod object;
pub mod phase;
pub mod refusal;
pub mod texts;
