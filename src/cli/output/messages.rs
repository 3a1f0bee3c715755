//! Lines for the reader. Where nobody reads, nobody misses them.

use std::io::{self, Write as _};

use crate::text::printable;

/// A line of the result.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stdout(), "{}", printable(line));
}

/// A line beside the result.
pub(crate) fn remark(what: &str) {
    let _ = writeln!(io::stderr(), "note: {}", printable(what));
}

/// A line about what went wrong.
pub(crate) fn complain(what: &impl ToString) {
    let _ = writeln!(io::stderr(), "error: {}", printable(&what.to_string()));
}
