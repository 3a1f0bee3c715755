//! Savings as metrics: the resources saved now, and their resource time until now.

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

use super::{
    account::{Account, seconds},
    by_namespace::{ByNamespace, OTHER, Teams},
};
use crate::telemetry::shapes::lock;

/// A day of every zone begins at a multiple of this.
const QUARTER: TimeDelta = TimeDelta::minutes(15);

/// How many marks are kept: one for each quarter of an hour of more than a month.
const MAX_MARKS: usize = 32 * 96;

/// Counts resource time by a monotonic clock, so steps of the wall clock do not change it.
///
/// Each change is counted when the controller publishes the object, so no scrape need come between
/// two changes. Sums of whole numbers are exact: a counter never falls, not even in its last digit,
/// which Prometheus would take for a restart.
///
/// The controller never waits for a scrape or a page: while one reads the accounts, changes wait.
#[derive(Clone, Debug, Default)]
pub(crate) struct Savings(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    accounts: Mutex<Accounts>,
    /// Changes that came while another thread held the accounts, in order.
    waiting: Mutex<Vec<Change>>,
}

/// Whose savings have a series each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SavingsBy {
    /// All together.
    All,
    /// Each namespace.
    Namespace,
    /// Each team, as a label of Namespaces names it.
    Team,
}

/// Something in a namespace is otherwise than before.
#[derive(Debug)]
pub(super) struct Change {
    /// The controller that publishes it, as [`Savings::begin`] has numbered it.
    pub(super) generation: u64,
    pub(super) namespace: Arc<str>,
    pub(super) what: What,
    /// Since when, by the wall clock of the controller and by one that no step touches.
    pub(super) at: (DateTime<Utc>, Instant),
}

/// What is otherwise.
#[derive(Debug)]
pub(super) enum What {
    /// The resources that one object saves have changed.
    Held {
        before: StoppedCapacity,
        held: StoppedCapacity,
    },
    /// The namespace belongs to this team, or to none.
    Team(Option<Box<str>>),
}

#[derive(Debug, Default)]
pub(super) struct Accounts {
    /// The account of everything.
    all: Account,
    /// The accounts by namespace or by team, if enabled.
    each: Option<ByNamespace>,
    /// The teams, if the accounts are theirs.
    teams: Option<Teams>,
    /// The number of the controller that started last. Only its changes count.
    generation: u64,
    /// When the first controller began.
    since: Option<DateTime<Utc>>,
    /// When the account of all was last changed, by the controller's clock.
    changed: Option<DateTime<Utc>>,
    /// The account of everything at quarters of an hour, each the first after a change.
    marks: VecDeque<(DateTime<Utc>, Account)>,
}

/// The seconds of an account that one counter shows.
type Seconds = fn(&Account) -> f64;

impl Accounts {
    /// The account of everything, and those of a namespace or a team that may be new.
    fn of(&mut self, namespace: &Arc<str>) -> impl Iterator<Item = &mut Account> {
        let each = self.each.as_mut().into_iter();
        [&mut self.all]
            .into_iter()
            .chain(each.flat_map(|each| each.of(namespace)))
    }

    /// Counts a change, unless another controller has begun since.
    fn count(&mut self, change: &Change) {
        if self.generation != change.generation {
            return;
        }
        let (wall, now) = change.at;
        match &change.what {
            What::Held { before, held } => {
                self.mark(wall);
                let mut key = Arc::clone(&change.namespace);
                if let Some(teams) = &mut self.teams {
                    teams.count(&change.namespace, *before, *held);
                    key = teams.of(&change.namespace);
                }
                for account in self.of(&key) {
                    *account = account.at(now).with(*before, *held);
                }
            }
            What::Team(team) => {
                let teams = self.teams.as_mut();
                let moved = teams.and_then(|it| it.set(&change.namespace, team.as_deref()));
                if let (Some(moved), Some(each)) = (moved, &mut self.each) {
                    for account in each.of(&moved.from) {
                        *account = account.at(now).without(&moved.held);
                    }
                    for account in each.of(&moved.to) {
                        *account = account.at(now).and(&moved.held);
                    }
                }
            }
        }
    }

    /// The label of each series.
    const fn label(&self) -> &'static str {
        if self.teams.is_some() {
            "team"
        } else {
            "namespace"
        }
    }

    /// Keeps the account of everything, which is about to change, as of the first quarter of an
    /// hour since the last change, once that is over: changes at one instant leave one mark.
    fn mark(&mut self, wall: DateTime<Utc>) {
        let Some(changed) = self.changed.replace(wall) else {
            return;
        };
        if let Ok(quarter) = changed.duration_round_up(QUARTER)
            && quarter < wall
        {
            let account = self.all.after(quarter - changed);
            self.marks.push_back((quarter, account));
            if self.marks.len() > MAX_MARKS {
                self.marks.pop_front();
            }
        }
    }

    /// The savings until an instant at which a day of some zone begins; none before the first mark.
    fn saved_until(&self, at: DateTime<Utc>) -> Saved {
        let last = self.changed.map(|changed| (changed, self.all));
        let mut known = self.marks.iter().chain(last.as_ref()).rev();
        let before = known.find(|(known, _)| *known <= at);
        before.map_or_else(Saved::default, |(known, account)| {
            account.after(at - *known).saved()
        })
    }
}

impl Savings {
    /// A controller begins to count at `now`, when its clock shows `wall`, and knows no object yet.
    /// Returns its number, which distinguishes it from earlier ones.
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
            *account = account.at(now).ended();
        }
        accounts.generation
    }

    /// Counts a change at once, or after the current reader of the accounts.
    pub(super) fn change(&self, change: Change) {
        match self.0.accounts.try_lock() {
            Ok(accounts) => self.count_waiting(accounts).count(&change),
            Err(TryLockError::Poisoned(error)) => {
                self.count_waiting(error.into_inner()).count(&change);
            }
            Err(TryLockError::WouldBlock) => lock(&self.0.waiting).push(change),
        }
    }

    /// The label of the series, if each namespace or team has one.
    pub(super) fn label(&self) -> Option<&'static str> {
        let accounts = self.accounts();
        accounts.each.as_ref().map(|_| accounts.label())
    }

    /// The namespace itself, or its team; [`OTHER`] for whatever has no series of its own.
    pub(super) fn series_of(&self, namespace: &Arc<str>) -> Arc<str> {
        let accounts = self.accounts();
        match &accounts.teams {
            _ if accounts.each.is_none() || **namespace == *OTHER => OTHER.into(),
            Some(teams) => teams.of(namespace),
            None => Arc::clone(namespace),
        }
    }

    /// The accounts, all changes counted.
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

    /// The savings until now, and since each of these instants; `None` before the first controller
    /// has begun.
    pub(super) fn so_far(&self, since_each: [DateTime<Utc>; 3]) -> Option<SavedSoFar> {
        let accounts = self.accounts();
        let all = accounts.all.at(Instant::now()).saved();
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
            let count = u64::try_from(each.not_shown()).unwrap_or(u64::MAX);
            ConstGauge::new(count).encode(metric)?;
        }
        let label = accounts.label();
        let each = match &accounts.each {
            None => vec![(None, accounts.all.at(now))],
            Some(each) => each.series(now),
        };
        let help = "Replicas that do not run now because of the schedules.";
        let name = "dayshift_stopped_replicas";
        let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        samples(metric, label, &each, |it| {
            ConstGauge::new(u64::try_from(it.replicas).unwrap_or(u64::MAX))
        })?;

        let counters: [(&str, &str, Seconds); 3] = [
            (
                "dayshift_saved_replica",
                "The time of replicas that did not run because of the schedules.",
                |it| seconds(it.replica_time, 1.0),
            ),
            (
                "dayshift_saved_cpu_core",
                "The time of the CPU cores that those replicas request.",
                |it| seconds(it.cpu_time, 1e9),
            ),
            (
                "dayshift_saved_memory_byte",
                "The time of the bytes of memory that those replicas request.",
                |it| seconds(it.memory_time, 1.0),
            ),
        ];
        for (name, help, of) in counters {
            let unit = Some(&Unit::Seconds);
            let metric = encoder.encode_descriptor(name, help, unit, MetricType::Counter)?;
            samples(metric, label, &each, |it| ConstCounter::new(of(it)))?;
        }
        drop(each);
        // Only now: the values that were shown are those of the series as they were.
        if let Some(each) = &mut accounts.each {
            each.rank(now);
        }
        Ok(())
    }
}

/// A sample of each account; the one of everything has no label.
pub(super) fn samples<T, M: EncodeMetric>(
    mut metric: MetricEncoder<'_>,
    label: &str,
    each: &[(Option<&str>, T)],
    of: impl Fn(&T) -> M,
) -> fmt::Result {
    for (name, account) in each {
        match name {
            None => return of(account).encode(metric),
            Some(name) => {
                of(account).encode(metric.encode_family(&[(label, *name)])?)?;
            }
        }
    }
    Ok(())
}
