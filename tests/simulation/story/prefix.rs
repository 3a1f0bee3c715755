//! The prefix of dayshift's annotations and labels in the story that this thread tells.

use std::cell::RefCell;

/// What it is where a story says nothing of it.
pub const USUAL: &str = "dayshift";

/// Another one that stories may have.
pub const OTHER: &str = "night.example.com";

thread_local! {
    static PREFIX: RefCell<String> = RefCell::new(USUAL.to_owned());
}

/// The story that begins has this one.
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

/// `stop` for `dayshift/stop`, and nothing for what stands under no prefix or another.
pub fn strip(full: &str) -> Option<&str> {
    let (prefix, name) = full.split_once('/')?;
    PREFIX.with_borrow(|own| own == prefix).then_some(name)
}
