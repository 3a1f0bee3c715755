//! Probes and metrics over HTTP: `/healthz`, `/readyz` and `/metrics`.

mod connection;
mod probes;
mod routes;
mod serve;

pub use probes::Probes;
pub use serve::{serve, serve_with};
