//! JSON values one after another, as `jq` writes and kubectl reads them. YAML has no such thing.

use granit_parser::{Marker, Span};
use serde::de::IgnoredAny;
use serde_json::Deserializer;

/// A part of a text that is YAML by itself, and what stands before it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Piece<'a> {
    pub(crate) text: &'a str,
    bytes: usize,
    chars: usize,
    lines: usize,
    /// In characters, of the line in which it begins.
    columns: usize,
}

/// A text whose JSON values follow each other without `---` comes apart before each but the first;
/// any other is one piece.
pub(crate) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = Piece {
        text,
        ..Piece::default()
    };
    if text.trim_start().starts_with('{') {
        let mut values = Deserializer::from_str(text).into_iter::<IgnoredAny>();
        while let Some(Ok(_)) = values.next() {
            let end = values.byte_offset();
            if text[end..].trim_start().starts_with('{') {
                let (piece, after) = rest.split(end - rest.bytes);
                pieces.push(piece);
                rest = after;
            }
        }
    }
    pieces.push(rest);
    pieces
}

impl<'a> Piece<'a> {
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

    /// Where in the whole text something stands that is at `marker` of this piece.
    pub(crate) fn place(&self, marker: Marker) -> Marker {
        let columns = if marker.line() == 1 { self.columns } else { 0 };
        Marker::new(
            self.chars + marker.index(),
            self.lines + marker.line(),
            columns + marker.col(),
        )
        .with_byte_offset(marker.byte_offset().map(|offset| self.bytes + offset))
    }

    /// The same of a stretch.
    pub(crate) fn span(&self, span: &Span) -> Span {
        Span::new(self.place(span.start), self.place(span.end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        pieces(text).iter().map(|piece| piece.text).collect()
    }

    #[test]
    fn json_values_come_apart_and_nothing_else_does() {
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
    fn what_stands_in_a_piece_is_placed_in_the_whole() {
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
