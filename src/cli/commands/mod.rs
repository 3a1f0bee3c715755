//! The subcommands, one file for each.

pub(super) mod complete;
pub(super) mod completions;
pub(super) mod lint;
pub(super) mod plan;
pub(super) mod restore;
pub(super) mod run;
pub(super) mod sandbox;
pub(super) mod status;
