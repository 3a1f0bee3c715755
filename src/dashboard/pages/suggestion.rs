//! Suggestions from the wakes that the controller has recorded: a later stop for a workload that is often woken
//! after its stop.

use std::ops::Range;

use chrono::{DateTime, NaiveTime, TimeDelta, Timelike as _, Utc};
use dayshift_controller::{RecordedWake, WakeHistory};
use dayshift_manifest::plan::Period;
use dayshift_operations::status::short_time;
use dayshift_schedule::{Action, Hours, Zone};
use dayshift_workload::{Key, Observed};
use maud::{Markup, html};

use crate::dashboard::{
    form::EDIT_SCHEDULE,
    pages::page::{Page, safe, section},
    view::Row,
};

/// The number of last stops that are considered, and of those after which the workload was woken.
const STOPS: usize = 5;
const ENOUGH: usize = 3;
/// A wake belongs to a stop if it begins at most this long after it.
const LATEST_BEGIN: TimeDelta = TimeDelta::hours(2);
/// A shorter wake after the stop is no reason to move it.
const SHORTEST: TimeDelta = TimeDelta::minutes(30);
/// The suggested time is a multiple of this.
const STEP: u32 = 15;
/// How long ago a stop can be, and the maximum number of computed boundaries.
const MAX_AGE: TimeDelta = TimeDelta::days(21);
const MAX_BOUNDARIES: usize = 500;
/// The maximum number of suggestions for a namespace.
const MAX_SUGGESTIONS: usize = 10;

/// Hours with a later stop.
#[derive(Debug, PartialEq, Eq)]
struct LaterStop {
    /// The number of the last [`STOPS`] after which the workload was woken.
    woken: usize,
    /// The present stop.
    stop: NaiveTime,
    /// The suggested running hours.
    hours: String,
    /// The suggested stop.
    later: NaiveTime,
}

impl LaterStop {
    /// The suggestion for these hours, their past stops and the wakes.
    fn find(
        hours: &str,
        stops: &[DateTime<Utc>],
        wakes: &[RecordedWake],
        (zone, now): (Zone, DateTime<Utc>),
    ) -> Option<Self> {
        let (at, stop) = only_stop(hours)?;
        let last = stops.get(stops.len().checked_sub(STOPS)?..)?;
        let ends = last.iter().filter_map(|stopped| {
            let of_stop = wakes.iter().rev().find_map(|wake| {
                let end = wake.until.unwrap_or(now);
                let is_after = end - *stopped >= SHORTEST;
                (is_after && wake.from - *stopped <= LATEST_BEGIN).then_some(end)
            });
            let (end, stopped) = (of_stop?.with_timezone(&zone), stopped.with_timezone(&zone));
            // A stop after midnight would be on another day of the schedule.
            (end.date_naive() == stopped.date_naive()).then(|| end.time())
        });
        let mut ends: Vec<_> = ends.collect();
        ends.sort_unstable();
        let woken = ends.len();
        let median = *ends.get(woken / 2).filter(|_| woken >= ENOUGH)?;
        let minutes = (median.num_seconds_from_midnight().div_ceil(60)).next_multiple_of(STEP);
        let later = NaiveTime::from_hms_opt(minutes / 60, minutes % 60, 0)?;
        let mut text = hours.to_owned();
        text.replace_range(at, &later.format("%H:%M").to_string());
        Hours::parse(&text).ok()?;
        (later > stop).then_some(Self {
            woken,
            stop,
            hours: text,
            later,
        })
    }
}

/// The stop of running hours with a single window that ends on the same day, and its bytes.
fn only_stop(hours: &str) -> Option<(Range<usize>, NaiveTime)> {
    let (start, stop) = hours.rsplit_once('-')?;
    let begin = hours.len() - stop.trim_start().len();
    let end = hours.trim_end().len();
    let time = |text: &str| NaiveTime::parse_from_str(text, "%H:%M").ok();
    let stop = time(hours.get(begin..end)?)?;
    let start = start.trim_end();
    let is_single = start.matches(':').count() == 1;
    let start = time(start.rsplit(char::is_whitespace).next()?)?;
    (is_single && start < stop).then_some((begin..end, stop))
}

impl Page<'_> {
    /// The suggestion for a workload with a schedule of its own.
    fn later_stop(&self, row: &Row) -> Option<(LaterStop, WakeHistory)> {
        let history = self.recorder?.wakes_of(&row.status.object)?;
        if history.wakes.len() < ENOUGH {
            return None;
        }
        let now = self.view.now;
        let mut planner = self.planner(now)?;
        planner.period = Period::new(history.since.max(now - MAX_AGE), now).ok()?;
        let mut observed = Observed::clone(&row.observed);
        observed.inputs = observed.inputs.without(&Key::OVERRIDES);
        let plan = planner.plan_live(&observed)?;
        let boundaries = plan.boundaries().take(MAX_BOUNDARIES);
        let stops = boundaries.filter(|boundary| boundary.action == Action::Stop);
        let stops: Vec<_> = stops.map(|boundary| boundary.at.to_utc()).collect();
        let hours = row.observed.inputs.own().text(Key::Hours)?;
        let place = (row.status.zone, now);
        let later = LaterStop::find(hours, &stops, &history.wakes, place)?;
        Some((later, history))
    }

    /// The suggestions for these workloads, each with its preview.
    pub(super) fn suggestions(&self, rows: &[&Row]) -> Markup {
        let suggested = rows
            .iter()
            .filter_map(|row| Some((*row, self.later_stop(row)?)));
        let suggested: Vec<_> = suggested.take(MAX_SUGGESTIONS).collect();
        let content = html! {
            @for (row, (suggestion, history)) in &suggested {
                p {
                    (self.link_to(row)) " was woken after " (suggestion.woken) " of its last " (STOPS) " stops at "
                    (suggestion.stop.format("%H:%M").to_string()) ", usually until about "
                    (suggestion.later.format("%H:%M").to_string()) ". If people still use it then, move the stop to "
                    (suggestion.later.format("%H:%M").to_string()) ": "
                    code { (safe(&suggestion.hours)) } "."
                }
                @if self.may_change(row) {
                    (self.post("/confirm", Some("decide"), &[
                        ("do", EDIT_SCHEDULE),
                        ("object", &*row.form_name()),
                        (Key::Hours.name(), &*suggestion.hours),
                    ], &html! { button type="submit" { "Preview the later stop" } }))
                }
                p.far {
                    "Wakes are recorded since "
                    (short_time(history.since, self.zone_of(row), self.view.now)) ". Who woke it is not recorded."
                }
            }
        };
        html! {
            @if !suggested.is_empty() { (section("suggestions", "Suggestions", &content)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    /// Wakes on days of November 2026, from and until hours and minutes in Berlin, which is one hour ahead of UTC.
    fn wakes(days: &[(u32, &str, &str)]) -> Vec<RecordedWake> {
        let time = |day: u32, time: &str| at(&format!("2026-11-{day:02}T{time}:00+01:00"));
        let wakes = days.iter();
        wakes
            .map(|(day, from, until)| RecordedWake {
                from: time(*day, from),
                until: Some(time(*day, until)),
            })
            .collect()
    }

    /// Monday, 16 November, to Friday.
    fn suggested(hours: &str, wakes: &[RecordedWake]) -> Option<(usize, String)> {
        let zone = Zone::parse("Europe/Berlin").unwrap();
        let stops: Vec<_> = (16..=20)
            .map(|day| at(&format!("2026-11-{day}T19:00:00+01:00")))
            .collect();
        let now = at("2026-11-21T08:00:00Z");
        let found = LaterStop::find(hours, &stops, wakes, (zone, now))?;
        Some((found.woken, found.hours))
    }

    #[test]
    fn suggests_a_later_stop_for_a_workload_that_is_often_woken_after_it() {
        let often = wakes(&[
            (16, "18:55", "20:00"),
            (17, "19:10", "20:50"),
            (18, "19:30", "19:50"),
            (20, "18:00", "19:52"),
        ]);
        let hours = "Mon-Fri 09:00-19:00";
        let expected = Some((4, "Mon-Fri 09:00-20:00".to_owned()));
        assert_eq!(suggested(hours, &often), expected);
        assert_eq!(suggested(hours, &often[..2]), None, "two of five stops");
        let spaced = suggested("Mon-Fri 09:00 - 19:00 ", &often);
        assert_eq!(spaced, Some((4, "Mon-Fri 09:00 - 20:00 ".to_owned())));
        for unclear in [
            "Mon-Thu 09:00-19:00; Fri 09:00-19:00",
            "09:00-12:00, 13:00-19:00",
            "22:00-19:00",
            "Mon 19:00",
            "",
        ] {
            assert_eq!(suggested(unclear, &often), None, "{unclear}");
        }
    }

    #[test]
    fn wakes_that_do_not_extend_a_day_are_no_reason() {
        let hours = "Mon-Fri 09:00-19:00";
        for (case, from, until) in [
            ("short", "18:50", "19:20"),
            ("in the night", "22:00", "23:30"),
            ("in the day", "08:00", "18:00"),
        ] {
            let days: Vec<_> = (16..=20).map(|day| (day, from, until)).collect();
            assert_eq!(suggested(hours, &wakes(&days)), None, "{case}");
        }
        // One wake of a week, or of a whole night.
        let long = [RecordedWake {
            from: at("2026-11-16T10:00:00Z"),
            until: Some(at("2026-11-21T10:00:00Z")),
        }];
        assert_eq!(suggested(hours, &long), None);
        let nights: Vec<_> = (16..=20)
            .map(|day| RecordedWake {
                from: at(&format!("2026-11-{day}T18:00:00Z")),
                until: Some(at(&format!("2026-11-{day}T23:30:00Z"))),
            })
            .collect();
        assert_eq!(suggested(hours, &nights), None, "it ends on the next day");
    }
}
