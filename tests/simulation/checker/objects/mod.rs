//! The parts of an object: its count, its state labels, and the intent of its annotations.

pub mod asked;
pub mod managers;
pub mod object;
pub mod phase;
pub mod refusal;
pub mod texts;
