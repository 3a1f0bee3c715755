//! Diagnostics: why text was rejected, at which bytes, and how to correct it.
//!
//! A [`Diagnostic`] contains a [`Proposal`], or the [`Grammar`] with which `crate::proposals`
//! searches for one when a caller asks. This module also defines the maximum length of text.

use std::{borrow::Cow, fmt, ops::Range};

use dayshift_text::{cut_bytes, quote};

/// The maximum length of text, in bytes. Longer text is rejected without being parsed.
pub const MAX_TEXT: usize = 4096;

/// Cuts text that is too long to a prefix that is still too long, and returns other text
/// unchanged.
///
/// Use this before you store annotations: an object can have 256 KiB of them, and a cluster has
/// many objects.
pub fn cut_too_long(text: &str) -> &str {
    cut_beyond(text, MAX_TEXT)
}

/// Cuts text that is longer than `max` bytes to a prefix that is still longer, and returns other
/// text unchanged.
pub fn cut_beyond(text: &str, max: usize) -> &str {
    let end = (max + 1..text.len()).find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(text.len())]
}

/// The bytes of a text that are not read because it [is too long](is_too_long), on character
/// boundaries.
pub fn unread_bytes(text: &str) -> Range<usize> {
    cut_bytes(text, MAX_TEXT).len()..text.len()
}

/// Whether the text exceeds [`MAX_TEXT`].
pub const fn is_too_long(text: &str) -> bool {
    text.len() > MAX_TEXT
}

/// Why text was rejected.
///
/// `Display` quotes the offending words, explains the mistake and gives a correct example:
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
    pub(crate) fixed_help: Cow<'static, str>,
    pub(crate) advice: Option<Advice>,
    kind: DiagnosticKind,
}

/// A proposal, or the input of the search for one. Most callers never ask, so the search is
/// deferred.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Advice {
    Known(Box<Proposal>),
    Search { grammar: Grammar, text: Box<str> },
}

/// The grammar that rejected the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grammar {
    Times,
    Hours,
    ScaleSteps,
    Dates,
    /// Dates, and calendars of any name.
    DatesAndCalendars,
    /// Treated dates, and calendars of any name.
    TreatedDates,
    DateTime,
    Jitter,
    Grace,
    Notice,
    StopAfter,
}

/// The kind of mistake, for code that must distinguish them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DiagnosticKind {
    /// The text cannot be parsed.
    #[default]
    Text,
    /// The text does not resemble a date and time.
    NotADateTime,
    /// The known calendars do not allow the text. It might be valid with other calendars.
    Calendar,
    /// The known named schedules do not include the name. It might be valid with another file.
    Schedules,
    /// The value is a number or a list instead of a string.
    NotText,
    /// The annotation is given twice.
    Duplicate,
    /// Another annotation excludes this one.
    Conflict,
    /// The text might be valid, but the object cannot be scaled with it.
    Object,
}

impl Diagnostic {
    /// `wrong` continues the sentence after the offending words `found`, for example "is not a
    /// day". If `found` is empty, `wrong` is the whole message. `help` is an imperative clause.
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
            fixed_help: help.into(),
            advice: None,
            kind: DiagnosticKind::Text,
        }
    }

    /// Replaces the proposal.
    #[must_use]
    pub fn with_proposal(self, proposal: Option<Proposal>) -> Self {
        let advice = proposal.map(|proposal| Advice::Known(Box::new(proposal)));
        Self { advice, ..self }
    }

    /// Makes [`Self::proposal`] search with this grammar, unless a proposal is known.
    pub(crate) fn in_grammar(self, grammar: Grammar, text: &str) -> Self {
        // If there are no offending words, the text is empty or too long.
        if self.found.is_empty() || self.advice.is_some() {
            return self;
        }
        let text = text.into();
        let advice = Some(Advice::Search { grammar, text });
        Self { advice, ..self }
    }

    /// Replaces the kind, which is [`DiagnosticKind::Text`] otherwise.
    #[must_use]
    pub fn with_kind(self, kind: DiagnosticKind) -> Self {
        Self { kind, ..self }
    }

    /// The error for text that [is too long](is_too_long).
    ///
    /// `unread` are the bytes that are not read: see [`unread_bytes`].
    pub fn too_long(unread: Range<usize>) -> Self {
        let wrong = format!("the text is longer than the {MAX_TEXT} bytes that are read");
        Self::new(unread, "", wrong, "shorten it")
    }

    /// The offending bytes of the parsed text, on character boundaries and as narrow as the word
    /// or field. Empty only if the text is empty.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The mistake without the remedy, starting with the offending words.
    pub fn message(&self) -> String {
        match &*self.found {
            "" => self.wrong.to_string(),
            found => format!("`{found}` {}", self.wrong),
        }
    }

    /// The kind of mistake, for code that must distinguish them.
    pub fn kind(&self) -> DiagnosticKind {
        self.kind
    }
}

/// There is no source: the message already contains the cause.
impl std::error::Error for Diagnostic {}

/// The intended text. It is valid wherever the proposal puts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proposal {
    /// Replaces some bytes of the rejected text.
    Replace {
        /// The bytes to replace, usually one item.
        span: Range<usize>,
        /// The replacement; empty if the bytes should be removed.
        text: Box<str>,
    },
    /// Windows, which belong in the `hours` annotation.
    Hours(Box<str>),
    /// Times and a zone, which belong in separate annotations.
    InZone {
        /// The times, without the zone.
        times: Box<str>,
        /// The value of the `timezone` annotation.
        timezone: Box<str>,
    },
}

/// The maximum length of a proposal that a message contains, in bytes.
const SHOWN: usize = 60;

impl Proposal {
    /// Replaces the whole text.
    pub fn replace_all(rejected: &str, text: &str) -> Self {
        Self::Replace {
            span: 0..rejected.len(),
            text: text.into(),
        }
    }

    /// The corrected text; `None` if the proposal belongs in other annotations.
    pub fn apply_to(&self, rejected: &str) -> Option<String> {
        let Self::Replace { span, text } = self else {
            return None;
        };
        let (before, after) = (rejected.get(..span.start)?, rejected.get(span.end..)?);
        Some(format!("{before}{text}{after}"))
    }

    /// Whether a message has room for the proposal.
    pub(crate) fn is_short(&self) -> bool {
        let texts: [&str; 2] = match self {
            Self::Replace { text, .. } => [text, ""],
            Self::Hours(text) => [text, ""],
            Self::InZone { times, timezone } => [times, timezone],
        };
        texts.iter().map(|text| text.len()).sum::<usize>() <= SHOWN
    }
}

/// An imperative clause, as in an error message.
impl fmt::Display for Proposal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Replace { text, .. } if text.is_empty() => f.write_str("remove it"),
            Self::Replace { text, .. } => write!(f, "write `{text}`"),
            Self::Hours(text) => write!(f, "write `{text}` in the hours annotation"),
            Self::InZone { times, timezone } => write!(
                f,
                "write `{times}`, and `{timezone}` in the timezone annotation"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_between_characters_and_is_still_too_long() {
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
