//! The subcommands, one file for each, with their flags.

pub(super) mod activator;
pub(super) mod completion;
pub(super) mod convert;
pub(super) mod dashboard;
pub(super) mod kinds;
pub(super) mod lint;
pub(super) mod named_schedules;
#[cfg(not(feature = "sandbox"))]
pub(super) mod no_sandbox;
pub(super) mod overrides;
pub(super) mod plan;
pub(super) mod restore;
pub(super) mod run;
#[cfg(feature = "sandbox")]
pub(super) mod sandbox;
pub(super) mod schedule;
pub(super) mod status;
