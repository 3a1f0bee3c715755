//! Lists and watches.

mod continuation;
mod encode;
mod list;
mod watch;

pub(crate) use encode::{whole, whole_value};
pub(crate) use list::list;
pub(crate) use watch::watch;
