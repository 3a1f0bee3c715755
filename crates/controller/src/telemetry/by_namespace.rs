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
use dayshift_workload::{Phase, savings::SavedSoFar};
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{MetricType, counter::ConstCounter, gauge::ConstGauge},
    registry::Unit,
};
use tokio::time::Instant;

use crate::telemetry::{
    account::{Account, Amounts, NOTHING, replace},
    savings::Savings,
    series::{OTHER, Series},
    shapes::{gauge_value, lock},
    states::{Count, GAUGES, States, encode_phases, largest_first},
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

    /// The states of a series without workloads. The only series without a label is always shown.
    fn no_states(self) -> Option<States> {
        (self == Self::All).then(States::default)
    }
}

/// The team of a namespace without the team label. It is not a valid label value.
const NO_TEAM: &str = "(none)";

/// A change in a namespace.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all changes are of the large variant, and none is stored"
)]
pub(super) enum Change {
    /// The state of one object has changed. Without an object, nothing is counted.
    State {
        before: States,
        after: States,
        at: (DateTime<Utc>, Instant),
    },
    /// The namespace belongs to this team from then on, or to none.
    Team(Option<Box<str>>, Instant),
    /// Events have happened to this number of workloads.
    Counted(Counted, u64),
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
    /// Changes of namespaces that came while another thread held the accounts, in order.
    waiting: Mutex<Vec<(Arc<str>, Change)>>,
}

#[derive(Debug)]
pub(super) struct Accounts {
    by: SeriesBy,
    /// The namespaces with objects or with a team.
    members: HashMap<Arc<str>, Member>,
    /// The name of namespaces without a name of their own: [`OTHER`] without a label, and [`NO_TEAM`]
    /// by team.
    default_name: Arc<str>,
    /// The savings of all workloads.
    savings: Savings,
    series: Series<Counts>,
    /// The resources saved now by each name in the shared series, which move with the name if it gets a
    /// series of its own.
    shared: HashMap<Arc<str>, Amounts>,
    /// The number of names with workloads that shared a series at the last scrape.
    without_series: usize,
}

/// A namespace.
#[derive(Debug, Default)]
struct Member {
    /// With the resources saved now, which move with the namespace to another team.
    states: States,
    team: Option<Arc<str>>,
}

/// What one series of each metric counts: of a namespace, of a team, or of all that share a series.
#[derive(Debug, Default)]
struct Counts {
    /// The saved resources; `None` before the first. Sums of whole numbers are exact: a counter never
    /// decreases, not even in its last digit, which Prometheus would treat as a restart.
    saved: Option<Account>,
    /// By [`Counted`].
    events: [EventCount; 2],
    /// The states at the last scrape; `None` without workloads.
    states: Option<States>,
}

/// A counter of events of workloads.
///
/// It ends with the last workload of its namespace or team. If a workload returns, the counter begins at
/// zero again, which Prometheus treats as a restart. The counter of the series [`OTHER`] never ends and
/// never decreases.
#[derive(Debug, Default)]
struct EventCount {
    count: u64,
    /// The count that the last scrape showed. A counter begins at zero, so that Prometheus'
    /// `increase()` includes its first count.
    shown: Option<u64>,
}

impl EventCount {
    /// A counter that exists from the beginning.
    const ZERO: Self = Self {
        count: 0,
        shown: Some(0),
    };

    /// Shows the count, if there are workloads or something was counted.
    fn begin_scrape(&mut self, has_workloads: bool) {
        if has_workloads || self.shown.is_some() || self.count > 0 {
            self.shown = Some(self.shown.map_or(0, |_| self.count));
        }
    }
}

impl Counts {
    /// The shared series.
    fn shared(by: SeriesBy) -> Self {
        Self {
            saved: (by == SeriesBy::All).then(Account::default),
            events: [EventCount::ZERO, EventCount::ZERO],
            states: by.no_states(),
        }
    }

    /// Whether a scrape has shown all events.
    fn are_events_shown(&self) -> bool {
        let mut events = self.events.iter();
        events.all(|events| events.shown.unwrap_or_default() == events.count)
    }

    /// Whether its name saves resources now.
    fn saves_now(&self) -> bool {
        self.saved.is_some_and(|saved| saved.now != NOTHING)
    }
}

impl Default for Accounts {
    fn default() -> Self {
        Self::new(SeriesBy::All, Savings::default())
    }
}

impl Accounts {
    /// Creates accounts with new series.
    fn new(by: SeriesBy, savings: Savings) -> Self {
        Self {
            by,
            members: HashMap::new(),
            default_name: match by {
                SeriesBy::All | SeriesBy::Namespace => OTHER.into(),
                SeriesBy::Team => NO_TEAM.into(),
            },
            savings,
            series: Series::with_other(Counts::shared(by)),
            shared: HashMap::new(),
            without_series: 0,
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

    fn count(&mut self, namespace: &Arc<str>, change: Change) {
        let name = self.name_of(namespace);
        match change {
            Change::State { before, after, at } => {
                self.update(namespace, |member| member.states.replace(&before, &after));
                let (before, after) = (before.saved, after.saved);
                if before != after {
                    self.savings.change(before, after, at);
                    self.change_savings(&name, before, after, at.1);
                }
            }
            Change::Team(team, at) => {
                let saved = self.update(namespace, |member| {
                    if member.team.as_deref() != team.as_deref() {
                        member.team = team.map(Into::into);
                    }
                });
                let to = self.name_of(namespace);
                if name != to && saved != NOTHING {
                    self.change_savings(&name, saved, NOTHING, at);
                    self.change_savings(&to, NOTHING, saved, at);
                }
            }
            Change::Counted(counted, events) => {
                let series = self.series_of(&name, Instant::now());
                series.events[counted as usize].count += events;
            }
        }
    }

    /// Changes the entry of a namespace, and returns its savings.
    fn update(&mut self, namespace: &Arc<str>, change: impl FnOnce(&mut Member)) -> Amounts {
        let member = self.members.entry(Arc::clone(namespace)).or_default();
        change(member);
        let saved = member.states.saved;
        if member.team.is_none() && member.states == States::default() {
            self.members.remove(namespace);
        }
        saved
    }

    fn change_savings(&mut self, name: &Arc<str>, before: Amounts, after: Amounts, now: Instant) {
        let saved = &mut self.series_of(name, now).saved;
        saved.get_or_insert_default().replace(before, after, now);
        if self.by != SeriesBy::All && !self.series.has_own(name) {
            let shared = self.shared.entry(Arc::clone(name)).or_default();
            *shared = replace(*shared, before, after);
            if *shared == NOTHING {
                self.shared.remove(name);
            }
        }
    }

    /// The series of a name. If the name gets a series of its own now, its current savings move there, so
    /// no time is counted twice.
    fn series_of(&mut self, name: &Arc<str>, now: Instant) -> &mut Counts {
        let had_own = self.series.has_own(name);
        self.series.series_of(name);
        if !had_own
            && self.series.has_own(name)
            && let Some(saved) = self.shared.remove(name)
        {
            let other = self.series.other_mut();
            if let Some(other) = other.and_then(|other| other.saved.as_mut()) {
                other.replace(saved, NOTHING, now);
            }
            self.series.series_of(name).saved = Some(Account::begun(saved, now));
        }
        self.series.series_of(name)
    }

    /// Begins a scrape. Returns the states of all objects.
    fn begin_scrape(&mut self) -> States {
        let (mut all, mut states) = (States::default(), BTreeMap::<Arc<str>, States>::new());
        let members = self.members.iter();
        for (namespace, member) in members.filter(|(_, member)| member.states.get(Count::All) > 0) {
            all += &member.states;
            *states.entry(self.name_of(namespace)).or_default() += &member.states;
        }
        self.series.retain_own(|name, counts| {
            let is_needed = states.contains_key(name) || !counts.are_events_shown();
            if !is_needed {
                counts.events = Default::default();
            }
            is_needed || counts.saved.is_some()
        });
        let mut names = states.keys();
        if !self.series.has_room() && names.any(|name| !self.series.has_own(name)) {
            // A namespace without workloads keeps the series of its savings until another needs it.
            self.series.retain_own(|name, counts| {
                states.contains_key(name) || !counts.are_events_shown() || counts.saves_now()
            });
        }
        for counts in self.series.values_mut() {
            counts.states = self.by.no_states();
        }
        self.without_series = 0;
        for (name, states) in largest_first(states) {
            let all = &mut self.series_of(&name, Instant::now()).states;
            *all.get_or_insert_default() += &states;
            self.without_series += usize::from(!self.series.has_own(&name));
        }
        for counts in self.series.values_mut() {
            for events in &mut counts.events {
                events.begin_scrape(counts.states.is_some());
            }
        }
        all
    }

    fn encode(&self, encoder: &mut DescriptorEncoder<'_>, now: Instant) -> fmt::Result {
        let label = self.by.label();
        if label.is_some() {
            let help = "Namespaces, or teams with --metrics-by, that share the series (other).";
            let name = "dayshift_namespaces_without_series";
            let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            ConstGauge::new(gauge_value(self.without_series)).encode(metric)?;
        }
        let stopped = (
            "dayshift_stopped_replicas",
            "Replicas that do not run now because of the schedules.",
            None,
        );
        self.series.encode(encoder, label, stopped, |counts| {
            let [replicas, ..] = counts.saved?.now;
            Some(ConstGauge::new(u64::try_from(replicas).unwrap_or(u64::MAX)))
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
            self.series.encode(encoder, label, saved, |counts| {
                Some(ConstCounter::new(
                    counts.saved?.advanced_to(now).seconds()[at],
                ))
            })?;
        }
        let states = self.series.iter();
        let states = states.filter_map(|(name, counts)| Some((name, counts.states.as_ref()?)));
        let workloads = (
            "dayshift_workloads",
            "Workloads with a schedule, by state.",
            None,
        );
        encode_phases(encoder, label, workloads, &Phase::ALL, states)?;
        for (name, help, count) in GAUGES {
            self.series
                .encode(encoder, label, (name, help, None), |counts| {
                    let states = counts.states.as_ref()?;
                    Some(ConstGauge::new(gauge_value(states.get(count))))
                })?;
        }
        for (counted, name, help) in [
            (
                Counted::StopNotice,
                "dayshift_stop_notices",
                "Stop notices sent.",
            ),
            (
                Counted::RevertedCount,
                "dayshift_reverted_counts",
                "Counts that another controller has reverted, by namespace or team.",
            ),
        ] {
            self.series
                .encode(encoder, label, (name, help, None), |counts| {
                    Some(ConstCounter::new(counts.events[counted as usize].shown?))
                })?;
        }
        Ok(())
    }
}

impl ByNamespace {
    /// Registers a controller that starts at `now`, when its clock shows `wall`, without objects.
    pub(super) fn begin(&self, by: SeriesBy, wall: DateTime<Utc>, now: Instant) {
        let mut accounts = self.accounts();
        let accounts = &mut *accounts;
        accounts.savings.begin(wall, now);
        if by != accounts.by {
            *accounts = Accounts::new(by, mem::take(&mut accounts.savings));
        }
        accounts.members.clear();
        accounts.shared.clear();
        for saved in accounts
            .series
            .values_mut()
            .filter_map(|counts| counts.saved.as_mut())
        {
            saved.replace(saved.now, NOTHING, now);
        }
    }

    /// Counts a change. If another thread reads the accounts, queues it instead.
    pub(super) fn change(&self, namespace: Arc<str>, change: Change) {
        lock(&self.0.waiting).push((namespace, change));
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
        for (namespace, change) in waiting {
            accounts.count(&namespace, change);
        }
        accounts
    }

    /// The savings until now, and since each of these times; `None` before the first controller has
    /// started.
    pub(super) fn saved(&self, since_each: &[DateTime<Utc>]) -> Option<SavedSoFar> {
        self.accounts().savings.so_far(since_each)
    }

    /// Counts one workload in each of the namespaces `after`, in place of those in `before`.
    #[cfg(test)]
    pub(super) fn replace_workloads(&self, before: &[Arc<str>], after: &[Arc<str>]) {
        let (none, one) = (States::default(), States::of_one());
        let ended = before.iter().map(|namespace| (namespace, one, none));
        let begun = after.iter().map(|namespace| (namespace, none, one));
        for (namespace, before, after) in ended.chain(begun) {
            let at = (DateTime::UNIX_EPOCH, Instant::now());
            let change = Change::State { before, after, at };
            self.change(Arc::clone(namespace), change);
        }
    }

    /// Begins a scrape. Returns the states of all objects.
    pub(super) fn begin_scrape(&self) -> States {
        self.accounts().begin_scrape()
    }

    /// The states of the objects in each namespace.
    pub(super) fn states(&self) -> BTreeMap<Arc<str>, States> {
        let accounts = self.accounts();
        let members = accounts.members.iter();
        members
            .map(|(namespace, member)| (Arc::clone(namespace), member.states))
            .collect()
    }
}

impl Collector for ByNamespace {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        self.accounts().encode(&mut encoder, Instant::now())
    }
}
