//! The savings of each namespace or team, and which of them have series of their own.

use std::{
    collections::{BTreeMap, HashMap},
    mem,
    sync::Arc,
};

use dayshift_workload::savings::StoppedCapacity;
use tokio::time::Instant;

use super::account::Account;

/// At most this many namespaces have series of their own, the largest. All others share one.
pub(super) const MAX_SERIES: usize = 200;

/// The size of at most this many namespaces is known.
pub(super) const MAX_KNOWN: usize = 2_000;

/// How many namespaces that hold nothing make room for new ones at a time.
const MAX_FORGOTTEN: usize = MAX_KNOWN / 10;

/// A namespace takes the series of another one if it has saved this many times as much.
const LARGER: f64 = 1.25;

/// The label of those that share one: no namespace can have such a name.
pub(super) const OTHER: &str = "(other)";

/// The accounts of namespaces, and the series that show them.
///
/// A series counts the savings of a namespace while the namespace has it. A namespace that gives
/// its series to a larger one continues in the shared one, so nothing is counted twice and no
/// counter jumps.
#[derive(Debug, Default)]
pub(super) struct ByNamespace {
    /// The savings of each namespace, by which they are compared.
    pub(super) known: BTreeMap<Arc<str>, Account>,
    /// The series of the largest.
    pub(super) shown: BTreeMap<Arc<str>, Account>,
    /// The series of all others, from the first of them on.
    other: Option<Account>,
    /// Whether a namespace came for which there was no room.
    is_full: bool,
}

impl ByNamespace {
    /// All accounts. They start at zero when the controller starts.
    pub(super) fn all(&mut self) -> impl Iterator<Item = &mut Account> {
        let shown = self.shown.values_mut().chain(&mut self.other);
        self.known.values_mut().chain(shown)
    }

    /// The accounts of a namespace that may be new: its savings, and its series.
    pub(super) fn of(&mut self, namespace: &Arc<str>) -> impl Iterator<Item = &mut Account> {
        if !self.known.contains_key(namespace) {
            self.is_full = self.known.len() >= MAX_KNOWN;
            if !self.is_full {
                self.known.insert(Arc::clone(namespace), Account::default());
            }
            if self.shown.len() < MAX_SERIES && self.known.contains_key(namespace) {
                self.shown.insert(Arc::clone(namespace), Account::default());
            }
        }
        let series = match self.shown.get_mut(namespace) {
            Some(own) => own,
            None => self.other.get_or_insert_default(),
        };
        self.known.get_mut(namespace).into_iter().chain([series])
    }

    /// Gives the series of the smallest to those that are much larger by now, and makes room for
    /// namespaces that are new. This visits all namespaces, in the thread of the scrape.
    pub(super) fn rank(&mut self, now: Instant) {
        let size = |it: &Account| it.at(now).replica_time;
        let mut largest: Vec<_> = self
            .known
            .iter()
            .map(|(name, it)| (size(it), name))
            .collect();
        largest.sort_unstable_by(|a, b| b.cmp(a));
        let (up, down) = largest.split_at(largest.len().min(MAX_SERIES));
        let larger = up.iter().filter(|(_, it)| !self.shown.contains_key(*it));
        let smaller = down
            .iter()
            .rev()
            .filter(|(_, it)| self.shown.contains_key(*it));
        #[expect(clippy::cast_precision_loss, reason = "sizes are compared roughly")]
        let swaps = larger
            .zip(smaller)
            .filter(|((larger, _), (smaller, _))| *larger as f64 > *smaller as f64 * LARGER);
        let swaps: Vec<_> = swaps
            .map(|((_, up), (_, down))| (Arc::clone(up), Arc::clone(down)))
            .collect();
        for (up, down) in swaps {
            let (Some(risen), Some(fallen)) = (self.known.get(&up), self.shown.remove(&down))
            else {
                continue;
            };
            let other = self.other.unwrap_or_default().at(now);
            self.other = Some(other.without(risen).and(&fallen));
            self.shown.insert(up, risen.at(now).held());
        }
        if mem::take(&mut self.is_full) {
            let idle = self
                .known
                .iter()
                .filter(|(it, held)| held.replicas == 0 && !self.shown.contains_key(*it));
            let mut idle: Vec<_> = idle.map(|(it, held)| (held.replica_time, it)).collect();
            idle.sort_unstable();
            let forgotten: Vec<_> = idle
                .iter()
                .take(MAX_FORGOTTEN)
                .map(|(_, it)| Arc::clone(it))
                .collect();
            for it in forgotten {
                self.known.remove(&it);
            }
        }
    }

    /// How many namespaces of those whose size is known share a series: at most
    /// [`MAX_KNOWN`] less [`MAX_SERIES`], however many there are.
    pub(super) fn not_shown(&self) -> usize {
        self.known.len() - self.shown.len()
    }

    /// The series at `now`, by the label of the namespace.
    pub(super) fn series(&self, now: Instant) -> Vec<(Option<&str>, Account)> {
        let shown = self
            .shown
            .iter()
            .map(|(name, it)| (Some(&**name), it.at(now)));
        let other = self.other.iter().map(|it| (Some(OTHER), it.at(now)));
        shown.chain(other).collect()
    }
}

/// The team of a namespace without the label: no label can have such a value.
const NONE: &str = "(none)";

/// To which team each namespace belongs.
#[derive(Debug)]
pub(super) struct Teams {
    none: Arc<str>,
    team_of: HashMap<Arc<str>, Arc<str>>,
    /// The resources saved now in each namespace. An entry ends with its namespace.
    held: HashMap<Arc<str>, Account>,
}

/// What goes with a namespace from one team to another.
#[derive(Debug)]
pub(super) struct TeamMove {
    pub(super) from: Arc<str>,
    pub(super) to: Arc<str>,
    pub(super) held: Account,
}

impl Default for Teams {
    fn default() -> Self {
        Self {
            none: NONE.into(),
            team_of: HashMap::new(),
            held: HashMap::new(),
        }
    }
}

impl Teams {
    /// The team of a namespace.
    pub(super) fn of(&self, namespace: &str) -> Arc<str> {
        Arc::clone(self.team_of.get(namespace).unwrap_or(&self.none))
    }

    /// The resources that an object of a namespace saves have changed.
    pub(super) fn count(
        &mut self,
        namespace: &Arc<str>,
        before: StoppedCapacity,
        held: StoppedCapacity,
    ) {
        let account = self.held.entry(Arc::clone(namespace)).or_default();
        *account = account.with(before, held);
        if account.holds_nothing() {
            self.held.remove(namespace);
        }
    }

    /// A namespace belongs to another team, or to none. Returns what goes with it, if anything.
    pub(super) fn set(&mut self, namespace: &Arc<str>, team: Option<&str>) -> Option<TeamMove> {
        let from = self.of(namespace);
        match team {
            Some(team) if *team == *from => return None,
            Some(team) => self.team_of.insert(Arc::clone(namespace), team.into()),
            None => self.team_of.remove(namespace),
        };
        let to = self.of(namespace);
        let held = self.held.get(namespace).copied()?;
        (from != to).then_some(TeamMove { from, to, held })
    }
}
