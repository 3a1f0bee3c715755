//! Calendars: files of dates that schedules name, and that change.

use std::{collections::BTreeSet, fmt::Write as _};

use chrono::{Days, NaiveDate};

/// The possible calendars.
pub const NAMES: [&str; 2] = ["de", "office"];

/// A calendar: its index in [`NAMES`].
pub type Name = usize;

/// Ranges of dates: the first and the last date of each.
pub type Dates = Vec<(NaiveDate, NaiveDate)>;

/// The dates of each calendar as a process read them; `None` if the calendar has no flag.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Holidays([Option<Dates>; NAMES.len()]);

impl Holidays {
    pub fn put(&mut self, name: Name, dates: Option<Dates>) {
        self.0[name] = dates;
    }

    /// The dates of the calendars with these names, each date once, so that two files with the same dates are
    /// equal.
    pub fn only(&self, is_included: impl Fn(&str) -> bool) -> Self {
        Self(std::array::from_fn(|name| {
            let ranges = self.0[name].as_ref();
            let ranges = ranges.filter(|_| is_included(NAMES[name]))?.iter();
            let dates = ranges.flat_map(|(first, last)| {
                let days = first.iter_days();
                days.take_while(move |day| day <= last)
            });
            let dates: BTreeSet<_> = dates.collect();
            Some(dates.into_iter().map(|day| (day, day)).collect())
        }))
    }

    /// For each name, whether the calendar is known.
    pub fn known(&self) -> [bool; NAMES.len()] {
        std::array::from_fn(|name| self.0[name].is_some())
    }

    /// The dates of all these calendars.
    pub fn dates(&self, names: &[Name]) -> Dates {
        let known = names.iter().filter_map(|name| self.0[*name].as_ref());
        known.flatten().copied().collect()
    }

    /// The known names, each with its file.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, String)> {
        let known = NAMES.iter().zip(&self.0);
        known.filter_map(|(name, dates)| Some((*name, file(dates.as_ref()?))))
    }
}

/// An iCalendar file with these dates, and one date that no scenario reaches, because a file without dates is
/// invalid.
fn file(dates: &Dates) -> String {
    let far = NaiveDate::from_ymd_opt(2040, 1, 1).unwrap();
    let mut file = "BEGIN:VCALENDAR\r\n".to_owned();
    for (first, last) in dates.iter().chain([&(far, far)]) {
        let (from, to) = (
            first.format("%Y%m%d"),
            (*last + Days::new(1)).format("%Y%m%d"),
        );
        write!(
            file,
            "BEGIN:VEVENT\r\nDTSTART;VALUE=DATE:{from}\r\nDTEND;VALUE=DATE:{to}\r\nEND:VEVENT\r\n"
        )
        .unwrap();
    }
    file + "END:VCALENDAR\r\n"
}
