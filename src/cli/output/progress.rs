//! One line on the terminal that says how far long work has come.

use std::io::{self, IsTerminal as _, Write as _};

use super::terminal::moves_cursor;

/// A line on standard error, written over again and again. Only a terminal shows it.
#[derive(Debug)]
pub(crate) struct Progress {
    visible: bool,
    shown: bool,
}

impl Progress {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        Self {
            visible: io::stderr().is_terminal() && moves_cursor(),
            shown: false,
        }
    }

    /// Shows `text` in place of what was shown before.
    pub(crate) fn say(&mut self, text: &str) {
        if self.visible {
            // Where nobody reads, nobody misses it.
            let _ = write!(io::stderr(), "\r\u{1b}[K{text}");
            self.shown = true;
        }
    }

    /// Takes the line away, before something else is said.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(io::stderr(), "\r\u{1b}[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
