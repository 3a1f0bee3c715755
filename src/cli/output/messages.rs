//! Lines on standard output and standard error. A stream that is closed is not an error.

use std::io::{self, Write as _};

use crate::{cluster::NamespaceDefaults, status::Unreadable, text::printable};

/// A line of the result.
pub(crate) fn print_line(line: &str) {
    let _ = writeln!(io::stdout(), "{}", printable(line));
}

/// A line on standard error that says itself how much it matters.
pub(crate) fn print_beside(line: &str) {
    let _ = writeln!(io::stderr(), "{}", printable(line));
}

/// A line beside the result.
pub(crate) fn print_note(what: &str) {
    let _ = writeln!(io::stderr(), "note: {}", printable(what));
}

/// Says that what objects inherit is not seen, where that is so.
pub(crate) fn note_unreadable(defaults: &NamespaceDefaults) {
    if let Some(it) = Unreadable::namespaces(defaults) {
        print_note(&it.to_string());
    }
}

/// A line about what may be wrong.
pub(crate) fn print_warning(what: &str) {
    let _ = writeln!(io::stderr(), "warning: {}", printable(what));
}

/// What every command says of a namespace that is missing.
pub(crate) fn no_namespace(name: &str) -> String {
    format!("namespace {name} does not exist")
}

/// A line about what went wrong.
pub(crate) fn print_error(what: &impl ToString) {
    let _ = writeln!(io::stderr(), "error: {}", printable(&what.to_string()));
}
