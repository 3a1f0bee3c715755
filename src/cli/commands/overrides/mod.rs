//! `dayshift wake`, `sleep`, `pause` and `resume`, which differ in little more than a word.

mod override_command;
pub(in crate::cli) mod pause;
pub(in crate::cli) mod resume;
pub(in crate::cli) mod sleep;
pub(in crate::cli) mod wake;
