//! `dayshift convert`, driven as a person and a pipeline drive it.

mod files;
mod live;
mod shell;

use crate::program::dayshift_with;

/// The status, standard output and standard error of a run with this standard input.
fn convert(args: &[&str], input: &str) -> (i32, String, String) {
    let args: Vec<_> = ["convert"].iter().chain(args).copied().collect();
    let ended = dayshift_with(&[], &args, input);
    (ended.status, ended.out, ended.err)
}
