//! Everything that the program shows, apart from what it logs.

pub(super) mod chart;
pub(super) mod convert;
pub(super) mod findings;
pub(super) mod kinds_table;
pub(super) mod lint;
pub(super) mod live_screen;
pub(super) mod messages;
pub(super) mod plan_summary;
pub(super) mod plan_table;
pub(super) mod progress;
pub(super) mod report;
#[cfg(feature = "sandbox")]
pub(super) mod sandbox_page;
#[cfg(feature = "sandbox")]
mod sandbox_summary;
pub(super) mod status;
pub(super) mod style;
mod table;
pub(super) mod terminal;
pub(super) mod unread;
mod yaml;
