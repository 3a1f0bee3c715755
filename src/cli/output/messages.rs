//! Lines on standard output and standard error. A stream that is closed is not an error.

use std::io::{self, Write as _};

use dayshift_cluster::read::NamespaceDefaults;
use dayshift_manifest::{Location, ManifestWorkload};
use dayshift_operations::{Selection, status::Unreadable};
use dayshift_text::printable;

use crate::cli::exit::Exit;

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

/// Says that nothing was found that has a schedule.
pub(crate) fn note_nothing_scheduled() {
    print_beside("No workload with a schedule found.");
}

/// Says that an object of a file does not count, since it is given again.
pub(crate) fn note_given_again(file: &str, workload: &ManifestWorkload) {
    let Location { line, column, .. } = workload.place;
    let object = workload.object.full_name();
    print_note(&format!(
        "{file}:{line}:{column}: {object} is given again later; the last one counts, as with \
         kubectl apply"
    ));
}

/// Says that what objects inherit is not seen, where that is so.
pub(crate) fn note_unreadable(defaults: &NamespaceDefaults) {
    if let Some(it) = Unreadable::namespaces(defaults) {
        print_note(&it.to_string());
    }
}

/// Says what a command leaves alone of what was asked for: what may not be read, and what is not
/// there. Returns the exit status so far.
pub(crate) fn left_alone(selection: &Selection) -> Exit {
    for it in &selection.unreadable {
        print_error(it);
    }
    for it in &selection.missing {
        print_error(it);
    }
    if selection.unreadable.is_empty() && selection.missing.is_empty() {
        Exit::Done
    } else {
        Exit::CouldNotRun
    }
}

/// `there is nothing`, as far as that may be seen.
pub(crate) fn as_far_as_seen(nothing: String, unreadable: bool) -> String {
    if unreadable {
        nothing + ", as far as you may read it"
    } else {
        nothing
    }
}

/// A line about what may be wrong.
pub(crate) fn print_warning(what: &str) {
    let _ = writeln!(io::stderr(), "warning: {}", printable(what));
}

/// A line about what went wrong.
pub(crate) fn print_error(what: &impl ToString) {
    let _ = writeln!(io::stderr(), "error: {}", printable(&what.to_string()));
}
