//! Kinds with an on/off field, from the JSON of an object to the JSON after a patch.
#![allow(clippy::unwrap_used, clippy::panic)]

mod counts;
mod live;
mod manual_changes;
mod restored_values;
mod rows;
mod table;
