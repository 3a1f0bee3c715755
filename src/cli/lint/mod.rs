//! `dayshift lint`: the arguments, and a file for each form of output.

mod args;
mod github;
mod json;
mod junit;
mod region;
mod sarif;
mod text;

pub(super) use args::LintArgs;
