//! The pages, as HTML. What somebody wrote is escaped by `html!`, and what nobody sees is shown
//! by `printable` before that.

mod action;
mod bits;
mod namespace;
mod object;
mod object_tables;
mod overview;
mod shell;
mod text;
mod timeline;
mod week;

pub(super) use object::Events;
pub(super) use shell::{ICON, Page, STYLE, failure};
