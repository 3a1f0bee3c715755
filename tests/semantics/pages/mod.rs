//! Pages that list the features of the program and the chart.
#![allow(clippy::unwrap_used, clippy::panic)]

mod chart;
mod conditions;
mod events;
mod links;
mod metrics;
mod nightly;
mod threat_model;
