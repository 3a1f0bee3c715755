//! The words, dashes and commas of an item such as `Mon-Wed,Sat 09:00-12:00`.

use super::days::{Days, ItemDays};
use super::diagnostic::Diagnostic;
use super::month_days::MonthDays;
use super::piece::Piece;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Word,
    Dash,
    Comma,
}

/// What is left to read of one item. Blanks around dashes and commas mean nothing.
pub(crate) struct Tokens<'a> {
    rest: Piece<'a>,
    example: &'static str,
}

/// Whether editors and chat programs write this character in place of `-`.
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
    /// `example` goes into the errors.
    pub(crate) fn of(item: Piece<'a>, example: &'static str) -> Self {
        Self {
            rest: item.trim(),
            example,
        }
    }

    /// The next token, which stays where it is. A foreign dash is an error.
    pub(crate) fn peek(&self) -> Result<Option<(Kind, Piece<'a>)>, Diagnostic> {
        let text = self.rest.text();
        let Some(first) = text.chars().next() else {
            return Ok(None);
        };
        let mark = self.rest.part(0..first.len_utf8());
        Ok(Some(match first {
            '-' => (Kind::Dash, mark),
            ',' => (Kind::Comma, mark),
            _ if is_foreign_dash(first) => {
                return Err(mark.fails("is not the plain `-` of the keyboard", self.example()));
            }
            _ => {
                let end = text.find(ends_word).unwrap_or(text.len());
                (Kind::Word, self.rest.part(0..end))
            }
        }))
    }

    fn advance(&mut self, over: Piece<'a>) {
        let from = over.text().len();
        self.rest = self.rest.part(from..self.rest.text().len()).trim();
    }

    /// The next token if it is of that kind.
    pub(crate) fn take(&mut self, kind: Kind) -> Result<Option<Piece<'a>>, Diagnostic> {
        let Some((_, piece)) = self.peek()?.filter(|&(found, _)| found == kind) else {
            return Ok(None);
        };
        self.advance(piece);
        Ok(Some(piece))
    }

    /// The word after `before`. The error points at what is there instead, or at `before` where
    /// the item ends.
    pub(crate) fn word_after(&mut self, before: Piece<'a>) -> Result<Piece<'a>, Diagnostic> {
        if let Some(word) = self.take(Kind::Word)? {
            return Ok(word);
        }
        let blamed = self.peek()?.map_or(before, |(_, piece)| piece);
        Err(self.unexpected(blamed))
    }

    /// The days that the item begins with; every day if it names no days.
    pub(crate) fn days(&mut self) -> Result<ItemDays, Diagnostic> {
        let Some(first) = self.rest_is_days()? else {
            return Ok(ItemDays::Week(Days::ALL));
        };
        let mut days: Option<ItemDays> = None;
        let mut word = first;
        loop {
            self.advance(word);
            let (more, last) = self.one_or_range(word)?;
            days = match days {
                None => Some(more),
                Some(days) => days.and(more),
            };
            if days.is_none() {
                return Err(first.to(last).fails(
                    "mixes days within the month with days of every week",
                    "write two items, such as `first Mon 09:00; Fri 09:00`",
                ));
            }
            let Some(comma) = self.take(Kind::Comma)? else {
                break;
            };
            word = self.rest_is_days()?.ok_or_else(|| self.unexpected(comma))?;
        }
        match self.rest_is_days()? {
            Some(word) if Days::parse(word).is_ok() || MonthDays::is_ordinal(word) => Err(word
                .fails(
                    "has no comma before it",
                    "write days as `Mon,Wed` or `Mon-Fri`",
                )),
            None if self.peek()?.is_none() => {
                let all = first.to(self.rest).trim();
                Err(all.fails("has no time of day", self.example()))
            }
            _ => Ok(days.unwrap_or(ItemDays::Week(Days::ALL))),
        }
    }

    /// What a part of the days means that begins with this word, and its last word: `Mon`,
    /// `Mon-Fri` or `first Mon`.
    fn one_or_range(&mut self, word: Piece<'a>) -> Result<(ItemDays, Piece<'a>), Diagnostic> {
        if MonthDays::is_ordinal(word) {
            let unit = self.rest_is_days()?;
            let unit = unit.ok_or_else(|| {
                word.fails(
                    "has no day after it",
                    "write for example `first Mon`, `first day` or `first weekday`",
                )
            })?;
            self.advance(unit);
            let day = MonthDays::parse(word, unit)?;
            return match self.take(Kind::Dash)? {
                Some(dash) => {
                    let end = self.take(Kind::Word)?.unwrap_or(dash);
                    Err(range_in_month(word.to(end)))
                }
                None => Ok((ItemDays::Month(day), unit)),
            };
        }
        Ok(match self.take(Kind::Dash)? {
            Some(dash) => {
                let last = self.word_after(dash)?;
                if MonthDays::is_ordinal(last) {
                    return Err(range_in_month(word.to(last)));
                }
                (ItemDays::Week(Days::range(word, last)?), last)
            }
            None => (ItemDays::Week(Days::parse(word)?), word),
        })
    }

    /// The next token if it is a word and does not begin as a time does.
    fn rest_is_days(&self) -> Result<Option<Piece<'a>>, Diagnostic> {
        Ok(self
            .peek()?
            .filter(|&(kind, word)| kind == Kind::Word && is_day_like(word.text()))
            .map(|(_, word)| word))
    }

    fn unexpected(&self, piece: Piece<'_>) -> Diagnostic {
        piece.fails("is not expected here", self.example())
    }

    fn example(&self) -> String {
        format!("write for example `{}`", self.example)
    }

    /// Refuses whatever is left when the times have been read.
    pub(crate) fn end(&self) -> Result<(), Diagnostic> {
        let Some((kind, piece)) = self.peek()? else {
            return Ok(());
        };
        Err(if kind == Kind::Word && piece.text().contains('/') {
            let help = "a time zone belongs in the timezone annotation";
            piece.fails("does not belong in the times", help)
        } else if kind == Kind::Word && is_day_like(piece.text()) {
            let example = self.example;
            let help = format!("write days first, as in `{example}`, and separate items with `;`");
            piece.fails("comes after the time", help)
        } else {
            self.unexpected(piece)
        })
    }
}

fn range_in_month(range: Piece<'_>) -> Diagnostic {
    range.fails(
        "is a range, which days within the month cannot have",
        "write each of them, as in `first Mon,first Tue`",
    )
}

/// Whether a word can only be meant as a day: times begin with a digit.
pub(crate) fn is_day_like(word: &str) -> bool {
    word.starts_with(char::is_alphabetic)
}
