//! The savings of each namespace or team, and the choice of those that have series of their own. The
//! number of series and the memory are bounded, however many namespaces there are.

use std::{
    collections::{BTreeMap, HashMap},
    mem,
    sync::Arc,
};

use chrono::TimeDelta;
use dayshift_workload::savings::{Saved, StoppedCapacity};
use tokio::time::Instant;

/// The maximum number of namespaces with a series of their own. The others share one series.
pub(super) const MAX_SERIES: usize = 200;

/// The maximum number of namespaces whose savings are tracked.
pub(super) const MAX_KNOWN: usize = 2_000;

/// The maximum number of namespaces without current savings that are forgotten at once to make room.
const MAX_FORGOTTEN: usize = MAX_KNOWN / 10;

/// A namespace takes over the series of another one if it has saved this many times as much.
const TAKEOVER_FACTOR: f64 = 1.25;

/// The label value of the shared series. It is not a valid name of a namespace.
pub(super) const OTHER: &str = "(other)";

/// The accounts of namespaces, and the series that show them.
///
/// A series counts the savings of a namespace while the namespace has that series. A namespace that
/// loses its series to a larger namespace continues in the shared series, so nothing is counted twice
/// and no counter jumps.
#[derive(Debug, Default)]
pub(super) struct ByNamespace {
    /// The savings of each namespace, by which namespaces are ranked.
    pub(super) known: BTreeMap<Arc<str>, Account>,
    /// The series of the namespaces that have one.
    pub(super) own_series: BTreeMap<Arc<str>, Account>,
    /// The shared series; `None` until the first namespace needs it.
    other: Option<Account>,
    /// Whether a new namespace was not tracked because of [`MAX_KNOWN`].
    is_full: bool,
}

impl ByNamespace {
    /// All accounts: those for ranking and those of the series.
    pub(super) fn all(&mut self) -> impl Iterator<Item = &mut Account> {
        let own_series = self.own_series.values_mut().chain(&mut self.other);
        self.known.values_mut().chain(own_series)
    }

    /// The accounts of a namespace: its savings, if they are tracked, and its series. They are created
    /// if the namespace is new.
    pub(super) fn accounts_of(
        &mut self,
        namespace: &Arc<str>,
    ) -> impl Iterator<Item = &mut Account> {
        if !self.known.contains_key(namespace) {
            self.is_full = self.known.len() >= MAX_KNOWN;
            if !self.is_full {
                self.known.insert(Arc::clone(namespace), Account::default());
            }
            if self.own_series.len() < MAX_SERIES && self.known.contains_key(namespace) {
                self.own_series
                    .insert(Arc::clone(namespace), Account::default());
            }
        }
        let series = match self.own_series.get_mut(namespace) {
            Some(own) => own,
            None => self.other.get_or_insert_default(),
        };
        self.known.get_mut(namespace).into_iter().chain([series])
    }

    /// Gives the series of the smallest namespaces to those that are much larger, and forgets some
    /// namespaces if new ones need room. Visits all namespaces, in the thread of the scrape.
    pub(super) fn rank(&mut self, now: Instant) {
        let size = |account: &Account| account.advanced_to(now).replica_time;
        let mut largest: Vec<_> = self
            .known
            .iter()
            .map(|(name, account)| (size(account), name))
            .collect();
        largest.sort_unstable_by(|a, b| b.cmp(a));
        let (up, down) = largest.split_at(largest.len().min(MAX_SERIES));
        let larger = up
            .iter()
            .filter(|(_, name)| !self.own_series.contains_key(*name));
        let smaller = down
            .iter()
            .rev()
            .filter(|(_, name)| self.own_series.contains_key(*name));
        #[expect(clippy::cast_precision_loss, reason = "sizes are compared roughly")]
        let swaps = larger.zip(smaller).filter(|((larger, _), (smaller, _))| {
            *larger as f64 > *smaller as f64 * TAKEOVER_FACTOR
        });
        let swaps: Vec<_> = swaps
            .map(|((_, up), (_, down))| (Arc::clone(up), Arc::clone(down)))
            .collect();
        for (up, down) in swaps {
            let (Some(risen), Some(fallen)) = (self.known.get(&up), self.own_series.remove(&down))
            else {
                continue;
            };
            let other = self.other.unwrap_or_default().advanced_to(now);
            self.other = Some(other.minus(risen).plus(&fallen));
            self.own_series
                .insert(up, risen.advanced_to(now).without_time());
        }
        if mem::take(&mut self.is_full) {
            let idle = self.known.iter().filter(|(name, account)| {
                account.replicas == 0 && !self.own_series.contains_key(*name)
            });
            let idle = idle.map(|(name, account)| (account.replica_time, name));
            let mut idle: Vec<_> = idle.collect();
            idle.sort_unstable();
            let forgotten: Vec<_> = idle
                .iter()
                .take(MAX_FORGOTTEN)
                .map(|(_, name)| Arc::clone(name))
                .collect();
            for name in forgotten {
                self.known.remove(&name);
            }
        }
    }

    /// How many of the tracked namespaces share a series: at most [`MAX_KNOWN`] − [`MAX_SERIES`].
    pub(super) fn without_series(&self) -> usize {
        self.known.len() - self.own_series.len()
    }

    /// The series and their label values at `now`.
    pub(super) fn series(&self, now: Instant) -> Vec<(Option<&str>, Account)> {
        let own_series = self
            .own_series
            .iter()
            .map(|(name, account)| (Some(&**name), account.advanced_to(now)));
        let other = self.other.iter();
        let other = other.map(|account| (Some(OTHER), account.advanced_to(now)));
        own_series.chain(other).collect()
    }
}

/// The team of a namespace without the team label. It is not a valid label value.
const NONE: &str = "(none)";

/// The team of each namespace.
#[derive(Debug)]
pub(super) struct Teams {
    none: Arc<str>,
    by_namespace: HashMap<Arc<str>, Arc<str>>,
    /// The resources saved now in each namespace. A namespace without savings has no entry.
    saved: HashMap<Arc<str>, Account>,
}

/// The savings of a namespace that moves from one team to another.
#[derive(Debug)]
pub(super) struct TeamMove {
    pub(super) from: Arc<str>,
    pub(super) to: Arc<str>,
    pub(super) saved: Account,
}

impl Default for Teams {
    fn default() -> Self {
        Self {
            none: NONE.into(),
            by_namespace: HashMap::new(),
            saved: HashMap::new(),
        }
    }
}

impl Teams {
    /// The team of a namespace.
    pub(super) fn team_of(&self, namespace: &str) -> Arc<str> {
        Arc::clone(self.by_namespace.get(namespace).unwrap_or(&self.none))
    }

    /// Counts that the capacity saved by one object of a namespace has changed.
    pub(super) fn count(
        &mut self,
        namespace: &Arc<str>,
        before: StoppedCapacity,
        after: StoppedCapacity,
    ) {
        let account = self.saved.entry(Arc::clone(namespace)).or_default();
        *account = account.replacing(before, after);
        if account.is_empty() {
            self.saved.remove(namespace);
        }
    }

    /// Sets the team of a namespace; `None` for no team. Returns the savings that move with it, if any.
    pub(super) fn set(&mut self, namespace: &Arc<str>, team: Option<&str>) -> Option<TeamMove> {
        let from = self.team_of(namespace);
        match team {
            Some(team) if *team == *from => return None,
            Some(team) => self.by_namespace.insert(Arc::clone(namespace), team.into()),
            None => self.by_namespace.remove(namespace),
        };
        let to = self.team_of(namespace);
        let saved = self.saved.get(namespace).copied()?;
        (from != to).then_some(TeamMove { from, to, saved })
    }
}

/// Saved resources, and their resource time up to `until` in amount × nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Account {
    pub(super) replicas: u128,
    pub(super) cpu_nanos: u128,
    pub(super) memory_bytes: u128,
    pub(super) replica_time: u128,
    pub(super) cpu_time: u128,
    pub(super) memory_time: u128,
    pub(super) until: Option<Instant>,
}

impl Account {
    /// Adds the resource time from `until` to `now`.
    pub(super) fn advanced_to(self, now: Instant) -> Self {
        let time = self.until.map(|until| now.saturating_duration_since(until));
        let nanos = time.unwrap_or_default().as_nanos();
        let add = |sum: u128, amount: u128| sum.saturating_add(amount.saturating_mul(nanos));
        Self {
            replica_time: add(self.replica_time, self.replicas),
            cpu_time: add(self.cpu_time, self.cpu_nanos),
            memory_time: add(self.memory_time, self.memory_bytes),
            until: Some(self.until.map_or(now, |until| until.max(now))),
            ..self
        }
    }

    /// Adds the resource time of a duration after `until`; a negative duration adds none.
    pub(super) fn advanced_by(self, time: TimeDelta) -> Self {
        let until = self.until.unwrap_or_else(Instant::now);
        self.advanced_to(until + time.to_std().unwrap_or_default())
    }

    /// The resource time in hours.
    pub(super) fn saved(&self) -> Saved {
        let hours = |time, one| seconds(time, one) / 3600.0;
        Saved {
            replica_hours: hours(self.replica_time, 1.0),
            cpu_core_hours: hours(self.cpu_time, 1e9),
            memory_gib_hours: hours(self.memory_time, f64::from(1 << 30)),
        }
    }

    /// Sets the resource time to zero and keeps the resources.
    pub(super) const fn without_time(&self) -> Self {
        Self {
            replica_time: 0,
            cpu_time: 0,
            memory_time: 0,
            ..*self
        }
    }

    /// Whether no resources are saved now.
    pub(super) const fn is_empty(&self) -> bool {
        self.replicas == 0 && self.cpu_nanos == 0 && self.memory_bytes == 0
    }

    /// Adds the resources of another account, without its resource time.
    pub(super) const fn plus(self, other: &Self) -> Self {
        Self {
            replicas: self.replicas.saturating_add(other.replicas),
            cpu_nanos: self.cpu_nanos.saturating_add(other.cpu_nanos),
            memory_bytes: self.memory_bytes.saturating_add(other.memory_bytes),
            ..self
        }
    }

    /// Subtracts the resources of another account, without its resource time.
    pub(super) const fn minus(self, other: &Self) -> Self {
        Self {
            replicas: self.replicas.saturating_sub(other.replicas),
            cpu_nanos: self.cpu_nanos.saturating_sub(other.cpu_nanos),
            memory_bytes: self.memory_bytes.saturating_sub(other.memory_bytes),
            ..self
        }
    }

    /// Sets the resources to zero and keeps the resource time.
    pub(super) const fn without_resources(self) -> Self {
        Self {
            replicas: 0,
            cpu_nanos: 0,
            memory_bytes: 0,
            ..self
        }
    }

    /// Replaces the saved capacity `before` of one object with `after`.
    pub(super) fn replacing(self, before: StoppedCapacity, after: StoppedCapacity) -> Self {
        let replace = |sum: u128, before: u64, after: u64| {
            sum.saturating_sub(before.into()) + u128::from(after)
        };
        Self {
            replicas: replace(self.replicas, before.replicas, after.replicas),
            cpu_nanos: replace(self.cpu_nanos, before.cpu_nanos, after.cpu_nanos),
            memory_bytes: replace(self.memory_bytes, before.memory_bytes, after.memory_bytes),
            ..self
        }
    }
}

/// Converts amount × nanoseconds to unit × seconds, where `one` is the amount of one unit.
#[expect(
    clippy::cast_precision_loss,
    reason = "the conversion is monotonic, so a counter never decreases"
)]
pub(super) fn seconds(nanos: u128, one: f64) -> f64 {
    nanos as f64 / 1e9 / one
}
