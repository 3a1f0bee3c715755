//! Annotation text: pieces that know their byte position, tokens, and diagnostics that point at a
//! mistake.
//!
//! A [`Diagnostic`] contains a [`Proposal`], or the [`Grammar`] with which `crate::proposals`
//! searches for one when a caller asks.

use std::{borrow::Cow, fmt, ops::Range};

use dayshift_text::{cut_bytes, is_unprintable, quote};

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Word,
    Dash,
    Comma,
}

/// The tokens of one item that have not been consumed.
pub(crate) struct Tokens<'a> {
    rest: Piece<'a>,
    example: &'static str,
}

/// Whether editors and chat programs insert this character instead of `-`.
fn is_foreign_dash(character: char) -> bool {
    matches!(
        character,
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}'
    )
}

fn ends_word(character: char) -> bool {
    character.is_whitespace() || matches!(character, '-' | ',') || is_foreign_dash(character)
}

impl<'a> Tokens<'a> {
    /// `example` is a correct item for error messages.
    pub(crate) fn new(item: Piece<'a>, example: &'static str) -> Self {
        Self {
            rest: item.trim(),
            example,
        }
    }

    /// The next token, without consuming it.
    ///
    /// # Errors
    /// The token is a foreign dash.
    pub(crate) fn peek(&self) -> Result<Option<(TokenKind, Piece<'a>)>, Diagnostic> {
        let text = self.rest.text();
        let Some(first) = text.chars().next() else {
            return Ok(None);
        };
        let mark = self.rest.part(0..first.len_utf8());
        Ok(Some(match first {
            '-' => (TokenKind::Dash, mark),
            ',' => (TokenKind::Comma, mark),
            _ if is_foreign_dash(first) => {
                return Err(mark.error("is not the plain `-` of the keyboard", self.example_help()));
            }
            _ => {
                let end = text.find(ends_word).unwrap_or(text.len());
                (TokenKind::Word, self.rest.part(0..end))
            }
        }))
    }

    pub(crate) fn advance(&mut self, over: Piece<'a>) {
        let from = over.text().len();
        self.rest = self.rest.part(from..self.rest.text().len()).trim();
    }

    /// Consumes the next token if it has this kind.
    pub(crate) fn take(&mut self, kind: TokenKind) -> Result<Option<Piece<'a>>, Diagnostic> {
        let Some((_, piece)) = self.peek()?.filter(|&(found, _)| found == kind) else {
            return Ok(None);
        };
        self.advance(piece);
        Ok(Some(piece))
    }

    /// Consumes the word after `before`. If there is none, the error points at the next token, or
    /// at `before` at the end of the item.
    pub(crate) fn word_after(&mut self, before: Piece<'a>) -> Result<Piece<'a>, Diagnostic> {
        if let Some(word) = self.take(TokenKind::Word)? {
            return Ok(word);
        }
        let blamed = self.peek()?.map_or(before, |(_, piece)| piece);
        Err(self.unexpected(blamed))
    }

    /// The next token if it is a word that can only be a day.
    pub(crate) fn peek_day(&self) -> Result<Option<Piece<'a>>, Diagnostic> {
        Ok(self
            .peek()?
            .filter(|&(kind, word)| kind == TokenKind::Word && is_day_like(word.text()))
            .map(|(_, word)| word))
    }

    /// Everything from `first` to the end of the item.
    pub(crate) fn rest_from(&self, first: Piece<'a>) -> Piece<'a> {
        first.to(self.rest).trim()
    }

    pub(crate) fn unexpected(&self, piece: Piece<'_>) -> Diagnostic {
        piece.error("is not expected here", self.example_help())
    }

    pub(crate) fn example_help(&self) -> String {
        format!("write for example `{}`", self.example)
    }

    /// Checks that no token is left.
    pub(crate) fn end(&self) -> Result<(), Diagnostic> {
        let Some((kind, piece)) = self.peek()? else {
            return Ok(());
        };
        Err(if kind == TokenKind::Word && piece.text().contains('/') {
            let help = "a time zone belongs in the timezone annotation";
            piece.error("does not belong in the times", help)
        } else if kind == TokenKind::Word && is_day_like(piece.text()) {
            let example = self.example;
            let help = format!("write days first, as in `{example}`, and separate items with `;`");
            piece.error("comes after the time", help)
        } else {
            self.unexpected(piece)
        })
    }
}

/// Whether a word can only be a day: times begin with a digit.
fn is_day_like(word: &str) -> bool {
    word.starts_with(char::is_alphabetic)
}

/// Replaces characters by those of a keyboard: full-width forms, foreign dashes and blanks become
/// ASCII. Quotes and invisible characters are removed.
pub fn normalize_characters(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            _ if character.is_whitespace() => plain.push(' '),
            _ if is_foreign_dash(character) => plain.push('-'),
            '〜' => plain.push('-'),
            '、' => plain.push(','),
            '\u{ff01}'..='\u{ff5e}' => {
                plain.extend(char::from_u32(u32::from(character) - 0xfee0));
            }
            '"' | '\'' | '`' | '\u{2018}'..='\u{201f}' => {}
            _ if is_unprintable(character) => {}
            _ => plain.push(character),
        }
    }
    let words: Vec<_> = plain.split_whitespace().collect();
    words.join(" ")
}

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
