//! The subcommands, one file for each.

pub(super) mod complete;
pub(super) mod completions;
pub(super) mod convert;
pub(super) mod dashboard;
pub(super) mod lint;
mod override_command;
pub(super) mod pause;
pub(super) mod plan;
pub(super) mod restore;
pub(super) mod resume;
pub(super) mod run;
mod run_dashboard;
pub(super) mod sandbox;
pub(super) mod sleep;
pub(super) mod status;
pub(super) mod sync;
pub(super) mod wake;
