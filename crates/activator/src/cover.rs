//! Which Services somebody has to stand in for, and how: from what is known to what should be.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
    sync::Arc,
};

use chrono::{DateTime, Utc};
use dayshift_schedule::{Zone, parse_date_time};
use dayshift_workload::{
    After, Dependency, IgnoredPaths, Key, NotCovered, Observed, Phase, Replicas, WakeOnRequest,
    sha256_prefix,
};

use crate::{
    index::Index,
    routes::{Backend, NeededState, Route, Routes, Target, backends},
    service::{Family, KnownService, KnownSlice, PodName, ServiceName, StandIn},
    settings::Settings,
    waking::needs::Needs,
};

/// What should be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cover {
    pub(crate) routes: Routes,
    /// The slices that should exist, by namespace and name.
    pub(crate) slices: BTreeMap<SliceName, StandIn>,
    /// What workloads need that may be woken.
    pub(crate) needs: Needs,
    /// Services of workloads that ask for it, and why nobody can stand in for them.
    pub(crate) not_covered: BTreeMap<ServiceName, NotCovered>,
    /// When it is another one without any news: somebody's wake ends before the scaler has acted on it.
    pub(crate) changes_at: Option<DateTime<Utc>>,
}

/// A namespace and the name of a slice in it.
pub(crate) type SliceName = (Arc<str>, Box<str>);

/// A port of a Service: in the order of these, earlier ones keep theirs.
type PortOf = (ServiceName, Box<str>);

impl Cover {
    pub(crate) fn of(index: &Index, settings: &Settings, now: DateTime<Utc>) -> Self {
        let mut cover = Self::default();
        let own = index.ready_of(&settings.service);
        let mut covered: BTreeMap<ServiceName, Vec<Arc<Target>>> = BTreeMap::new();
        for sleeper in index.sleepers() {
            let Some(target) = target(&sleeper.observed, settings.default_zone, now).map(Arc::new)
            else {
                continue;
            };
            let ends = [cover.changes_at, target.starts_until];
            cover.changes_at = ends.into_iter().flatten().min();
            let namespace = &target.observed.object.namespace;
            cover
                .needs
                .add(&target, |it| index.stays_stopped(namespace, it));
            for (name, service) in index.services_in(namespace) {
                if service.spec.selects(sleeper.labels) && *name != settings.service {
                    let targets = covered.entry(name.clone()).or_default();
                    targets.push(Arc::clone(&target));
                }
            }
        }
        let mut wanted = BTreeSet::new();
        covered.retain(|name, _| {
            let Some(service) = index.service(name) else {
                return false;
            };
            if let Some(why) = service.spec.not_covered() {
                cover.not_covered.insert(name.clone(), why);
                return false;
            }
            let ports = service.ports.keys();
            wanted.extend(ports.map(|port| (name.clone(), port.clone())));
            true
        });
        let ports = choose_ports(&wanted, &index.our_ports(), settings.ports);
        for (name, mut targets) in covered {
            targets.sort_by_key(|it| {
                let object = &it.observed.object;
                (object.name.clone(), object.kind.name())
            });
            let Some(service) = index.service(&name) else {
                continue;
            };
            let of_service = service.ports.keys().filter_map(|port| {
                let chosen = ports.get(&(name.clone(), port.clone()))?;
                Some((port.clone(), *chosen))
            });
            let ports: BTreeMap<_, _> = of_service.collect();
            let addresses: Vec<_> = own.keys().copied().collect();
            let route = Route {
                ready: ready(index.slices_of(&name), &ports, &addresses),
                ports,
                targets,
                selector: service.spec.selector.clone(),
            };
            cover.stand_in(&name, service, &route, &own);
            cover.routes.insert(name, Arc::new(route));
        }
        cover
    }

    fn stand_in(
        &mut self,
        name: &ServiceName,
        service: &KnownService,
        route: &Route,
        own: &BTreeMap<IpAddr, PodName>,
    ) {
        for family in Family::ALL {
            let is_of = |address: &IpAddr| address.is_ipv4() == (family == Family::V4);
            let pods: BTreeMap<_, _> = own
                .iter()
                .filter(|(address, _)| is_of(address))
                .map(|(address, pod)| (*address, pod.clone()))
                .collect();
            // The first family has its slice without pods too: it remembers the ports.
            let is_first = service.families.first() == Some(&family);
            if !service.families.contains(&family) || (pods.is_empty() && !is_first) {
                continue;
            }
            let ports = route.ports.iter().map(|(port, chosen)| {
                let protocol = service.ports.get(port).cloned().flatten();
                (port.clone(), (*chosen, protocol))
            });
            let stand_in = StandIn {
                service: name.clone(),
                service_uid: service.uid.clone(),
                family,
                ports: ports.collect(),
                is_ready: route.is_stopped() && !pods.is_empty(),
                pods,
            };
            let slice = (name.namespace.clone(), stand_in.name().into());
            self.slices.insert(slice, stand_in);
        }
    }
}

/// The pods that are ready, on each of these ports.
fn ready<'s>(
    slices: impl Iterator<Item = &'s KnownSlice>,
    ports: &BTreeMap<Box<str>, u16>,
    own: &[IpAddr],
) -> BTreeMap<Box<str>, Vec<Backend>> {
    let mut ready: BTreeMap<Box<str>, Vec<Backend>> = BTreeMap::new();
    for slice in slices.filter(|it| !it.is_ours) {
        for (port, number) in slice
            .ports
            .iter()
            .filter(|(port, _)| ports.contains_key(*port))
        {
            let found = backends(&slice.ready, *number, own);
            ready.entry(port.clone()).or_default().extend(found);
        }
    }
    for backends in ready.values_mut() {
        backends.sort();
        backends.dedup();
    }
    ready
}

/// A workload that asks to be woken, if its annotation can be read and dayshift schedules it.
pub(crate) fn target(
    observed: &Observed,
    default_zone: Zone,
    now: DateTime<Utc>,
) -> Option<Target> {
    let inputs = &observed.inputs;
    let phase = observed.phase()?;
    let wake = WakeOnRequest::parse(inputs.text(Key::WakeOnRequest)?).ok()?;
    let ignored = inputs.text(Key::WakeOnRequestIgnore);
    let ignored = ignored.and_then(|it| IgnoredPaths::parse(it).ok());
    let zone = inputs.text(Key::Timezone);
    let zone = zone.and_then(|it| Zone::parse(it).ok());
    let zone = zone.unwrap_or(default_zone);
    // Somebody has woken it already, and the scaler is about to act on that.
    let wakes = inputs.text(Key::WakeUntil);
    let wakes = wakes.and_then(|it| parse_date_time(it, zone).ok());
    let starts_until = wakes.filter(|it| {
        let is_stopped = matches!(phase, Phase::Stopped | Phase::Slept);
        is_stopped && observed.replicas == Replicas::ZERO && *it > now
    });
    let standing = match phase {
        _ if observed.deleting => NeededState::Off("it is being deleted"),
        _ if observed.replicas > Replicas::ZERO => NeededState::Running,
        _ if starts_until.is_some() => NeededState::Running,
        Phase::Stopped | Phase::Slept => NeededState::Asleep,
        Phase::Paused => NeededState::Off("it is paused"),
        Phase::Adopted | Phase::Running | Phase::Woken => {
            NeededState::Off("somebody else has scaled it to 0")
        }
    };
    Some(Target {
        wake,
        ignored: ignored.unwrap_or_default(),
        zone,
        standing,
        since: observed.state().last,
        starts_until,
        needs: needed(observed),
        observed: observed.clone(),
    })
}

/// What has to be ready before it starts, as far as its `after` can be read.
fn needed(observed: &Observed) -> Vec<Dependency> {
    let text = observed.inputs.text(Key::After);
    let after = text.and_then(|it| After::parse(it).ok());
    let after = after.map(|it| it.written_in(&observed.inputs));
    after.map_or_else(Vec::new, |it| it.needed_by(&observed.object).to_vec())
}

/// A port for each port of a Service: the one that its slice has, if nobody earlier has it too, else
/// a free one. Replicas that see the same choose the same.
fn choose_ports(
    wanted: &BTreeSet<PortOf>,
    known: &BTreeMap<PortOf, u16>,
    (first, last): (u16, u16),
) -> BTreeMap<PortOf, u16> {
    let mut chosen = BTreeMap::new();
    let mut taken = BTreeSet::new();
    for port in wanted {
        if let Some(number) = known.get(port)
            && (first..=last).contains(number)
            && taken.insert(*number)
        {
            chosen.insert(port.clone(), *number);
        }
    }
    let reserved: BTreeSet<_> = known.values().copied().collect();
    for port in wanted {
        if chosen.contains_key(port) {
            continue;
        }
        let count = u64::from(last.saturating_sub(first)) + 1;
        // Replicas of other versions begin at the same one.
        let begin = sha256_prefix(&format!("{}:{}", port.0, port.1)) % count;
        let all = (0..count).map(|step| first + ((begin + step) % count) as u16);
        let mut free = all.filter(|it| !taken.contains(it));
        let unreserved = free.clone().find(|it| !reserved.contains(it));
        if let Some(number) = unreserved.or_else(|| free.next()) {
            taken.insert(number);
            chosen.insert(port.clone(), number);
        }
    }
    chosen
}
