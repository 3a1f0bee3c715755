//! From the watched objects to what should be: the routes of connections and the stand-in EndpointSlices.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
    sync::Arc,
};

use chrono::{DateTime, Utc};
use dayshift_schedule::{Tzdata, Zone, parse_date_time};
use dayshift_workload::{
    After, Dependency, IgnoredPaths, Key, NotCovered, Observed, Phase, Replicas, WakeOnRequest,
    sha256_prefix,
};

use crate::{
    index::ClusterIndex,
    routes::{Backend, Route, Routes, TargetState, WakeDependencies, WakeTarget, backends},
    service::{Family, PodName, ServiceInfo, ServiceName, SliceInfo, StandInSlice},
    settings::Settings,
};

/// What should be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DesiredState {
    pub(crate) routes: Routes,
    /// The slices that should exist, by namespace and name.
    pub(crate) slices: BTreeMap<SliceName, StandInSlice>,
    /// What workloads need that may be woken.
    pub(crate) needs: WakeDependencies,
    /// Services of workloads that ask for it, and why nobody can stand in for them.
    pub(crate) not_covered: BTreeMap<ServiceName, NotCovered>,
    /// When it is another one without any news: somebody's wake ends before the scaler has acted on it.
    pub(crate) changes_at: Option<DateTime<Utc>>,
}

/// A namespace and the name of a slice in it.
pub(crate) type SliceName = (Arc<str>, Box<str>);

/// A port of a Service: in the order of these, earlier ones keep theirs.
type PortOf = (ServiceName, Box<str>);

impl DesiredState {
    pub(crate) fn new(index: &ClusterIndex, settings: &Settings, now: DateTime<Utc>) -> Self {
        let mut cover = Self::default();
        let own = index.ready_of(&settings.service);
        let mut covered: BTreeMap<ServiceName, Vec<Arc<WakeTarget>>> = BTreeMap::new();
        for sleeper in index.sleepers() {
            let Some(target) = target(
                &sleeper.observed,
                settings.default_zone,
                &settings.tzdata,
                now,
            )
            .map(Arc::new) else {
                continue;
            };
            let ends = [cover.changes_at, target.starts_until];
            cover.changes_at = ends.into_iter().flatten().min();
            let namespace = &target.observed.object.namespace;
            cover
                .needs
                .add(&target, |needed| index.stays_stopped(namespace, needed));
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
            targets.sort_by_key(|target| {
                let object = &target.observed.object;
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
        service: &ServiceInfo,
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
            let stand_in = StandInSlice {
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
    slices: impl Iterator<Item = &'s SliceInfo>,
    ports: &BTreeMap<Box<str>, u16>,
    own: &[IpAddr],
) -> BTreeMap<Box<str>, Vec<Backend>> {
    let mut ready: BTreeMap<Box<str>, Vec<Backend>> = BTreeMap::new();
    for slice in slices.filter(|slice| !slice.is_ours) {
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
    tzdata: &Tzdata,
    now: DateTime<Utc>,
) -> Option<WakeTarget> {
    let inputs = &observed.inputs;
    let phase = observed.phase()?;
    let wake = WakeOnRequest::parse(inputs.text(Key::WakeOnRequest)?).ok()?;
    let ignored = inputs.text(Key::WakeOnRequestIgnore);
    let ignored = ignored.and_then(|paths| IgnoredPaths::parse(paths).ok());
    let zone = inputs.text(Key::Timezone);
    let zone = zone.and_then(|name| tzdata.parse_zone(name).ok());
    let zone = zone.unwrap_or(default_zone);
    // Somebody has woken it already, and the scaler is about to act on that.
    let wakes = inputs.text(Key::WakeUntil);
    let wakes = wakes.and_then(|end| parse_date_time(end, zone).ok());
    let starts_until = wakes.filter(|end| {
        let is_stopped = matches!(phase, Phase::Stopped | Phase::Slept);
        is_stopped && observed.replicas == Replicas::ZERO && *end > now
    });
    let state = match phase {
        _ if observed.deleting => TargetState::Off("it is being deleted"),
        _ if observed.replicas > Replicas::ZERO => TargetState::Running,
        _ if starts_until.is_some() => TargetState::Running,
        Phase::Stopped | Phase::Slept => TargetState::Asleep,
        Phase::Paused => TargetState::Off("it is paused"),
        Phase::Adopted | Phase::Running | Phase::Woken => {
            TargetState::Off("somebody else has scaled it to 0")
        }
    };
    Some(WakeTarget {
        wake,
        ignored: ignored.unwrap_or_default(),
        zone,
        state,
        since: observed.state().last,
        starts_until,
        needs: needed(observed),
        observed: observed.clone(),
    })
}

/// What has to be ready before it starts, as far as its `after` can be read.
fn needed(observed: &Observed) -> Vec<Dependency> {
    let text = observed.inputs.text(Key::After);
    let after = text.and_then(|after| After::parse(after).ok());
    let after = after.map(|after| after.written_in(&observed.inputs));
    after.map_or_else(Vec::new, |after| after.needed_by(&observed.object).to_vec())
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
        let mut free = all.filter(|number| !taken.contains(number));
        let unreserved = free.clone().find(|number| !reserved.contains(number));
        if let Some(number) = unreserved.or_else(|| free.next()) {
            taken.insert(number);
            chosen.insert(port.clone(), number);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use dayshift_cluster::watch::{ObjectName, ReflectorEvent};
    use kube::core::PartialObjectMeta;
    use serde_json::json;

    use super::*;
    use crate::{
        index::WatchEvent,
        routes::Prospect,
        test_cluster::{Cluster, at, name, slice},
    };

    #[test]
    fn a_stopped_workload_has_a_stand_in_that_is_ready() {
        let cluster = Cluster::new().asleep().with_service();
        let slice = slice(&cluster.cover());
        let port = slice["ports"][0]["port"].clone();
        assert_eq!(
            slice,
            json!({
                "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
                "metadata": {
                    "name": "web-dayshift", "namespace": "dev",
                    "labels": {"kubernetes.io/service-name": "web",
                               "endpointslice.kubernetes.io/managed-by": "dayshift"},
                    "ownerReferences": [{"apiVersion": "v1", "kind": "Service", "name": "web", "uid": "s"}],
                },
                "addressType": "IPv4",
                "ports": [{"name": "http", "port": port, "protocol": "TCP"}],
                "endpoints": [{
                    "addresses": ["10.0.0.9"],
                    "conditions": {"ready": true, "serving": true, "terminating": false},
                    "targetRef": {"kind": "Pod", "namespace": "dayshift", "name": "10.0.0.9", "uid": "10.0.0.9"},
                }],
            })
        );
        assert!((20000..=20009).contains(&port.as_u64().unwrap()));
    }

    #[test]
    fn a_slice_that_is_as_it_should_be_is_seen_to_be() {
        let mut cluster = Cluster::new().asleep().with_service();
        for state in ["stopped", "running"] {
            cluster.workload(
                state,
                u32::from(state == "running"),
                json!({"dayshift/wake-on-request": "2h"}),
            );
            let cover = cluster.cover();
            cluster.observe_slice(slice(&cover));
            let wanted = cover.slices.values().next().unwrap();
            let seen = cluster.index.slice_named(&wanted.service, "web-dayshift");
            assert_eq!(seen.unwrap().stand_in.as_ref(), Some(wanted), "{state}");
        }
    }

    #[test]
    fn while_it_runs_its_stand_in_is_terminating() {
        let terminating = json!({"ready": false, "serving": true, "terminating": true});
        let mut cluster = Cluster::new().asleep().with_service();
        cluster.slice("dev", "web", &["10.0.0.1"], 8081);
        let while_a_pod_is_ready = slice(&cluster.cover());
        assert_eq!(
            while_a_pod_is_ready["endpoints"][0]["conditions"],
            terminating
        );
        cluster.slice("dev", "web", &[], 8081);
        cluster.workload("woken", 2, json!({"dayshift/wake-on-request": "2h"}));
        let while_it_starts = slice(&cluster.cover());
        assert_eq!(while_it_starts["endpoints"][0]["conditions"], terminating);
    }

    #[test]
    fn a_port_is_kept_whatever_else_comes_and_goes() {
        let mut cluster = Cluster::new().asleep().with_service();
        let mut seen = slice(&cluster.cover());
        seen["ports"][0]["port"] = json!(20007);
        cluster.observe_slice(seen);
        assert_eq!(slice(&cluster.cover())["ports"][0]["port"], 20007);
        // Out of the range, as after another --ports: another one.
        cluster.settings.ports = (20000, 20003);
        let port = slice(&cluster.cover())["ports"][0]["port"]
            .as_u64()
            .unwrap();
        assert!((20000..=20003).contains(&port), "{port}");
    }

    #[test]
    fn two_ports_have_two_numbers_even_if_both_are_seen_with_one() {
        let mut cluster = Cluster::new().asleep();
        cluster.service(json!({
            "selector": {"app": "web"}, "ipFamilies": ["IPv4"],
            "ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81}],
        }));
        let mut seen = slice(&cluster.cover());
        seen["ports"][0]["port"] = json!(20004);
        seen["ports"][1]["port"] = json!(20004);
        cluster.observe_slice(seen);
        let ports = cluster.route().ports;
        assert_eq!(ports["a"], 20004);
        assert_ne!(ports["b"], 20004);
    }

    #[test]
    fn connections_go_to_ready_pods_of_the_service_alone() {
        let mut cluster = Cluster::new().asleep().with_service();
        cluster.slice("dev", "web", &["10.0.0.1", "10.0.0.9"], 8081);
        cluster.slice("dev", "other", &["10.0.0.2"], 8081);
        cluster.slice("prod", "web", &["10.0.0.3"], 8081);
        let route = cluster.route();
        let addresses: Vec<_> = route
            .backends("http")
            .iter()
            .map(|backend| backend.address.to_string())
            .collect();
        assert_eq!(
            addresses,
            ["10.0.0.1:8081"],
            "not the activator's own either"
        );
        assert!(route.backends("dns").is_empty());
    }

    #[test]
    fn what_is_not_stopped_by_dayshift_is_not_woken() {
        let now = at("2026-11-25T22:00:00Z");
        let wake = json!({"dayshift/wake-on-request": "2h"});
        for (state, replicas, expected) in [
            ("stopped", 0, Prospect::Wakeable),
            ("slept", 0, Prospect::Wakeable),
            ("running", 2, Prospect::Running),
            ("paused", 0, Prospect::Nothing("it is paused")),
            (
                "running",
                0,
                Prospect::Nothing("somebody else has scaled it to 0"),
            ),
            (
                "adopted",
                0,
                Prospect::Nothing("somebody else has scaled it to 0"),
            ),
        ] {
            let mut cluster = Cluster::new().with_service();
            cluster.workload(state, replicas, wake.clone());
            let prospect = cluster.route().prospect(now);
            assert_eq!(prospect, expected, "{state} {replicas}");
        }
    }

    #[test]
    fn nobody_is_woken_out_of_hours_or_twice() {
        let night = at("2026-11-25T23:30:00Z");
        let mut cluster = Cluster::new().with_service();
        let hours = json!({"dayshift/wake-on-request": "2h; 06:00-23:00"});
        cluster.workload("stopped", 0, hours);
        let route = cluster.route();
        let why = "a request does not wake it at this time of day";
        assert_eq!(route.prospect(night), Prospect::Nothing(why));
        assert!(!route.targets[0].is_wakeable(night));
        cluster.workload(
            "stopped",
            0,
            json!({"dayshift/wake-on-request": "2h", "dayshift/wake-until": "2026-11-25T23:59:00Z"}),
        );
        assert_eq!(cluster.route().prospect(night), Prospect::Running);
        assert!(!cluster.route().targets[0].is_wakeable(night));
    }

    #[test]
    fn what_cannot_be_covered_is_told() {
        for (spec, why) in [
            (
                json!({"clusterIP": "None", "ports": [{"port": 80}]}),
                "headless",
            ),
            (
                json!({"type": "ExternalName", "ports": [{"port": 80}]}),
                "ExternalName",
            ),
            (
                json!({"ports": [{"port": 53, "protocol": "UDP"}]}),
                "no TCP port",
            ),
        ] {
            let mut cluster = Cluster::new().asleep();
            let mut spec = spec;
            spec["selector"] = json!({"app": "web"});
            cluster.service(spec);
            let cover = cluster.cover();
            assert!(cover.slices.is_empty() && cover.routes.is_empty());
            assert!(
                cover
                    .not_covered
                    .values()
                    .any(|reason| reason.reason().contains(why)),
                "{:?}",
                cover.not_covered
            );
        }
    }

    #[test]
    fn nobody_who_does_not_ask_is_covered() {
        let is_nothing = |desired: &DesiredState| {
            desired.routes.is_empty() && desired.slices.is_empty() && desired.not_covered.is_empty()
        };
        let mut cluster = Cluster::new().with_service();
        for annotations in [json!({}), json!({"dayshift/wake-on-request": "soon"})] {
            cluster.workload("stopped", 0, annotations);
            assert!(is_nothing(&cluster.cover()));
        }
        cluster.workload("stopped", 0, json!({"dayshift/wake-on-request": "2h"}));
        cluster.service(json!({"selector": {"app": "other"}, "ports": [{"port": 80}]}));
        assert!(is_nothing(&cluster.cover()));
        cluster.service(json!({"ports": [{"port": 80}]}));
        assert!(is_nothing(&cluster.cover()), "no selector selects nothing");
    }

    #[test]
    fn a_namespace_may_ask_for_what_is_in_it() {
        let mut cluster = Cluster::new().with_service();
        cluster.workload("stopped", 0, json!({}));
        let namespace = PartialObjectMeta {
            metadata: serde_json::from_value(json!({
                "name": "dev", "annotations": {"dayshift/wake-on-request": "1h"},
            }))
            .unwrap(),
            ..PartialObjectMeta::default()
        };
        let event = WatchEvent::Namespace(ReflectorEvent::changed(namespace));
        cluster.index.observe(3, event);
        let target = &cluster.route().targets[0];
        assert_eq!(target.wake.lasts, TimeDelta::hours(1));
    }

    #[test]
    fn a_service_of_two_families_has_a_slice_for_each_that_there_is_an_address_of() {
        let mut cluster = Cluster::new().asleep();
        cluster.service(json!({
            "selector": {"app": "web"}, "ipFamilies": ["IPv4", "IPv6"], "ports": [{"port": 80}],
        }));
        let families = |cover: &DesiredState| {
            cover
                .slices
                .values()
                .map(|slice| slice.family)
                .collect::<Vec<_>>()
        };
        assert_eq!(families(&cluster.cover()), [Family::V4]);
        cluster.observe_slice(json!({
            "metadata": {"name": "dayshift-activator-6", "namespace": "dayshift",
                         "labels": {"kubernetes.io/service-name": "dayshift-activator"}},
            "addressType": "IPv6",
            "endpoints": [{"addresses": ["fd00::9"], "targetRef": {"kind": "Pod", "name": "a"}}],
        }));
        let cover = cluster.cover();
        assert_eq!(families(&cover), [Family::V4, Family::V6]);
        let ports: Vec<_> = cover
            .slices
            .values()
            .map(|slice| slice.ports[""].0)
            .collect();
        assert_eq!(ports[0], ports[1]);
    }

    #[test]
    fn without_a_ready_activator_the_slice_remembers_its_ports_and_names_nobody() {
        let mut cluster = Cluster::new().asleep().with_service();
        cluster.slice("dayshift", "dayshift-activator", &[], 8080);
        let slice = slice(&cluster.cover());
        assert_eq!(slice["endpoints"], json!([]));
        assert_eq!(slice["ports"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn a_deleted_service_has_no_route() {
        let mut cluster = Cluster::new().asleep().with_service();
        assert_eq!(cluster.cover().routes.len(), 1);
        let gone = ReflectorEvent::Deleted {
            name: ObjectName {
                namespace: "dev".into(),
                name: "web".into(),
            },
            uid: None,
        };
        cluster
            .index
            .observe(1, WatchEvent::Service(Box::new(gone)));
        assert!(cluster.cover().routes.is_empty());
    }

    /// Otherwise it is not made again while nothing is seen.
    #[test]
    fn the_cover_changes_without_news_only_where_a_wake_ends() {
        let mut cluster = Cluster::new().asleep().with_service();
        assert_eq!(cluster.cover().changes_at, None);
        let before = cluster.index.changes();
        let ends = "2026-11-25T23:59:00Z";
        let wake = json!({"dayshift/wake-on-request": "2h", "dayshift/wake-until": ends});
        cluster.workload("stopped", 0, wake);
        assert!(cluster.index.changes() > before, "that is news");
        assert_eq!(cluster.cover().changes_at, Some(at(ends)));
        let later = DesiredState::new(&cluster.index, &cluster.settings, at(ends));
        assert_eq!(later.changes_at, None);
        assert_eq!(
            later.routes[&name("dev", "web")].targets[0].state,
            TargetState::Asleep
        );
    }
}
