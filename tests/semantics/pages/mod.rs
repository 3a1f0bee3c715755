//! Pages of `docs/` that list what the program has.
#![allow(clippy::unwrap_used, clippy::panic)]

mod events;
mod metrics;
