//! Where something stands in a file.

use std::ops::Range;

use granit_parser::{Marker, Span};

/// A piece of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The line in which it begins, from 1.
    pub line: usize,
    /// The column in which it begins, from 1, in characters.
    pub column: usize,
    /// Its bytes in the file.
    pub span: Range<usize>,
}

impl Location {
    pub(crate) fn new(start: Marker, end: Marker) -> Self {
        let from = start.byte_offset().unwrap_or_default();
        Self {
            line: start.line(),
            column: start.col() + 1,
            span: from..end.byte_offset().unwrap_or_default().max(from),
        }
    }

    pub(crate) fn of(span: &Span) -> Self {
        Self::new(span.start, span.end)
    }
}
