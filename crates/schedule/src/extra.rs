//! Additional running windows on dates, such as `2026-12-05 09:00-18:00`.
//!
//! [`ExtraWindows`] are written with dates, and need no search. [`Running`] unites them with
//! [`Hours`].

use std::fmt::Write as _;

use chrono::{NaiveDateTime, Timelike as _};

use crate::{
    dates::{Dates, parse_range},
    hours::{Hours, Windows, parse_window_item},
    local::{Local, weekday},
    month::{Month, Toward, has, merge_spans},
    text::{Diagnostic, Piece},
};

const EXAMPLE: &str = "2026-12-05 09:00-18:00";

/// The maximum number of windows, because a search might check each of them.
const MAX_WINDOWS: usize = 500;

/// Additional windows on local dates (`extra`). There are none by default. Windows that overlap or
/// touch are united.
///
/// ```
/// use dayshift_schedule::ExtraWindows;
///
/// let extra = ExtraWindows::parse("2026-12-05..2026-12-27 Sat,Sun 06:00-11:00").unwrap();
/// assert_eq!(extra.windows().count(), 8);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ExtraWindows {
    /// The first second of each window and the second after its last, sorted, with at least one
    /// second between windows.
    spans: Box<[(Local, Local)]>,
}

impl ExtraWindows {
    /// Parses items separated by `;`: `date[..date] [days] HH:MM-HH:MM[,HH:MM-HH:MM…]`. If an end
    /// is not after the beginning, the window ends on the next day. Days of the week are those of
    /// the calendar.
    ///
    /// # Errors
    /// An item is not a date from 1970 to 2199 or a range of such dates with windows, no date of a
    /// range has its days, or there are more than 500 windows. The span is in bytes of the text.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        let mut spans = Vec::new();
        for item in Piece::items(text, EXAMPLE)? {
            parse_item(item?, &mut spans)?;
        }
        Ok(Self {
            spans: merge_spans(spans, |end, begin| begin <= end).into(),
        })
    }

    /// Whether there are no windows.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The size of the windows in bytes. A short range of dates can contain hundreds.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.spans)
    }

    /// The first local time of each window, and the local time at which it ends, in order.
    pub fn windows(&self) -> impl Iterator<Item = (NaiveDateTime, NaiveDateTime)> {
        let spans = self.spans.iter();
        spans.filter_map(|(from, to)| Some((from.to_naive()?, to.to_naive()?)))
    }

    /// The local time at which the last window ends.
    pub fn end(&self) -> Option<NaiveDateTime> {
        self.spans.last()?.1.to_naive()
    }

    /// Text of `extra` with one more window, from `from` to `until` in whole minutes. Items that
    /// are over at `now`, or within the new window, are left out. `text` is the present value.
    ///
    /// # Errors
    /// The present value cannot be parsed.
    pub fn text_with(
        text: Option<&str>,
        (from, until): (NaiveDateTime, NaiveDateTime),
        now: NaiveDateTime,
    ) -> Result<String, Diagnostic> {
        let known = text.map_or_else(|| Ok(Self::default()), Self::parse)?;
        let mut windows = known.windows();
        let is_known = windows.any(|window| window.0 <= from && until <= window.1);
        let new = window_text(from, until);
        let items = text.unwrap_or_default().split(';').map(str::trim);
        let kept = items.filter(|item| {
            Self::parse(item).is_ok_and(|of_item| {
                let is_over = of_item.end().is_none_or(|end| end <= now);
                let is_within =
                    |window: (NaiveDateTime, NaiveDateTime)| from <= window.0 && window.1 <= until;
                !is_over && (is_known || !of_item.windows().all(is_within))
            })
        });
        let mut all: Vec<&str> = kept.collect();
        if !is_known {
            all.push(&new);
        }
        Ok(all.join("; "))
    }

    /// Whether `local` is in a window.
    pub(crate) fn contains(&self, local: Local) -> bool {
        self.window_at(local).is_some()
    }

    /// The nearest beginning of a window from `local` on.
    pub(crate) fn nearest_start(&self, local: Local, toward: Toward) -> Option<Local> {
        self.nearest(|&(from, _)| from, local, toward)
    }

    /// The nearest end of a window from `local` on.
    pub(crate) fn nearest_end(&self, local: Local, toward: Toward) -> Option<Local> {
        self.nearest(|&(_, to)| to, local, toward)
    }

    fn nearest(
        &self,
        edge: impl Fn(&(Local, Local)) -> Local,
        local: Local,
        toward: Toward,
    ) -> Option<Local> {
        let at = match toward {
            Toward::Later => self.spans.partition_point(|span| edge(span) < local),
            Toward::Earlier => {
                let after = self.spans.partition_point(|span| edge(span) <= local);
                after.checked_sub(1)?
            }
        };
        self.spans
            .get(at)
            .map(edge)
            .filter(|local| local.is_in_range())
    }

    fn window_at(&self, local: Local) -> Option<(Local, Local)> {
        let at = self.spans.partition_point(|&(_, to)| to <= local);
        let window = self.spans.get(at).copied();
        window.filter(|&(from, _)| from <= local)
    }
}

/// Parses one item and adds its windows.
fn parse_item(item: Piece<'_>, spans: &mut Vec<(Local, Local)>) -> Result<(), Diagnostic> {
    let (dates, rest) = split_dates(item);
    let (first, last) = parse_range(dates)?;
    if rest.text().is_empty() {
        return Err(item.error(
            "has no window",
            "write for example `2026-12-05 09:00-18:00`, or `2026-12-05 00:00-24:00` for a whole day",
        ));
    }
    let mut windows = Windows::default();
    parse_window_item(rest, &mut windows)?;
    let before = spans.len();
    for day in first..=last {
        let weekly = windows.weekly.get(weekday(day)).into_iter().flatten();
        let in_month = Month::containing(day);
        let monthly = windows.monthly.iter().filter(|(days, _)| {
            let date = in_month.as_ref();
            date.is_some_and(|(month, of_month)| has(days.days_in(month), *of_month))
        });
        for (from, to) in weekly.chain(monthly.map(|(_, window)| window)) {
            let midnight = Local::on(day, 0).0;
            let at = |second: u32| Local(midnight + i64::from(second));
            spans.push((at(*from), at(*to)));
        }
        if spans.len() > MAX_WINDOWS {
            let wrong = format!("makes more than {MAX_WINDOWS} windows");
            return Err(item.error(wrong, "write shorter ranges, and remove those in the past"));
        }
    }
    if spans.len() == before {
        return Err(item.error(
            "has no window, because none of its dates is such a day",
            "check the days of the week, or leave them out",
        ));
    }
    Ok(())
}

/// The dates at the start of an item, and the rest. Blanks around `..` are allowed.
fn split_dates(item: Piece<'_>) -> (Piece<'_>, Piece<'_>) {
    let mut words = item.words().peekable();
    let mut dates = words.next().unwrap_or(item);
    if let Some(next) = words.next_if(|next| {
        !dates.text().contains("..") && next.text().starts_with("..")
            || dates.text().ends_with("..")
    }) {
        dates = dates.to(next);
        if next.text() == ".."
            && let Some(last) = words.next()
        {
            dates = dates.to(last);
        }
    }
    let rest = item.part(dates.text().len()..item.text().len());
    (dates, rest.trim())
}

/// Items for a window in whole minutes, of any length.
fn window_text(from: NaiveDateTime, until: NaiveDateTime) -> String {
    let mut text = String::new();
    let clock = |time: NaiveDateTime| time.format("%H:%M").to_string();
    let is_midnight = until.num_seconds_from_midnight() == 0;
    let last = if is_midnight {
        until.date().pred_opt().unwrap_or(until.date())
    } else {
        until.date()
    };
    let end = if is_midnight {
        "24:00".to_owned()
    } else {
        clock(until)
    };
    // A window of up to a day can end on the next day.
    if last == from.date() || until < from + chrono::TimeDelta::days(1) && !is_midnight {
        let _ = write!(text, "{} {}-{end}", from.date(), clock(from));
        return text;
    }
    let _ = write!(text, "{} {}-24:00", from.date(), clock(from));
    let (second, whole) = (from.date().succ_opt(), last.pred_opt());
    if let (Some(second), Some(whole)) = (second, whole)
        && second <= whole
    {
        let _ = write!(text, "; {second}..{whole} 00:00-24:00");
    }
    let _ = write!(text, "; {last} 00:00-{end}");
    text
}

/// Hours united with additional windows.
#[derive(Clone, Copy)]
pub(crate) struct Running<'s> {
    pub(crate) hours: &'s Hours,
    pub(crate) extra: &'s ExtraWindows,
    pub(crate) dates: Dates<'s>,
}

impl Running<'_> {
    /// Whether `local` is in the hours or in an additional window.
    pub(crate) fn contains(self, local: Local) -> bool {
        self.extra.contains(local) || self.hours.contains(local, self.dates)
    }

    /// The first time after `local` at which the result of [`Self::contains`] changes.
    pub(crate) fn next_change(self, local: Local) -> Option<Local> {
        if !self.contains(local) {
            let start = self.hours.next_change(local, self.dates);
            let extra = self.extra.nearest_start(local, Toward::Later);
            return Toward::Later.nearest(start.into_iter().chain(extra));
        }
        let mut end = local;
        loop {
            end = match self.extra.window_at(end) {
                Some((_, end)) => end,
                None if self.hours.contains(end, self.dates) => {
                    self.hours.next_change(end, self.dates)?
                }
                None => return Some(end).filter(|end| end.is_in_range()),
            };
        }
    }

    /// The last time at or before `local` at which the result of [`Self::contains`] changed.
    pub(crate) fn last_change(self, local: Local) -> Option<Local> {
        if !self.contains(local) {
            let end = self.hours.last_change(local, self.dates);
            let extra = self.extra.nearest_end(local, Toward::Earlier);
            return Toward::Earlier.nearest(end.into_iter().chain(extra));
        }
        let mut before = local;
        loop {
            before = match self.extra.window_at(before) {
                Some((from, _)) => from.before(),
                None if self.hours.contains(before, self.dates) => {
                    self.hours.last_change(before, self.dates)?.before()
                }
                None => return Some(before.after()).filter(|start| start.is_in_range()),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sketch(text: &str) -> Vec<String> {
        let extra = ExtraWindows::parse(text).unwrap();
        let windows = extra.windows();
        let texts = windows
            .map(|(from, to)| format!("{} to {}", from.format("%d %H:%M"), to.format("%d %H:%M")));
        texts.collect()
    }

    #[test]
    fn parses_windows_on_dates_and_unites_them() {
        for (text, expected) in [
            ("2026-12-05 09:00-18:00", vec!["05 09:00 to 05 18:00"]),
            (
                "2026-12-12..2026-12-13 20:00-23:00",
                vec!["12 20:00 to 12 23:00", "13 20:00 to 13 23:00"],
            ),
            (
                "2026-12-05 .. 2026-12-12 Sat,Sun 06:00-11:00; 2026-12-06 10:00-12:00",
                vec![
                    "05 06:00 to 05 11:00",
                    "06 06:00 to 06 12:00",
                    "12 06:00 to 12 11:00",
                ],
            ),
            (
                "2026-12-05 20:00-06:00; 2026-12-06 06:00-07:00,09:00-24:00",
                vec!["05 20:00 to 06 07:00", "06 09:00 to 07 00:00"],
            ),
            (
                "2026-12-01..2026-12-31 first Mon 09:00-10:00",
                vec!["07 09:00 to 07 10:00"],
            ),
        ] {
            assert_eq!(sketch(text), expected, "{text}");
        }
    }

    #[test]
    fn error_points_at_the_invalid_part() {
        for (item, found, message) in [
            ("2026-12-05", "2026-12-05", "has no window"),
            ("2026-12-05..", "2026-12-05..", "is only half of a range"),
            (
                "2026-13-05 09:00-18:00",
                "2026-13-05",
                "is a date that does not exist",
            ),
            ("2026-12-05 09:00", "09:00", "has no end"),
            ("Sat 09:00-18:00", "Sat", "is not a date"),
            (
                "2026-12-06..2026-12-05 09:00-18:00",
                "2026-12-06..2026-12-05",
                "ends before it begins",
            ),
            (
                "2026-12-05 Sun 09:00-18:00",
                "2026-12-05 Sun 09:00-18:00",
                "none of its dates",
            ),
            (
                "2026-01-01..2028-12-31 09:00-18:00",
                "2026-01-01..2028-12-31 09:00-18:00",
                "more than 500 windows",
            ),
        ] {
            let text = format!("2026-12-01 10:00-11:00;\u{3000}{item} ; 2026-12-24 10:00-11:00");
            let error = ExtraWindows::parse(&text).unwrap_err();
            assert_eq!(&text[error.span()], found, "{item}: {error}");
            assert!(error.to_string().contains(message), "{item}: {error}");
        }
    }

    #[test]
    fn printed_window_parses_to_the_same_window() {
        let at = |text: &str| NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M").unwrap();
        for (from, until) in [
            ("2026-12-05 09:00", "2026-12-05 18:00"),
            ("2026-12-05 09:00", "2026-12-06 00:00"),
            ("2026-12-05 20:00", "2026-12-06 06:00"),
            ("2026-12-05 09:00", "2026-12-06 09:00"),
            ("2026-12-05 09:00", "2026-12-07 00:00"),
            ("2026-12-05 09:00", "2026-12-06 18:00"),
            ("2026-12-31 09:00", "2027-01-04 18:00"),
            ("2026-12-05 00:00", "2026-12-06 00:00"),
        ] {
            let window = (at(from), at(until));
            let text = window_text(window.0, window.1);
            let parsed = ExtraWindows::parse(&text).unwrap();
            assert_eq!(parsed.windows().collect::<Vec<_>>(), [window], "{text}");
        }
    }

    #[test]
    fn new_window_replaces_those_that_are_over_or_within_it() {
        let at = |text: &str| NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M").unwrap();
        let window = (at("2026-12-05 09:00"), at("2026-12-05 18:00"));
        let now = at("2026-12-04 12:00");
        for (text, expected) in [
            (None, "2026-12-05 09:00-18:00"),
            (Some("2026-11-28 09:00-18:00"), "2026-12-05 09:00-18:00"),
            (Some("2026-12-05 10:00-12:00"), "2026-12-05 09:00-18:00"),
            (
                Some("2026-11-28..2026-12-13 Sun 09:00-18:00"),
                "2026-11-28..2026-12-13 Sun 09:00-18:00; 2026-12-05 09:00-18:00",
            ),
            (Some("2026-12-05 08:00-20:00"), "2026-12-05 08:00-20:00"),
            (Some("2026-12-05 09:00-18:00"), "2026-12-05 09:00-18:00"),
        ] {
            let new = ExtraWindows::text_with(text, window, now).unwrap();
            assert_eq!(new, expected, "{text:?}");
        }
        assert!(ExtraWindows::text_with(Some("Sat"), window, now).is_err());
    }
}
