//! The pages, as HTML. What somebody wrote is escaped by `html!`, and what nobody sees is shown
//! by `printable` before that.

mod action;
mod namespace;
mod object;
mod overview;
mod page;
mod timeline;
mod week;

pub(super) use object::Events;
pub(super) use page::{ICON, Page, STYLE, failure};
