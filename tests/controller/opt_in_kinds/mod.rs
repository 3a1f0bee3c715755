//! Kinds that are scaled where somebody asks for them.

mod custom;
mod each;
mod line;
mod no_count;
mod savings;
mod switches;
