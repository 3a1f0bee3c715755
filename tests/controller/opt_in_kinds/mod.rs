//! Kinds that must be enabled.

mod custom;
mod each;
mod line;
mod no_count;
mod savings;
mod switches;
