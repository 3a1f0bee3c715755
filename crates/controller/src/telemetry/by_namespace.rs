//! The metrics by namespace or team: states of workloads, savings, stop notices and reverts. They
//! have one series for all workloads if neither is enabled.
//!
//! The controller reports changes, and scrapes and pages read the sums. The controller never waits for
//! a reader: changes that come while one reads are queued.

use std::{
    collections::{BTreeMap, HashMap},
    fmt, mem,
    sync::{Arc, Mutex, MutexGuard, TryLockError},
};

use chrono::{DateTime, Utc};
use dayshift_workload::savings::{SavedSoFar, StoppedCapacity};
use prometheus_client::{
    collector::Collector, encoding::DescriptorEncoder, metrics::counter::ConstCounter,
};
use tokio::time::Instant;

use crate::telemetry::{
    account::{Amounts, NOTHING, amounts, replace},
    savings::Savings,
    series::{OTHER, Series},
    shapes::lock,
    states::States,
};

/// The label of the series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SeriesBy {
    /// No label: one series for all workloads.
    #[default]
    All,
    /// A series for each namespace.
    Namespace,
    /// A series for each team. The team is a label value of the Namespace.
    Team,
}

impl SeriesBy {
    const fn label(self) -> Option<&'static str> {
        match self {
            Self::All => None,
            Self::Namespace => Some("namespace"),
            Self::Team => Some("team"),
        }
    }

    /// Creates series of these names. Without a label, the only series exists from the beginning.
    fn series<T: Default>(self) -> Series<T> {
        match self {
            Self::All => Series::with_other(T::default()),
            Self::Namespace | Self::Team => Series::default(),
        }
    }
}

/// The team of a namespace without the team label. It is not a valid label value.
const NO_TEAM: &str = "(none)";

/// A change in one namespace.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) namespace: Arc<str>,
    pub(super) kind: ChangeKind,
}

/// The kind of a [`Change`].
#[derive(Debug)]
pub(super) enum ChangeKind {
    /// The capacity that one object saves has changed.
    Stopped {
        before: StoppedCapacity,
        after: StoppedCapacity,
        at: Reported,
    },
    /// The namespace belongs to this team, or to none.
    Team(Option<Box<str>>, Reported),
    /// Events have happened to this number of workloads.
    Counted(Counted, u64),
}

/// Who reported a change, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reported {
    /// The controller, by the number that [`ByNamespace::begin`] has returned.
    pub(super) generation: u64,
    pub(super) wall: DateTime<Utc>,
    pub(super) now: Instant,
}

/// An event that is counted by namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counted {
    StopNotice,
    RevertedCount,
}

/// The metrics by namespace or team.
#[derive(Clone, Debug, Default)]
pub(super) struct ByNamespace(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    accounts: Mutex<Accounts>,
    /// Changes that came while another thread held the accounts, in order.
    waiting: Mutex<Vec<Change>>,
}

#[derive(Debug)]
pub(super) struct Accounts {
    by: SeriesBy,
    /// The number of the controller that started last. Changes of earlier controllers are ignored.
    generation: u64,
    /// The namespaces with a team or with savings, if the series are by team.
    members: HashMap<Arc<str>, Member>,
    /// The name of namespaces without a name of their own: [`OTHER`] without a label, and [`NO_TEAM`]
    /// by team.
    default_name: Arc<str>,
    savings: Savings,
    stop_notices: Series<EventCount>,
    reverted_counts: Series<EventCount>,
    /// The states at the last scrape.
    states: Series<States>,
}

/// A namespace of a team.
#[derive(Debug, Default)]
struct Member {
    team: Option<Arc<str>>,
    /// The resources saved now, which move with the namespace to another team.
    saved: Amounts,
}

/// A counter of events of workloads.
///
/// A series ends with the last scheduled workload of its namespace or team. If a workload returns, the
/// series begins at zero again, which Prometheus treats as a restart. The series [`OTHER`] never ends
/// and never decreases.
#[derive(Debug, Default)]
struct EventCount {
    count: u64,
    /// The count that the last scrape showed. A series begins at zero, so that Prometheus'
    /// `increase()` includes its first count.
    shown: Option<u64>,
}

impl EventCount {
    /// The count of the series [`OTHER`], which exists from the beginning.
    const ZERO: Self = Self {
        count: 0,
        shown: Some(0),
    };
}

impl Default for Accounts {
    fn default() -> Self {
        Self::new(SeriesBy::All, Savings::default())
    }
}

impl Accounts {
    /// Creates accounts with new series. The total of `savings` remains.
    fn new(by: SeriesBy, savings: Savings) -> Self {
        Self {
            by,
            generation: 0,
            members: HashMap::new(),
            default_name: match by {
                SeriesBy::All | SeriesBy::Namespace => OTHER.into(),
                SeriesBy::Team => NO_TEAM.into(),
            },
            savings: savings.with_series(by.series()),
            stop_notices: Series::with_other(EventCount::ZERO),
            reverted_counts: Series::with_other(EventCount::ZERO),
            states: by.series(),
        }
    }

    /// The label value for a namespace: the namespace or its team, or [`OTHER`] without a label.
    fn name_of(&self, namespace: &Arc<str>) -> Arc<str> {
        let own = match self.by {
            SeriesBy::All => None,
            SeriesBy::Namespace => Some(namespace),
            SeriesBy::Team => {
                let member = self.members.get(namespace);
                member.and_then(|member| member.team.as_ref())
            }
        };
        Arc::clone(own.unwrap_or(&self.default_name))
    }

    /// Counts a change. Ignores one of an earlier controller.
    fn count(&mut self, change: Change) {
        let Change { namespace, kind } = change;
        match kind {
            ChangeKind::Stopped { before, after, at } if at.generation == self.generation => {
                let (before, after) = (amounts(before), amounts(after));
                if self.by == SeriesBy::Team {
                    self.update(&namespace, |member| {
                        member.saved = replace(member.saved, before, after);
                    });
                }
                let name = self.name_of(&namespace);
                let at = (at.wall, at.now);
                self.savings.change(&name, before, after, at);
            }
            ChangeKind::Team(team, at) if at.generation == self.generation => {
                let from = self.name_of(&namespace);
                let saved = self.update(&namespace, |member| {
                    if member.team.as_deref() != team.as_deref() {
                        member.team = team.map(Into::into);
                    }
                });
                let to = self.name_of(&namespace);
                if from != to && saved != NOTHING {
                    self.savings.reassign(saved, &from, &to, at.now);
                }
            }
            ChangeKind::Counted(counted, events) => {
                let name = self.name_of(&namespace);
                let series = match counted {
                    Counted::StopNotice => &mut self.stop_notices,
                    Counted::RevertedCount => &mut self.reverted_counts,
                };
                series.series_of(&name).count += events;
            }
            ChangeKind::Stopped { .. } | ChangeKind::Team(..) => {}
        }
    }

    /// Changes the entry of a namespace, and returns its savings.
    fn update(&mut self, namespace: &Arc<str>, change: impl FnOnce(&mut Member)) -> Amounts {
        let member = self.members.entry(Arc::clone(namespace)).or_default();
        change(member);
        let saved = member.saved;
        if member.team.is_none() && saved == NOTHING {
            self.members.remove(namespace);
        }
        saved
    }

    /// Begins a scrape. `scheduled` are the workloads of each namespace with schedules.
    fn begin_scrape(&mut self, scheduled: BTreeMap<Arc<str>, States>) {
        let mut states: BTreeMap<Arc<str>, States> = BTreeMap::new();
        for (namespace, of_namespace) in scheduled {
            *states.entry(self.name_of(&namespace)).or_default() += &of_namespace;
        }
        for series in [&mut self.stop_notices, &mut self.reverted_counts] {
            series.retain_own(|name, events| {
                states.contains_key(name) || events.shown != Some(events.count)
            });
            for name in states.keys() {
                series.series_of(name);
            }
            for events in series.values_mut() {
                events.shown = Some(events.shown.map_or(0, |_| events.count));
            }
        }
        self.states = self.by.series();
        self.states.add_largest(states);
    }

    fn encode(&self, encoder: &mut DescriptorEncoder<'_>, now: Instant) -> fmt::Result {
        let label = self.by.label();
        self.savings.encode(encoder, label, now)?;
        self.states.encode_states(encoder, label)?;
        let shown = |events: &EventCount| ConstCounter::new(events.shown.unwrap_or_default());
        let notices = ("dayshift_stop_notices", "Stop notices sent.", None);
        self.stop_notices.encode(encoder, label, notices, shown)?;
        let reverted = (
            "dayshift_reverted_counts",
            "Counts that another controller has reverted, by namespace or team.",
            None,
        );
        self.reverted_counts.encode(encoder, label, reverted, shown)
    }
}

impl ByNamespace {
    /// Registers a controller that starts at `now`, when its clock shows `wall`, without objects.
    /// Returns its number, with which it reports changes.
    pub(super) fn begin(&self, by: SeriesBy, wall: DateTime<Utc>, now: Instant) -> u64 {
        let mut accounts = self.accounts();
        let accounts = &mut *accounts;
        if by != accounts.by {
            let savings = mem::take(&mut accounts.savings);
            *accounts = Accounts {
                generation: accounts.generation,
                ..Accounts::new(by, savings)
            };
        }
        accounts.members.clear();
        accounts.savings.begin(wall, now);
        accounts.generation += 1;
        accounts.generation
    }

    /// Counts a change. If another thread reads the accounts, queues it instead.
    pub(super) fn change(&self, namespace: Arc<str>, kind: ChangeKind) {
        lock(&self.0.waiting).push(Change { namespace, kind });
        match self.0.accounts.try_lock() {
            Ok(accounts) => drop(self.count_waiting(accounts)),
            Err(TryLockError::Poisoned(error)) => drop(self.count_waiting(error.into_inner())),
            Err(TryLockError::WouldBlock) => {}
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
        for change in waiting {
            accounts.count(change);
        }
        accounts
    }

    /// The savings until now, and since each of these times; `None` before the first controller has
    /// started.
    pub(super) fn saved(&self, since_each: [DateTime<Utc>; 3]) -> Option<SavedSoFar> {
        self.accounts().savings.so_far(since_each)
    }

    /// Begins a scrape. `scheduled` are the workloads of each namespace with schedules.
    pub(super) fn begin_scrape(&self, scheduled: BTreeMap<Arc<str>, States>) {
        self.accounts().begin_scrape(scheduled);
    }
}

impl Collector for ByNamespace {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut accounts = self.accounts();
        let now = Instant::now();
        accounts.encode(&mut encoder, now)?;
        // Ranking changes which namespaces have series, so it comes after the samples.
        accounts.savings.rank(now);
        Ok(())
    }
}
