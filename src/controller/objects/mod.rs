//! Every object that concerns the controller: what is known of it and what is being done about it.

pub(super) mod entry;
pub(super) mod index;
pub(super) mod parse_cache;
pub(super) mod work;
