//! What is wrong with a text, where, and what to write instead.

use std::fmt;
use std::ops::Range;

use super::reason::Reason;

/// Why a text of a schedule is refused.
///
/// Its `Display` names the offending words, says what is wrong and gives a right example:
///
/// ```
/// use dayshift::schedule::Times;
///
/// let error = Times::parse("Mon-Fry 09:00").unwrap_err();
/// assert_eq!(error.span(), 4..7);
/// assert!(error.to_string().starts_with("`Fry` is no day; write Mon, Tue,"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    span: Range<usize>,
    found: Box<str>,
    reason: Reason,
}

/// The most characters of somebody's text that a message repeats.
const QUOTED: usize = 60;

impl TextError {
    pub(super) fn new(span: Range<usize>, found: &str, reason: Reason) -> Self {
        Self {
            span,
            found: quote(found).into(),
            reason,
        }
    }

    /// Bytes of the parsed text that are at fault: on character boundaries, and as narrow as the
    /// word or field. Empty only where the whole text is.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// What is wrong, as a type.
    pub fn reason(&self) -> &Reason {
        &self.reason
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.found.is_empty() {
            write!(f, "`{}` ", self.found)?;
        }
        self.reason.fmt(f)
    }
}

/// Without a source: what the reason says is part of the message already.
impl std::error::Error for TextError {}

/// At most 60 characters of `text`, safe to print: control characters and those that
/// reorder or hide what follows are escaped.
pub fn quote(text: &str) -> String {
    let mut quoted = String::new();
    let mut room = QUOTED;
    for character in text.trim().chars() {
        let shown = if is_unprintable(character) {
            character.escape_default().to_string()
        } else {
            character.to_string()
        };
        let width = shown.chars().count();
        // One place is kept for the mark that says there was more.
        if width >= room {
            quoted.push('…');
            return quoted;
        }
        room -= width;
        quoted.push_str(&shown);
    }
    quoted
}

/// All of `text`, safe to print on one line: what [`quote`] escapes is escaped.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_unprintable(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Control characters, line separators, and what of Unicode's format characters nobody sees: the
/// zero-width and direction marks that could make a message read as something else (Unicode
/// Technical Report 36, "bidirectional text spoofing").
pub fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{00ad}' | '\u{061c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_little_and_nothing_that_acts_on_a_terminal() {
        for (text, expected) in [
            ("Fry", "Fry"),
            ("a\tb\u{1b}[31m", r"a\tb\u{1b}[31m"),
            ("nuf\u{202e}", r"nuf\u{202e}"),
            ("月曜 09:00", "月曜 09:00"),
        ] {
            assert_eq!(quote(text), expected);
            assert_eq!(printable(text), expected);
        }
        for long in ["x".repeat(500), "\u{202e}".repeat(500), "日".repeat(500)] {
            let quoted = quote(&long);
            assert!(quoted.chars().count() <= QUOTED, "{quoted}");
            assert!(quoted.ends_with('…'));
        }
    }

    #[test]
    fn an_error_without_a_word_begins_with_its_reason() {
        let error = TextError::new(0..0, "", Reason::Empty { example: "09:00" });
        assert_eq!(
            error.to_string(),
            "nothing is written here; write for example `09:00`"
        );
    }
}
