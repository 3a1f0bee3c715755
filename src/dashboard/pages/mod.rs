//! The pages as HTML. `html!` escapes text from the cluster, and `printable` shows its invisible characters.

mod action;
mod edges;
mod namespace;
mod object;
mod overview;
mod page;
mod problems;
mod savings;
mod schedule;
mod sentence;
mod strip;
mod suggestion;
mod timeline;
mod week;
mod what_if;

pub(super) use object::Events;
pub(super) use page::{ALERT_ICON, ICON, Page, STYLE, failure};
