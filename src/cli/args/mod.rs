//! The flags of the subcommands, and what their values become.

pub(super) mod activator_args;
pub(super) mod chosen_args;
pub(super) mod connection;
pub(super) mod downscaler_args;
pub(super) mod files;
pub(super) mod kind_args;
pub(super) mod log;
pub(super) mod login_args;
pub(super) mod price_args;
pub(super) mod run_args;
pub(super) mod schedule_args;
pub(super) mod target_names;
pub(super) mod targets;
pub(super) mod values;
