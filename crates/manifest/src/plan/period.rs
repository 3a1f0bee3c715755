//! The span of time that is looked at.

use chrono::{DateTime, Days, NaiveTime, TimeDelta, Utc};
use dayshift_schedule::Zone;

/// A span of time from an instant to another, which does not belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    from: DateTime<Utc>,
    until: DateTime<Utc>,
}

/// Why two instants make no period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PeriodError {
    /// The end is not after the beginning.
    #[error("the end, {until}, is not after the beginning, {from}")]
    Backwards {
        /// The beginning.
        from: DateTime<Utc>,
        /// The end.
        until: DateTime<Utc>,
    },
    /// No calendar has this many days.
    #[error("{0} days are too many")]
    TooLong(u32),
}

impl Period {
    /// From an instant to a later one.
    ///
    /// # Errors
    /// Where the other is not later.
    pub fn new(from: DateTime<Utc>, until: DateTime<Utc>) -> Result<Self, PeriodError> {
        if from < until {
            Ok(Self { from, until })
        } else {
            Err(PeriodError::Backwards { from, until })
        }
    }

    /// Whole days of the calendar of `zone`: to the same time of day, so many days later. A day
    /// whose midnight clocks skip begins when they go on.
    ///
    /// # Errors
    /// Where `days` is 0 or the end is out of range.
    pub fn days(from: DateTime<Utc>, days: u32, zone: Zone) -> Result<Self, PeriodError> {
        let local = from.with_timezone(&zone).naive_local();
        let midnight = local.date().and_time(NaiveTime::MIN);
        let local = if zone.instant(midnight) == from {
            midnight
        } else {
            local
        };
        let until = local
            .checked_add_days(Days::new(days.into()))
            .ok_or(PeriodError::TooLong(days))?;
        Self::new(from, zone.instant(until))
    }

    /// The same with its end, to the second.
    #[must_use]
    pub fn and_its_end(self) -> Self {
        Self {
            until: self.until + TimeDelta::seconds(1),
            ..self
        }
    }

    /// Whether an instant belongs to it.
    pub fn contains(&self, at: DateTime<Utc>) -> bool {
        self.from <= at && at < self.until
    }

    /// The beginning.
    pub fn from(&self) -> DateTime<Utc> {
        self.from
    }

    /// The end.
    pub fn until(&self) -> DateTime<Utc> {
        self.until
    }
}

/// How an object is when a period begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Beginning {
    /// Held down.
    HeldDown,
    /// As somebody has it.
    AsItIs,
    /// Without a replica, as somebody has it: only what was started once is held down later.
    Off,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn a_day_is_one_of_the_calendar() {
        let new_york = Zone::parse("America/New_York").unwrap();
        for (from, days, until) in [
            ("2026-10-31T04:00:00Z", 1, "2026-11-01T04:00:00Z"),
            ("2026-10-31T04:00:00Z", 2, "2026-11-02T05:00:00Z"),
            ("2026-03-07T07:30:00Z", 1, "2026-03-08T07:00:00Z"), // 02:30 does not exist
        ] {
            let period = Period::days(at(from), days, new_york).unwrap();
            assert_eq!((period.from(), period.until()), (at(from), at(until)));
        }
        let now = at("2026-11-20T10:00:00Z");
        assert!(Period::days(now, 0, Zone::UTC).is_err());
        assert!(Period::days(now, u32::MAX, Zone::UTC).is_err());
    }

    #[test]
    fn an_end_comes_after_its_beginning() {
        let (early, late) = (at("2026-11-20T10:00:00Z"), at("2026-11-20T10:00:01Z"));
        assert!(Period::new(early, late).is_ok());
        for until in [early, "2026-11-20T09:00:00Z".parse().unwrap()] {
            assert_eq!(
                Period::new(early, until),
                Err(PeriodError::Backwards { from: early, until })
            );
        }
    }
}
