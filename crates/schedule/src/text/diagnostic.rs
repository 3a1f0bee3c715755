//! What is wrong with a text, where, and what to write instead; and how long a text may be.
//!
//! What to write in place of a text that is refused.

use std::{borrow::Cow, fmt, ops::Range};

use dayshift_text::{cut_bytes, quote};

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
    pub(crate) fixed_help: Cow<'static, str>,
    pub(crate) advice: Option<Advice>,
    kind: DiagnosticKind,
}

/// A proposal, or what is needed to find one: most are never asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Advice {
    Known(Box<Proposal>),
    Search { grammar: Grammar, text: Box<str> },
}

/// The kind of text that was rejected, which decides how a proposal is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grammar {
    Times,
    Hours,
    ScaleSteps,
    Dates,
    /// Dates and calendars of any name.
    DatesAndCalendars,
    /// Treated dates and calendars of any name.
    TreatedDates,
    DateTime,
    Jitter,
    Grace,
    Notice,
}

/// What sort of thing is wrong, as far as a program has to tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DiagnosticKind {
    /// The text cannot be read.
    #[default]
    Text,
    /// The text is nothing like a date and time.
    NotADateTime,
    /// The calendars that are known rule the text out: with others it may be right.
    Calendar,
    /// It is not a text to the API server, but a number or a list.
    NotText,
    /// It is given twice.
    Duplicate,
    /// Another text excludes it.
    Conflict,
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

    /// Lets [`Self::proposal`] search for a text of this grammar, unless a proposal is known.
    pub(crate) fn in_grammar(self, grammar: Grammar, text: &str) -> Self {
        // Without offending words the text is empty or too long.
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

    /// What sort of thing is wrong.
    pub fn kind(&self) -> DiagnosticKind {
        self.kind
    }
}

/// Without a source: what is wrong is part of the message already.
impl std::error::Error for Diagnostic {}

/// What was meant by a text that is refused. Each text in it can be read where it is to stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proposal {
    /// Another text in place of some bytes.
    Replace {
        /// Which bytes of the rejected text: mostly one item.
        span: Range<usize>,
        /// What belongs there; nothing where they are too many.
        text: Box<str>,
    },
    /// Windows, in the annotation for hours.
    Hours(Box<str>),
    /// A window over several days, in the annotations for starts and stops.
    StartAndStop {
        /// When it begins.
        start: Box<str>,
        /// When it ends.
        stop: Box<str>,
    },
    /// Times with a zone, each in an annotation of its own.
    InZone {
        /// The times.
        times: Box<str>,
        /// The zone.
        timezone: Box<str>,
    },
}

/// The most characters of a proposal that a message repeats.
const SHOWN: usize = 60;

impl Proposal {
    /// Another text in place of all of it.
    pub fn replace_all(rejected: &str, text: &str) -> Self {
        Self::Replace {
            span: 0..rejected.len(),
            text: text.into(),
        }
    }

    /// The refused text with this in it; `None` where it belongs into other annotations.
    pub fn apply_to(&self, rejected: &str) -> Option<String> {
        let Self::Replace { span, text } = self else {
            return None;
        };
        let (before, after) = (rejected.get(..span.start)?, rejected.get(span.end..)?);
        Some(format!("{before}{text}{after}"))
    }

    /// Whether a message has room for it.
    pub(crate) fn is_short(&self) -> bool {
        let texts: [&str; 2] = match self {
            Self::Replace { text, .. } => [text, ""],
            Self::Hours(text) => [text, ""],
            Self::StartAndStop { start, stop } => [start, stop],
            Self::InZone { times, timezone } => [times, timezone],
        };
        texts.iter().map(|text| text.len()).sum::<usize>() <= SHOWN
    }
}

/// What to do, as a message says it.
impl fmt::Display for Proposal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Replace { text, .. } if text.is_empty() => f.write_str("remove it"),
            Self::Replace { text, .. } => write!(f, "write `{text}`"),
            Self::Hours(text) => write!(f, "write `{text}` in the hours annotation"),
            Self::StartAndStop { start, stop } => write!(
                f,
                "write `{start}` in the start annotation and `{stop}` in the stop annotation"
            ),
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
