//! Kinds in the commands: in files, user-defined, and in `dayshift kinds`.

mod each;
mod file;
mod list;
mod missing_definition;
mod owned;
mod policies;
mod rows;
mod savings;
mod sizes;
