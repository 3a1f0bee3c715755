//! Clock changes, and the local times that clocks skip when they go forward.

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};

/// One clock change of a zone: clocks go forward or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockChange {
    /// The first instant of the new time.
    pub at: DateTime<Utc>,
    /// Offset from UTC before the change, in seconds; east is positive.
    pub(super) before: i64,
    /// Offset from UTC from the change on, in seconds.
    pub(super) after: i64,
}

impl ClockChange {
    /// What clocks would show at the change without it.
    pub fn shown_before(&self) -> NaiveDateTime {
        self.at.naive_utc() + TimeDelta::seconds(self.before)
    }

    /// What clocks show at the change.
    pub fn shown_after(&self) -> NaiveDateTime {
        self.at.naive_utc() + TimeDelta::seconds(self.after)
    }
}

/// Local times that do not exist, because clocks go forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The first local time that clocks skip.
    pub from: NaiveDateTime,
    /// The local time that clocks show instead. Everything in the gap happens then.
    pub to: NaiveDateTime,
}

#[cfg(test)]
mod tests {
    use crate::Zone;

    fn gaps(zone: &str, from: &str, until: &str) -> Vec<String> {
        let zone = Zone::parse(zone).unwrap();
        zone.gaps(from.parse().unwrap(), until.parse().unwrap())
            .iter()
            .map(|gap| format!("{} to {}", gap.from, gap.to))
            .collect()
    }

    #[test]
    fn clocks_are_put_forward_now_and_then() {
        let year = ("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z");
        for (zone, expected) in [
            ("Asia/Tokyo", vec![]),
            (
                "Europe/Berlin",
                vec!["2026-03-29 02:00:00 to 2026-03-29 03:00:00"],
            ),
            (
                "Australia/Lord_Howe",
                vec!["2026-10-04 02:00:00 to 2026-10-04 02:30:00"],
            ),
            (
                "Antarctica/Troll",
                vec!["2026-03-29 01:00:00 to 2026-03-29 03:00:00"],
            ),
        ] {
            assert_eq!(gaps(zone, year.0, year.1), expected, "{zone}");
        }
    }

    #[test]
    fn a_gap_belongs_to_the_span_in_which_it_begins() {
        let change = "2026-03-29T01:00:00Z";
        assert_eq!(
            gaps("Europe/Berlin", change, "2026-03-29T01:00:01Z").len(),
            1
        );
        assert_eq!(
            gaps("Europe/Berlin", "2026-03-01T00:00:00Z", change).len(),
            0
        );
        assert_eq!(
            gaps(
                "Europe/Berlin",
                "2026-03-29T01:00:01Z",
                "2026-04-01T00:00:00Z"
            )
            .len(),
            0
        );
    }
}
