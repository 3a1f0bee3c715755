//! The calendars that are known, by name.

use std::{fmt, sync::Arc};

use dayshift_text::nearest;

use super::calendar::Calendar;
use crate::meant::{characters::plain, meaning::Meant};
use crate::text::diagnostic::{Diagnostic, DiagnosticKind};
use crate::text::piece::Piece;

/// The name of a calendar, such as `de`: as in `calendar:de` and `--calendar de=FILE.ics`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CalendarName(Arc<str>);

impl CalendarName {
    /// Reads a name.
    ///
    /// # Errors
    /// It is empty, longer than 63 characters, or has others than `a-z`, `0-9`, `-`, `_` and `.`.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        let is_fine = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.')
        };
        let is_name = (1..=63).contains(&text.len()) && text.bytes().all(is_fine);
        if is_name {
            Ok(Self(text.into()))
        } else {
            let help = "write 1 to 63 of the characters a-z, 0-9, `-`, `_` and `.`, such as `de`";
            let wrong = "is not the name of a calendar";
            Err(Diagnostic::new(0..text.len(), text, wrong, help))
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

/// A calendar, or why its file cannot be read, as it is told wherever the calendar is named.
pub type ReadCalendar = Result<Arc<Calendar>, Arc<str>>;

/// The calendars that texts may name. Cheap to clone. The default knows none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calendars {
    /// In order of the names.
    known: Arc<[(CalendarName, ReadCalendar)]>,
    /// Whether any other name will do.
    takes_any: bool,
}

impl Calendars {
    /// These calendars. Of two with the same name the later one counts.
    pub fn new(calendars: impl IntoIterator<Item = (CalendarName, Arc<Calendar>)>) -> Self {
        let calendars = calendars.into_iter();
        Self::of_files(calendars.map(|(name, calendar)| (name, Ok(calendar))))
    }

    /// The calendars of files, of which some cannot be read: a text that names one of these is
    /// refused, and no other. Of two with the same name the later one counts.
    pub fn of_files(calendars: impl IntoIterator<Item = (CalendarName, ReadCalendar)>) -> Self {
        let known: std::collections::BTreeMap<_, _> = calendars.into_iter().collect();
        Self {
            known: known.into_iter().collect(),
            takes_any: false,
        }
    }

    /// These, and any other without a date, as is one that cannot be read: for whoever cannot know
    /// the calendars of the scaler and does not ask on which days something starts.
    #[must_use]
    pub fn or_any(self) -> Self {
        Self {
            takes_any: true,
            ..self
        }
    }

    /// The calendars that can be read, in order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&CalendarName, &Calendar)> {
        let known = self.known.iter();
        known.filter_map(|(name, read)| Some((name, &**read.as_ref().ok()?)))
    }

    /// Whether a calendar has this name, and its file cannot be read.
    pub fn is_unreadable(&self, name: &str) -> bool {
        let mut known = self.known.iter();
        known.any(|(known, read)| known.as_str() == name && read.is_err())
    }

    /// Whether these have all calendars that a loose reading of a text finds in it.
    pub(crate) fn has_those_of(&self, text: &str) -> bool {
        let has = |name: &str| {
            let mut known = self.iter();
            self.takes_any || known.any(|(known, _)| known.as_str() == name)
        };
        let text = plain(text);
        let items = text.split([';', ',', '=']).map(str::trim);
        let mut names = items.filter_map(|item| item.strip_prefix("calendar:"));
        names.all(|name| has(name.trim()))
    }

    fn unknown(&self, item: Piece<'_>, name: Piece<'_>) -> Diagnostic {
        let text = name.text();
        let known: Vec<_> = self.known.iter().map(|(it, _)| it.as_str()).collect();
        let meant = nearest(text, known.iter().copied()).map(|nearest| Meant::Instead {
            place: item.span(),
            text: format!("calendar:{nearest}").into(),
        });
        let mut help = format!("give its file with `--calendar {text}=FILE.ics`");
        if !known.is_empty() {
            help += &format!(", or name a known one: {}", known.join(", "));
        }
        let error = name.fails("is not a known calendar", help);
        error.meaning(meant).of_kind(DiagnosticKind::Calendar)
    }

    /// The calendar of a name in an item `calendar:name`, with the one copy of its name.
    pub(crate) fn named(
        &self,
        item: Piece<'_>,
        name: Piece<'_>,
    ) -> Result<(CalendarName, Arc<Calendar>), Diagnostic> {
        let text = name.text();
        let mut all = self.known.iter();
        match all.find(|(known, _)| known.as_str() == text) {
            Some((name, Ok(calendar))) => return Ok((name.clone(), calendar.clone())),
            Some((_, Err(why))) if !self.takes_any => {
                let wrong = format!("is a calendar that cannot be read: {why}");
                let help =
                    format!("correct the file, or give another with `--calendar {text}=FILE.ics`");
                return Err(name.fails(wrong, help).of_kind(DiagnosticKind::Calendar));
            }
            Some((_, Err(_))) | None => {}
        }
        match CalendarName::parse(text) {
            Ok(name) if self.takes_any => Ok((name, Arc::default())),
            Ok(_) => Err(self.unknown(item, name)),
            Err(_) => Err(name.fails(
                "is not the name of a calendar",
                "write for example `calendar:de`, and give its file with `--calendar de=FILE.ics`",
            )),
        }
    }
}
