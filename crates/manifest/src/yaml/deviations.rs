//! Input that kubectl accepts and YAML 1.2 does not: JSON values that follow each other without a
//! separator, as `jq` writes them, and quoted strings whose continuation lines are not indented
//! (production 69), as in manifests in use.

use std::{collections::BTreeMap, iter};

use granit_parser::{ErrorKind, Event, Marker, Options, Parser, ScalarStyle, ScanError, Span};
use serde::de::IgnoredAny;
use serde_json::Deserializer;

/// A part of a text that is YAML by itself, and its offsets in the whole text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StreamPiece<'a> {
    pub(crate) text: &'a str,
    bytes: usize,
    chars: usize,
    lines: usize,
    /// In characters, within the line in which it begins.
    columns: usize,
}

/// Splits a text before each JSON value that follows another one without `---`. Any other text is
/// one piece.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = StreamPiece<'_>> {
    let is_json = text.trim_start().starts_with('{');
    let values = Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let mut values = is_json.then_some(values);
    let mut rest = Some(StreamPiece {
        text,
        ..StreamPiece::default()
    });
    iter::from_fn(move || {
        while let Some(values) = &mut values
            && let Some(Ok(_)) = values.next()
        {
            let end = values.byte_offset();
            if text[end..].trim_start().starts_with('{') {
                let whole = rest.take()?;
                let (piece, after) = whole.split(end - whole.bytes);
                rest = Some(after);
                return Some(piece);
            }
        }
        values = None;
        rest.take()
    })
}

impl<'a> StreamPiece<'a> {
    fn split(self, at: usize) -> (Self, Self) {
        let (text, after) = self.text.split_at(at);
        let in_last_line = text.rfind('\n').map_or(self.columns, |_| 0)
            + text.rsplit('\n').next().unwrap_or_default().chars().count();
        let after = Self {
            text: after,
            bytes: self.bytes + at,
            chars: self.chars + text.chars().count(),
            lines: self.lines + text.matches('\n').count(),
            columns: in_last_line,
        };
        (Self { text, ..self }, after)
    }

    /// Maps a marker of this piece to the whole text.
    pub(crate) fn place(&self, marker: Marker) -> Marker {
        let columns = if marker.line() == 1 { self.columns } else { 0 };
        Marker::new(
            self.chars + marker.index(),
            self.lines + marker.line(),
            columns + marker.col(),
        )
        .with_byte_offset(marker.byte_offset().map(|offset| self.bytes + offset))
    }

    /// Maps a span of this piece to the whole text.
    pub(crate) fn span(&self, span: &Span) -> Span {
        Span::new(self.place(span.start), self.place(span.end))
    }
}

/// A text whose unindented continuation lines are indented. The indentation is not part of the
/// quoted string, so the meaning stays the same.
#[derive(Debug)]
pub(crate) struct Indented {
    pub(crate) text: String,
    /// For each indented line its number from 1, the number of inserted spaces, and the number of
    /// spaces inserted above it.
    spaces: Vec<(usize, usize, usize)>,
}

/// The numbers of spaces to try before a line. The first is more than any usual indentation, and the
/// second is the maximum.
const STEPS: [usize; 2] = [64, 4096];

/// The maximum number of bytes to process for all such lines of one text.
const MAX_WORK: usize = 64 << 20;

impl Indented {
    /// Indents the lines that the parser's error complains about. `None` if the error is another
    /// one, or if the lines are not in quotes.
    pub(crate) fn repair(text: &str, options: &Options, error: &ScanError) -> Option<Self> {
        let lines: Vec<_> = text.split_inclusive('\n').collect();
        let mut spaces = BTreeMap::new();
        let mut work = MAX_WORK;
        let mut first = wants_indentation(error)?;
        loop {
            indent(&mut spaces, &lines, first)?;
            let text = written(&spaces, &lines);
            work = work.checked_sub(text.len())?;
            let (quoted, error) = quoted_lines(&text, options);
            let Some(next) = error.as_ref().and_then(wants_indentation) else {
                let is_quoted = |line: &usize| {
                    let at = quoted.partition_point(|(begin, _)| begin < line);
                    let last = at.checked_sub(1).and_then(|at| quoted.get(at));
                    last.is_some_and(|(_, end)| line <= end)
                };
                let mut above = 0;
                let each = spaces.iter().map(|(line, spaces)| {
                    above += spaces;
                    (*line, *spaces, above - spaces)
                });
                let spaces_of = each.collect();
                return spaces.keys().all(is_quoted).then_some(Self {
                    text,
                    spaces: spaces_of,
                });
            };
            first = next;
        }
    }

    /// Maps a marker of this text to the original one.
    pub(crate) fn place(&self, marker: Marker) -> Marker {
        let (line, column) = (marker.line(), marker.col());
        let after = self.spaces.partition_point(|spaces| spaces.0 <= line);
        let last = after.checked_sub(1).and_then(|at| self.spaces.get(at));
        let (here, above) = match last {
            Some(&(at, spaces, above)) if at == line => (spaces.min(column), above),
            Some(&(_, spaces, above)) => (0, above + spaces),
            None => (0, 0),
        };
        let more = above + here;
        Marker::new(marker.index().saturating_sub(more), line, column - here).with_byte_offset(
            marker
                .byte_offset()
                .map(|offset| offset.saturating_sub(more)),
        )
    }

    /// Maps a span of this text to the original one.
    pub(crate) fn span(&self, span: &Span) -> Span {
        Span::new(self.place(span.start), self.place(span.end))
    }
}

/// Indents a line and those after it up to the next one with a quote, at which the string can end.
fn indent(spaces: &mut BTreeMap<usize, usize>, lines: &[&str], first: usize) -> Option<()> {
    let known = spaces.get(&first).copied().unwrap_or_default();
    let more = STEPS.into_iter().find(|step| *step > known)?;
    let from = lines.iter().enumerate().skip(first.checked_sub(1)?);
    for (at, line) in from {
        if line.starts_with("---") || line.starts_with("...") {
            break;
        }
        if !line.trim().is_empty() {
            spaces.insert(at + 1, more);
        }
        if line.contains(['"', '\'']) {
            break;
        }
    }
    spaces.contains_key(&first).then_some(())
}

fn written(spaces: &BTreeMap<usize, usize>, lines: &[&str]) -> String {
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        let spaces = spaces.get(&(at + 1)).copied().unwrap_or_default();
        text.extend(iter::repeat_n(' ', spaces));
        text += line;
    }
    text
}

/// The line that the parser requires to be indented.
fn wants_indentation(error: &ScanError) -> Option<usize> {
    matches!(
        error.kind(),
        ErrorKind::InvalidQuotedScalarIndent | ErrorKind::TabInIndentation
    )
    .then(|| error.marker().line())
}

/// The first and last lines of multi-line quoted strings, and the error that ended the text.
fn quoted_lines(text: &str, options: &Options) -> (Vec<(usize, usize)>, Option<ScanError>) {
    let mut quoted = Vec::new();
    for next in Parser::new_from_str_with_options(text, options.clone()) {
        match next {
            Ok((Event::Scalar(_, style, ..), span)) => {
                let is_quoted =
                    matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted);
                let (begin, end) = (span.start.line(), span.end.line());
                if is_quoted && begin < end {
                    quoted.push((begin, end));
                }
            }
            Ok(_) => {}
            Err(error) => return (quoted, Some(error)),
        }
    }
    (quoted, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        pieces(text).map(|piece| piece.text).collect()
    }

    #[test]
    fn splits_only_json_values() {
        for (text, expected) in [
            ("", &[""][..]),
            ("a: 1\n---\nb: 2", &["a: 1\n---\nb: 2"]),
            ("{\"a\": 1}\n", &["{\"a\": 1}\n"]),
            (
                "{\"a\":1}\n{\"b\":\"}{\"}\n",
                &["{\"a\":1}", "\n{\"b\":\"}{\"}\n"],
            ),
            ("{}{} {}", &["{}", "{}", " {}"]),
            ("{}\n---\n{}", &["{}\n---\n{}"]),
            ("{}\n{}\n---\n{}", &["{}", "\n{}\n---\n{}"]),
            ("{}\n{a: 1}\n{}", &["{}", "\n{a: 1}\n{}"]),
            ("{a: {b: 1}}", &["{a: {b: 1}}"]),
            ("{} x", &["{} x"]),
        ] {
            assert_eq!(texts(text), expected, "{text:?}");
        }
    }

    #[test]
    fn maps_a_piece_to_the_whole_text() {
        let text = "{\n \"é\": 1} {\"b\": 2}\n\n{\n \"c\": 3}";
        for piece in pieces(text) {
            for (index, (offset, char)) in piece.text.char_indices().enumerate() {
                let before = &piece.text[..offset];
                let line = 1 + before.matches('\n').count();
                let column = before.rsplit('\n').next().unwrap().chars().count();
                let marker = Marker::new(index, line, column).with_byte_offset(Some(offset));
                let place = piece.place(marker);
                let byte = place.byte_offset().unwrap();
                assert!(text[byte..].starts_with(char));
                assert_eq!(text[..byte].chars().count(), place.index());
                assert_eq!(1 + text[..byte].matches('\n').count(), place.line());
                let line = text[..byte].rsplit('\n').next().unwrap();
                assert_eq!(line.chars().count(), place.col());
            }
        }
    }
}
