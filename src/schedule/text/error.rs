//! What is wrong with a text, where, and what to write instead.

use std::fmt;
use std::ops::Range;

use super::length::MAX_TEXT;
use super::reason::TextReason;
use crate::schedule::meant::meaning::Meant;
use crate::text::{cut_bytes, quote};

/// Why a text of a schedule is refused.
///
/// Its `Display` names the offending words, says what is wrong and gives a right example:
///
/// ```
/// use dayshift::schedule::Times;
///
/// let error = Times::parse("Mon-Fry 09:00").unwrap_err();
/// assert_eq!(error.span(), 4..7);
/// assert_eq!(error.to_string(), "`Fry` is not a day; write `Mon-Fri 09:00`");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    span: Range<usize>,
    found: Box<str>,
    reason: TextReason,
    meant: Option<Box<Meant>>,
}

impl TextError {
    pub(in crate::schedule) fn new(span: Range<usize>, found: &str, reason: TextReason) -> Self {
        Self {
            span,
            found: quote(found).into(),
            reason,
            meant: None,
        }
    }

    /// The same with what was meant by the text.
    pub(in crate::schedule) fn meaning(self, meant: Option<Meant>) -> Self {
        let meant = meant.map(Box::new);
        Self { meant, ..self }
    }

    /// The refusal of a text that [is too long](super::length::is_too_long).
    pub(crate) fn too_long(text: &str) -> Self {
        let read = cut_bytes(text, MAX_TEXT).len();
        Self::new(read..text.len(), "", TextReason::TooLong)
    }

    /// Bytes of the parsed text that are at fault: on character boundaries, and as narrow as the
    /// word or field. Empty only where the whole text is.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// What is wrong, as a type.
    pub fn reason(&self) -> &TextReason {
        &self.reason
    }

    /// What was meant by the text, where that is clear.
    pub fn meant(&self) -> Option<&Meant> {
        self.meant.as_deref()
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.found.is_empty() {
            write!(f, "`{}` ", self.found)?;
        }
        match self.meant().filter(|meant| meant.is_short()) {
            Some(meant) => write!(f, "{}; {meant}", self.reason.problem()),
            None => self.reason.fmt(f),
        }
    }
}

/// Without a source: what the reason says is part of the message already.
impl std::error::Error for TextError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_without_a_word_begins_with_its_reason() {
        let error = TextError::new(0..0, "", TextReason::Empty { example: "09:00" });
        assert_eq!(
            error.to_string(),
            "the value is empty; write for example `09:00`"
        );
    }
}
