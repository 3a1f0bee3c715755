//! Output that several commands print, and the larger outputs of single commands.

pub(super) mod actions;
pub(super) mod chart;
pub(super) mod documents;
pub(super) mod findings;
pub(super) mod messages;
pub(super) mod plan;
#[cfg(feature = "sandbox")]
pub(super) mod sandbox;
pub(super) mod screen;
pub(super) mod status;
pub(super) mod table;
pub(super) mod terminal;
