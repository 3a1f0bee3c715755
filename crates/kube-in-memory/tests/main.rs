//! Tests of the public interface, in one binary to link only once.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    reason = "tests can panic, and some helpers are only for a real server"
)]

mod custom;
mod hostile;
mod namespaces;
mod parity;
mod watch;
