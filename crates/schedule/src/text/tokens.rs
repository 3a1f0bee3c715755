//! Tokens of an item such as `Mon-Wed,Sat 09:00-12:00`: words, dashes and commas.
//!
//! Blanks around dashes and commas are ignored. The dashes that editors insert instead of `-` are
//! errors here; [`normalize_characters`] replaces them when a proposal is searched for.

use dayshift_text::is_unprintable;

use crate::text::{diagnostic::Diagnostic, piece::Piece};

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
pub(crate) fn is_foreign_dash(character: char) -> bool {
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
pub(crate) fn is_day_like(word: &str) -> bool {
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
