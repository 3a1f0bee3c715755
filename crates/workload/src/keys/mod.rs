//! The names of every annotation and label, in the one place where they are written.

mod key;
mod label;
mod prefix;

pub use key::Key;
pub use label::Label;
pub use prefix::{INHERITED, OVERRIDE_BEGAN, OWN_ANNOTATIONS, Prefix, PrefixError};
