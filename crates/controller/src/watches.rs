//! The progress of each watch, and its published state.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use dayshift_cluster::{
    delays::CALM,
    watch::{Absence, WatchError},
};
use dayshift_text::counted;
use dayshift_workload::Kind;

use crate::{
    ids::WatchId,
    settings::{Scope, Watched},
    telemetry::{metrics::Telemetry, readiness::Condition},
};

/// How far each watch has come.
pub(crate) struct Watches(Vec<WatchState>);

/// How far one watch has come.
struct WatchState {
    what: Watched,
    /// The namespace that it watches, or in which it watches; `None` for all.
    namespace: Option<String>,
    /// Whether its first try has ended, in success or failure.
    was_tried: bool,
    /// Whether it has listed everything at least once.
    is_listed: bool,
    /// Whether it reports changes now.
    is_open: bool,
    /// Why there is nothing to watch, if the last try said so.
    absence: Option<Absence>,
    /// The absence that was logged last.
    logged: Option<Absence>,
    /// The failures since it was last open.
    outage: Option<Outage>,
    /// Whether the one Namespace that it watches exists, as far as the watch has shown.
    exists: Option<bool>,
    /// How often it has failed, or was to list everything again: its next list is newer than every
    /// response of an earlier epoch.
    epoch: u32,
}

impl WatchState {
    /// Whether it shows such objects of a namespace.
    fn shows(&self, what: &Watched, namespace: &str) -> bool {
        let name = self.namespace.as_deref();
        self.what == *what && name.is_none_or(|name| name == namespace)
    }

    /// Why it sees nothing, if only a change of the cluster can help.
    fn unwatched(&self) -> Option<String> {
        if let (Some(false), Some(name)) = (self.exists, &self.namespace) {
            return Some(format!("namespace {name} does not exist"));
        }
        let (what, why) = (self.what.resource(), self.absence?);
        let place = self.namespace.as_ref();
        let place = place.map_or_else(String::new, |name| match self.what {
            Watched::Namespaces => format!(" {name}"),
            Watched::Kind(_) | Watched::Services => format!(" in namespace {name}"),
        });
        Some(format!("cannot watch {what}{place}: {why}"))
    }
}

impl Watches {
    /// No watch has begun yet.
    pub(crate) fn new(scope: &Scope) -> Self {
        let state = |(what, namespace): (Watched, Option<&str>)| WatchState {
            what,
            namespace: namespace.map(str::to_owned),
            was_tried: false,
            is_listed: false,
            is_open: false,
            absence: None,
            logged: None,
            outage: None,
            exists: None,
            epoch: 0,
        };
        Self(scope.watches().map(state).collect())
    }

    /// The one namespace of a watch.
    pub(crate) fn namespace(&self, watch: WatchId) -> Option<String> {
        self.0.get(watch).and_then(|watch| watch.namespace.clone())
    }

    /// The subject of a watch.
    pub(crate) fn watched(&self, watch: WatchId) -> Option<Watched> {
        self.0.get(watch).map(|watch| watch.what.clone())
    }

    /// The watch of the objects of a kind in a namespace.
    pub(crate) fn watch_of(&self, kind: &Kind, namespace: &str) -> WatchId {
        let what = Watched::Kind(kind.clone());
        let position = self
            .0
            .iter()
            .position(|watch| watch.shows(&what, namespace));
        position.unwrap_or_default()
    }

    /// How often a watch has failed, or was to list everything again.
    pub(crate) fn epoch(&self, watch: WatchId) -> u32 {
        self.0.get(watch).map_or(0, |watch| watch.epoch)
    }

    /// All watches should list everything again, from another history.
    pub(crate) fn relist(&mut self) {
        for watch in &mut self.0 {
            watch.epoch = watch.epoch.wrapping_add(1);
        }
    }

    /// Records that the server has granted a watch.
    pub(crate) fn opened(&mut self, watch: WatchId, now: Duration) {
        if let Some(watch) = self.0.get_mut(watch) {
            watch.is_open = true;
            watch.logged = None;
            watch.absence = None;
            let outage = watch.outage.as_mut();
            if let Some(so_far) = outage.and_then(|outage| outage.ended(now)) {
                let (kind, namespace) = (watch.what.name(), &watch.namespace);
                tracing::info!(kind, namespace, "the watch is open again, {so_far}");
            }
        }
    }

    /// Records that a watch has listed everything.
    pub(crate) fn listed(&mut self, watch: WatchId) {
        if let Some(watch) = self.0.get_mut(watch) {
            watch.is_listed = true;
            watch.was_tried = true;
        }
    }

    /// Records whether the one Namespace of a watch exists. Returns its name if that is news: the
    /// Namespace is missing, or exists after all.
    pub(crate) fn note_existence(&mut self, watch: WatchId, exists: bool) -> Option<String> {
        let watch = self.0.get_mut(watch)?;
        let name = watch.namespace.clone()?;
        let before = watch.exists.replace(exists);
        (before.unwrap_or(true) != exists).then_some(name)
    }

    /// Records that a watch has failed, and why.
    pub(crate) fn failed(&mut self, watch: WatchId, error: &WatchError, now: Duration) {
        if let Some(watch) = self.0.get_mut(watch) {
            watch.epoch = watch.epoch.wrapping_add(1);
            watch.is_open = false;
            watch.was_tried = true;
            watch.absence = error.absence();
            let outage = watch.outage.take().filter(|outage| outage.continues(now));
            let mut outage = outage.unwrap_or_else(|| Outage::since(now));
            outage.failed();
            watch.outage = Some(outage);
        }
    }

    /// Whether the first try of a watch has ended. A try that has failed, or has hung for the time
    /// of one request, holds nothing up.
    pub(crate) fn was_tried(&self, watch: WatchId) -> bool {
        self.0.get(watch).is_none_or(|watch| watch.was_tried)
    }

    /// Whether the first try of each watch has ended.
    pub(crate) fn were_all_tried(&self) -> bool {
        self.0.iter().all(|watch| watch.was_tried)
    }

    /// Whether such objects are seen in a namespace.
    pub(crate) fn list_state(&self, what: &Watched, namespace: &str) -> ListState {
        match self.0.iter().find(|watch| watch.shows(what, namespace)) {
            Some(watch) if watch.is_listed => ListState::Listed,
            Some(watch) if watch.absence.is_none() => ListState::Unlisted,
            Some(_) | None => ListState::Unwatched,
        }
    }

    /// Whether the server does not have the objects of a watch, or forbids them.
    pub(crate) fn is_absent(&self, watch: WatchId) -> bool {
        self.0
            .get(watch)
            .is_some_and(|watch| watch.absence.is_some())
    }

    /// The line for the log about a watch that has just failed, which counts as logged. An absence
    /// is logged once, any other failure at growing intervals.
    pub(crate) fn take_log_entry(&mut self, watch: WatchId, now: Duration) -> Option<FailureLog> {
        let watch = self.0.get_mut(watch)?;
        if watch.absence.is_some() {
            let is_logged = std::mem::replace(&mut watch.logged, watch.absence) == watch.absence;
            if let Some(outage) = &mut watch.outage {
                outage.is_logged |= !is_logged;
            }
            return (!is_logged).then_some(FailureLog::Absent);
        }
        watch.outage.as_mut()?.take_log_entry(now)
    }

    /// Publishes the watches and the missing ones.
    ///
    /// A kind that the server does not have, or that RBAC forbids, does not prevent readiness,
    /// since it may stay so; but some kind has to be watched in each namespace.
    pub(crate) fn publish(&self, telemetry: &Telemetry) {
        let Self(watches) = self;
        let is_listed = |watch: &WatchState| watch.is_listed;
        let is_open = |watch: &WatchState| watch.is_open;
        telemetry.set(Condition::Listed, is_each(watches, is_listed));
        telemetry.set(Condition::Watching, is_each(watches, is_open));
        telemetry.set_unwatched(watches.iter().filter_map(WatchState::unwatched).collect());
        let mut kinds = BTreeMap::new();
        for watch in watches {
            *kinds.entry(watch.what.clone()).or_insert(true) &= watch.is_open;
        }
        for (what, is_up) in kinds {
            telemetry.watch_up(what.name(), is_up);
        }
    }
}

/// Whether the objects of a kind are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListState {
    /// They are not asked for, or the server refuses them.
    Unwatched,
    /// They are not known yet.
    Unlisted,
    /// All are known.
    Listed,
}

/// What is logged about a watch that fails.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FailureLog {
    /// The server does not have the objects, or forbids them.
    Absent,
    /// The first try has failed.
    Failed,
    /// It still fails: since when and how often, in words.
    StillFails(String),
}

/// Tries that fail soon after one another. A server that grants each watch and breaks it at once
/// has one long outage, not many short ones.
#[derive(Debug)]
struct Outage {
    since: Duration,
    tries: u32,
    /// When the watch was open again, if nothing has failed since.
    ended: Option<Duration>,
    /// Whether the log has mentioned it since the watch was last open.
    is_logged: bool,
    /// When the log mentions it again, and the interval after that.
    next_logged: Duration,
    pause: Duration,
}

/// The log mentions an outage again after a minute, then after two, and so on up to an hour.
const FIRST_PAUSE: Duration = Duration::from_secs(60);
const MAX_PAUSE: Duration = Duration::from_secs(3600);

impl Outage {
    fn since(now: Duration) -> Self {
        Self {
            since: now,
            tries: 0,
            ended: None,
            is_logged: false,
            next_logged: now,
            pause: FIRST_PAUSE,
        }
    }

    /// Whether a failure now belongs to this outage.
    fn continues(&self, now: Duration) -> bool {
        self.ended.is_none_or(|ended| now <= ended + CALM)
    }

    fn failed(&mut self) {
        self.tries = self.tries.saturating_add(1);
        self.ended = None;
    }

    /// The watch is open again. Returns the length of the outage for the log, if the log has
    /// mentioned it.
    fn ended(&mut self, now: Duration) -> Option<String> {
        self.ended = Some(now);
        std::mem::take(&mut self.is_logged).then(|| self.so_far(now))
    }

    fn take_log_entry(&mut self, now: Duration) -> Option<FailureLog> {
        if now < self.next_logged {
            return None;
        }
        self.is_logged = true;
        let is_first = self.next_logged == self.since;
        self.next_logged = now + self.pause;
        self.pause = MAX_PAUSE.min(2 * self.pause);
        Some(if is_first {
            FailureLog::Failed
        } else {
            FailureLog::StillFails(self.so_far(now))
        })
    }

    /// `after 14 failed attempts in 62 s`.
    fn so_far(&self, now: Duration) -> String {
        let tries = counted(self.tries, "failed attempt");
        let lasted = now.saturating_sub(self.since).as_secs();
        format!("after {tries} in {lasted} s")
    }
}

/// Whether this holds for each watch that is not absent, and for some watch of each namespace.
fn is_each(watches: &[WatchState], is_so: fn(&WatchState) -> bool) -> bool {
    let (so, not): (Vec<_>, Vec<_>) = watches.iter().partition(|watch| is_so(watch));
    let is_of_kind = |watch: &WatchState| matches!(watch.what, Watched::Kind(_));
    let seen = so.iter().filter(|watch| is_of_kind(watch));
    let seen: BTreeSet<_> = seen.map(|watch| &watch.namespace).collect();
    not.iter().all(|watch| {
        watch.absence.is_some() && (!is_of_kind(watch) || seen.contains(&watch.namespace))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_logged_at_once_and_then_at_growing_intervals() {
        let begun = Duration::ZERO;
        let mut outage = Outage::since(begun);
        let mut told = Vec::new();
        // A try every 4 s, for a day.
        for second in (0..86_400).step_by(4) {
            outage.failed();
            if outage
                .take_log_entry(begun + Duration::from_secs(second))
                .is_some()
            {
                told.push(second);
            }
        }
        assert_eq!(told[..7], [0, 60, 180, 420, 900, 1860, 3780]);
        assert!(
            told.windows(2).all(|two| two[1] - two[0] <= 3600),
            "{told:?}"
        );
        assert!(told.len() < 32, "{told:?}");
        let now = begun + Duration::from_secs(86_400);
        assert_eq!(outage.so_far(now), "after 21600 failed attempts in 86400 s");
    }

    #[test]
    fn a_watch_that_is_granted_and_broken_every_time_is_one_outage() {
        let begun = Duration::ZERO;
        let mut outage = Outage::since(begun);
        let (mut failures, mut ends) = (Vec::new(), Vec::new());
        // A try every 5 s that ends at once, for an hour.
        for second in (0..3600).step_by(5) {
            let now = begun + Duration::from_secs(second);
            assert!(outage.continues(now));
            outage.failed();
            failures.extend(outage.take_log_entry(now).map(|_| second));
            ends.extend(outage.ended(now).map(|_| second));
        }
        assert_eq!(failures, [0, 60, 180, 420, 900, 1860]);
        assert_eq!(ends, failures);
        let last = begun + Duration::from_secs(3595);
        assert!(outage.continues(last + CALM));
        assert!(!outage.continues(last + 2 * CALM));
    }
}
