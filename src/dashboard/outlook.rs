//! The next 24 hours and this week, computed from the schedules of all workloads in one pass.

use std::collections::BTreeMap;

use chrono::{DateTime, Datelike, Days, DurationRound, NaiveDate, NaiveTime, TimeDelta, Utc};
use dayshift_manifest::plan::{Period, PlannedState, PlannedStep, WorkloadPlan, timeline};
use dayshift_schedule::{Action, Zone};
use dayshift_workload::{
    Replicas, ScheduleSpec,
    savings::{Saved, StoppedCapacity},
};

use crate::dashboard::view::Row;

/// The length of the strip of the next 24 hours, and of a slot in it.
const STRIP: TimeDelta = TimeDelta::days(1);
const SLOT: TimeDelta = TimeDelta::minutes(30);
/// The maximum number of boundaries and steps of a workload, because a schedule with seconds has 86,400 a day.
const MAX_BOUNDARIES: usize = 200;

/// The expected future of some workloads.
#[derive(Debug)]
pub(super) struct Outlook<'v> {
    /// The next 24 hours, in half hours of the clock. The first and the last can be shorter.
    pub(super) slots: Vec<Slot<'v>>,
    /// The first day of this week, a Monday.
    pub(super) monday: NaiveDate,
    /// Monday to Sunday.
    pub(super) week: [Share; 7],
    /// This week by namespace, the largest saving first.
    pub(super) by_namespace: Vec<(&'v str, Share)>,
    /// The resources that all workloads would use in one hour if none was stopped.
    pub(super) capacity: Saved,
}

/// The starts and stops of half an hour.
#[derive(Debug)]
pub(super) struct Slot<'v> {
    pub(super) from: DateTime<Utc>,
    pub(super) until: DateTime<Utc>,
    pub(super) starts: Moves<'v>,
    pub(super) stops: Moves<'v>,
}

/// Starts or stops of several workloads.
#[derive(Debug, Default)]
pub(super) struct Moves<'v> {
    pub(super) workloads: usize,
    pub(super) replicas: u64,
    pub(super) namespaces: BTreeMap<&'v str, u64>,
}

/// Used and saved resources.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Share {
    pub(super) used: Saved,
    pub(super) saved: Saved,
}

impl Share {
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            used: [self.used, other.used].into_iter().sum(),
            saved: [self.saved, other.saved].into_iter().sum(),
        }
    }

    pub(super) fn total(shares: impl Iterator<Item = Self>) -> Self {
        shares.fold(Self::default(), Self::and)
    }

    /// The saved part of all replica-hours in percent; `None` without any.
    pub(super) fn percent(&self) -> Option<f64> {
        let all = self.used.replica_hours + self.saved.replica_hours;
        (all > 0.0).then(|| 100.0 * self.saved.replica_hours / all)
    }
}

impl Slot<'_> {
    /// The slots from `now` to the end of the strip.
    fn all(now: DateTime<Utc>) -> Vec<Self> {
        let end = now + STRIP;
        let mut slots = Vec::new();
        let mut from = now;
        while from < end {
            let whole = from.duration_trunc(SLOT).unwrap_or(from);
            let until = (whole + SLOT).min(end);
            slots.push(Self {
                from,
                until,
                starts: Moves::default(),
                stops: Moves::default(),
            });
            from = until;
        }
        slots
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.starts.workloads == 0 && self.stops.workloads == 0
    }
}

impl<'v> Outlook<'v> {
    /// The end of the period for which each workload's plan is needed.
    pub(super) fn end(now: DateTime<Utc>, zone: Zone) -> DateTime<Utc> {
        let (_, _, sunday) = week(now, zone);
        sunday.max(now + STRIP)
    }

    pub(super) fn new(
        rows: impl Iterator<Item = (&'v Row, WorkloadPlan)>,
        now: DateTime<Utc>,
        zone: Zone,
    ) -> Self {
        let (monday, from, until) = week(now, zone);
        let mut outlook = Self {
            slots: Slot::all(now),
            monday,
            week: [Share::default(); 7],
            by_namespace: Vec::new(),
            capacity: Saved::default(),
        };
        let days: Vec<DateTime<Utc>> = (0..=7)
            .map(|day| midnight(monday + Days::new(day), zone))
            .collect();
        let period = Period::new(from, until).ok();
        let mut by_namespace: BTreeMap<&'v str, Share> = BTreeMap::new();
        for (row, plan) in rows {
            let Some(spec) = plan.spec() else { continue };
            let full = full_count(spec, &plan, row.observed.replicas);
            outlook.add_moves(row, &plan, full, now);
            let footprint = row.observed.footprint;
            if footprint.replicas == 0 {
                continue;
            }
            let one_hour = Saved::from_hours(f64::from(full.get()), footprint);
            outlook.capacity = [outlook.capacity, one_hour].into_iter().sum();
            let Some(period) = period else { continue };
            let mut hours = [(0.0, 0.0); 7];
            let steps = timeline(spec, plan.delay(), period, plan.since());
            for step in steps.take(MAX_BOUNDARIES) {
                let running = f64::from(running_count(spec, &step, full).get());
                let stopped = f64::from(full.get()) - running;
                for (day, bounds) in days.windows(2).enumerate() {
                    let &[begin, end] = bounds else { continue };
                    let time = step.until.min(end) - step.from.max(begin);
                    if let Some((used, saved)) = hours.get_mut(day)
                        && time > TimeDelta::zero()
                    {
                        let time = time.as_seconds_f64() / 3600.0;
                        *used += running * time;
                        *saved += stopped * time;
                    }
                }
            }
            let shares = hours.map(|(used, saved)| Share {
                used: Saved::from_hours(used, footprint),
                saved: Saved::from_hours(saved, footprint),
            });
            for (all, share) in outlook.week.iter_mut().zip(shares) {
                *all = all.and(share);
            }
            let namespace = by_namespace.entry(&row.status.object.namespace);
            let namespace = namespace.or_default();
            *namespace = namespace.and(Share::total(shares.into_iter()));
        }
        outlook.by_namespace = by_namespace.into_iter().collect();
        let hours = |share: &Share| share.saved.replica_hours;
        outlook
            .by_namespace
            .sort_by(|(_, one), (_, other)| hours(other).total_cmp(&hours(one)));
        outlook
    }

    fn add_moves(&mut self, row: &'v Row, plan: &WorkloadPlan, full: Replicas, now: DateTime<Utc>) {
        let end = now + STRIP;
        let boundaries = plan.boundaries().take(MAX_BOUNDARIES);
        let boundaries = boundaries.take_while(|boundary| boundary.at.to_utc() < end);
        for boundary in boundaries.filter(|boundary| boundary.applied) {
            let at = boundary.at.to_utc();
            let slot = self.slots.iter_mut().rfind(|slot| slot.from <= at);
            let Some(slot) = slot else { continue };
            let moves = match boundary.action.is_up() {
                true => &mut slot.starts,
                false => &mut slot.stops,
            };
            let count = match boundary.action {
                Action::Scale(count) if count > 0 => Replicas::new(count),
                Action::Scale(_) | Action::Start | Action::Stop => full,
            };
            let replicas = StoppedCapacity::new(count, row.observed.footprint).replicas;
            moves.workloads += 1;
            moves.replicas = moves.replicas.saturating_add(replicas);
            let namespace = moves.namespaces.entry(&row.status.object.namespace);
            let of_namespace = namespace.or_default();
            *of_namespace = of_namespace.saturating_add(replicas);
        }
    }
}

/// The count that would run without the schedule.
pub(super) fn full_count(spec: &ScheduleSpec, plan: &WorkloadPlan, seen: Replicas) -> Replicas {
    let known = spec.largest_count().or(spec.replicas).or(plan.runs);
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

fn midnight(date: NaiveDate, zone: Zone) -> DateTime<Utc> {
    zone.instant(date.and_time(NaiveTime::MIN))
}

/// The Monday of this week, and the beginning and end of the week.
fn week(now: DateTime<Utc>, zone: Zone) -> (NaiveDate, DateTime<Utc>, DateTime<Utc>) {
    let today = now.with_timezone(&zone).date_naive();
    let monday = today - Days::new(today.weekday().num_days_from_monday().into());
    let until = midnight(monday + Days::new(7), zone);
    (monday, midnight(monday, zone), until)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strip_ends_exactly_in_24_hours() {
        for (now, first, count) in [
            ("2026-11-28T10:17:23Z", "2026-11-28T10:30:00Z", 49),
            ("2026-11-28T10:30:00Z", "2026-11-28T11:00:00Z", 48),
        ] {
            let now: DateTime<Utc> = now.parse().unwrap();
            let zone = Zone::parse("Asia/Kolkata").unwrap();
            let outlook = Outlook::new(std::iter::empty(), now, zone);
            let slots = &outlook.slots;
            assert_eq!(slots.len(), count, "{now}");
            assert_eq!(slots[0].from, now);
            assert_eq!(slots[0].until, first.parse::<DateTime<Utc>>().unwrap());
            assert!(slots.windows(2).all(|pair| pair[0].until == pair[1].from));
            assert_eq!(slots[count - 1].until - now, TimeDelta::hours(24));
        }
    }
}
