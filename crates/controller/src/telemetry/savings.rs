//! The savings metrics: the resources that schedules save now, and their resource time.
//!
//! The controller reports each change of a workload's saved capacity to [`Savings::change`]. Scrapes
//! and pages read the sums. Which namespaces have series of their own is decided in `by_namespace`.

use std::{
    collections::VecDeque,
    fmt, mem,
    sync::{Arc, Mutex, MutexGuard, TryLockError},
};

use chrono::{DateTime, DurationRound, TimeDelta, Utc};
use dayshift_workload::savings::{Saved, SavedSoFar, StoppedCapacity};
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder},
    metrics::{MetricType, counter::ConstCounter, gauge::ConstGauge},
    registry::Unit,
};
use tokio::time::Instant;

use super::by_namespace::{ByNamespace, OTHER, Teams};
use crate::telemetry::by_namespace::{Account, seconds};
use crate::telemetry::shapes::lock;

/// Midnight in every time zone is at a multiple of this in UTC.
const QUARTER: TimeDelta = TimeDelta::minutes(15);

/// The maximum number of marks: one for each quarter of an hour in 32 days.
const MAX_MARKS: usize = 32 * 96;

/// The savings of all workloads. Resource time is measured by a monotonic clock, so steps of the wall
/// clock do not change it.
///
/// Each change is counted when the controller publishes the object, so the result does not depend on
/// the times of scrapes. Sums of whole numbers are exact: a counter never decreases, not even in its
/// last digit, which Prometheus would treat as a restart.
///
/// The controller never waits for a scrape or a page: while one of them reads the accounts, changes
/// are queued.
#[derive(Clone, Debug, Default)]
pub(crate) struct Savings(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    accounts: Mutex<Accounts>,
    /// Changes that came while another thread held the accounts, in order.
    waiting: Mutex<Vec<SavingsChange>>,
}

/// The label of the savings series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SavingsBy {
    /// No label: one series for all workloads.
    All,
    /// A series for each namespace.
    Namespace,
    /// A series for each team. The team is a label value of the Namespace.
    Team,
}

/// A change in one namespace.
#[derive(Debug)]
pub(super) struct SavingsChange {
    /// The controller that reports it, by the number that [`Savings::begin`] has returned.
    pub(super) generation: u64,
    pub(super) namespace: Arc<str>,
    pub(super) kind: SavingsChangeKind,
    /// When it happened, by the controller's wall clock and by the monotonic clock.
    pub(super) at: (DateTime<Utc>, Instant),
}

/// The kind of a [`SavingsChange`].
#[derive(Debug)]
pub(super) enum SavingsChangeKind {
    /// The capacity that one object saves has changed.
    Stopped {
        before: StoppedCapacity,
        after: StoppedCapacity,
    },
    /// The namespace belongs to this team, or to none.
    Team(Option<Box<str>>),
}

#[derive(Debug, Default)]
pub(super) struct Accounts {
    /// The account of all workloads.
    all: Account,
    /// The accounts by namespace or by team, if enabled.
    each: Option<ByNamespace>,
    /// The team of each namespace, if the accounts are by team.
    teams: Option<Teams>,
    /// The number of the controller that started last. Changes of earlier controllers are ignored.
    generation: u64,
    /// When the first controller started.
    since: Option<DateTime<Utc>>,
    /// When `all` was last changed, by the controller's wall clock.
    changed: Option<DateTime<Utc>>,
    /// `all` at past quarters of an hour: for each change, at the first quarter after it.
    marks: VecDeque<(DateTime<Utc>, Account)>,
}

/// Returns the value of one counter, in seconds.
type Seconds = fn(&Account) -> f64;

impl Accounts {
    /// Returns the account of all workloads, and those of a namespace or team, which are created if
    /// they are new.
    fn accounts_of(&mut self, namespace: &Arc<str>) -> impl Iterator<Item = &mut Account> {
        let each = self.each.as_mut().into_iter();
        [&mut self.all]
            .into_iter()
            .chain(each.flat_map(|each| each.accounts_of(namespace)))
    }

    /// Counts a change, unless another controller has started since.
    fn count(&mut self, change: &SavingsChange) {
        if self.generation != change.generation {
            return;
        }
        let (wall, now) = change.at;
        match &change.kind {
            SavingsChangeKind::Stopped { before, after } => {
                self.mark(wall);
                let mut key = Arc::clone(&change.namespace);
                if let Some(teams) = &mut self.teams {
                    teams.count(&change.namespace, *before, *after);
                    key = teams.team_of(&change.namespace);
                }
                for account in self.accounts_of(&key) {
                    *account = account.advanced_to(now).replacing(*before, *after);
                }
            }
            SavingsChangeKind::Team(team) => {
                let teams = self.teams.as_mut();
                let moved = teams.and_then(|teams| teams.set(&change.namespace, team.as_deref()));
                if let (Some(moved), Some(each)) = (moved, &mut self.each) {
                    for account in each.accounts_of(&moved.from) {
                        *account = account.advanced_to(now).minus(&moved.saved);
                    }
                    for account in each.accounts_of(&moved.to) {
                        *account = account.advanced_to(now).plus(&moved.saved);
                    }
                }
            }
        }
    }

    /// The name of the label that distinguishes the series.
    const fn label(&self) -> &'static str {
        if self.teams.is_some() {
            "team"
        } else {
            "namespace"
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
}

impl Savings {
    /// Registers a controller that starts at `now`, when its clock shows `wall`, without objects.
    /// Returns its number, with which it reports changes.
    pub(super) fn begin(&self, by: SavingsBy, wall: DateTime<Utc>, now: Instant) -> u64 {
        let mut accounts = self.accounts();
        let accounts = &mut *accounts;
        accounts.mark(wall);
        accounts.generation += 1;
        accounts.since.get_or_insert(wall);
        let are_each = by != SavingsBy::All;
        accounts.each = are_each.then(|| accounts.each.take().unwrap_or_default());
        accounts.teams = (by == SavingsBy::Team).then(Teams::default);
        let each = accounts.each.iter_mut().flat_map(ByNamespace::all);
        for account in each.chain([&mut accounts.all]) {
            *account = account.advanced_to(now).without_resources();
        }
        accounts.generation
    }

    /// Counts a change. If another thread reads the accounts, queues it instead.
    pub(super) fn change(&self, change: SavingsChange) {
        match self.0.accounts.try_lock() {
            Ok(accounts) => self.count_waiting(accounts).count(&change),
            Err(TryLockError::Poisoned(error)) => {
                self.count_waiting(error.into_inner()).count(&change);
            }
            Err(TryLockError::WouldBlock) => lock(&self.0.waiting).push(change),
        }
    }

    /// The name of the label of the series; `None` if there is one series for all workloads.
    pub(super) fn label(&self) -> Option<&'static str> {
        let accounts = self.accounts();
        accounts.each.as_ref().map(|_| accounts.label())
    }

    /// The label value for a namespace: the namespace or its team. [`OTHER`] if there is one series for
    /// all workloads, and for [`OTHER`] itself.
    pub(super) fn series_of(&self, namespace: &Arc<str>) -> Arc<str> {
        let accounts = self.accounts();
        match &accounts.teams {
            _ if accounts.each.is_none() || **namespace == *OTHER => OTHER.into(),
            Some(teams) => teams.team_of(namespace),
            None => Arc::clone(namespace),
        }
    }

    /// Locks the accounts and counts the queued changes.
    pub(super) fn accounts(&self) -> MutexGuard<'_, Accounts> {
        self.count_waiting(lock(&self.0.accounts))
    }

    fn count_waiting<'a>(
        &self,
        mut accounts: MutexGuard<'a, Accounts>,
    ) -> MutexGuard<'a, Accounts> {
        let waiting = mem::take(&mut *lock(&self.0.waiting));
        waiting.iter().for_each(|change| accounts.count(change));
        accounts
    }

    /// The savings until now, and since each of these times; `None` before the first controller has
    /// started.
    pub(super) fn so_far(&self, since_each: [DateTime<Utc>; 3]) -> Option<SavedSoFar> {
        let accounts = self.accounts();
        let all = accounts.all.advanced_to(Instant::now()).saved();
        Some(SavedSoFar {
            all,
            since: accounts.since?,
            since_each: since_each.map(|at| all - accounts.saved_until(at)),
        })
    }
}

impl Collector for Savings {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut accounts = self.accounts();
        let now = Instant::now();
        if let Some(each) = &accounts.each {
            let help = "Namespaces, or teams with --metrics-by, that share the series (other).";
            let name = "dayshift_namespaces_without_series";
            let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            let count = u64::try_from(each.without_series()).unwrap_or(u64::MAX);
            ConstGauge::new(count).encode(metric)?;
        }
        let label = accounts.label();
        let each = match &accounts.each {
            None => vec![(None, accounts.all.advanced_to(now))],
            Some(each) => each.series(now),
        };
        let help = "Replicas that do not run now because of the schedules.";
        let name = "dayshift_stopped_replicas";
        let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        samples(metric, label, &each, |account| {
            ConstGauge::new(u64::try_from(account.replicas).unwrap_or(u64::MAX))
        })?;

        let counters: [(&str, &str, Seconds); 3] = [
            (
                "dayshift_saved_replica",
                "The time of replicas that did not run because of the schedules.",
                |account| seconds(account.replica_time, 1.0),
            ),
            (
                "dayshift_saved_cpu_core",
                "The time of the CPU cores that those replicas request.",
                |account| seconds(account.cpu_time, 1e9),
            ),
            (
                "dayshift_saved_memory_byte",
                "The time of the bytes of memory that those replicas request.",
                |account| seconds(account.memory_time, 1.0),
            ),
        ];
        for (name, help, value) in counters {
            let unit = Some(&Unit::Seconds);
            let metric = encoder.encode_descriptor(name, help, unit, MetricType::Counter)?;
            samples(metric, label, &each, |account| {
                ConstCounter::new(value(account))
            })?;
        }
        drop(each);
        // Ranking changes which namespaces have series, so it comes after the samples.
        if let Some(each) = &mut accounts.each {
            each.rank(now);
        }
        Ok(())
    }
}

/// Encodes a sample for each entry, with its name as the label. An entry without a name is the sum of
/// all, which has no label and no other samples beside it.
pub(super) fn samples<T, M: EncodeMetric>(
    mut metric: MetricEncoder<'_>,
    label: &str,
    each: &[(Option<&str>, T)],
    sample: impl Fn(&T) -> M,
) -> fmt::Result {
    for (name, entry) in each {
        match name {
            None => return sample(entry).encode(metric),
            Some(name) => {
                sample(entry).encode(metric.encode_family(&[(label, *name)])?)?;
            }
        }
    }
    Ok(())
}
