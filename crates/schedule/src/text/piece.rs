//! Slices of annotation text that know their byte position, so that errors can point at them.

use std::{borrow::Cow, ops::Range};

use crate::text::diagnostic::{Diagnostic, Proposal, is_too_long, unread_bytes};

/// A slice of some text, with its position there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece<'a> {
    whole: &'a str,
    start: usize,
    end: usize,
}

impl<'a> Piece<'a> {
    /// The text without surrounding blanks.
    ///
    /// # Errors
    /// The text is empty or longer than [`MAX_TEXT`](crate::MAX_TEXT).
    pub(crate) fn whole(text: &'a str, example: &'static str) -> Result<Self, Diagnostic> {
        if is_too_long(text) {
            return Err(Diagnostic::too_long(unread_bytes(text)));
        }
        let trimmed = Self {
            whole: text,
            start: 0,
            end: text.len(),
        }
        .trim();
        if trimmed.text().is_empty() {
            return Err(empty(text, example));
        }
        Ok(trimmed)
    }

    /// The items between the `;` of `text`, without surrounding blanks. An empty item is an error.
    pub(crate) fn items(
        text: &'a str,
        example: &'static str,
    ) -> Result<impl Iterator<Item = Result<Self, Diagnostic>>, Diagnostic> {
        Self::whole(text, example)?;
        let whole = Self {
            whole: text,
            start: 0,
            end: text.len(),
        };
        Ok(whole.split(';').map(move |item| {
            let trimmed = item.trim();
            if !trimmed.text().is_empty() {
                return Ok(trimmed);
            }
            // If the text has only blanks and `;`, point at all of it.
            if text
                .chars()
                .all(|character| character == ';' || character.is_whitespace())
            {
                return Err(empty(text, example));
            }
            // Point at the blank item and the `;` that creates it.
            let span = if item.end < text.len() {
                item.start..item.end + 1
            } else {
                item.start.saturating_sub(1)..item.end
            };
            let remove = Proposal::Replace {
                span: span.clone(),
                text: "".into(),
            };
            let error = Diagnostic::new(span, ";", "has no item on one side", "remove it");
            Err(error.with_proposal(Some(remove)))
        }))
    }

    pub(crate) fn text(self) -> &'a str {
        self.whole.get(self.start..self.end).unwrap_or_default()
    }

    pub(crate) fn span(self) -> Range<usize> {
        self.start..self.end
    }

    /// An error that points at this piece.
    pub(crate) fn error(
        self,
        wrong: impl Into<Cow<'static, str>>,
        help: impl Into<Cow<'static, str>>,
    ) -> Diagnostic {
        Diagnostic::new(self.span(), self.text(), wrong, help)
    }

    /// The given bytes of this piece, which must be on character boundaries.
    pub(crate) fn part(self, range: Range<usize>) -> Self {
        Self {
            start: self.start + range.start,
            end: self.start + range.end,
            ..self
        }
    }

    /// From the start of this piece to the end of `last`, a later piece of the same text.
    pub(crate) fn to(self, last: Self) -> Self {
        Self {
            end: last.end,
            ..self
        }
    }

    pub(crate) fn trim(self) -> Self {
        let text = self.text();
        let left = text.len() - text.trim_start().len();
        self.part(left..left + text.trim().len())
    }

    /// The pieces between the separators, including empty ones.
    pub(crate) fn split(self, separator: char) -> impl Iterator<Item = Self> {
        let mut rest = Some(self);
        std::iter::from_fn(move || {
            let piece = rest?;
            let at = piece.text().find(separator);
            let after = at.map(|at| at + separator.len_utf8());
            rest = after.map(|at| piece.part(at..piece.end - piece.start));
            Some(at.map_or(piece, |at| piece.part(0..at)))
        })
    }

    /// The pieces before and after the first `separator`.
    pub(crate) fn split_once(self, separator: &str) -> Option<(Self, Self)> {
        let at = self.text().find(separator)?;
        let rest = Self {
            start: self.start + at + separator.len(),
            ..self
        };
        Some((self.part(0..at), rest))
    }

    /// The words between blanks.
    pub(crate) fn words(self) -> impl Iterator<Item = Self> {
        let mut rest = self;
        std::iter::from_fn(move || {
            let text = rest.text();
            let begin = text.len() - text.trim_start().len();
            let word = text.get(begin..)?.split(char::is_whitespace).next()?;
            let end = begin + word.len();
            let found = rest.part(begin..end);
            rest = rest.part(end..text.len());
            (begin < end).then_some(found)
        })
    }
}

fn empty(text: &str, example: &str) -> Diagnostic {
    let help = format!("write for example `{example}`");
    Diagnostic::new(0..text.len(), "", "the value is empty", help)
}

/// Parses a list into the items that [`list_items`] returns. `example` is a correct list.
///
/// # Errors
/// The list or an item is empty, or the text is too long. The span is in bytes of the text.
pub fn parse_items<'t>(
    text: &'t str,
    example: &'static str,
) -> Result<Vec<(Range<usize>, &'t str)>, Diagnostic> {
    Piece::items(text, example)?
        .map(|item| item.map(|piece| (piece.span(), piece.text())))
        .collect()
}

/// The items between the `;` of a list, without surrounding blanks, and their byte positions. A
/// list that is empty or too long has no items.
pub fn list_items(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    Piece::items(text, "")
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .map(|item| (item.span(), item.text()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(text: &str) -> Vec<Range<usize>> {
        Piece::items(text, "09:00")
            .unwrap()
            .map(|item| item.unwrap().span())
            .collect()
    }

    #[test]
    fn items_have_their_byte_positions() {
        for (text, expected) in [
            ("9;10", vec![0..1, 2..4]),
            (" 09:00 ;10:00", vec![1..6, 8..13]),
            ("月曜; é", vec![0..6, 8..10]),
        ] {
            assert_eq!(spans(text), expected, "{text}");
        }
        let words: Vec<_> = Piece::whole("月曜  09:00\t é", "")
            .unwrap()
            .words()
            .map(Piece::span)
            .collect();
        assert_eq!(words, [0..6, 8..13, 15..17]);
    }

    #[test]
    fn empty_text_or_item_is_an_error() {
        for (text, expected) in [
            ("", 0..0),
            ("  ", 0..2),
            (";", 0..1),
            ("é; ", 2..4),
            ("é; ;x", 3..5),
            (";x", 0..1),
        ] {
            let error = match Piece::items(text, "09:00") {
                Err(error) => error,
                Ok(items) => items.collect::<Result<Vec<_>, _>>().unwrap_err(),
            };
            assert_eq!(error.span(), expected, "{text:?}");
            let message = if text.contains(['x', 'é']) {
                "`;` has no item on one side; remove it"
            } else {
                "the value is empty; write for example `09:00`"
            };
            assert_eq!(error.to_string(), message);
        }
    }

    #[test]
    fn text_beyond_the_maximum_length_is_an_error() {
        use crate::MAX_TEXT;
        let text = format!("{}日", "x".repeat(MAX_TEXT - 1));
        let error = Piece::whole(&text, "").unwrap_err();
        assert_eq!(error.span(), MAX_TEXT - 1..MAX_TEXT + 2);
        assert_eq!(
            error.to_string(),
            "the text is longer than the 4096 bytes that are read; shorten it"
        );
        assert!(Piece::whole(&text[..MAX_TEXT - 1], "").is_ok());
    }
}
