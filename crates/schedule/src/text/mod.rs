//! Reading: pieces of a text that know where they stand, words, and what is wrong with them.

pub(super) mod days;
pub(super) mod diagnostic;
pub(super) mod month_days;
pub(super) mod piece;
pub(super) mod tokens;
pub(super) mod wall_time;
