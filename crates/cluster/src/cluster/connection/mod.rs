//! From flags to a client: the connection, what passes over it, and what may be said of its failures.

pub(super) mod acting_as;
pub(super) mod connect;
mod connections;
pub(super) mod instrument;
pub(super) mod patient;
pub(super) mod redact;
pub(super) mod server_time;
pub(super) mod transport;
