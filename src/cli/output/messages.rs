//! Messages on standard output and standard error. A closed stream is not an error.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use dayshift_cluster::read::{NamespaceDefaults, no_namespaces};
use dayshift_manifest::{Location, ManifestWorkload};
use dayshift_operations::{Selection, status::Unreadable, suggest_namespace, suggest_workload};
use dayshift_text::printable;
use dayshift_workload::KindTable;
use kube::Client;

use crate::cli::process::Exit;

/// Prints a line of the result.
pub(crate) fn print_line(line: &str) {
    let _ = writeln!(io::stdout(), "{}", printable(line));
}

/// Prints a line on standard error without a level.
pub(crate) fn print_beside(line: &str) {
    let _ = writeln!(io::stderr(), "{}", printable(line));
}

pub(crate) fn print_note(what: &str) {
    let _ = writeln!(io::stderr(), "note: {}", printable(what));
}

pub(crate) fn note_nothing_scheduled() {
    print_beside("No workload with a schedule found.");
}

/// Notes that a workload is defined again later in the files.
pub(crate) fn note_given_again(file: &str, workload: &ManifestWorkload) {
    let Location { line, column, .. } = workload.place;
    let object = workload.object.full_name();
    print_note(&format!(
        "{file}:{line}:{column}: {object} is given again later; the last one applies, as with kubectl apply"
    ));
}

/// Notes that Namespace defaults cannot be read, if that is the case.
pub(crate) fn note_unreadable(defaults: &NamespaceDefaults) {
    if let Some(resource) = Unreadable::namespaces(defaults) {
        print_note(&resource.to_string());
    }
}

/// Reports the resources that the user may not read and the workloads that do not exist. Returns
/// the exit status so far.
pub(crate) async fn left_alone(client: &Client, selection: &Selection) -> Exit {
    for resource in &selection.unreadable {
        print_error(resource);
    }
    for missing in &selection.missing {
        print_error(&with_hint(missing, suggest_workload(client, missing).await));
    }
    if selection.unreadable.is_empty() && selection.missing.is_empty() {
        Exit::Done
    } else {
        Exit::CouldNotRun
    }
}

/// An error with a hint behind it, if there is one.
pub(crate) fn with_hint(error: &impl ToString, hint: Option<String>) -> String {
    let hint = hint.map_or_else(String::new, |hint| format!("; {hint}"));
    error.to_string() + &hint
}

/// Reports namespaces that do not exist, with a hint for one, which can be a misspelled kind in `table`.
pub(crate) async fn missing_namespaces_text(
    client: &Client,
    missing: &[String],
    table: &KindTable,
) -> String {
    let hint = match missing {
        [name] => suggest_namespace(client, name, table).await,
        _ => None,
    };
    with_hint(&no_namespaces(missing), hint)
}

/// Adds to a text such as `there is nothing` that some of these resources are unreadable.
pub(crate) fn as_far_as_seen<T>(nothing: String, unreadable: &[T]) -> String {
    if unreadable.is_empty() {
        nothing
    } else {
        nothing + ", as far as you may read it"
    }
}

pub(crate) fn print_warning(what: &str) {
    let _ = writeln!(io::stderr(), "warning: {}", printable(what));
}

pub(crate) fn print_error(what: &impl ToString) {
    let _ = writeln!(io::stderr(), "error: {}", printable(&what.to_string()));
}

/// Asks the user on a terminal. Without a terminal the answer is yes, because a script cannot be asked.
pub(crate) fn confirm(question: &str) -> bool {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return true;
    }
    let _ = write!(io::stderr(), "{} [y/N] ", printable(question));
    let _ = io::stderr().flush();
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(&*answer.trim().to_lowercase(), "y" | "yes")
}
