//! Kinds with a switch, from the JSON of an object to the JSON that a patch makes of it.
#![allow(clippy::unwrap_used, clippy::panic)]

mod counts;
mod hands;
mod letters;
mod live;
mod rows;
mod table;
