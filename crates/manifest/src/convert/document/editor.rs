//! Where things stand in the text of a file.

use std::ops::Range;

use crate::manifest::{Entry, Node};

/// What cannot be changed by position: an alias, a merge, an anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotEditable(pub(crate) &'static str);

/// The text of a file that is changed.
pub(super) struct Editor<'t> {
    pub(super) text: &'t str,
}

impl Editor<'_> {
    pub(super) fn slice(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }

    /// Refuses an entry whose value does not stand behind its key, or that others may name.
    pub(super) fn check_own(&self, entry: &Entry<'_>) -> Result<(), NotEditable> {
        if entry.merged {
            return Err(NotEditable("a `<<` brings it in from another object"));
        }
        let (key, value) = (&entry.key.place.span, &entry.value.place.span);
        if value.is_empty() {
            return Ok(());
        }
        if value.start < key.end {
            return Err(NotEditable("it is an alias of another place"));
        }
        let between = self.slice(key.end..value.start).trim_start();
        let Some(between) = between.strip_prefix(':') else {
            return Err(NotEditable(
                "convert does not change the form of YAML in which it is written",
            ));
        };
        let is_map = entry.value.what() == "a map";
        let mut lines = between
            .lines()
            .map(|it| it.split('#').next().unwrap_or_default());
        if lines.any(|it| it.contains('&')) || !is_map && between.contains('#') {
            return Err(NotEditable(
                "an anchor or a comment stands before its value",
            ));
        }
        Ok(())
    }

    /// From the key to the end of the value, without blanks at the end.
    pub(super) fn range(&self, entry: &Entry<'_>) -> Result<Range<usize>, NotEditable> {
        self.check_own(entry)?;
        let key = &entry.key.place.span;
        let value = &entry.value.place.span;
        let whole = self.slice(key.start..value.end.max(key.end)).trim_end();
        let mut end = key.start + whole.len();
        if value.is_empty() {
            let rest = self.slice(key.end..self.text.len());
            let colon = rest.find(':').filter(|at| rest[..*at].trim().is_empty());
            end = key.end + colon.map_or(0, |at| at + 1);
        }
        Ok(key.start..end.max(key.end))
    }

    pub(super) fn line_start(&self, at: usize) -> usize {
        self.slice(0..at).rfind('\n').map_or(0, |it| it + 1)
    }

    /// What stands before a place in its line.
    pub(super) fn before(&self, at: usize) -> &str {
        self.slice(self.line_start(at)..at)
    }

    pub(super) fn line_end(&self, at: usize) -> usize {
        let rest = self.slice(at..self.text.len());
        at + rest.find('\n').unwrap_or(rest.len())
    }

    pub(super) fn newline(&self, at: usize) -> &'static str {
        let end = self.line_end(at);
        let previous = self.slice(0..self.line_start(at));
        if self.slice(at..end).ends_with('\r') || previous.ends_with("\r\n") {
            "\r\n"
        } else {
            "\n"
        }
    }

    pub(super) fn is_flow(&self, map: &Node<'_>) -> bool {
        self.slice(map.place.span.clone()).starts_with('{')
    }

    /// What stands between two entries of a map, of which one begins at `at`.
    pub(super) fn separator(&self, at: usize, is_flow: bool) -> String {
        let before = self.before(at);
        let is_first = before.trim().is_empty();
        match (is_flow, is_first) {
            (true, true) => format!(",{}{before}", self.newline(at)),
            (true, false) => ", ".to_owned(),
            (false, _) => format!("{}{}", self.newline(at), " ".repeat(before.chars().count())),
        }
    }
}
