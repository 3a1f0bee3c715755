//! Lists and watches.

mod continuation;
mod form;
mod list;
mod watch;

pub(crate) use form::{Form, whole_value};
pub(crate) use list::list;
pub(crate) use watch::watch;
