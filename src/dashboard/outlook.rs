//! The next 24 hours and this week, summed over the forecasts of all workloads in one pass.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, HashMap},
};

use chrono::{DateTime, Datelike, Days, DurationRound, NaiveDate, NaiveTime, TimeDelta, Utc};
use dayshift_schedule::Zone;
use dayshift_workload::{
    Footprint, Replicas,
    savings::{Saved, StoppedCapacity},
};

use crate::dashboard::{
    forecast::{AHEAD, Forecast, ForecastTimes},
    view::Row,
};

/// The length of a slot in the strip of the next 24 hours.
const SLOT: TimeDelta = TimeDelta::minutes(30);

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

/// The replica-hours of the workloads of a namespace with the same footprint.
#[derive(Default)]
struct ReplicaHours {
    /// Those of one hour if none was stopped.
    full: f64,
    /// The used and the saved ones of each day of this week.
    week: [(f64, f64); 7],
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
        let end = now + AHEAD;
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
    pub(super) fn new(
        rows: impl Iterator<Item = (&'v Row, &'v Forecast)>,
        now: DateTime<Utc>,
        zone: Zone,
    ) -> Self {
        let today = now.with_timezone(&zone).date_naive();
        let monday = today - Days::new(today.weekday().num_days_from_monday().into());
        let mut outlook = Self {
            slots: Slot::all(now),
            monday,
            week: [Share::default(); 7],
            by_namespace: Vec::new(),
            capacity: Saved::default(),
        };
        let bounds = [0, 1, 2, 3, 4, 5, 6, 7];
        let bounds = bounds.map(|day| midnight(monday + Days::new(day), zone).timestamp());
        let [begin, .., end] = bounds;
        // Few workloads of a namespace have different footprints.
        let mut groups: Vec<((&'v str, Footprint), ReplicaHours)> = Vec::new();
        let mut known = HashMap::new();
        for (row, forecast) in rows {
            let Some(times) = &forecast.times else {
                continue;
            };
            outlook.add_moves(row, times, now);
            let footprint = row.observed.footprint;
            if footprint.replicas == 0 {
                continue;
            }
            let countable = |count| f64::from(footprint.countable(count).get());
            let full = countable(times.full);
            let key = (&*row.status.object.namespace, footprint);
            let at = *known.entry(key).or_insert(groups.len());
            if at == groups.len() {
                groups.push((key, ReplicaHours::default()));
            }
            let Some((_, group)) = groups.get_mut(at) else {
                continue;
            };
            group.full += full;
            let steps = times.steps();
            let steps = steps.skip_while(|(_, until, _)| *until <= begin);
            for (from, until, running) in steps.take_while(|(from, ..)| *from < end) {
                let running = countable(running);
                let days = group.week.iter_mut();
                let days = days.zip(bounds.iter().zip(bounds.iter().skip(1)));
                for ((used, saved), (midnight, next)) in days {
                    // The step is on another day if the time is negative.
                    if let Ok(seconds) = u32::try_from(until.min(*next) - from.max(*midnight)) {
                        let time = f64::from(seconds) / 3600.0;
                        *used += running * time;
                        *saved += (full - running) * time;
                    }
                }
            }
        }
        let mut by_namespace: BTreeMap<&'v str, Share> = BTreeMap::new();
        for ((name, footprint), group) in groups {
            let one_hour = Saved::from_hours(group.full, footprint);
            outlook.capacity = [outlook.capacity, one_hour].into_iter().sum();
            let namespace = by_namespace.entry(name).or_default();
            for (all, (used, saved)) in outlook.week.iter_mut().zip(group.week) {
                let share = Share {
                    used: Saved::from_hours(used, footprint),
                    saved: Saved::from_hours(saved, footprint),
                };
                *all = all.and(share);
                *namespace = namespace.and(share);
            }
        }
        outlook.by_namespace = by_namespace.into_iter().collect();
        let hours = |share: &Share| share.saved.replica_hours;
        outlook
            .by_namespace
            .sort_by(|(_, one), (_, other)| hours(other).total_cmp(&hours(one)));
        outlook
    }

    fn add_moves(&mut self, row: &'v Row, times: &ForecastTimes, now: DateTime<Utc>) {
        let end = now + AHEAD;
        let boundaries = times.boundaries.iter();
        for change in boundaries.take_while(|change| change.at < end) {
            let later = self.slots.partition_point(|slot| slot.from <= change.at);
            let slot = later.checked_sub(1).and_then(|at| self.slots.get_mut(at));
            let Some(slot) = slot else { continue };
            let [before, after] = [change.before, change.after].map(Replicas::get);
            let moves = match after.cmp(&before) {
                Ordering::Greater => &mut slot.starts,
                Ordering::Less => &mut slot.stops,
                Ordering::Equal => continue,
            };
            let count = Replicas::new(after.abs_diff(before));
            let replicas = StoppedCapacity::new(count, row.observed.footprint).replicas;
            moves.workloads += 1;
            moves.replicas = moves.replicas.saturating_add(replicas);
            let namespace = moves.namespaces.entry(&row.status.object.namespace);
            let of_namespace = namespace.or_default();
            *of_namespace = of_namespace.saturating_add(replicas);
        }
    }
}

fn midnight(date: NaiveDate, zone: Zone) -> DateTime<Utc> {
    zone.instant(date.and_time(NaiveTime::MIN))
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
