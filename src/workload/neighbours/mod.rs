//! Others who set the same counts: which they are, what cures each, and what is said of them.

pub mod field_manager;
pub mod owner;
pub mod reverted;
