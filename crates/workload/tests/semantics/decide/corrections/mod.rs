//! Corrections while the schedule requires a stop, and their limit.

mod enforce;
mod fights;
