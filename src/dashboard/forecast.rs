//! The counts and boundaries of one workload in the days around now. Computing them takes much longer than rendering
//! them, so a row keeps its [`Forecast`] until the workload changes or its next boundary passes.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_manifest::plan::{
    Period, PlannedState, PlannedStep, PlannedStop, Planner, WorkloadPlan, timeline,
};
use dayshift_schedule::Action;
use dayshift_workload::{
    Observed, Override, ParseContext, ParsedInputs, Prefix, Replicas, ScheduleSpec,
};

/// A forecast holds at most this long.
const MAX_AGE: TimeDelta = TimeDelta::hours(12);
/// A forecast holds at least this long. Otherwise, each page would compute those of schedules with seconds.
const MIN_AGE: TimeDelta = TimeDelta::minutes(1);
/// The week of a page begins at most this long before now, and ends at most this long after it.
const WEEK: TimeDelta = TimeDelta::days(7);
/// The boundaries of this time from now are known.
pub(super) const AHEAD: TimeDelta = TimeDelta::days(1);
/// The maximum number of boundaries and of steps, because a schedule with seconds has 86,400 a day.
const MAX_BOUNDARIES: usize = 200;
const MAX_STEPS: usize = 2 * MAX_BOUNDARIES;

/// The counts and boundaries of one workload.
#[derive(Debug)]
pub(super) struct Forecast {
    /// When it was computed, and until when it holds.
    at: DateTime<Utc>,
    until: DateTime<Utc>,
    /// The next stop; `None` without a schedule.
    pub(super) stop: Option<PlannedStop>,
    /// The times of a valid schedule.
    pub(super) times: Option<ForecastTimes>,
}

/// The times of a workload with a valid schedule.
#[derive(Debug)]
pub(super) struct ForecastTimes {
    /// The count that would run without the schedule.
    pub(super) full: Replicas,
    /// The running count from each time, in seconds since 1970, until the next one.
    counts: Box<[(i64, Replicas)]>,
    end: i64,
    /// The applied boundaries from now on.
    pub(super) boundaries: Box<[CountChange]>,
}

/// The planned count before and after a boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CountChange {
    pub(super) at: DateTime<Utc>,
    pub(super) before: Replicas,
    pub(super) after: Replicas,
}

impl Forecast {
    pub(super) fn new(
        observed: &Observed,
        parsed: &ParsedInputs,
        context: &ParseContext,
        now: DateTime<Utc>,
    ) -> Self {
        let mut forecast = Self {
            at: now,
            until: now + MAX_AGE,
            stop: None,
            times: None,
        };
        let period = Period::new(now, now + WEEK + MAX_AGE).ok();
        let plan = period.and_then(|period| {
            let planner = Planner {
                period,
                context: context.clone(),
                prefix: Prefix::default(),
            };
            planner.plan_read(observed, parsed.clone())
        });
        let Some(plan) = plan else { return forecast };
        forecast.stop = Some(plan.planned_stop(observed.replicas));
        if let Some(spec) = plan.spec() {
            let next = plan.boundaries().next();
            let ends = spec.overrides.all().filter_map(Override::until);
            let next = next.map(|boundary| boundary.at.to_utc());
            let changes = ends.filter(|at| *at >= now).chain(next).min();
            forecast.until = changes
                .map_or(forecast.until, |at| at.min(forecast.until))
                .max(now + MIN_AGE);
            forecast.times = ForecastTimes::new(spec, &plan, observed.replicas, now);
        }
        forecast
    }

    /// Whether a forecast for `now` would be the same.
    pub(super) fn holds_at(&self, now: DateTime<Utc>) -> bool {
        self.at <= now && now < self.until
    }
}

impl ForecastTimes {
    fn new(
        spec: &ScheduleSpec,
        plan: &WorkloadPlan,
        seen: Replicas,
        now: DateTime<Utc>,
    ) -> Option<Self> {
        let full = full_count(spec, seen, || plan.runs);
        let period = Period::new(now - WEEK, now + WEEK + MAX_AGE).ok()?;
        let mut counts: Vec<(i64, Replicas)> = Vec::new();
        let mut end = period.from().timestamp();
        for step in timeline(spec, plan.delay(), period, plan.since()).take(MAX_STEPS) {
            let count = running_count(spec, &step, full);
            if counts.last().is_none_or(|(_, last)| *last != count) {
                counts.push((step.from.timestamp(), count));
            }
            end = step.until.timestamp();
        }
        let boundaries = plan.boundaries().take(MAX_BOUNDARIES);
        let boundaries = boundaries.filter(|boundary| boundary.applied);
        let last = now + AHEAD + MAX_AGE;
        let stopped = spec.stop_replicas.min(full);
        // An exact count can be above or below the previous one.
        let mut exact = seen;
        let boundaries = boundaries.map(|boundary| {
            let (before, after) = match boundary.action {
                Action::Start => (stopped, full),
                Action::Stop => (full, stopped),
                Action::Scale(count) => (exact, Replicas::new(count)),
            };
            exact = after;
            let at = boundary.at.to_utc();
            CountChange { at, before, after }
        });
        Some(Self {
            full,
            counts: counts.into(),
            end,
            boundaries: boundaries.take_while(|change| change.at < last).collect(),
        })
    }

    /// The beginning and the end in seconds, and the running count of each step.
    pub(super) fn steps(&self) -> impl Iterator<Item = (i64, i64, Replicas)> {
        let ends = self.counts.iter().skip(1).map(|(at, _)| *at);
        let steps = self.counts.iter().zip(ends.chain([self.end]));
        steps.map(|((from, count), until)| (*from, until, *count))
    }
}

/// The count that would run without the schedule. `restored` is the count that a start restores, if it is known.
pub(super) fn full_count(
    spec: &ScheduleSpec,
    seen: Replicas,
    restored: impl FnOnce() -> Option<Replicas>,
) -> Replicas {
    let known = spec.largest_count().or(spec.replicas).or_else(restored);
    known.unwrap_or(seen)
}

/// The count during a step, at most `full`.
pub(super) fn running_count(spec: &ScheduleSpec, step: &PlannedStep, full: Replicas) -> Replicas {
    let has_both = spec.only_action().is_none();
    let count = match (step.state, step.required) {
        (PlannedState::Slept, _) => spec.stop_replicas,
        // If a schedule only stops or only starts, users make the other change, at unknown times. So the
        // workload is assumed to run.
        (PlannedState::Stopped, _) if has_both => spec.stop_replicas,
        (PlannedState::Running, Some(Action::Scale(count))) => Replicas::new(count),
        _ => full,
    };
    count.min(full)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use dayshift_cluster::Workload;
    use dayshift_workload::Kind;
    use serde_json::json;

    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        format!("2026-11-{text}:00Z").parse().unwrap()
    }

    /// The forecast of a workload with these annotations.
    fn forecast(texts: &[(&str, &str)], now: &str) -> Forecast {
        let texts = texts.iter();
        let annotations: BTreeMap<_, _> = texts
            .map(|(key, text)| (format!("dayshift/{key}"), text))
            .collect();
        let workload: Workload = serde_json::from_value(json!({
            "metadata": {"namespace": "dev", "name": "web", "uid": "1", "annotations": annotations},
            "spec": {"replicas": 3},
        }))
        .unwrap();
        let observed = workload.observe(&Kind::DEPLOYMENT, &Prefix::default());
        let context = ParseContext::default();
        Forecast::new(&observed, &observed.read(&context), &context, at(now))
    }

    #[test]
    fn a_forecast_holds_until_the_next_boundary_or_the_end_of_an_override() {
        let office = ("hours", "Mon-Fri 09:00-19:00");
        let two = ("hours", "Mon-Fri 09:00-15:00; Mon 20:00-21:00");
        let wake = ("wake-until", "2026-11-20 18:30");
        for (texts, until) in [
            (&[office][..], "20T19:00"),
            (&[two], "20T15:00"),
            (&[office, wake], "20T18:30"),
            (&[("hours", "Sat 09:00-19:00")], "21T00:00"),
            (&[("hours", "00:00-24:00")], "21T00:00"),
        ] {
            let forecast = forecast(texts, "20T12:00");
            let until = at(until);
            let second = TimeDelta::seconds(1);
            let held = [until - second, until].map(|at| forecast.holds_at(at));
            assert_eq!(held, [true, false], "{texts:?} {forecast:?}");
            assert!(!forecast.holds_at(at("20T11:59")), "{texts:?}");
        }
    }

    #[test]
    fn forecasts_of_frequent_boundaries_hold_for_a_minute_and_are_bounded() {
        let texts = [("start", "*/2 * * * * *"), ("stop", "1-59/2 * * * * *")];
        let forecast = forecast(&texts, "20T12:00");
        assert!(forecast.holds_at(at("20T12:00") + TimeDelta::seconds(59)));
        assert!(!forecast.holds_at(at("20T12:01")));
        let times = forecast.times.unwrap();
        assert!(times.boundaries.len() <= MAX_BOUNDARIES && times.counts.len() <= MAX_STEPS);
    }

    /// As long as a forecast holds, a new one has the same counts and boundaries in the time that a page shows.
    #[test]
    fn a_later_forecast_is_the_same() {
        for (hours, first, later) in [
            ("Mon-Fri 09:00-19:00", "20T09:01", "20T18:59"),
            ("Mon-Fri 09:00-19:00", "20T19:01", "21T06:59"),
            ("Sat 22:00-06:00", "22T06:01", "22T17:59"),
            // A page at the later time shows boundaries that one at the first time does not show.
            ("Sat 15:00-16:00", "20T10:00", "20T21:59"),
            ("first Sun 09:00-10:00", "28T23:00", "29T10:59"),
        ] {
            let [first, second] = [first, later].map(|now| forecast(&[("hours", hours)], now));
            assert!(first.holds_at(at(later)), "{hours}");
            let now = at(later);
            let shown = |forecast: Forecast| {
                let times = forecast.times.unwrap();
                let [from, until] = [now - WEEK, now + WEEK].map(|at| at.timestamp());
                let steps = times.steps().filter(|step| step.1 > from && step.0 < until);
                let steps = steps.map(|step| (step.0.max(from), step.1.min(until), step.2));
                let boundaries = times.boundaries.iter();
                let boundaries =
                    boundaries.filter(|change| change.at >= now && change.at < now + AHEAD);
                let next = forecast.stop.unwrap().next;
                let next = next.filter(|next| next.at < now + WEEK);
                (
                    steps.collect::<Vec<_>>(),
                    boundaries.copied().collect::<Vec<_>>(),
                    next,
                )
            };
            assert_eq!(shown(first), shown(second), "{hours}");
        }
    }
}
