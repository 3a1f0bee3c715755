//! Where connections to a Service go, which workloads a request wakes, and which others these need.
//!
//! A workload is woken for another one only if its own annotation or its Namespace's, `wake-on-request`,
//! says that requests wake it. So nobody's database is started by somebody else's annotation.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use chrono::{DateTime, Utc};
use dayshift_schedule::Zone;
use dayshift_workload::{Dependency, IgnoredPaths, Observed, WakeOnRequest};

use crate::service::{PodName, ServiceName};

/// Every Service that somebody stands in for.
pub(crate) type Routes = BTreeMap<ServiceName, Arc<Route>>;

/// One such Service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    /// On which port the activator listens for each of its ports, by name.
    pub(crate) ports: BTreeMap<Box<str>, u16>,
    /// What it selects and a connection may wake.
    pub(crate) targets: Vec<Arc<WakeTarget>>,
    /// The pods that are ready, by the name of the port.
    pub(crate) ready: BTreeMap<Box<str>, Vec<Backend>>,
    pub(crate) selector: BTreeMap<String, String>,
}

/// A pod that is ready, on one port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Backend {
    pub(crate) address: SocketAddr,
    pub(crate) pod: PodName,
}

/// A workload with `wake-on-request`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WakeTarget {
    pub(crate) observed: Observed,
    pub(crate) wake: WakeOnRequest,
    pub(crate) ignored: IgnoredPaths,
    pub(crate) zone: Zone,
    pub(crate) state: TargetState,
    /// When it went to sleep.
    pub(crate) since: Option<DateTime<Utc>>,
    /// Until when it was woken, where the scaler has not acted on it yet.
    pub(crate) starts_until: Option<DateTime<Utc>>,
    /// What has to be ready before it starts.
    pub(crate) needs: Vec<Dependency>,
}

/// Why a request at another time of day than its `wake-on-request` has wakes nothing.
pub(crate) const OUT_OF_HOURS: &str = "a request does not wake it at this time of day";

/// How a workload stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetState {
    /// It runs, or is about to.
    Running,
    /// dayshift has stopped it, and a request wakes it.
    Asleep,
    /// It is at 0, and a request does not change that: why.
    Off(&'static str),
}

/// What a connection can expect of a Service now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Prospect {
    /// Something runs or starts.
    Running,
    /// Something can be woken.
    Wakeable,
    /// Nothing will come: why.
    Nothing(&'static str),
}

impl Route {
    /// What a connection at that instant can expect.
    pub(crate) fn prospect(&self, now: DateTime<Utc>) -> Prospect {
        let mut why = "nothing that it selects is woken by a request any more";
        let mut prospect = None;
        for target in &self.targets {
            match target.state {
                TargetState::Running => prospect = prospect.or(Some(Prospect::Running)),
                TargetState::Asleep if target.counts_at(now) => prospect = Some(Prospect::Wakeable),
                TargetState::Asleep => why = OUT_OF_HOURS,
                TargetState::Off(reason) => why = reason,
            }
        }
        prospect.unwrap_or(Prospect::Nothing(why))
    }

    /// Whether a request for this path wakes nothing.
    pub(crate) fn ignores(&self, path: &str) -> bool {
        !self.targets.is_empty() && self.targets.iter().all(|target| target.ignored.has(path))
    }

    /// Whether everything that it selects is stopped, and nothing else is ready.
    pub(crate) fn is_stopped(&self) -> bool {
        let runs = |target: &Arc<WakeTarget>| target.state == TargetState::Running;
        self.ready.values().all(Vec::is_empty) && !self.targets.iter().any(runs)
    }

    /// The ready pods for a port.
    pub(crate) fn backends(&self, port: &str) -> &[Backend] {
        self.ready.get(port).map_or(&[], Vec::as_slice)
    }
}

impl WakeTarget {
    /// Whether a request wakes it at that instant: it sleeps, and this is an hour for it.
    pub(crate) fn is_wakeable(&self, now: DateTime<Utc>) -> bool {
        self.state == TargetState::Asleep && self.counts_at(now)
    }

    pub(crate) fn counts_at(&self, now: DateTime<Utc>) -> bool {
        self.wake.counts_at(now, self.zone)
    }
}

/// The ready addresses of a slice on one port, without the activator's own.
pub(crate) fn backends(
    ready: &BTreeMap<IpAddr, PodName>,
    port: u16,
    own: &[IpAddr],
) -> Vec<Backend> {
    let others = ready.iter().filter(|(address, _)| !own.contains(address));
    others
        .map(|(address, pod)| Backend {
            address: SocketAddr::new(*address, port),
            pod: pod.clone(),
        })
        .collect()
}

/// The workloads that others may need, by namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WakeDependencies {
    targets: BTreeMap<DependencyKey, Arc<WakeTarget>>,
    /// Dependency, stopped by dayshift, and without the annotation.
    not_asking: BTreeSet<DependencyKey>,
}

type DependencyKey = (Arc<str>, Dependency);

/// What is woken with a workload, and what it needs besides that stays stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WokenWith {
    pub(crate) targets: Vec<Arc<WakeTarget>>,
    /// Each with the reason.
    pub(crate) without: Vec<String>,
}

impl WakeDependencies {
    /// Takes in a workload. Whether one that it needs stays stopped, since it does not ask to be woken, is
    /// asked of the second.
    pub(crate) fn add(
        &mut self,
        target: &Arc<WakeTarget>,
        stays_stopped: impl Fn(&Dependency) -> bool,
    ) {
        let object = &target.observed.object;
        let namespace = &object.namespace;
        let not_asking = target.needs.iter().filter(|needed| stays_stopped(needed));
        self.not_asking
            .extend(not_asking.map(|needed| (namespace.clone(), needed.clone())));
        let place = (namespace.clone(), Dependency::from_workload(object));
        self.targets.insert(place, Arc::clone(target));
    }

    /// What a wake of this workload wakes besides: what it needs, and what that needs in turn. A circle
    /// is gone through once.
    pub(crate) fn woken_with(&self, root: &WakeTarget, now: DateTime<Utc>) -> WokenWith {
        let mut with = WokenWith::default();
        let namespace = &root.observed.object.namespace;
        let mut seen = HashSet::from([Dependency::from_workload(&root.observed.object)]);
        let mut next = root.needs.clone();
        while let Some(needed) = next.pop() {
            if !seen.insert(needed.clone()) {
                continue;
            }
            let place = (namespace.clone(), needed);
            let Some(target) = self.targets.get(&place) else {
                if self.not_asking.contains(&place) {
                    let why = "has no annotation wake-on-request";
                    with.without.push(format!("{}, which {why}", place.1));
                }
                continue;
            };
            match target.state {
                TargetState::Asleep if target.counts_at(now) => {
                    next.extend_from_slice(&target.needs);
                    with.targets.push(Arc::clone(target));
                }
                TargetState::Running if target.starts_until.is_some() => {
                    next.extend_from_slice(&target.needs);
                }
                TargetState::Running => {}
                TargetState::Asleep => with.without.push(stopped(&place.1, OUT_OF_HOURS)),
                TargetState::Off(why) => with.without.push(stopped(&place.1, why)),
            }
        }
        with
    }
}

fn stopped(needed: &Dependency, why: &str) -> String {
    format!("{needed}, which stays stopped: {why}")
}
