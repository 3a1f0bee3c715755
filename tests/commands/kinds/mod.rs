//! Kinds in the commands: each in files, rows of a user's own, and the list of them all.

mod each;
mod file;
mod list;
mod missing_row;
mod owned;
mod policies;
mod rows;
mod savings;
mod sizes;
