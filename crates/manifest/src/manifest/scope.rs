//! What is alike for every object of a file.

use dayshift_workload::Prefix;

/// The text of the file, and how the objects in it are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope<'r> {
    /// The file's name.
    pub(super) file: &'r str,
    pub(super) source: &'r str,
    pub(super) prefix: &'r Prefix,
    /// Where objects are that name no namespace.
    pub(super) namespace: &'r str,
}
