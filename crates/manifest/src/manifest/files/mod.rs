//! Which files are read, and what comes of one.

pub(super) mod contents;
pub(super) mod ignore_rules;
pub(super) mod search;
pub(super) mod source;
