//! `dayshift convert` as a user and a pipeline run it.

mod files;
mod live;
mod shell;

use crate::program::dayshift_with;

/// The exit status, standard output and standard error for this standard input.
fn convert(args: &[&str], input: &str) -> (i32, String, String) {
    let args: Vec<_> = ["convert"].iter().chain(args).copied().collect();
    let ended = dayshift_with(&[], &args, input);
    (ended.status, ended.out, ended.err)
}
