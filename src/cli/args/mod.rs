//! The flags that several subcommands share, and how their values are parsed.

pub(super) mod connection;
pub(super) mod kinds;
pub(super) mod log;
pub(super) mod schedules;
pub(super) mod targets;
pub(super) mod values;
