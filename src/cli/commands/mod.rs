//! The subcommands, one file for each.

pub(super) mod activator;
pub(super) mod complete;
pub(super) mod completions;
pub(super) mod convert;
pub(super) mod dashboard;
pub(super) mod kinds;
pub(super) mod lint;
pub(super) mod overrides;
pub(super) mod plan;
pub(super) mod restore;
pub(super) mod run;
mod run_dashboard;
pub(super) mod sandbox;
pub(super) mod status;
