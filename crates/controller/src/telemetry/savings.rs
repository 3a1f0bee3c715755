//! The savings metrics: the resources that schedules save now, and their resource time.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt, mem,
    sync::Arc,
};

use chrono::{DateTime, DurationRound, TimeDelta, Utc};
use dayshift_workload::savings::{Saved, SavedSoFar};
use prometheus_client::{
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{MetricType, counter::ConstCounter, gauge::ConstGauge},
    registry::Unit,
};
use tokio::time::Instant;

use crate::telemetry::{
    account::{Account, Amounts, NOTHING},
    series::{MAX_SERIES, Series},
    shapes::gauge_value,
};

/// Midnight in every time zone is at a multiple of this in UTC.
const QUARTER: TimeDelta = TimeDelta::minutes(15);

/// The maximum number of marks: one for each quarter of an hour in 32 days.
const MAX_MARKS: usize = 32 * 96;

/// The maximum number of namespaces whose savings are tracked.
pub(super) const MAX_KNOWN: usize = 2_000;

/// The maximum number of namespaces without current savings that are forgotten at once to make room.
const MAX_FORGOTTEN: usize = MAX_KNOWN / 10;

/// A namespace takes over the series of another one if it has saved this many times as much.
const TAKEOVER_FACTOR: f64 = 1.25;

/// The savings of all workloads, and of each namespace or team. Resource time is measured by a
/// monotonic clock, so steps of the wall clock do not change it.
///
/// Each change is counted when the controller publishes the object, so the result does not depend on
/// the times of scrapes. Sums of whole numbers are exact: a counter never decreases, not even in its
/// last digit, which Prometheus would treat as a restart.
///
/// A series counts the savings of a namespace while the namespace has that series. A namespace that
/// loses its series to a larger namespace continues in the shared series, so nothing is counted twice
/// and no counter jumps.
#[derive(Debug, Default)]
pub(super) struct Savings {
    all: Account,
    /// The savings of each namespace or team, by which they are ranked.
    known: BTreeMap<Arc<str>, Account>,
    series: Series<Account>,
    /// Whether a new namespace was not tracked because of [`MAX_KNOWN`].
    is_full: bool,
    /// When the first controller started.
    since: Option<DateTime<Utc>>,
    /// When `all` was last changed, by the controller's wall clock.
    changed: Option<DateTime<Utc>>,
    /// `all` at past quarters of an hour: for each change, at the first quarter after it.
    marks: VecDeque<(DateTime<Utc>, Account)>,
}

impl Savings {
    /// Registers a controller that starts at `now`, when its clock shows `wall`, without objects.
    pub(super) fn begin(&mut self, wall: DateTime<Utc>, now: Instant) {
        self.mark(wall);
        self.since.get_or_insert(wall);
        let each = self.known.values_mut().chain(self.series.values_mut());
        for account in each.chain([&mut self.all]) {
            account.replace(account.now, NOTHING, now);
        }
    }

    /// Replaces the series and the accounts of namespaces. The total remains.
    pub(super) fn with_series(self, series: Series<Account>) -> Self {
        Self {
            series,
            known: BTreeMap::new(),
            ..self
        }
    }

    /// Counts that the resources saved by one object of `name`, a namespace or team, have changed.
    pub(super) fn change(
        &mut self,
        name: &Arc<str>,
        before: Amounts,
        after: Amounts,
        (wall, now): (DateTime<Utc>, Instant),
    ) {
        self.mark(wall);
        self.all.replace(before, after, now);
        self.change_of(name, before, after, now);
    }

    /// Counts that saved resources belong to another name from `now` on.
    pub(super) fn reassign(
        &mut self,
        resources: Amounts,
        from: &Arc<str>,
        to: &Arc<str>,
        now: Instant,
    ) {
        self.change_of(from, resources, NOTHING, now);
        self.change_of(to, NOTHING, resources, now);
    }

    fn change_of(&mut self, name: &Arc<str>, before: Amounts, after: Amounts, now: Instant) {
        if !self.known.contains_key(name) {
            self.is_full = self.known.len() >= MAX_KNOWN;
            if !self.is_full {
                self.known.insert(Arc::clone(name), Account::default());
            }
        }
        let known = self.known.get_mut(name).into_iter();
        for account in known.chain([self.series.series_of(name)]) {
            account.replace(before, after, now);
        }
    }

    /// Gives the series of the smallest namespaces to those that are much larger, and forgets some
    /// namespaces if new ones need room. Visits all namespaces, in the thread of the scrape.
    pub(super) fn rank(&mut self, now: Instant) {
        let mut largest: Vec<_> = self
            .known
            .iter()
            .map(|(name, account)| (account.advanced_to(now).size(), name))
            .collect();
        largest.sort_unstable_by(|a, b| b.cmp(a));
        let (up, down) = largest.split_at(largest.len().min(MAX_SERIES));
        let larger = up.iter().filter(|(_, name)| !self.series.has_own(name));
        let down = down.iter().rev();
        let smaller = down.filter(|(_, name)| self.series.has_own(name));
        #[expect(clippy::cast_precision_loss, reason = "sizes are compared roughly")]
        let swaps = larger.zip(smaller).filter(|((larger, _), (smaller, _))| {
            *larger as f64 > *smaller as f64 * TAKEOVER_FACTOR
        });
        let swaps: Vec<_> = swaps
            .map(|((_, up), (_, down))| (Arc::clone(up), Arc::clone(down)))
            .collect();
        for (up, down) in swaps {
            let (Some(risen), Some(fallen)) = (self.known.get(&up), self.series.end(&down)) else {
                continue;
            };
            self.series.other().replace(risen.now, fallen.now, now);
            *self.series.series_of(&up) = Account::begun(risen.now, now);
        }
        if mem::take(&mut self.is_full) {
            let idle = self
                .known
                .iter()
                .filter(|(name, account)| account.now[0] == 0 && !self.series.has_own(name));
            let idle = idle.map(|(name, account)| (account.size(), Arc::clone(name)));
            let mut idle: Vec<_> = idle.collect();
            idle.sort_unstable();
            for (_, name) in idle.iter().take(MAX_FORGOTTEN) {
                self.known.remove(name);
            }
        }
    }

    /// Stores a mark before `all` changes: its value at the first quarter of an hour after the last
    /// change, if that has passed. So there is at most one mark for each quarter.
    fn mark(&mut self, wall: DateTime<Utc>) {
        let Some(changed) = self.changed.replace(wall) else {
            return;
        };
        if let Ok(quarter) = changed.duration_round_up(QUARTER)
            && quarter < wall
        {
            let account = self.all.advanced_by(quarter - changed);
            self.marks.push_back((quarter, account));
            if self.marks.len() > MAX_MARKS {
                self.marks.pop_front();
            }
        }
    }

    /// The savings until `at`, the beginning of a day in some time zone. Zero before the first mark.
    fn saved_until(&self, at: DateTime<Utc>) -> Saved {
        let last = self.changed.map(|changed| (changed, self.all));
        let mut known = self.marks.iter().chain(last.as_ref()).rev();
        let before = known.find(|(known, _)| *known <= at);
        before.map_or_else(Saved::default, |(known, account)| {
            account.advanced_by(at - *known).saved()
        })
    }

    /// The savings until now, and since each of these times; `None` before the first controller has
    /// started.
    pub(super) fn so_far(&self, since_each: [DateTime<Utc>; 3]) -> Option<SavedSoFar> {
        let all = self.all.advanced_to(Instant::now()).saved();
        Some(SavedSoFar {
            all,
            since: self.since?,
            since_each: since_each.map(|at| all - self.saved_until(at)),
        })
    }

    /// Encodes the savings at `now`.
    pub(super) fn encode(
        &self,
        encoder: &mut DescriptorEncoder<'_>,
        label: Option<&str>,
        now: Instant,
    ) -> fmt::Result {
        if label.is_some() {
            let help = "Namespaces, or teams with --metrics-by, that share the series (other).";
            let name = "dayshift_namespaces_without_series";
            let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            let count = self.known.len() - self.series.own_count();
            ConstGauge::new(gauge_value(count)).encode(metric)?;
        }
        let stopped = (
            "dayshift_stopped_replicas",
            "Replicas that do not run now because of the schedules.",
            None,
        );
        self.series.encode(encoder, label, stopped, |account| {
            let [replicas, ..] = account.now;
            ConstGauge::new(u64::try_from(replicas).unwrap_or(u64::MAX))
        })?;
        // In the order of `Account::seconds`.
        for (at, (name, help)) in [
            (
                "dayshift_saved_replica",
                "The time of replicas that did not run because of the schedules.",
            ),
            (
                "dayshift_saved_cpu_core",
                "The time of the CPU cores that those replicas request.",
            ),
            (
                "dayshift_saved_memory_byte",
                "The time of the bytes of memory that those replicas request.",
            ),
        ]
        .into_iter()
        .enumerate()
        {
            let saved = (name, help, Some(&Unit::Seconds));
            self.series.encode(encoder, label, saved, |account| {
                ConstCounter::new(account.advanced_to(now).seconds()[at])
            })?;
        }
        Ok(())
    }

    /// The number of tracked names.
    #[cfg(test)]
    pub(super) fn known(&self) -> usize {
        self.known.len()
    }
}
