//! When something has to run, and the annotations that say so.

use chrono::{DateTime, Utc};
use dayshift_schedule::Zone;
use dayshift_workload::Key;

use crate::convert::times::{
    moments::{AbsoluteError, Moments, Texts, fails},
    timespan::Absolute,
    week::Week,
};

/// When something runs: in every week, and otherwise between some instants.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Desired {
    pub(crate) zone: Option<Zone>,
    pub(crate) week: Week,
    /// Between these it runs, whatever the week says.
    pub(crate) ups: Vec<Absolute>,
    /// Between these it does not.
    pub(crate) downs: Vec<Absolute>,
}

impl Desired {
    /// The annotations that say it. What is over at `now` does not count.
    ///
    /// # Errors
    /// Where a span between two instants has no equivalent.
    pub(crate) fn texts(&self, now: DateTime<Utc>) -> Result<Texts, AbsoluteError> {
        let zone = self.zone.unwrap_or(Zone::UTC);
        let mut moments = Moments::new(&self.week, zone, now);
        let all = || self.ups.iter().chain(&self.downs);
        for one in all() {
            let meets = |other: &&Absolute| {
                !std::ptr::eq(one, *other)
                    && one
                        .from
                        .is_none_or(|from| other.to.is_none_or(|to| from < to))
                    && other
                        .from
                        .is_none_or(|from| one.to.is_none_or(|to| from < to))
            };
            if all().any(|other| meets(&other)) {
                return Err(fails(one, "it overlaps another one"));
            }
        }
        for up in &self.ups {
            moments.up(up)?;
        }
        for down in &self.downs {
            moments.down(down)?;
        }
        moments.check(&self.downs)?;
        let mut texts = moments.texts();
        let is_timeless = texts
            .iter()
            .all(|(key, text)| *key == Key::Hours && text == ALWAYS);
        if !is_timeless {
            texts.push((Key::Timezone, zone.name().to_owned()));
        }
        Ok(texts)
    }
}

/// The text of hours that never stop.
pub(crate) const ALWAYS: &str = "00:00-24:00";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::times::timespan::{SpanDefaults, Spans};

    fn texts(uptime: &str, downs: &str) -> Result<Vec<String>, AbsoluteError> {
        let parse = |text| Spans::parse(text, SpanDefaults::default()).unwrap();
        let (up, down) = (parse(uptime), parse(downs));
        let desired = Desired {
            zone: up.zone.or(down.zone),
            week: up.week.without(&down.week),
            ups: up.absolute,
            downs: down.absolute,
        };
        let texts = desired.texts("2026-11-22T12:00:00Z".parse().unwrap())?;
        Ok(texts
            .iter()
            .map(|(key, text)| format!("{key}: {text}"))
            .collect())
    }

    #[test]
    fn spans_between_instants_become_moments_and_dates() {
        const OFFICE: &str = "Mon-Fri 08:00-20:00 Europe/Berlin";
        for (up, down, expected) in [
            (
                OFFICE,
                "never",
                &["hours: Mon-Fri 08:00-20:00", "timezone: Europe/Berlin"][..],
            ),
            ("always", "never", &["hours: 00:00-24:00"]),
            ("never", "never", &["stop: 00:00", "timezone: UTC"]),
            // Holidays are dates.
            (
                OFFICE,
                "2026-12-24T00:00:00+01:00-2026-12-29T00:00:00+01:00",
                &[
                    "hours: Mon-Fri 08:00-20:00",
                    "except: 2026-12-24..2026-12-25; 2026-12-28",
                    "timezone: Europe/Berlin",
                ],
            ),
            // A Saturday of work.
            (
                "Mon-Fri 08:00-20:00 Europe/Berlin, 2026-11-28T09:00:00+01:00-2026-11-28T15:00:00+01:00",
                "never",
                &[
                    "start: Mon-Fri 08:00; 2026-11-28 09:00",
                    "stop: Mon-Fri 20:00; 2026-11-28 15:00",
                    "timezone: Europe/Berlin",
                ],
            ),
            // Overtime: the weekly stop at 20:00 has a start beside it, which wins.
            (
                "Mon-Fri 08:00-20:00 Europe/Berlin, 2026-11-27T18:00:00+01:00-2026-11-27T23:00:00+01:00",
                "never",
                &[
                    "start: Mon-Fri 08:00; 2026-11-27 20:00",
                    "stop: Mon-Fri 20:00; 2026-11-27 23:00",
                    "timezone: Europe/Berlin",
                ],
            ),
            // An afternoon off.
            (
                OFFICE,
                "2026-11-27T13:00:00+01:00-2026-11-27T15:00:00+01:00",
                &[
                    "start: Mon-Fri 08:00; 2026-11-27 15:00",
                    "stop: Mon-Fri 20:00; 2026-11-27 13:00",
                    "timezone: Europe/Berlin",
                ],
            ),
            (
                "from 2026-12-01T08:30:00Z",
                "never",
                &["start: 2026-12-01 08:30", "timezone: UTC"],
            ),
            (
                "2020-01-01T00:00:00Z-2020-01-02T00:00:00Z",
                "never",
                &["stop: 00:00", "timezone: UTC"],
            ),
        ] {
            assert_eq!(texts(up, down).unwrap(), expected, "{up} but {down}");
        }
        for (up, down) in [
            (
                OFFICE,
                "2026-11-27T06:00:00+01:00-2026-11-27T09:00:00+01:00",
            ),
            (
                OFFICE,
                "2026-11-27T13:00:30+01:00-2026-11-27T15:00:00+01:00",
            ),
            (OFFICE, "from 2026-11-27T13:00:00+01:00"),
        ] {
            assert!(texts(up, down).is_err(), "{up} but {down}");
        }
    }
}
