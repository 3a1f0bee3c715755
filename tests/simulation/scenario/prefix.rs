//! The prefix of dayshift's annotations and labels in the scenario of this thread.

use std::cell::RefCell;

/// The default prefix.
pub const USUAL: &str = "dayshift";

/// Another prefix that scenarios can have.
pub const OTHER: &str = "night.example.com";

thread_local! {
    static PREFIX: RefCell<String> = RefCell::new(USUAL.to_owned());
}

/// Sets the prefix for the scenario that begins.
pub fn begin(prefix: Option<&str>) {
    PREFIX.set(prefix.unwrap_or(USUAL).to_owned());
}

/// `dayshift`.
pub fn current() -> String {
    PREFIX.with_borrow(Clone::clone)
}

/// `dayshift/stop` for `stop`.
pub fn full(name: &str) -> String {
    PREFIX.with_borrow(|prefix| format!("{prefix}/{name}"))
}

/// `stop` for `dayshift/stop`; `None` for names without the prefix.
pub fn strip(full: &str) -> Option<&str> {
    let (prefix, name) = full.split_once('/')?;
    PREFIX.with_borrow(|own| own == prefix).then_some(name)
}
