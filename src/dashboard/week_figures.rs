//! Seven days under a schedule in figures: running time, starts, and used and saved resources. Overrides and
//! jitter are left out, so that the figures of two schedules can be compared.

use chrono::{DateTime, Datelike as _, TimeDelta, Timelike as _, Utc, Weekday};
use dayshift_manifest::plan::{Period, PlannedState, PlannedStep, restored_count, timeline};
use dayshift_schedule::Action;
use dayshift_workload::{Observed, Overrides, ScheduleSpec, savings::Saved};

use crate::dashboard::{
    forecast::{full_count, running_count},
    outlook::Share,
};

/// The maximum number of steps of a week, because a schedule with seconds has 600,000.
const MAX_STEPS: usize = 400;
/// The working hours, from Monday to Friday in the zone of the schedule. Users wait for starts in them.
pub(super) const WORKING_HOURS: (u32, u32) = (9, 17);

/// The states that a schedule plans for seven days.
#[derive(Debug)]
pub(super) struct PlannedWeek {
    /// The hours of all steps with the same state and required action.
    states: Vec<(PlannedStep, f64)>,
    starts: usize,
    working_starts: usize,
    /// The number of computed steps.
    pub(super) steps: usize,
    /// Whether the schedule changes too often to be counted.
    pub(super) is_cut: bool,
    /// Whether a workload runs when the week begins, if the schedule requires anything then.
    pub(super) is_up_at_first: Option<bool>,
}

/// The figures of some workloads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WeekFigures {
    pub(super) workloads: usize,
    /// The hours in which a workload runs, summed over the workloads.
    pub(super) running: f64,
    pub(super) starts: usize,
    /// The starts in [`WORKING_HOURS`].
    pub(super) working_starts: usize,
    pub(super) share: Share,
    /// The number of workloads whose schedules change too often to be counted.
    pub(super) uncounted: usize,
}

/// Seven days from `now`.
pub(super) fn seven_days(now: DateTime<Utc>) -> Option<Period> {
    Period::new(now, now + TimeDelta::days(7)).ok()
}

impl PlannedWeek {
    pub(super) fn new(spec: &ScheduleSpec, period: Period) -> Self {
        let spec = ScheduleSpec {
            overrides: Overrides::default(),
            ..spec.clone()
        };
        let steps = timeline(&spec, TimeDelta::zero(), period, period.from());
        let mut steps: Vec<PlannedStep> = steps.take(MAX_STEPS + 1).collect();
        let computed = steps.len();
        let is_cut = computed > MAX_STEPS;
        let first = steps.first().filter(|step| step.required.is_some());
        let is_up_at_first = first.map(|step| is_up(&spec, step));
        if is_cut {
            steps.clear();
        }
        let starts = steps.windows(2).filter_map(|pair| match pair {
            [before, after] if !is_up(&spec, before) && is_up(&spec, after) => Some(after.from),
            _ => None,
        });
        let starts: Vec<DateTime<Utc>> = starts.collect();
        let zone = spec.schedule.zone();
        let is_working = |at: &&DateTime<Utc>| {
            let at = at.with_timezone(&zone);
            let is_workday = !matches!(at.weekday(), Weekday::Sat | Weekday::Sun);
            is_workday && (WORKING_HOURS.0..WORKING_HOURS.1).contains(&at.hour())
        };
        let mut states: Vec<(PlannedStep, f64)> = Vec::new();
        for step in &steps {
            let hours = (step.until - step.from).as_seconds_f64() / 3600.0;
            let is_same = |known: &&mut (PlannedStep, f64)| {
                (known.0.state, known.0.required) == (step.state, step.required)
            };
            match states.iter_mut().find(is_same) {
                Some(known) => known.1 += hours,
                None => states.push((*step, hours)),
            }
        }
        Self {
            starts: starts.len(),
            working_starts: starts.iter().filter(is_working).count(),
            states,
            steps: computed,
            is_cut,
            is_up_at_first,
        }
    }
}

impl WeekFigures {
    /// Adds a workload with this week and the counts of this schedule.
    pub(super) fn add(&mut self, spec: &ScheduleSpec, observed: &Observed, week: &PlannedWeek) {
        self.workloads += 1;
        if week.is_cut {
            self.uncounted += 1;
            return;
        }
        self.starts += week.starts;
        self.working_starts += week.working_starts;
        let restored = || Some(restored_count(observed, spec));
        let full = full_count(spec, observed.replicas, restored);
        let countable = |count| f64::from(observed.footprint.countable(count).get());
        let (mut used, mut saved) = (0.0, 0.0);
        for (step, hours) in &week.states {
            let running = running_count(spec, step, full);
            used += hours * countable(running);
            saved += hours * (countable(full) - countable(running)).max(0.0);
            if is_up(spec, step) {
                self.running += *hours;
            }
        }
        if observed.footprint.replicas > 0 {
            let share = Share {
                used: Saved::from_hours(used, observed.footprint),
                saved: Saved::from_hours(saved, observed.footprint),
            };
            self.share = self.share.and(share);
        }
    }
}

/// Whether the workload runs during a step. If a schedule only stops, or only starts, users make the other
/// change at unknown times, so it is assumed to run.
fn is_up(spec: &ScheduleSpec, step: &PlannedStep) -> bool {
    match (step.state, step.required) {
        (PlannedState::Slept, _) | (PlannedState::Running, Some(Action::Scale(0))) => false,
        (PlannedState::Stopped, _) => spec.only_action().is_some(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use dayshift_workload::{Inputs, Key, ParseContext, ParsedInputs, read};

    use super::*;

    fn week(hours: &str) -> PlannedWeek {
        let inputs = Inputs::default().with(Key::Hours, hours);
        let ParsedInputs::Scheduled(spec) = read(&inputs, &ParseContext::default()) else {
            panic!("{hours} is rejected");
        };
        // A Saturday.
        let period = seven_days("2026-11-28T10:00:00Z".parse().unwrap()).unwrap();
        PlannedWeek::new(&spec, period)
    }

    #[test]
    fn counts_the_starts_of_a_week_and_those_in_working_hours() {
        for (hours, starts, working_starts) in [
            ("Mon-Fri 09:00-17:00", 5, 5),
            ("Mon-Fri 08:59-17:00", 5, 0),
            ("daily 16:59-20:00", 7, 5),
            ("daily 17:00-20:00", 7, 0),
            // It runs when the week begins, and starts on the second Saturday.
            ("daily 09:00-17:00", 7, 5),
            ("00:00-24:00", 0, 0),
            ("Mon-Fri 08:00-12:00; Mon-Fri 13:00-17:00", 10, 5),
        ] {
            let week = week(hours);
            assert_eq!(
                (week.starts, week.working_starts),
                (starts, working_starts),
                "{hours}"
            );
        }
    }

    #[test]
    fn a_schedule_with_a_boundary_each_minute_is_not_counted() {
        let minutes = (0..60).map(|at| 8 * 60 + 2 * at);
        let minutes: Vec<_> = minutes
            .map(|at| format!("{:02}:{:02}-{0:02}:{:02}", at / 60, at % 60, at % 60 + 1))
            .collect();
        for (hours, is_cut) in [
            ("Mon-Fri 09:00-17:00".to_owned(), false),
            (minutes.join("; "), true),
        ] {
            assert_eq!(week(&hours).is_cut, is_cut, "{hours}");
        }
    }
}
