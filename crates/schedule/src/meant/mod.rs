//! What was meant by a text that is refused, for its error to propose.
//!
//! The parsers are strict and say what is wrong. What is here reads the same texts loosely, as
//! people write them elsewhere: `9:00 AM - 5:00 PM`, `Mon/Wed/Fri`, `12/24/2026`, AWS's cron. Where
//! a text could mean two things it proposes nothing.

pub(crate) mod characters;
mod cron;
pub(crate) mod date;
mod duration;
pub mod meaning;
pub(crate) mod propose;
mod segments;
mod week;
mod weekdays;
