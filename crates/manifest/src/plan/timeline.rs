//! The states of a workload through a period: the boundaries of its schedule, the ends of its
//! overrides, and the steps between them.

use std::iter::Peekable;

use chrono::{DateTime, Days, NaiveTime, TimeDelta, Utc};
use dayshift_schedule::{Action, Boundary, Zone};
use dayshift_workload::{Key, Override, ScheduleSpec};

/// The time from one instant up to but not including another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    from: DateTime<Utc>,
    until: DateTime<Utc>,
}

/// Why a period is invalid.
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
    /// The end is out of the calendar's range.
    #[error("{0} days are too many")]
    TooLong(u32),
}

impl Period {
    /// A period between two times.
    ///
    /// # Errors
    /// If `until` is not later than `from`.
    pub fn new(from: DateTime<Utc>, until: DateTime<Utc>) -> Result<Self, PeriodError> {
        if from < until {
            Ok(Self { from, until })
        } else {
            Err(PeriodError::Backwards { from, until })
        }
    }

    /// A number of days in the calendar of `zone`, ending at the same time of day. If midnight is
    /// in a DST gap, the day begins at the end of the gap.
    ///
    /// # Errors
    /// If `days` is 0, or if the end is out of range.
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

    /// The period including its end, to the second.
    #[must_use]
    pub fn and_its_end(self) -> Self {
        Self {
            until: self.until + TimeDelta::seconds(1),
            ..self
        }
    }

    /// Whether the period contains a time.
    pub fn contains(&self, at: DateTime<Utc>) -> bool {
        self.from <= at && at < self.until
    }

    /// The beginning.
    pub fn from(&self) -> DateTime<Utc> {
        self.from
    }

    /// The end, which is not part of the period.
    pub fn until(&self) -> DateTime<Utc> {
        self.until
    }
}

/// A transition at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The time.
    pub at: DateTime<Utc>,
    /// The transition.
    pub action: Action,
    /// Whether it is applied: boundaries during an override are not.
    pub applied: bool,
    /// The annotation of the override that ends at this time.
    pub ends: Option<Key>,
}

/// The transitions of an object in a period, in order. Jitter delays its starts by `delay`, and its
/// overrides are active from `since`. They are computed lazily, because a schedule by the second
/// has millions in a year.
pub fn occurrences(
    spec: &ScheduleSpec,
    delay: TimeDelta,
    period: Period,
    since: DateTime<Utc>,
) -> impl Iterator<Item = Occurrence> + '_ {
    let overridden = Period::new(period.from().max(since), period.until());
    let override_ends =
        overridden.map_or_else(|_| Vec::new(), |period| override_ends(spec, delay, period));
    Occurrences {
        spec,
        since,
        boundaries: spec
            .boundaries(period.from(), period.until(), delay)
            .peekable(),
        override_ends: override_ends.into_iter().peekable(),
    }
}

struct Occurrences<'s, B: Iterator<Item = Boundary>, T: Iterator<Item = OverrideEnd>> {
    spec: &'s ScheduleSpec,
    since: DateTime<Utc>,
    boundaries: Peekable<B>,
    override_ends: Peekable<T>,
}

impl<B: Iterator<Item = Boundary>, T: Iterator<Item = OverrideEnd>> Iterator
    for Occurrences<'_, B, T>
{
    type Item = Occurrence;

    fn next(&mut self) -> Option<Occurrence> {
        loop {
            let next = self.boundaries.peek().map(|boundary| boundary.at);
            let end = self.override_ends.peek().copied();
            if let Some(end) = end.filter(|end| next.is_none_or(|next| end.at < next)) {
                self.override_ends.next();
                if let Some(action) = end.action {
                    return Some(Occurrence {
                        at: end.at,
                        action,
                        applied: true,
                        ends: Some(end.ends),
                    });
                }
                continue;
            }
            let Boundary { at, action } = self.boundaries.next()?;
            // At the same time, the end of the override decides.
            let end = end.filter(|end| end.at == at);
            let same = end.filter(|end| end.action == Some(action));
            if same.is_some() {
                self.override_ends.next();
            }
            let is_free = at < self.since || self.spec.overrides.at(at).is_none();
            return Some(Occurrence {
                at,
                action,
                applied: end.map_or(is_free, |_| same.is_some()),
                ends: same.map(|end| end.ends),
            });
        }
    }
}

/// A time at which an override ends and the schedule or another override takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OverrideEnd {
    pub(crate) at: DateTime<Utc>,
    /// The annotation of the override that ends.
    pub(crate) ends: Key,
    /// The transition, if there is one. There is none if the schedule has no state yet, or at the
    /// end of a pause unless the schedule started the object during it.
    pub(crate) action: Option<Action>,
}

/// The ends of overrides in a period, in order. Jitter delays starts by `delay`, and overrides are
/// active from the beginning of the period.
pub(crate) fn override_ends(
    spec: &ScheduleSpec,
    delay: TimeDelta,
    period: Period,
) -> Vec<OverrideEnd> {
    let mut ends: Vec<_> = spec.overrides.all().filter_map(Override::until).collect();
    ends.retain(|at| period.from() < *at && *at < period.until());
    ends.sort_unstable();
    ends.dedup();
    let end = |at| override_end_at(spec, delay, period.from(), at);
    ends.into_iter().filter_map(end).collect()
}

/// The end of an override at a time, if the override was active since `since`. When a wake or a
/// sleep ends, the latest boundary decides. A wake that takes effect then is a start, a sleep a
/// stop. When a pause ends, a boundary at that time is applied; otherwise an object that is stopped
/// against its schedule is started (`docs/decisions/state/overrides.md`).
fn override_end_at(
    spec: &ScheduleSpec,
    delay: TimeDelta,
    since: DateTime<Utc>,
    at: DateTime<Utc>,
) -> Option<OverrideEnd> {
    let overrides = &spec.overrides;
    let ended = overrides.at(at - TimeDelta::nanoseconds(1))?;
    let begins = overrides.at(at);
    if begins == Some(ended) {
        return None;
    }
    let required = || spec.planned_action(at, delay);
    let action = match (begins, ended) {
        (Some(Override::Pause(_)), _) => None,
        (Some(Override::Wake(_)), _) => Some(Action::Start),
        (Some(Override::Sleep(_)), _) => Some(Action::Stop),
        (None, Override::Pause(_)) => {
            let newest = spec.schedule.latest_at(at, delay);
            let is_boundary = newest.is_some_and(|newest| newest.at == at);
            // An object that was stopped when the pause began has a saved count. Exact counts save
            // none.
            let is_stopped = spec.planned_action(since, delay) == Some(Action::Stop);
            required().filter(|required| is_boundary || is_stopped && required.is_up())
        }
        // A sleep that ends restores the object if the schedule has no state yet.
        (None, Override::Sleep(_)) => required().or(Some(Action::Start)),
        (None, Override::Wake(_)) => required(),
    };
    let ends = ended.annotation();
    Some(OverrideEnd { at, ends, action })
}

/// The next transition of an object after a time: the end of an override, or the first boundary
/// that no override prevents. Its overrides are active at that time.
pub fn next_applied(
    spec: &ScheduleSpec,
    delay: TimeDelta,
    after: DateTime<Utc>,
) -> Option<Boundary> {
    let mut at = after;
    while let Some(held) = spec.overrides.at(at) {
        at = held.until()?;
        if let Some(action) = override_end_at(spec, delay, after, at).and_then(|end| end.action) {
            return Some(Boundary { at, action });
        }
    }
    let after = at + TimeDelta::nanoseconds(1);
    spec.boundaries(after, DateTime::<Utc>::MAX_UTC, delay)
        .next()
}

/// The state of an object for a while, by its schedule and overrides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlannedState {
    /// Started by the schedule.
    Running,
    /// Stopped by the schedule.
    Stopped,
    /// Unchanged, because the schedule has no boundary yet.
    AsItIs,
    /// Started by an override.
    Woken,
    /// Stopped by an override.
    Slept,
    /// Paused: nothing changes it.
    Paused,
}

impl PlannedState {
    /// The number of states.
    pub const COUNT: usize = 6;
}

/// A time during which the state stays the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedStep {
    /// The beginning.
    pub from: DateTime<Utc>,
    /// The end.
    pub until: DateTime<Utc>,
    /// The state.
    pub state: PlannedState,
    /// The last action of the schedule, without overrides; `None` before its first boundary.
    pub required: Option<Action>,
    /// The boundary at its beginning, and whether it is applied.
    pub boundary: Option<(Action, bool)>,
}

struct Timeline<'a, B: Iterator<Item = Occurrence>> {
    spec: &'a ScheduleSpec,
    boundaries: Peekable<B>,
    /// The beginnings and ends of overrides, the last first.
    override_ends: Vec<DateTime<Utc>>,
    /// The time at which overrides take effect.
    since: DateTime<Utc>,
    at: DateTime<Utc>,
    until: DateTime<Utc>,
    delay: TimeDelta,
    /// Whether a pause was active just before `at`.
    is_paused: bool,
    /// The state of the schedule.
    required: Option<Action>,
    done: bool,
}

/// The steps of an object through a period, without gaps. Jitter delays its starts by `delay`, and
/// its overrides are active from `since`. A boundary at the very end is a last step of no length,
/// so that a chart of a day can show it.
pub fn timeline(
    spec: &ScheduleSpec,
    delay: TimeDelta,
    period: Period,
    since: DateTime<Utc>,
) -> impl Iterator<Item = PlannedStep> + '_ {
    let (from, until) = (period.from(), period.until());
    let overrides = &spec.overrides;
    let ends = overrides.all().filter_map(Override::until);
    let mut override_ends: Vec<_> = ends.chain([since]).collect();
    override_ends.retain(|at| from < *at && *at < until);
    override_ends.sort_unstable_by(|one, other| other.cmp(one));
    override_ends.dedup();
    Timeline {
        spec,
        boundaries: occurrences(spec, delay, period.and_its_end(), since).peekable(),
        override_ends,
        since,
        at: from,
        until,
        delay,
        is_paused: false,
        required: spec.planned_action(from, delay),
        done: false,
    }
}

impl<B: Iterator<Item = Occurrence>> Timeline<'_, B> {
    fn active_override(&self) -> Option<Override> {
        (self.at >= self.since)
            .then(|| self.spec.overrides.at(self.at))
            .flatten()
    }

    fn state(&self) -> PlannedState {
        match (self.active_override(), self.required) {
            (Some(Override::Pause(_)), _) => PlannedState::Paused,
            (Some(Override::Wake(_)), _) => PlannedState::Woken,
            (Some(Override::Sleep(_)), _) => PlannedState::Slept,
            (None, Some(action)) if action.is_up() => PlannedState::Running,
            (None, Some(_)) => PlannedState::Stopped,
            (None, None) => PlannedState::AsItIs,
        }
    }
}

impl<B: Iterator<Item = Occurrence>> Iterator for Timeline<'_, B> {
    type Item = PlannedStep;

    fn next(&mut self) -> Option<PlannedStep> {
        if self.done {
            return None;
        }
        self.override_ends.pop_if(|end| *end <= self.at);
        let boundary = self.boundaries.next_if(|boundary| boundary.at <= self.at);
        if let Some(boundary) = boundary {
            // A transition at the beginning of an override does not change the state of the
            // schedule.
            if boundary.applied && self.active_override().is_none() {
                self.required = Some(boundary.action);
            }
        } else if self.at == self.until {
            return None;
        }
        if self.is_paused && boundary.is_none() && self.active_override().is_none() {
            // The end of a pause stops nothing. An object that runs then continues to run if its
            // schedule has started it.
            let required = self.spec.planned_action(self.at, self.delay);
            self.required = required.filter(|required| *required == Action::Start);
        }
        let state = self.state();
        self.is_paused = state == PlannedState::Paused;
        if self.is_paused {
            self.required = None;
        }
        let from = self.at;
        let next = self
            .boundaries
            .peek()
            .map_or(self.until, |boundary| boundary.at);
        self.at = self
            .override_ends
            .last()
            .map_or(next, |end| next.min(*end))
            .min(self.until);
        self.done = from == self.until;
        Some(PlannedStep {
            from,
            until: self.at,
            state,
            required: self.required,
            boundary: boundary.map(|boundary| (boundary.action, boundary.applied)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn counts_calendar_days() {
        let new_york = Zone::parse("America/New_York").unwrap();
        for (from, days, until) in [
            ("2026-10-31T04:00:00Z", 1, "2026-11-01T04:00:00Z"),
            ("2026-10-31T04:00:00Z", 2, "2026-11-02T05:00:00Z"),
            ("2026-03-07T07:30:00Z", 1, "2026-03-08T07:00:00Z"), // 02:30 is in the DST gap
        ] {
            let period = Period::days(at(from), days, new_york).unwrap();
            assert_eq!((period.from(), period.until()), (at(from), at(until)));
        }
        let now = at("2026-11-20T10:00:00Z");
        assert!(Period::days(now, 0, Zone::UTC).is_err());
        assert!(Period::days(now, u32::MAX, Zone::UTC).is_err());
    }

    #[test]
    fn rejects_an_end_before_the_beginning() {
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
