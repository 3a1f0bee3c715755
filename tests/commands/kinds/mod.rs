//! Kinds in the commands: each in files, rows of a user's own, and the list of them all.

mod each;
mod file;
mod list;
mod owned;
mod policies;
mod savings;
mod sizes;
