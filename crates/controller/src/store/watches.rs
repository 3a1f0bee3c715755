//! The progress of each watch: whether it has listed its objects, is open, or fails. Publishes the
//! conditions of readiness that depend on watches, and logs failures at growing intervals.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use dayshift_cluster::{
    connect::redacted_chain,
    delays::CALM,
    watch::{Absence, ObjectSource, WatchError},
};
use dayshift_text::{counted, cut_bytes};
use dayshift_workload::Kind;

use crate::{
    ids::WatchId,
    settings::{Scope, Watched},
    telemetry::{metrics::Telemetry, readiness::Condition},
};

/// The watch from which an observation comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ObservationOrigin {
    pub(crate) watch: WatchId,
    pub(crate) source: ObjectSource,
}

impl ObservationOrigin {
    pub(super) fn is_list(self) -> bool {
        self.source == ObjectSource::List
    }
}

/// The state of each watch, by its number.
pub(crate) struct Watches(Vec<WatchState>);

/// The state of one watch.
pub(crate) struct WatchState {
    pub(crate) watched: Watched,
    /// The Namespace that it watches, or the namespace of the watched objects; `None` for all.
    pub(crate) namespace: Option<String>,
    pub(crate) knowledge: Knowledge,
    /// Whether it is open, so that it reports changes.
    is_open: bool,
    /// Why the objects cannot be watched: the server does not serve them, or forbids watching them. `None`
    /// if the last failure has not shown that.
    pub(crate) absence: Option<Absence>,
    /// The absence that was logged last.
    logged: Option<Absence>,
    /// The current outage, or the last one.
    outage: Option<Outage>,
    /// Whether the Namespace exists that it watches, if it watches one. `None` if unknown.
    exists: Option<bool>,
    /// The number of failures and relists. The next list is newer than each response of an earlier epoch.
    pub(super) epoch: u32,
}

/// What is known about the objects of a watch. A first list that fails or times out delays nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Knowledge {
    /// They were listed, and are being watched.
    Complete,
    /// The first list has failed.
    Unreadable,
    /// Nothing: the first list has not ended yet.
    Awaited,
}

impl WatchState {
    /// Whether it watches such objects in a namespace.
    fn includes(&self, watched: &Watched, namespace: &str) -> bool {
        let name = self.namespace.as_deref();
        self.watched == *watched && name.is_none_or(|name| name == namespace)
    }

    /// Why it cannot watch its objects, if only a change in the cluster can fix that.
    fn unwatched(&self) -> Option<String> {
        if let (Some(false), Some(name)) = (self.exists, &self.namespace) {
            return Some(format!("namespace {name} does not exist"));
        }
        let (watched, why) = (self.watched.resource(), self.absence?);
        let place = self.namespace.as_ref();
        let place = place.map_or_else(String::new, |name| match self.watched {
            Watched::Namespaces => format!(" {name}"),
            Watched::TeamDefaults | Watched::Kind(_) | Watched::Services => {
                format!(" in namespace {name}")
            }
        });
        Some(format!("cannot watch {watched}{place}: {why}"))
    }
}

impl Watches {
    /// Creates the state of all watches in scope, which have not started yet.
    pub(crate) fn new(scope: &Scope) -> Self {
        let state = |(watched, namespace): (Watched, Option<&str>)| WatchState {
            watched,
            namespace: namespace.map(str::to_owned),
            knowledge: Knowledge::Awaited,
            is_open: false,
            absence: None,
            logged: None,
            outage: None,
            exists: None,
            epoch: 0,
        };
        Self(scope.watches().map(state).collect())
    }

    /// The state of a watch.
    pub(crate) fn get(&self, watch: WatchId) -> Option<&WatchState> {
        self.0.get(watch)
    }

    /// The watch of such objects in a namespace; `None` if they are not in scope.
    pub(super) fn find(&self, watched: &Watched, namespace: &str) -> Option<&WatchState> {
        let mut watches = self.0.iter();
        watches.find(|watch| watch.includes(watched, namespace))
    }

    /// The number of the watch of the objects of a kind in a namespace.
    pub(crate) fn watch_of(&self, kind: &Kind, namespace: &str) -> WatchId {
        let watched = Watched::Kind(kind.clone());
        let mut watches = self.0.iter();
        let position = watches.position(|watch| watch.includes(&watched, namespace));
        position.unwrap_or_default()
    }

    /// Records that all watches list their objects again, after a rollback.
    pub(crate) fn relist(&mut self) {
        for watch in &mut self.0 {
            watch.epoch = watch.epoch.wrapping_add(1);
        }
    }

    /// Records that the server has accepted a watch.
    pub(crate) fn opened(&mut self, watch: WatchId, now: Duration) {
        if let Some(watch) = self.0.get_mut(watch) {
            watch.is_open = true;
            watch.logged = None;
            watch.absence = None;
            let outage = watch.outage.as_mut();
            if let Some(duration) = outage.and_then(|outage| outage.end(now)) {
                let (kind, namespace) = (watch.watched.name(), &watch.namespace);
                tracing::info!(kind, namespace, "the watch is open again, {duration}");
            }
        }
    }

    /// Records that a list is complete.
    pub(crate) fn listed(&mut self, watch: WatchId) {
        if let Some(watch) = self.0.get_mut(watch) {
            watch.knowledge = Knowledge::Complete;
        }
    }

    /// Records whether the Namespace of a watch exists. Returns its name if that has changed; a
    /// Namespace is assumed to exist at first.
    pub(crate) fn set_exists(&mut self, watch: WatchId, exists: bool) -> Option<String> {
        let watch = self.0.get_mut(watch)?;
        let name = watch.namespace.clone()?;
        let before = watch.exists.replace(exists);
        (before.unwrap_or(true) != exists).then_some(name)
    }

    /// Records that a watch has failed, and logs why: an absence once, and other failures at growing
    /// intervals.
    pub(crate) fn failed(&mut self, watch: WatchId, error: &WatchError, now: Duration) {
        let Some(watch) = self.0.get_mut(watch) else {
            return;
        };
        watch.epoch = watch.epoch.wrapping_add(1);
        watch.is_open = false;
        watch.knowledge = watch.knowledge.min(Knowledge::Unreadable);
        watch.absence = error.absence();
        let outage = watch.outage.take().filter(|outage| outage.continues(now));
        let outage = watch
            .outage
            .insert(outage.unwrap_or_else(|| Outage::new(now)));
        outage.record_failure();
        let message = match watch.absence {
            None => outage.take_message(now),
            absence if absence == watch.logged => None,
            absence => {
                watch.logged = absence;
                outage.is_logged = true;
                Some("the watch failed; retrying with backoff, up to a minute".to_owned())
            }
        };
        let (kind, error) = (watch.watched.name(), redacted_chain(error));
        let error = cut_bytes(&error, MAX_LOGGED);
        match message {
            Some(message) => tracing::warn!(kind, error = %error, "{message}"),
            None => tracing::debug!(kind, error = %error, "the watch failed again"),
        }
    }

    /// Whether the first list of each watch has ended.
    pub(crate) fn have_all_first_results(&self) -> bool {
        let mut watches = self.0.iter();
        watches.all(|watch| watch.knowledge != Knowledge::Awaited)
    }

    /// Publishes the state of the watches, and the kinds that cannot be watched.
    ///
    /// A kind that the server does not serve or that RBAC forbids does not prevent readiness, because
    /// that may be intended. At least one kind must be watched in each namespace.
    pub(crate) fn publish(&self, telemetry: &Telemetry) {
        let Self(watches) = self;
        let is_listed = |watch: &WatchState| watch.knowledge == Knowledge::Complete;
        let is_open = |watch: &WatchState| watch.is_open;
        telemetry.set(Condition::Listed, holds_for_each(watches, is_listed));
        telemetry.set(Condition::Watching, holds_for_each(watches, is_open));
        telemetry.set_unwatched(watches.iter().filter_map(WatchState::unwatched).collect());
        let mut kinds = BTreeMap::new();
        for watch in watches {
            *kinds.entry(watch.watched.clone()).or_insert(true) &= watch.is_open;
        }
        for (watched, is_up) in kinds {
            telemetry.set_watch_up(watched.name(), is_up);
        }
    }
}

/// A series of failures of one watch. If a server accepts each watch and interrupts it at once, that is
/// one long outage, not many short ones.
#[derive(Debug)]
struct Outage {
    since: Duration,
    failures: u32,
    /// When the watch was opened again, if it has not failed since.
    ended: Option<Duration>,
    /// Whether a failure was logged since the watch was last open.
    is_logged: bool,
    /// When a failure is logged again.
    next_logged: Duration,
    /// The interval until the failure after that is logged.
    interval: Duration,
}

/// The interval between the first two log lines of an outage. It doubles up to [`MAX_INTERVAL`].
const FIRST_INTERVAL: Duration = Duration::from_secs(60);
const MAX_INTERVAL: Duration = Duration::from_secs(3600);

/// The maximum length of an error in the log, in bytes. An error of the decoder quotes the text that it rejects.
const MAX_LOGGED: usize = 1024;

impl Outage {
    fn new(now: Duration) -> Self {
        Self {
            since: now,
            failures: 0,
            ended: None,
            is_logged: false,
            next_logged: now,
            interval: FIRST_INTERVAL,
        }
    }

    /// Whether a failure now belongs to this outage.
    fn continues(&self, now: Duration) -> bool {
        self.ended.is_none_or(|ended| now <= ended + CALM)
    }

    fn record_failure(&mut self) {
        self.failures = self.failures.saturating_add(1);
        self.ended = None;
    }

    /// Records that the watch is open again. Returns the description of the outage for the log, if a
    /// failure was logged.
    fn end(&mut self, now: Duration) -> Option<String> {
        self.ended = Some(now);
        std::mem::take(&mut self.is_logged).then(|| self.describe(now))
    }

    /// The line to log about a failure now, if any. Records it as logged.
    fn take_message(&mut self, now: Duration) -> Option<String> {
        if now < self.next_logged {
            return None;
        }
        self.is_logged = true;
        let is_first = self.next_logged == self.since;
        self.next_logged = now + self.interval;
        self.interval = MAX_INTERVAL.min(2 * self.interval);
        Some(if is_first {
            "the watch failed; retrying with backoff".to_owned()
        } else {
            // For example: "the watch still fails after 14 failed attempts in 62 s".
            let duration = self.describe(now);
            format!("the watch still fails {duration}; retrying with backoff")
        })
    }

    /// `after 14 failed attempts in 62 s`.
    fn describe(&self, now: Duration) -> String {
        let attempts = counted(self.failures, "failed attempt");
        let seconds = now.saturating_sub(self.since).as_secs();
        format!("after {attempts} in {seconds} s")
    }
}

/// Whether a predicate holds for each watch without an absence, and for at least one kind in each
/// namespace.
fn holds_for_each(watches: &[WatchState], predicate: fn(&WatchState) -> bool) -> bool {
    let (matching, others): (Vec<_>, Vec<_>) = watches.iter().partition(|watch| predicate(watch));
    let is_of_kind = |watch: &WatchState| matches!(watch.watched, Watched::Kind(_));
    let matching = matching.iter().filter(|watch| is_of_kind(watch));
    let namespaces: BTreeSet<_> = matching.map(|watch| &watch.namespace).collect();
    others.iter().all(|watch| {
        watch.absence.is_some() && (!is_of_kind(watch) || namespaces.contains(&watch.namespace))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_logged_at_once_and_then_at_growing_intervals() {
        let begun = Duration::ZERO;
        let mut outage = Outage::new(begun);
        let mut logged = Vec::new();
        // A try every 4 s, for a day.
        for second in (0..86_400).step_by(4) {
            outage.record_failure();
            if outage
                .take_message(begun + Duration::from_secs(second))
                .is_some()
            {
                logged.push(second);
            }
        }
        assert_eq!(logged[..7], [0, 60, 180, 420, 900, 1860, 3780]);
        assert!(
            logged.windows(2).all(|two| two[1] - two[0] <= 3600),
            "{logged:?}"
        );
        assert!(logged.len() < 32, "{logged:?}");
        let now = begun + Duration::from_secs(86_400);
        assert_eq!(
            outage.describe(now),
            "after 21600 failed attempts in 86400 s"
        );
    }

    #[test]
    fn a_watch_that_is_accepted_and_interrupted_repeatedly_has_one_outage() {
        let begun = Duration::ZERO;
        let mut outage = Outage::new(begun);
        let (mut failures, mut ends) = (Vec::new(), Vec::new());
        // A try every 5 s that ends at once, for an hour.
        for second in (0..3600).step_by(5) {
            let now = begun + Duration::from_secs(second);
            assert!(outage.continues(now));
            outage.record_failure();
            failures.extend(outage.take_message(now).map(|_| second));
            ends.extend(outage.end(now).map(|_| second));
        }
        assert_eq!(failures, [0, 60, 180, 420, 900, 1860]);
        assert_eq!(ends, failures);
        let last = begun + Duration::from_secs(3595);
        assert!(outage.continues(last + CALM));
        assert!(!outage.continues(last + 2 * CALM));
    }
}
