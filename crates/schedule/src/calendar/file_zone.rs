//! A time zone as a file defines it (`VTIMEZONE`; RFC 5545, 3.6.5).

use super::content_line::ContentLine;
use super::date_value::Written;
use super::error::CalendarReason;
use super::limits::Budget;
use super::recurrence::Recurrence;
use crate::zone::local::Local;

/// When the clocks of a zone change, in order.
#[derive(Debug)]
pub(super) struct FileZone(Vec<Change>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Change {
    /// In seconds of UTC.
    at: i64,
    /// The offsets from UTC before and after it, in seconds; east is positive.
    before: i64,
    after: i64,
}

/// The lines of a `STANDARD` or a `DAYLIGHT`.
#[derive(Debug, Default)]
pub(super) struct ObservanceLines {
    start: Option<ContentLine>,
    from: Option<ContentLine>,
    to: Option<ContentLine>,
    rules: Vec<ContentLine>,
    dates: Vec<ContentLine>,
}

impl ObservanceLines {
    /// Takes in a line, if it is one of those that matter.
    pub(super) fn take(&mut self, line: ContentLine) {
        match line.name().to_ascii_uppercase().as_str() {
            "DTSTART" => self.start = Some(line),
            "TZOFFSETFROM" => self.from = Some(line),
            "TZOFFSETTO" => self.to = Some(line),
            "RRULE" => self.rules.push(line),
            "RDATE" => self.dates.push(line),
            _ => {}
        }
    }

    /// Adds its changes up to the year 2199; `None` where a line is missing or cannot be read.
    fn read(
        &self,
        budget: &mut Budget,
        changes: &mut Vec<Change>,
    ) -> Option<Result<(), CalendarReason>> {
        let start = Written::parse(self.start.as_ref()?.value())?.local();
        let before = offset(self.from.as_ref()?.value())?;
        let after = offset(self.to.as_ref()?.value())?;
        // Each begins by the clocks that it ends.
        let mut add = |shown: Local| {
            changes.push(Change {
                at: shown.0 - before,
                before,
                after,
            });
        };
        add(start);
        for line in &self.dates {
            for item in line.value().split(',') {
                add(Written::parse(item.trim())?.local());
            }
        }
        let until = |text: &str| {
            let written = Written::parse(text)?;
            let ahead = if written.is_utc { before } else { 0 };
            Some(Local(written.local().0 + ahead).day())
        };
        for line in &self.rules {
            let rule = Recurrence::of(line, until).ok()?;
            let span = Local::FIRST.day()..=Local::LAST.day();
            let expanded = rule.expand(start.day(), span, budget, |day| {
                add(Local::on(day, start.second()));
                Ok(())
            });
            if let Err(reason) = expanded {
                return Some(Err(reason));
            }
        }
        Some(Ok(()))
    }
}

impl FileZone {
    /// Reads a zone; `None` where it cannot be read.
    ///
    /// # Errors
    /// It is too much work.
    pub(super) fn of(
        observances: &[ObservanceLines],
        budget: &mut Budget,
    ) -> Result<Option<Self>, CalendarReason> {
        let mut changes = Vec::new();
        for observance in observances {
            match observance.read(budget, &mut changes) {
                None => return Ok(None),
                Some(read) => read?,
            }
        }
        changes.sort_unstable();
        Ok((!changes.is_empty()).then_some(Self(changes)))
    }

    /// The offset from UTC at a second of UTC, in seconds.
    pub(super) fn offset(&self, second: i64) -> i64 {
        let begun = self.0.partition_point(|change| change.at <= second);
        match begun.checked_sub(1).and_then(|last| self.0.get(last)) {
            Some(change) => change.after,
            None => self.0.first().map_or(0, |change| change.before),
        }
    }

    /// The second of UTC at which clocks show a time.
    pub(super) fn second_of(&self, shown: Local) -> i64 {
        let near = shown.0 - self.offset(shown.0);
        shown.0 - self.offset(near)
    }
}

/// Reads an offset such as `+0100`, `-0330` or `+005328`, in seconds.
fn offset(text: &str) -> Option<i64> {
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let all: Vec<u32> = digits
        .chars()
        .map(|it| it.to_digit(10))
        .collect::<Option<_>>()?;
    let (hours, minutes, seconds) = match *all {
        [h1, h2, m1, m2] => (h1 * 10 + h2, m1 * 10 + m2, 0),
        [h1, h2, m1, m2, s1, s2] => (h1 * 10 + h2, m1 * 10 + m2, s1 * 10 + s2),
        _ => return None,
    };
    Some(sign * i64::from(hours * 3600 + minutes * 60 + seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_offsets() {
        for (text, expected) in [
            ("+0100", Some(3600)),
            ("-0330", Some(-12_600)),
            ("+005328", Some(3208)),
            ("0100", None),
            ("+1", None),
            ("", None),
            ("+ä100", None),
        ] {
            assert_eq!(offset(text), expected, "{text}");
        }
    }
}
