//! Pages of `docs/` that list what the program has.

mod events;
mod metrics;
