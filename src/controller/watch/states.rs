//! How far each watch has come, and what of it is published.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kube::runtime::watcher;

use crate::{
    cluster::{Absence, kind_of_collection},
    workload::Kind,
};

use crate::controller::ids::WatchId;
use crate::controller::settings::Scope;
use crate::controller::telemetry::metrics::Telemetry;
use crate::controller::telemetry::readiness::Condition;
use crate::controller::watch::streams::wanted;

/// How far each watch has come. That one has begun is seen only in the answer to its request, so
/// whoever sees the answers shares this.
#[derive(Clone)]
pub(in crate::controller) struct WatchStates(Arc<Mutex<Vec<WatchState>>>);

/// How far one watch has come.
struct WatchState {
    kind: Kind,
    /// The one that it watches; all where none is named.
    namespace: Option<String>,
    /// Its first try has come to its end, one way or the other.
    was_tried: bool,
    /// It has told of everything there is, at least once.
    is_listed: bool,
    /// It tells of changes now.
    is_open: bool,
    /// Why there is nothing to watch, where that is what the last try came to.
    absence: Option<Absence>,
    /// What of that was logged last.
    logged: Option<Absence>,
}

impl WatchState {
    /// Why what it watches is not seen, if that is for the cluster to change.
    fn told(&self) -> Option<String> {
        let (kind, why) = (self.kind, self.absence?);
        let place = self.namespace.as_ref();
        let place = place.map_or_else(String::new, |name| format!(" in namespace {name}"));
        let (plural, group) = (kind.plural(), kind.group());
        Some(format!("cannot watch {plural}.{group}{place}: {why}"))
    }
}

impl WatchStates {
    /// None has begun yet.
    pub(in crate::controller) fn of(scope: &Scope) -> Self {
        let of = |(kind, namespace): (Kind, Option<&str>)| WatchState {
            kind,
            namespace: namespace.map(str::to_owned),
            was_tried: false,
            is_listed: false,
            is_open: false,
            absence: None,
            logged: None,
        };
        Self(Arc::new(Mutex::new(wanted(scope).map(of).collect())))
    }

    /// The kind that a watch is about.
    pub(in crate::controller) fn kind(&self, watch: WatchId) -> Option<Kind> {
        self.lock().get(watch).map(|it| it.kind)
    }

    /// Notes that the request for this path was granted.
    pub(in crate::controller) fn opened(&self, path: &str) {
        let kind = kind_of_collection(path);
        for watch in self.lock().iter_mut().filter(|it| Some(it.kind) == kind) {
            let is_it = watch
                .namespace
                .as_ref()
                .is_none_or(|name| path.contains(&format!("/namespaces/{name}/")));
            if is_it {
                watch.is_open = true;
                watch.logged = None;
                if watch.absence.take().is_some() {
                    let (kind, namespace) = (watch.kind, &watch.namespace);
                    tracing::info!(%kind, namespace, "the watch is open");
                }
            }
        }
    }

    /// Notes that a watch has told of everything there is.
    pub(in crate::controller) fn listed(&self, watch: WatchId) {
        if let Some(watch) = self.lock().get_mut(watch) {
            watch.is_listed = true;
            watch.was_tried = true;
        }
    }

    /// Notes that a watch has failed, and why.
    pub(in crate::controller) fn failed(&self, watch: WatchId, error: &watcher::Error) {
        if let Some(watch) = self.lock().get_mut(watch) {
            watch.is_open = false;
            watch.was_tried = true;
            watch.absence = Absence::of(error);
        }
    }

    /// Whether the first try of a watch has come to its end. One that has failed, or has hung for
    /// as long as a request may take, holds nothing up.
    pub(in crate::controller) fn was_tried(&self, watch: WatchId) -> bool {
        self.lock().get(watch).is_none_or(|it| it.was_tried)
    }

    /// Whether the server does not have what is watched, or forbids it.
    pub(in crate::controller) fn is_absent(&self, watch: WatchId) -> bool {
        self.lock()
            .get(watch)
            .is_some_and(|it| it.absence.is_some())
    }

    /// Whether the absence of what is watched has not been logged yet; it is taken to be now.
    pub(in crate::controller) fn take_news(&self, watch: WatchId) -> bool {
        let mut watches = self.lock();
        let Some(watch) = watches.get_mut(watch) else {
            return false;
        };
        std::mem::replace(&mut watch.logged, watch.absence) != watch.absence
    }

    /// Publishes what is watched and what is not.
    ///
    /// A kind that the server does not have, or that RBAC forbids, is no reason not to be ready,
    /// for it may be so for good; but of each namespace some kind has to be seen.
    pub(in crate::controller) fn publish(&self, telemetry: &Telemetry) {
        let watches = self.lock();
        let is_listed = |watch: &WatchState| watch.is_listed;
        let is_open = |watch: &WatchState| watch.is_open;
        telemetry.set(Condition::Listed, is_each(&watches, is_listed));
        telemetry.set(Condition::Watching, is_each(&watches, is_open));
        telemetry.set_unwatched(watches.iter().filter_map(WatchState::told).collect());
        let mut kinds = BTreeMap::new();
        for watch in &*watches {
            *kinds.entry(watch.kind).or_insert(true) &= watch.is_open;
        }
        for (kind, is_up) in kinds {
            telemetry.watch_up(kind, is_up);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<WatchState>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether it is so of each watch, leaving out what is absent, and of some watch of each namespace.
fn is_each(watches: &[WatchState], is_so: fn(&WatchState) -> bool) -> bool {
    let (so, not): (Vec<_>, Vec<_>) = watches.iter().partition(|watch| is_so(watch));
    let seen: BTreeSet<_> = so.iter().map(|watch| &watch.namespace).collect();
    not.iter()
        .all(|watch| watch.absence.is_some() && seen.contains(&watch.namespace))
}
