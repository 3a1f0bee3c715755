//! Where connections to a Service go, and what there is to wake.

use std::{
    collections::BTreeMap,
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
    pub(crate) targets: Vec<Arc<Target>>,
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
pub(crate) struct Target {
    pub(crate) observed: Observed,
    pub(crate) wake: WakeOnRequest,
    pub(crate) ignored: IgnoredPaths,
    pub(crate) zone: Zone,
    pub(crate) standing: NeededState,
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
pub(crate) enum NeededState {
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
            match target.standing {
                NeededState::Running => prospect = prospect.or(Some(Prospect::Running)),
                NeededState::Asleep if target.counts_at(now) => prospect = Some(Prospect::Wakeable),
                NeededState::Asleep => why = OUT_OF_HOURS,
                NeededState::Off(reason) => why = reason,
            }
        }
        prospect.unwrap_or(Prospect::Nothing(why))
    }

    /// Whether a request for this path wakes nothing.
    pub(crate) fn ignores(&self, path: &str) -> bool {
        !self.targets.is_empty() && self.targets.iter().all(|it| it.ignored.has(path))
    }

    /// Whether everything that it selects is stopped, and nothing else is ready.
    pub(crate) fn is_stopped(&self) -> bool {
        let runs = |it: &Arc<Target>| it.standing == NeededState::Running;
        self.ready.values().all(Vec::is_empty) && !self.targets.iter().any(runs)
    }

    /// The ready pods for a port.
    pub(crate) fn backends(&self, port: &str) -> &[Backend] {
        self.ready.get(port).map_or(&[], Vec::as_slice)
    }
}

impl Target {
    /// Whether a request wakes it at that instant: it sleeps, and this is an hour for it.
    pub(crate) fn is_wakeable(&self, now: DateTime<Utc>) -> bool {
        self.standing == NeededState::Asleep && self.counts_at(now)
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
