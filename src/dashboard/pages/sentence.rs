//! The state of a workload as a sentence: what it does, why, and what happens next.

use chrono::{DateTime, SecondsFormat, Utc};
use dayshift_operations::status::{ScheduleStatus, distance, short_time, time_of_day};
use dayshift_schedule::{Action, Zone};
use dayshift_workload::{Key, Override, Phase, events::author_text};
use maud::{Markup, html};

use crate::dashboard::pages::{
    page::{Page, safe},
    week::{Shown, Week},
};
use crate::dashboard::view::Row;
use dayshift_manifest::plan::PlannedState;

impl Page<'_> {
    /// `Stopped because it is Saturday (Mon-Fri 09:00-19:00, Europe/Berlin). Starts Monday 09:00, in 2 d 6 h.`
    pub(super) fn sentence(&self, row: &Row, today: Option<&Week>) -> Markup {
        let status = &row.status;
        let zone = self.zone_of(row);
        let why = || self.reason(row, today);
        let until = status.active_override.and_then(|(_, over)| over.until());
        let by = author_text(&status.author).unwrap_or_default();
        let until = html! {
            @if let Some(until) = until { " until " (self.day_and_time(until, zone)) }
            @else if status.active_override.is_some() { " without an end" }
            @if !by.is_empty() { ", " (safe(&by)) }
        };
        let overridden = status.active_override.map(|(_, over)| over);
        html! {
            p.lead {
                @match (status.condition, status.phase, overridden) {
                    (ScheduleStatus::Rejected, ..) => {
                        strong { "Unchanged" } " because its schedule is rejected" (schedule(row)) "."
                    }
                    (ScheduleStatus::Removed, ..) => {
                        strong { "Stopped" } ", and its schedule was removed: nothing starts it."
                    }
                    (_, _, Some(Override::Pause(_))) => {
                        strong { "Paused" } (until) ": its schedule" (schedule(row)) " changes nothing."
                    }
                    (_, _, Some(Override::Wake(_))) => {
                        strong { "Awake by an override" } (until) ", whatever its schedule \
                            requires" (schedule(row)) "."
                    }
                    (_, _, Some(Override::Sleep(_))) => {
                        strong { "Asleep by an override" } (until) ", whatever its schedule \
                            requires" (schedule(row)) "."
                    }
                    (_, Some(Phase::Stopped), _) => {
                        strong { "Stopped" } " because " (why()) (schedule(row)) "."
                    }
                    (_, Some(Phase::Running), _) => {
                        strong { "Running" } " because " (why()) (schedule(row)) "."
                    }
                    (_, Some(Phase::Woken), None) => (ended("wake", row)),
                    (_, Some(Phase::Slept), None) => (ended("sleep", row)),
                    (_, Some(Phase::Paused), None) => (ended("pause", row)),
                    (_, None, _) => {
                        strong { "Not adopted yet" } ": no controller has observed \
                            it" (schedule(row)) "."
                    }
                    _ => {
                        strong { "Adopted" }
                        ": dayshift does not change it until its next start or stop" (schedule(row)) "."
                    }
                }
                @if let Some(at) = status.next.filter(|at| *at > self.view.now) {
                    @let next = match status.next_action {
                        Some(Action::Start) => "Starts ".to_owned(),
                        Some(Action::Stop) => "Stops ".to_owned(),
                        Some(Action::Scale(count)) if count == status.replicas.get() => format!("Scales to {count} "),
                        Some(Action::Scale(count)) => format!("Scales from {} to {count} ", status.replicas),
                        None => "Changes ".to_owned(),
                    };
                    " " (next) (self.day_and_time(at, zone)) ", " (distance(at, self.view.now)) "."
                }
            }
        }
    }

    /// `it is Saturday`, `it is an excluded date` or `it is 21:40`
    fn reason(&self, row: &Row, today: Option<&Week>) -> String {
        let zone = self.zone_of(row);
        let now = self.view.now.with_timezone(&zone);
        let own = self.view.now.with_timezone(&row.status.zone).date_naive();
        let holiday = today.and_then(|today| today.holidays.iter().find(|(date, _)| *date == own));
        if let Some((_, name)) = holiday.filter(|_| row.status.phase == Some(Phase::Stopped)) {
            return match &**name {
                "" => "it is an excluded date".to_owned(),
                name => format!("it is an excluded date, {}", safe(name)),
            };
        }
        let running = Shown::Planned(PlannedState::Running);
        let states = today.map(|today| today.pieces.iter().map(|piece| piece.shown));
        let runs_today = states.is_some_and(|mut states| states.any(|shown| shown == running));
        let day = now.format("%A");
        match (row.status.phase, runs_today) {
            (Some(Phase::Stopped), false) => format!("it is {day}"),
            _ => format!("it is {day}, {}", now.format("%H:%M")),
        }
    }

    /// `Monday 09:00`, within six days; otherwise with the date.
    fn day_and_time(&self, at: DateTime<Utc>, zone: Zone) -> Markup {
        let local = at.with_timezone(&zone);
        let today = self.view.now.with_timezone(&zone).date_naive();
        let days = (local.date_naive() - today).num_days();
        let text = match days {
            0 => local
                .format(&format!("at {}", time_of_day(&local)))
                .to_string(),
            1..=6 => local
                .format(&format!("%A {}", time_of_day(&local)))
                .to_string(),
            _ => short_time(at, zone, self.view.now),
        };
        html! { time datetime=(local.to_rfc3339_opts(SecondsFormat::Secs, false)) { (text) } }
    }
}

/// An override that has ended, but whose state a controller has not changed yet.
fn ended(name: &str, row: &Row) -> Markup {
    html! {
        strong { "The " (name) " has ended" }
        ": the controller has not followed the schedule again yet" (schedule(row)) "."
    }
}

/// `Mon-Fri 09:00-19:00`, or `start Mon 09:00, stop Fri 19:00`
pub(super) fn schedule_text(row: &Row) -> String {
    let inputs = &row.observed.inputs;
    match inputs.text(Key::Hours) {
        Some(hours) => hours.to_owned(),
        None => {
            let parts = [
                (Key::Start, "start "),
                (Key::Stop, "stop "),
                (Key::Scale, "scale "),
            ];
            let parts = parts.into_iter();
            let parts: Vec<_> = parts
                .filter_map(|(key, name)| Some(format!("{name}{}", inputs.text(key)?)))
                .collect();
            parts.join(", ")
        }
    }
}

/// ` (Mon-Fri 09:00-19:00, Europe/Berlin)`
fn schedule(row: &Row) -> Markup {
    let text = schedule_text(row);
    html! {
        @if !text.is_empty() {
            " (" code { (safe(&text)) } ", " (row.status.zone.name()) ")"
        }
    }
}
