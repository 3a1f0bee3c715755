//! Content lines: `NAME;PARAMETER=VALUE:VALUE`, folded or not (RFC 5545, 3.1).

use std::borrow::Cow;

use super::error::{CalendarError, CalendarReason};

/// One unfolded line of a file.
#[derive(Debug)]
pub(super) struct ContentLine {
    /// The number of its first line in the file, from 1.
    pub(super) number: usize,
    text: String,
    name: usize,
    value: usize,
}

impl ContentLine {
    fn read(number: usize, bytes: &[u8]) -> Result<Self, CalendarError> {
        // Folding may cut within a character, so that lines are text only once they are whole.
        let text = String::from_utf8_lossy(bytes).into_owned();
        let mut is_quoted = false;
        let colon = text.bytes().position(|byte| {
            is_quoted ^= byte == b'"';
            byte == b':' && !is_quoted
        });
        // A quotation mark without another does not hide the value.
        let colon = colon.or_else(|| text.find(':'));
        let name = text.find([';', ':']).filter(|end| *end > 0);
        let (Some(colon), Some(name)) = (colon, name) else {
            return Err(CalendarError::new(number, &text, CalendarReason::NotALine));
        };
        Ok(Self {
            number,
            text,
            name,
            value: colon + 1,
        })
    }

    /// Whether this is its name; case does not matter.
    pub(super) fn is(&self, name: &str) -> bool {
        self.name().eq_ignore_ascii_case(name)
    }

    pub(super) fn name(&self) -> &str {
        self.text.get(..self.name).unwrap_or_default()
    }

    /// The value without the blanks around it, as it is written.
    pub(super) fn value(&self) -> &str {
        self.text.get(self.value..).unwrap_or_default().trim()
    }

    /// The value of a parameter of this line, without quotation marks; case does not matter in its
    /// name.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        let end = self.value.saturating_sub(1);
        let parameters = self.text.get(self.name..end).unwrap_or_default();
        let mut parameters = parameters.split(';').filter_map(|it| it.split_once('='));
        let (_, value) = parameters.find(|(found, _)| found.eq_ignore_ascii_case(name))?;
        Some(value.trim_matches('"'))
    }

    /// Whether its value is a date alone, or said to be one.
    pub(super) fn is_date(&self) -> bool {
        let is_said = self.parameter("VALUE");
        is_said.is_some_and(|it| it.eq_ignore_ascii_case("DATE"))
            || !self.value().contains(['T', 't'])
    }

    /// The value as text: `\,`, `\;`, `\\` and `\n` are what they stand for (RFC 5545, 3.3.11).
    pub(super) fn text(&self) -> Cow<'_, str> {
        let value = self.value();
        if !value.contains('\\') {
            return Cow::Borrowed(value);
        }
        let mut text = String::with_capacity(value.len());
        let mut characters = value.chars();
        while let Some(character) = characters.next() {
            match character {
                '\\' => match characters.next() {
                    Some('n' | 'N') => text.push(' '),
                    Some(escaped) => text.push(escaped),
                    None => {}
                },
                plain => text.push(plain),
            }
        }
        Cow::Owned(text)
    }

    /// An error about some words of this line.
    pub(super) fn fails(&self, found: &str, reason: CalendarReason) -> CalendarError {
        CalendarError::new(self.number, found, reason)
    }
}

/// The unfolded lines of a file, whether they end in CRLF or LF; empty ones are left out.
pub(super) fn content_lines(
    file: &[u8],
) -> impl Iterator<Item = Result<ContentLine, CalendarError>> + '_ {
    let lines = file.split(|byte| *byte == b'\n');
    let mut lines = (1..)
        .zip(lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line)))
        .peekable();
    std::iter::from_fn(move || {
        loop {
            let (number, line) = lines.next()?;
            let mut whole = Cow::Borrowed(line);
            while let Some((_, [b' ' | b'\t', more @ ..])) = lines.peek() {
                whole.to_mut().extend_from_slice(more);
                lines.next();
            }
            if !whole.trim_ascii().is_empty() {
                return Some(ContentLine::read(number, &whole));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(file: &[u8]) -> Vec<ContentLine> {
        content_lines(file).map(Result::unwrap).collect()
    }

    #[test]
    fn folded_lines_are_whole_again_and_keep_their_number() {
        for end in ["\r\n", "\n"] {
            let file = ["A:one", " two", "\t three", "", "B:\u{fc}"].join(end);
            let found = lines(file.as_bytes());
            assert_eq!(found[0].value(), "onetwo three");
            assert_eq!((found[1].number, found[1].value()), (5, "\u{fc}"));
        }
        // Cut within a character, as RFC 5545 warns of.
        let cut = lines(b"SUMMARY:Fr\xc3\r\n \xbchling");
        assert_eq!(cut[0].value(), "Fr\u{fc}hling");
    }

    #[test]
    fn the_value_begins_after_the_first_colon_that_is_not_quoted() {
        let line =
            &lines(b"SUMMARY;LANGUAGE=de;ALTREP=\"http://a/b;c\":Tag\\, der: \\n\\\\ \\;")[0];
        assert!(line.is("summary"));
        assert_eq!(line.parameter("language"), Some("de"));
        assert_eq!(line.parameter("altrep"), Some("http://a/b"));
        assert_eq!(line.parameter("x"), None);
        assert_eq!(line.text(), "Tag, der:  \\ ;");
        assert_eq!(lines(b"X;Y=\"open:value")[0].value(), "value");
        assert!(content_lines(b"no colon").next().unwrap().is_err());
        assert!(content_lines(b":no name").next().unwrap().is_err());
    }
}
