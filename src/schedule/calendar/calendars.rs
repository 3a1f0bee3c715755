//! The calendars that are known, by name.

use std::{fmt, sync::Arc};

use super::calendar::Calendar;
use crate::schedule::text::error::TextError;
use crate::schedule::text::piece::Piece;
use crate::schedule::text::reason::TextReason;
use crate::text::quote;

/// The name of a calendar, such as `de`: as in `calendar:de` and `--calendar de=FILE.ics`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CalendarName(Arc<str>);

/// A text that is not the name of a calendar: the text, cut where it is long.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not the name of a calendar; write 1 to 63 of the characters a-z, 0-9, `-`, `_` and `.`, such as `de`"
)]
pub struct CalendarNameError(String);

impl CalendarName {
    /// Reads a name.
    ///
    /// # Errors
    /// It is empty, longer than 63 characters, or has others than `a-z`, `0-9`, `-`, `_` and `.`.
    pub fn parse(text: &str) -> Result<Self, CalendarNameError> {
        let is_fine = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.')
        };
        let is_name = (1..=63).contains(&text.len()) && text.bytes().all(is_fine);
        if is_name {
            Ok(Self(text.into()))
        } else {
            Err(CalendarNameError(quote(text)))
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CalendarName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The calendars that texts may name. Cheap to clone. The default knows none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calendars {
    /// In order of the names.
    known: Arc<[(CalendarName, Arc<Calendar>)]>,
    /// Whether any other name will do.
    takes_any: bool,
}

impl Calendars {
    /// These calendars. Of two with the same name the later one counts.
    pub fn new(calendars: impl IntoIterator<Item = (CalendarName, Arc<Calendar>)>) -> Self {
        let known: std::collections::BTreeMap<_, _> = calendars.into_iter().collect();
        Self {
            known: known.into_iter().collect(),
            takes_any: false,
        }
    }

    /// These, and any other without a date: for whoever cannot know the calendars of the scaler
    /// and does not ask on which days something starts.
    #[must_use]
    pub fn or_any(self) -> Self {
        Self {
            takes_any: true,
            ..self
        }
    }

    /// The calendars, in order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&CalendarName, &Calendar)> {
        self.known
            .iter()
            .map(|(name, calendar)| (name, &**calendar))
    }

    /// The calendar of a name, with the one copy of its name.
    pub(in crate::schedule) fn named(
        &self,
        name: Piece<'_>,
    ) -> Result<(CalendarName, Arc<Calendar>), TextError> {
        let text = name.text();
        let mut all = self.known.iter();
        if let Some((name, calendar)) = all.find(|(known, _)| known.as_str() == text) {
            return Ok((name.clone(), calendar.clone()));
        }
        match CalendarName::parse(text) {
            Ok(name) if self.takes_any => Ok((name, Arc::default())),
            Ok(_) => {
                let known = self.known.iter().map(|(name, _)| name.as_str());
                let known: Vec<_> = known.collect();
                Err(name.fails(TextReason::UnknownCalendar {
                    known: known.join(", ").into(),
                }))
            }
            Err(_) => Err(name.fails(TextReason::NotACalendarName)),
        }
    }
}
