//! Kinds with an on/off field, from the JSON of an object to the JSON after a patch.
#![allow(clippy::unwrap_used, clippy::panic)]

mod counts;
mod hands;
mod letters;
mod live;
mod rows;
mod table;
