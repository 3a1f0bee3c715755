//! Where a finding stands, in lines and columns, and the piece of its line that is shown.

use dayshift_manifest::{Finding, Location, SourceFile};
use dayshift_text::{cut_bytes, last_bytes};

/// The part of the first line of a finding that is at fault.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region<'s> {
    pub(crate) line: usize,
    /// From 1, in characters.
    pub(crate) column: usize,
    /// The column after the last one.
    pub(crate) end_column: usize,
    /// What stands before it in the line; only the end of it where that is long.
    pub(super) before: &'s str,
    pub(super) fault: &'s str,
    /// What stands after it; only the beginning where that is long.
    pub(super) after: &'s str,
    pub(super) cut_before: bool,
    pub(super) cut_after: bool,
}

/// How much of a line is shown on each side, in bytes: a file may be one line.
const AROUND: usize = 90;

impl<'s> Region<'s> {
    /// Where a finding is, and in which of the sources; `None` where it is in none.
    pub(crate) fn of<R>(
        finding: &Finding<R>,
        sources: &'s [SourceFile],
    ) -> Option<(&'s SourceFile, Self)> {
        let (source, place) = finding.place.as_ref()?;
        let source = sources.get(*source)?;
        Some((source, Self::at(place, source)))
    }

    fn at(place: &Location, source: &'s SourceFile) -> Self {
        let text = source.text();
        let (head, rest) = text
            .split_at_checked(place.span.start)
            .unwrap_or((text, ""));
        let length = place.span.end.saturating_sub(place.span.start);
        let fault = first_line(rest.get(..length).unwrap_or(rest));
        let near = last_bytes(head, AROUND);
        let before = near.rsplit('\n').next().unwrap_or_default();
        // With room for a character more, which tells whether there is any.
        let more = rest.get(fault.len()..).unwrap_or_default();
        let more = first_line(cut_bytes(more, AROUND + 4));
        let after = cut_bytes(more, AROUND);
        Self {
            line: place.line,
            column: place.column,
            end_column: place.column + fault.chars().count(),
            before,
            fault,
            after,
            cut_before: before.len() == near.len() && near.len() < head.len(),
            cut_after: after.len() < more.len(),
        }
    }
}

fn first_line(text: &str) -> &str {
    text.split('\n')
        .next()
        .unwrap_or_default()
        .trim_end_matches('\r')
}
