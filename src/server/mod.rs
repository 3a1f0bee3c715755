//! Probes and metrics over HTTP: `/healthz`, `/readyz` and `/metrics`.

mod connection;
mod routes;
mod serve;

pub use serve::{serve, serve_with};
