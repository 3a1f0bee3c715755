//! What is corrected while the schedule says stopped, and when dayshift gives up.

mod enforce;
mod fights;
