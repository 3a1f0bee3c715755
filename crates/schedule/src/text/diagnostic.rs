//! What is wrong with a text, where, and what to write instead; and how long a text may be.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use dayshift_text::{cut_bytes, quote};

use crate::meant::meaning::Meant;

/// The longest text that is read, in bytes. Longer ones are refused unread.
pub const MAX_TEXT: usize = 4096;

/// The beginning of a text that is too long, which is too long as well; the whole of any other. An
/// object may have 256 KiB of annotations, and a cluster many objects: no more than this is kept.
pub fn cut_too_long(text: &str) -> &str {
    let end = (MAX_TEXT + 1..text.len()).find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(text.len())]
}

/// Whether a text is longer than what is read.
pub const fn is_too_long(text: &str) -> bool {
    text.len() > MAX_TEXT
}

/// Why a text is refused.
///
/// Its `Display` names the offending words, says what is wrong and gives a right example:
///
/// ```
/// use dayshift_schedule::Times;
///
/// let error = Times::parse("Mon-Fry 09:00").unwrap_err();
/// assert_eq!(error.span(), 4..7);
/// assert_eq!(error.message(), "`Fry` is not a day");
/// assert_eq!(error.to_string(), "`Fry` is not a day; write `Mon-Fri 09:00`");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    span: Range<usize>,
    found: Box<str>,
    wrong: Cow<'static, str>,
    help: Cow<'static, str>,
    advice: Option<Advice>,
    kind: DiagnosticKind,
}

/// What was meant, or how to find out: nobody may ever ask.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Advice {
    Known(Box<Meant>),
    Loose(Loose),
}

/// Finds what was meant by a text that is wrong at these bytes.
pub(crate) type LooseReader = fn(&str, Range<usize>) -> Option<Meant>;

/// A text that can be read loosely.
#[derive(Clone, Debug)]
struct Loose {
    read: LooseReader,
    text: Box<str>,
}

/// The same text with the same mistake is read by the same reader.
impl PartialEq for Loose {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Loose {}

/// What sort of thing is wrong, as far as a program has to tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DiagnosticKind {
    /// The text cannot be read.
    #[default]
    Text,
    /// The text is nothing like a date and time.
    NotAMoment,
    /// The calendars that are known rule the text out: with others it may be right.
    Calendar,
    /// It is not a text to the API server, but a number or a list.
    NotText,
    /// It is given twice.
    Twice,
    /// Another text excludes it.
    Beside,
    /// The text may be right, but the object is not one that can be scaled with it.
    Object,
}

impl Diagnostic {
    /// `wrong` goes on after the offending words `found`, which may be none, as in "is not a day".
    /// `help` is what to do about it.
    pub fn new(
        span: Range<usize>,
        found: &str,
        wrong: impl Into<Cow<'static, str>>,
        help: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            span,
            found: quote(found).into(),
            wrong: wrong.into(),
            help: help.into(),
            advice: None,
            kind: DiagnosticKind::Text,
        }
    }

    /// The same with what was meant by the text.
    pub fn meaning(self, meant: Option<Meant>) -> Self {
        let advice = meant.map(|meant| Advice::Known(Box::new(meant)));
        Self { advice, ..self }
    }

    /// The same where the text is read loosely once somebody asks what was meant by it.
    pub(crate) fn read_by(self, read: LooseReader, text: &str) -> Self {
        // An error without words is about a text of which there is none, or too much.
        if self.found.is_empty() || self.advice.is_some() {
            return self;
        }
        let advice = Some(Advice::Loose(Loose {
            read,
            text: text.into(),
        }));
        Self { advice, ..self }
    }

    /// The same of another kind.
    pub fn of_kind(self, kind: DiagnosticKind) -> Self {
        Self { kind, ..self }
    }

    /// The refusal of a text that [is too long](is_too_long).
    pub fn too_long(text: &str) -> Self {
        let read = cut_bytes(text, MAX_TEXT).len();
        let wrong = format!("the text is longer than the {MAX_TEXT} bytes that are read");
        Self::new(read..text.len(), "", wrong, "shorten it")
    }

    /// Bytes of the parsed text that are at fault: on character boundaries, and as narrow as the
    /// word or field. Empty only where the whole text is.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// What is wrong, beginning with the offending words.
    pub fn message(&self) -> String {
        match &*self.found {
            "" => self.wrong.to_string(),
            found => format!("`{found}` {}", self.wrong),
        }
    }

    /// What to do: to write what was meant, where that is clear and short.
    pub fn help(&self) -> String {
        let meant = self.meant().filter(Meant::is_short);
        meant.map_or_else(|| self.help.to_string(), |meant| meant.to_string())
    }

    /// What was meant by the text, where that is clear. The text is read again each time.
    pub fn meant(&self) -> Option<Meant> {
        match self.advice.as_ref()? {
            Advice::Known(meant) => Some((**meant).clone()),
            Advice::Loose(loose) => (loose.read)(&loose.text, self.span()),
        }
    }

    /// What sort of thing is wrong.
    pub fn kind(&self) -> DiagnosticKind {
        self.kind
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message(), self.help())
    }
}

/// Without a source: what is wrong is part of the message already.
impl std::error::Error for Diagnostic {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_text_too_long_is_too_long_and_ends_between_characters() {
        for letter in ["x", "é", "日", "🌙"] {
            let text = letter.repeat(5000);
            let beginning = cut_too_long(&text);
            assert!((MAX_TEXT + 1..MAX_TEXT + 5).contains(&beginning.len()));
            assert!(is_too_long(beginning));
        }
        for read in ["", "09:00", &"x".repeat(MAX_TEXT)] {
            assert!(!is_too_long(read) && cut_too_long(read) == read);
        }
    }
}
