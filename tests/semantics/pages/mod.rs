//! Pages that list what the program and the chart have.
#![allow(clippy::unwrap_used, clippy::panic)]

mod chart;
mod events;
mod links;
mod metrics;
mod nightly;
