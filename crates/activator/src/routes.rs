//! Routes: which pods get the connections to a Service, and which workloads a request wakes.
//!
//! A workload is woken as a dependency only if it or its Namespace has `wake-on-request` too. So an
//! annotation on one workload cannot start another one against the intent of its owner.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};
use dayshift_workload::{Dependency, WorkloadRef};
use tokio::time::Instant;

use crate::{
    ports::ServicePort,
    response::Stage,
    service::{PodName, ServiceName},
    target::{TargetState, WakeLimits, WakeTarget},
};

/// The routes of all covered Services.
pub(crate) type Routes = BTreeMap<ServiceName, Arc<Route>>;

/// The maximum number of ready pods of a Service port to which connections are forwarded. Proxies send
/// connections to all pods seconds later.
const MAX_BACKENDS: usize = 100;

/// The route of one Service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    /// The activator's port for each Service port.
    pub(crate) ports: BTreeMap<Box<str>, u16>,
    /// The selected workloads with `wake-on-request`.
    pub(crate) targets: Vec<Arc<WakeTarget>>,
    /// The ready pods by Service port, without those of the activator.
    pub(crate) ready: BTreeMap<Box<str>, Vec<ReadyPods>>,
    pub(crate) selector: BTreeMap<String, String>,
    /// How much of the dependencies and the workloads is ready.
    pub(crate) stages: Vec<Stage>,
    /// Whether use prolongs the wake of a workload now. Then proxies send a share of the connections to the
    /// activator although pods are ready.
    pub(crate) observes_use: bool,
}

/// The ready pods of one EndpointSlice with their number of a Service port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadyPods {
    pub(crate) number: u16,
    /// Not empty.
    pub(crate) pods: Arc<BTreeMap<IpAddr, PodName>>,
}

/// The address of a ready pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Backend {
    pub(crate) address: SocketAddr,
    pub(crate) pod: PodName,
}

/// The state of a Service for a new connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Prospect {
    /// A workload runs or starts.
    Running,
    /// A workload can be woken.
    Wakeable,
    /// No pod will become ready, for this reason.
    Nothing(&'static str),
}

impl Route {
    pub(crate) fn prospect(&self, now: DateTime<Utc>) -> Prospect {
        let mut why = "nothing that it selects is woken by a request any more";
        let mut prospect = None;
        for target in &self.targets {
            match target.state {
                TargetState::Running => prospect = prospect.or(Some(Prospect::Running)),
                TargetState::Asleep => match target.closed_at(now) {
                    None => prospect = Some(Prospect::Wakeable),
                    Some(reason) => why = reason,
                },
                TargetState::Off(reason) => why = reason,
            }
        }
        prospect.unwrap_or(Prospect::Nothing(why))
    }

    /// When a request wakes a workload again or its schedule starts it, if no request wakes one now.
    pub(crate) fn opens_at(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let asleep = self.targets.iter();
        let asleep = asleep.filter(|target| target.state == TargetState::Asleep);
        let times = asleep.flat_map(|target| {
            [target.opens_at(now), target.next_start]
                .into_iter()
                .flatten()
        });
        times.filter(|at| *at > now).min()
    }

    /// Whether a request for this path wakes nothing.
    pub(crate) fn ignores(&self, path: &str) -> bool {
        !self.targets.is_empty()
            && self
                .targets
                .iter()
                .all(|target| target.rules.ignored.has(path))
    }

    /// Whether requests for this path are heartbeats of all selected workloads.
    pub(crate) fn is_heartbeat(&self, path: &str) -> bool {
        !self.targets.is_empty()
            && self
                .targets
                .iter()
                .all(|target| target.rules.answered.has(path))
    }

    /// Whether all selected workloads are stopped by dayshift and answer requests for this path.
    pub(crate) fn answers(&self, path: &str) -> bool {
        let mut targets = self.targets.iter();
        self.is_heartbeat(path) && targets.all(|target| target.state == TargetState::Asleep)
    }

    /// Whether visitors of the waiting page can keep a workload awake.
    pub(crate) fn can_be_kept(&self) -> bool {
        let mut targets = self.targets.iter();
        targets.any(|target| target.rules.wake.keep.is_some())
    }

    /// The end of the wake after a visitor has kept it awake; `None` if that prolongs nothing.
    pub(crate) fn kept_end(&self, now: DateTime<Utc>, limits: WakeLimits) -> Option<DateTime<Utc>> {
        let ends = self.targets.iter();
        ends.filter_map(|target| target.kept_end(now, limits)).max()
    }

    /// Whether all selected workloads are stopped and no other pod is ready.
    pub(crate) fn is_stopped(&self) -> bool {
        let runs = |target: &Arc<WakeTarget>| target.state == TargetState::Running;
        !self.has_ready_pod() && !self.targets.iter().any(runs)
    }

    /// Whether a pod is ready for any port.
    pub(crate) fn has_ready_pod(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Whether a pod is ready for this port.
    pub(crate) fn has_backends(&self, port: &str) -> bool {
        self.ready.contains_key(port)
    }

    /// The ready pods for this port, at most [`MAX_BACKENDS`].
    pub(crate) fn backends(&self, port: &str) -> Vec<Backend> {
        let mut backends = BTreeSet::new();
        for ReadyPods { number, pods } in self.ready.get(port).into_iter().flatten() {
            let left = MAX_BACKENDS - backends.len();
            backends.extend(pods.iter().take(left).map(|(address, pod)| Backend {
                address: SocketAddr::new(*address, *number),
                pod: pod.clone(),
            }));
        }
        backends.into_iter().collect()
    }
}

/// How long a port still serves after its Service has a ready pod. Proxies need seconds to send connections
/// there.
const READY_GRACE: Duration = Duration::from_secs(30);

/// When the first pod of each Service port became ready, or when the activator left the path again after it
/// had observed use.
///
/// Proxies then send connections to the pod. If a connection still arrives here, the client connects to the
/// activator directly, perhaps because a NetworkPolicy denies it access to the pod.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadySince(Arc<Mutex<HashMap<ServicePort, Instant>>>);

impl ReadySince {
    /// Records which ports have a ready pod and get no connections on purpose.
    pub(crate) fn note(&self, routes: &Routes) {
        let now = Instant::now();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ready = HashMap::new();
        for (service, route) in routes {
            // Proxies still send connections here.
            if route.observes_use {
                continue;
            }
            for port in route.ready.keys() {
                let port = (service.clone(), port.clone());
                let since = known.get(&port).copied().unwrap_or(now);
                ready.insert(port, since);
            }
        }
        *known = ready;
    }

    /// Whether the activator serves this port, because no pod is ready or the first became ready a moment
    /// ago.
    pub(crate) fn is_served(&self, service: &ServiceName, port: &str) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let since = known.get(&(service.clone(), port.into()));
        since.is_none_or(|since| since.elapsed() < READY_GRACE)
    }
}

/// The workloads of a namespace that can be woken as dependencies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WakeDependencies {
    targets: BTreeMap<Dependency, Arc<WakeTarget>>,
    /// Stopped dependencies without `wake-on-request`.
    not_asking: BTreeSet<Dependency>,
}

/// The maximum number of dependencies that a request to a Service can wake, so that a namespace with many
/// workloads does not delay the wakes of others.
pub(crate) const MAX_WOKEN: usize = 200;

/// The dependencies that are woken with a workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WokenWith {
    pub(crate) targets: Vec<Arc<WakeTarget>>,
    /// The dependencies that stay stopped, each with the reason.
    pub(crate) without: Vec<String>,
}

impl WakeDependencies {
    /// A workload that was added.
    pub(crate) fn target(&self, object: &WorkloadRef) -> Option<&WakeTarget> {
        let target = self.targets.get(&Dependency::from_workload(object));
        target.map(Arc::as_ref)
    }

    /// Adds a workload. `stays_stopped` is true if a dependency is stopped and has no `wake-on-request`.
    pub(crate) fn add(
        &mut self,
        target: &Arc<WakeTarget>,
        stays_stopped: impl Fn(&Dependency) -> bool,
    ) {
        let not_asking = target.needs().iter().filter(|needed| stays_stopped(needed));
        self.not_asking.extend(not_asking.cloned());
        let own = Dependency::from_workload(&target.observed.object);
        self.targets.insert(own, Arc::clone(target));
    }

    /// The direct and transitive dependencies to wake until this time, except those in `seen`. They are added
    /// to it, at most [`MAX_WOKEN`], so cycles are followed once. If the request can prolong the wake of
    /// `root`, it prolongs the wakes of its dependencies too.
    pub(crate) fn woken_with(
        &self,
        root: &WakeTarget,
        prolongs: bool,
        until: DateTime<Utc>,
        seen: &mut HashSet<Dependency>,
        now: DateTime<Utc>,
    ) -> WokenWith {
        let mut with = WokenWith::default();
        let mut next = root.needs().to_vec();
        while let Some(needed) = next.pop() {
            if seen.contains(&needed) || needed.is(&root.observed.object) {
                continue;
            }
            if seen.len() == MAX_WOKEN {
                let why = format!("a request wakes at most {MAX_WOKEN} dependencies");
                with.without.push(stopped(&needed, &why));
                break;
            }
            seen.insert(needed.clone());
            let Some(target) = self.targets.get(&needed) else {
                if self.not_asking.contains(&needed) {
                    let why = "has no annotation wake-on-request";
                    with.without.push(format!("{needed}, which {why}"));
                }
                continue;
            };
            match target.state {
                TargetState::Asleep => match target.closed_at(now) {
                    None => {
                        next.extend_from_slice(target.needs());
                        with.targets.push(Arc::clone(target));
                    }
                    Some(why) => with.without.push(stopped(&needed, why)),
                },
                TargetState::Running if target.starts_until.is_some() => {
                    next.extend_from_slice(target.needs());
                }
                TargetState::Running if prolongs && target.began.is_some() => {
                    next.extend_from_slice(target.needs());
                    if target.wake_ends_before(until) && target.closed_at(now).is_none() {
                        with.targets.push(Arc::clone(target));
                    }
                }
                TargetState::Running => {}
                TargetState::Off(why) => with.without.push(stopped(&needed, why)),
            }
        }
        with
    }
}

fn stopped(needed: &Dependency, why: &str) -> String {
    format!("{needed}, which stays stopped: {why}")
}
