//! The desired state, computed from the watched objects: routes for connections, and EndpointSlices.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    mem,
    net::IpAddr,
    sync::Arc,
    time::Duration,
};

use chrono::{DateTime, Utc};
use dayshift_cluster::watch::ObjectName;
use dayshift_workload::{Dependency, NotCovered, Observed, Replicas, selects};
use tokio::time::Instant;

use crate::{
    index::{ClusterIndex, first_of},
    ports::{PortRequest, PortTable, ServicePort},
    response::Stage,
    routes::{MAX_WOKEN, ReadyPods, Route, Routes, WakeDependencies},
    service::{
        FallbackSlice, Family, PodName, ServiceInfo, ServiceName, SliceInfo, is_of_kubernetes,
    },
    settings::Settings,
    target::{KnownRules, WakeTarget},
};

/// The routes, EndpointSlices and dependencies that follow from the watched objects.
///
/// [`Self::update`] computes only the namespaces with events, so that frequent edits in one namespace do not cost
/// the work of all. Only the ports are assigned for all namespaces together.
#[derive(Clone, Debug, Default)]
pub(crate) struct DesiredState {
    pub(crate) routes: Routes,
    /// The EndpointSlices that should exist.
    pub(crate) slices: BTreeMap<ObjectName, FallbackSlice>,
    /// The Services that select a workload with `wake-on-request` and are not covered completely.
    pub(crate) problems: BTreeMap<ServiceName, Vec<Problem>>,
    plans: BTreeMap<Arc<str>, NamespacePlan>,
    /// The ready pods of the activator.
    own: BTreeMap<IpAddr, PodName>,
    /// The assigned ports.
    numbers: BTreeMap<ServicePort, u16>,
    assigned_at: Option<Instant>,
}

/// Why a Service is not covered completely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// It cannot be covered, for this reason.
    NotCovered(NotCovered),
    /// No port of the activator is free for these ports of the Service.
    WithoutPort(Vec<Box<str>>),
    /// It selects more workloads with `wake-on-request` than a request wakes, which is this number.
    TooManyTargets(usize),
}

/// The covered Services of a namespace, before ports are assigned to them.
#[derive(Clone, Debug, Default)]
struct NamespacePlan {
    covered: BTreeMap<ServiceName, CoveredService>,
    requests: Vec<PortRequest>,
    /// The ports in the activator's slices of these Services.
    hints: BTreeMap<ServicePort, u16>,
    problems: BTreeMap<ServiceName, Vec<Problem>>,
    needs: WakeDependencies,
    /// When the plan changes without an event: a wake ends that the controller has not acted on, or use
    /// begins to prolong a wake.
    changes_at: Option<DateTime<Utc>>,
}

/// A covered Service.
#[derive(Clone, Debug)]
struct CoveredService {
    targets: Vec<Arc<WakeTarget>>,
    /// Whether use of it would prolong a wake now.
    observes_use: bool,
}

/// How often ports are assigned again without a change, because the assignment depends on the time too.
const REASSIGN: Duration = Duration::from_secs(5);

/// The maximum number of stages on a page.
const MAX_STAGES: usize = 20;

/// The maximum number of workloads that a request to a Service wakes: the first ones by name.
pub(crate) const MAX_TARGETS: usize = 100;

impl DesiredState {
    /// The desired state in a process that has just listed everything.
    pub(crate) fn new(
        index: &ClusterIndex,
        settings: &Settings,
        table: &mut PortTable,
        now: DateTime<Utc>,
    ) -> Self {
        let mut desired = Self::default();
        desired.update(index, settings, table, index.namespaces(), now);
        desired
    }

    /// Whether [`Self::update`] can change something although no event was observed.
    pub(crate) fn is_due(&self, now: DateTime<Utc>) -> bool {
        self.must_assign() || self.plans.values().any(|plan| plan.is_due(now))
    }

    fn must_assign(&self) -> bool {
        self.assigned_at.is_none_or(|at| at.elapsed() >= REASSIGN)
    }

    /// Applies the changes of these namespaces.
    pub(crate) fn update(
        &mut self,
        index: &ClusterIndex,
        settings: &Settings,
        table: &mut PortTable,
        mut changed: BTreeSet<Arc<str>>,
        now: DateTime<Utc>,
    ) {
        let own = index.ready_of(&settings.service);
        if own != self.own {
            self.own = own;
            changed.extend(self.plans.keys().cloned());
        }
        let due = self.plans.iter().filter(|(_, plan)| plan.is_due(now));
        changed.extend(due.map(|(namespace, _)| Arc::clone(namespace)));
        let mut must_assign = self.must_assign();
        for namespace in &changed {
            let before = self.plans.remove(namespace);
            let plan = NamespacePlan::new(index, settings, namespace, before.as_ref(), now);
            let before = before.unwrap_or_default();
            must_assign |= (&before.requests, &before.hints) != (&plan.requests, &plan.hints);
            if plan.needs != WakeDependencies::default() {
                self.plans.insert(Arc::clone(namespace), plan);
            }
        }
        if must_assign {
            changed.extend(self.assign(table));
        }
        for namespace in &changed {
            self.cover(index, namespace);
        }
    }

    /// The workloads of a namespace that can be woken as dependencies, if there are any.
    pub(crate) fn needs(&self, namespace: &str) -> Option<&WakeDependencies> {
        self.plans.get(namespace).map(|plan| &plan.needs)
    }

    /// Assigns the ports of all namespaces. Returns the namespaces with changed ports.
    fn assign(&mut self, table: &mut PortTable) -> BTreeSet<Arc<str>> {
        self.assigned_at = Some(Instant::now());
        let plans = self.plans.values();
        let requests: Vec<_> = plans
            .clone()
            .flat_map(|plan| &plan.requests)
            .cloned()
            .collect();
        let hints = plans.flat_map(|plan| &plan.hints);
        let hints = hints.map(|(port, number)| (port.clone(), *number));
        let numbers = table.assign(&requests, &hints.collect());
        let before = mem::replace(&mut self.numbers, numbers);
        let (before, after) = (&before, &self.numbers);
        let differ = |one: &BTreeMap<ServicePort, u16>, other: &BTreeMap<ServicePort, u16>| {
            let differing = one
                .iter()
                .filter(|(port, number)| other.get(port) != Some(number));
            let namespaces = differing.map(|((service, _), _)| Arc::clone(&service.namespace));
            namespaces.collect::<BTreeSet<_>>()
        };
        let mut changed = differ(before, after);
        changed.extend(differ(after, before));
        changed
    }

    /// The number of Service ports for which no port of the activator is free.
    pub(crate) fn ports_missing(&self) -> usize {
        let problems = self.problems.values().flatten();
        let missing = problems.map(|problem| match problem {
            Problem::WithoutPort(ports) => ports.len(),
            Problem::NotCovered(_) | Problem::TooManyTargets(_) => 0,
        });
        missing.sum()
    }

    /// Computes the routes and EndpointSlices of a namespace.
    fn cover(&mut self, index: &ClusterIndex, namespace: &Arc<str>) {
        replace_in(&mut self.routes, namespace, BTreeMap::new());
        replace_in(&mut self.problems, namespace, BTreeMap::new());
        replace_in(&mut self.slices, namespace, BTreeMap::new());
        let Some(plan) = self.plans.get(namespace) else {
            return;
        };
        self.problems.extend(plan.problems.clone());
        for (name, covered) in plan.covered.clone() {
            let Some(service) = index.service(&name) else {
                continue;
            };
            let of_service = service.ports.keys().filter_map(|port| {
                let number = self.numbers.get(&(name.clone(), port.clone()))?;
                Some((port.clone(), *number))
            });
            let ports: BTreeMap<_, _> = of_service.collect();
            let without = service
                .ports
                .keys()
                .filter(|port| !ports.contains_key(*port));
            let without: Vec<_> = without.cloned().collect();
            if !without.is_empty() {
                let problems = self.problems.entry(name.clone()).or_default();
                problems.push(Problem::WithoutPort(without));
            }
            if ports.is_empty() {
                continue;
            }
            let route = Route {
                stages: stages(index, &covered.targets),
                ready: ready(index.slices_of(&name), &ports, &self.own),
                ports,
                targets: covered.targets,
                observes_use: covered.observes_use,
                selector: service.spec.selector.clone(),
            };
            self.fallback(&name, service, &route);
            self.routes.insert(name, Arc::new(route));
        }
    }

    fn fallback(&mut self, name: &ServiceName, service: &ServiceInfo, route: &Route) {
        for family in Family::ALL {
            let is_of = |address: &IpAddr| address.is_ipv4() == (family == Family::V4);
            let pods: BTreeMap<_, _> = self
                .own
                .iter()
                .filter(|(address, _)| is_of(address))
                .map(|(address, pod)| (*address, pod.clone()))
                .collect();
            // The slice of the first family exists even without pods, because it stores the ports.
            let is_first = service.families.first() == Some(&family);
            if !service.families.contains(&family) || (pods.is_empty() && !is_first) {
                continue;
            }
            let ports = route.ports.iter().map(|(port, chosen)| {
                let protocol = service.ports.get(port).cloned().flatten();
                (port.clone(), (*chosen, protocol))
            });
            let fallback = FallbackSlice {
                service: name.clone(),
                service_uid: service.uid.clone(),
                family,
                ports: ports.collect(),
                is_ready: (route.is_stopped() || route.observes_use) && !pods.is_empty(),
                pods,
            };
            let slice = ObjectName {
                namespace: name.namespace.clone(),
                name: fallback.name().into(),
            };
            self.slices.insert(slice, fallback);
        }
    }
}

impl NamespacePlan {
    /// The plan from `now` on. `before` is the last plan.
    fn new(
        index: &ClusterIndex,
        settings: &Settings,
        namespace: &Arc<str>,
        before: Option<&Self>,
        now: DateTime<Utc>,
    ) -> Self {
        let mut plan = Self::default();
        let limits = settings.wake_limits;
        let mut targets = Vec::new();
        let wakeable: Vec<_> = index.wakeable_workloads(namespace).collect();
        let (zone, tzdata) = (settings.default_zone, &settings.tzdata);
        let mut rules = KnownRules::new(zone, tzdata, &settings.kind_table, now);
        for wakeable in &wakeable {
            let before = before.and_then(|before| before.needs.target(&wakeable.observed.object));
            let target = WakeTarget::new(&wakeable.observed, &mut rules, before);
            let Some(mut target) = target else {
                continue;
            };
            target.failure = wakeable.failure.cloned();
            let target = Arc::new(target);
            let times = [
                plan.changes_at,
                target.starts_until,
                target.observation_changes_after(now, limits),
            ];
            plan.changes_at = times.into_iter().flatten().min();
            plan.needs
                .add(&target, |needed| index.stays_stopped(namespace, needed));
            targets.push((target, wakeable.labels));
        }
        if targets.is_empty() {
            return plan;
        }
        let mut selection = Selection::new(targets);
        for (name, service) in index.services_in(namespace) {
            if *name == settings.service || is_of_kubernetes(name) {
                continue;
            }
            let mut targets = selection.targets(&service.spec.selector);
            if targets.len() > MAX_TARGETS {
                targets.truncate(MAX_TARGETS);
                let problem = Problem::TooManyTargets(MAX_TARGETS);
                plan.problems.entry(name.clone()).or_default().push(problem);
            }
            if targets.is_empty() {
                continue;
            }
            if let Some(why) = service.spec.not_covered() {
                let problem = Problem::NotCovered(why);
                plan.problems.entry(name.clone()).or_default().push(problem);
                continue;
            }
            let prolongs = |target: &Arc<WakeTarget>| target.prolonged_end(now, limits).is_some();
            let covered = CoveredService {
                observes_use: !service.spec.has_client_affinity && targets.iter().any(prolongs),
                targets,
            };
            plan.covered.insert(name.clone(), covered);
            plan.requests.push(PortRequest {
                service: name.clone(),
                created: service.created,
                ports: service.ports.keys().cloned().collect(),
            });
            let hints = index.our_ports(name).into_iter();
            plan.hints
                .extend(hints.map(|(port, number)| ((name.clone(), port), number)));
        }
        plan
    }

    /// Whether it changes without an event.
    fn is_due(&self, now: DateTime<Utc>) -> bool {
        self.changes_at.is_some_and(|at| at <= now)
    }
}

/// Replaces the entries of one namespace.
fn replace_in<V>(
    all: &mut BTreeMap<ObjectName, V>,
    namespace: &Arc<str>,
    new: BTreeMap<ObjectName, V>,
) {
    let old = all.range(first_of(namespace)..);
    let old = old.take_while(|(name, _)| name.namespace == *namespace);
    let old: Vec<_> = old.map(|(name, _)| name.clone()).collect();
    for name in old {
        all.remove(&name);
    }
    all.extend(new);
}

/// How much of the dependencies of these workloads and then of the workloads is ready.
fn stages(index: &ClusterIndex, targets: &[Arc<WakeTarget>]) -> Vec<Stage> {
    let needed = targets.iter().flat_map(|target| {
        let namespace = &target.observed.object.namespace;
        let needed = target.needs().iter();
        needed.map(move |needed| index.workload(namespace, needed))
    });
    // Workloads without any of these, and hundreds of their Services, should not delay other namespaces.
    let needed = needed.take(MAX_WOKEN).flatten();
    let needed = needed.map(|observed| (observed, true));
    let own = targets.iter().map(|target| (&target.observed, false));
    let mut seen = HashSet::new();
    let once = needed
        .chain(own)
        .filter(|(observed, _)| seen.insert(&observed.object));
    let stages = once.map(|(observed, is_dependency)| stage(observed, is_dependency));
    stages.take(MAX_STAGES).collect()
}

fn stage(observed: &Observed, is_dependency: bool) -> Stage {
    let is_stopped = observed.replicas == Replicas::ZERO;
    let saved = observed.state().saved;
    let wanted = if is_stopped {
        saved.unwrap_or(Replicas::new(1))
    } else {
        observed.replicas
    };
    Stage {
        object: Dependency::from_workload(&observed.object).to_string(),
        is_dependency,
        ready: observed.readiness.replicas().map(Replicas::get),
        wanted: wanted.get(),
        is_ready: !is_stopped && observed.is_ready() == Some(true),
    }
}

/// The ready pods for each of these ports, without those of the activator.
fn ready<'s>(
    slices: impl Iterator<Item = &'s SliceInfo>,
    ports: &BTreeMap<Box<str>, u16>,
    own: &BTreeMap<IpAddr, PodName>,
) -> BTreeMap<Box<str>, Vec<ReadyPods>> {
    let mut ready: BTreeMap<Box<str>, Vec<ReadyPods>> = BTreeMap::new();
    for slice in slices.filter(|slice| !slice.is_ours) {
        let mut pods = Arc::clone(&slice.ready);
        if pods.keys().any(|address| own.contains_key(address)) {
            Arc::make_mut(&mut pods).retain(|address, _| !own.contains_key(address));
        }
        if pods.is_empty() {
            continue;
        }
        let numbers = slice.ports.iter();
        for (port, (number, _)) in numbers.filter(|(port, _)| ports.contains_key(*port)) {
            ready.entry(port.clone()).or_default().push(ReadyPods {
                number: *number,
                pods: Arc::clone(&pods),
            });
        }
    }
    ready
}

/// A workload, and the labels of its pods.
type SelectableTarget<'i> = (Arc<WakeTarget>, &'i BTreeMap<String, String>);

/// The workloads with `wake-on-request` of one namespace, by the labels of their pods.
struct Selection<'i> {
    /// Sorted by name and kind.
    targets: Vec<SelectableTarget<'i>>,
    /// The workloads with each label.
    by_label: HashMap<(&'i str, &'i str), Vec<usize>>,
    /// The results for selectors. Many Services can have the same one.
    known: HashMap<&'i BTreeMap<String, String>, Vec<Arc<WakeTarget>>>,
}

impl<'i> Selection<'i> {
    fn new(mut targets: Vec<SelectableTarget<'i>>) -> Self {
        targets.sort_by(|(target, _), (other, _)| {
            let [target, other] = [target, other].map(|target| &target.observed.object);
            let kinds = || target.kind.name().cmp(other.kind.name());
            target.name.cmp(&other.name).then_with(kinds)
        });
        let mut by_label: HashMap<_, Vec<usize>> = HashMap::new();
        for (at, (_, labels)) in targets.iter().enumerate() {
            for (key, value) in *labels {
                by_label.entry((&**key, &**value)).or_default().push(at);
            }
        }
        Self {
            targets,
            by_label,
            known: HashMap::new(),
        }
    }

    /// The workloads whose pods a selector matches, at most one more than [`MAX_TARGETS`]. Only those with
    /// the rarest of its labels are compared.
    fn targets(&mut self, selector: &'i BTreeMap<String, String>) -> Vec<Arc<WakeTarget>> {
        let Self {
            targets,
            by_label,
            known,
        } = self;
        let found = known.entry(selector).or_insert_with(|| {
            let with_label = selector.iter().map(|(key, value)| {
                let with_label = by_label.get(&(&**key, &**value));
                with_label.map_or(&[][..], Vec::as_slice)
            });
            let fewest = with_label.min_by_key(|with_label| with_label.len());
            let candidates = fewest.into_iter().flatten();
            let candidates = candidates.filter_map(|at| targets.get(*at));
            let selected = candidates.filter(|(_, labels)| selects(selector, labels));
            let selected = selected.map(|(target, _)| Arc::clone(target));
            selected.take(MAX_TARGETS + 1).collect()
        });
        found.clone()
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use serde_json::json;

    use super::*;
    use crate::{
        routes::Prospect,
        test_cluster::{Cluster, at, slice},
    };

    #[test]
    fn stopped_workload_has_a_ready_fallback_slice() {
        let cluster = Cluster::new().asleep().with_service();
        let slice = slice(&cluster.desired());
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
    fn unchanged_slice_equals_the_desired_one() {
        let mut cluster = Cluster::new().asleep().with_service();
        for state in ["stopped", "running"] {
            cluster.workload(
                state,
                u32::from(state == "running"),
                json!({"dayshift/wake-on-request": "2h"}),
            );
            let desired = cluster.desired();
            cluster.observe_slice(slice(&desired));
            let wanted = desired.slices.values().next().unwrap();
            let seen = cluster.index.slice_named(&wanted.service, "web-dayshift");
            assert_eq!(seen.unwrap().fallback.as_ref(), Some(wanted), "{state}");
        }
    }

    #[test]
    fn fallback_slice_of_a_running_workload_is_terminating() {
        let terminating = json!({"ready": false, "serving": true, "terminating": true});
        let mut cluster = Cluster::new().asleep().with_service();
        cluster.slice("dev", "web", &["10.0.0.1"], 8081);
        let while_a_pod_is_ready = slice(&cluster.desired());
        assert_eq!(
            while_a_pod_is_ready["endpoints"][0]["conditions"],
            terminating
        );
        cluster.slice("dev", "web", &[], 8081);
        cluster.workload("woken", 2, json!({"dayshift/wake-on-request": "2h"}));
        let while_it_starts = slice(&cluster.desired());
        assert_eq!(while_it_starts["endpoints"][0]["conditions"], terminating);
    }

    #[test]
    fn port_is_kept_if_other_services_change() {
        let mut cluster = Cluster::new().asleep().with_service();
        let mut seen = slice(&cluster.desired());
        seen["ports"][0]["port"] = json!(20007);
        cluster.observe_slice(seen);
        assert_eq!(slice(&cluster.desired())["ports"][0]["port"], 20007);
        // A number outside of the range is replaced, for example after `--ports` was changed.
        cluster.settings.ports = (20000, 20003);
        let port = slice(&cluster.desired())["ports"][0]["port"]
            .as_u64()
            .unwrap();
        assert!((20000..=20003).contains(&port), "{port}");
    }

    #[test]
    fn number_that_two_ports_claim_is_assigned_to_neither() {
        let mut cluster = Cluster::new().asleep();
        cluster.service(json!({
            "selector": {"app": "web"}, "ipFamilies": ["IPv4"],
            "ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81}],
        }));
        let mut seen = slice(&cluster.desired());
        seen["ports"][0]["port"] = json!(20004);
        seen["ports"][1]["port"] = json!(20004);
        cluster.observe_slice(seen);
        let ports = cluster.route().ports;
        assert!(!ports.values().any(|number| *number == 20004), "{ports:?}");
        assert_ne!(ports["a"], ports["b"]);
    }

    #[test]
    fn connections_go_only_to_ready_pods_of_the_service() {
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
    fn workload_that_dayshift_did_not_stop_is_not_woken() {
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
                Prospect::Nothing("another client has scaled it to 0"),
            ),
            (
                "adopted",
                0,
                Prospect::Nothing("another client has scaled it to 0"),
            ),
        ] {
            let mut cluster = Cluster::new().with_service();
            cluster.workload(state, replicas, wake.clone());
            let prospect = cluster.route().prospect(now);
            assert_eq!(prospect, expected, "{state} {replicas}");
        }
    }

    #[test]
    fn workload_is_not_woken_outside_of_hours_or_twice() {
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
    fn workload_is_not_woken_during_a_sleep_without_request_wakes() {
        let now = at("2026-11-25T10:00:00Z");
        let end = at("2026-11-25T20:00:00Z");
        let later = at("2026-11-25T21:00:00Z");
        let much_later = at("2026-11-26T20:00:00Z");
        let closed = "2026-11-25 20:00; no-request-wake";
        let longer = "2026-11-26 20:00; no-request-wake";
        let asleep = Prospect::Nothing("a user has put it to sleep, and requests do not wake it");
        for (own, inherited, hours, before, opens, after) in [
            (closed, "", "", &asleep, Some(end), &Prospect::Wakeable),
            ("", closed, "", &asleep, Some(end), &Prospect::Wakeable),
            (
                "2026-11-25 20:00",
                "",
                "",
                &Prospect::Wakeable,
                None,
                &Prospect::Wakeable,
            ),
            // The workload's own sleep takes precedence until it ends.
            (
                "2026-11-25 20:00",
                longer,
                "",
                &Prospect::Wakeable,
                None,
                &asleep,
            ),
            (closed, longer, "", &asleep, Some(much_later), &asleep),
            // An invalid value is rejected, and ends no request wake.
            (
                "2026-11-25 20:00; no",
                "",
                "",
                &Prospect::Wakeable,
                None,
                &Prospect::Wakeable,
            ),
            // The hours begin after the sleep.
            (
                closed,
                "",
                "; 22:00-23:00",
                &asleep,
                Some(at("2026-11-25T22:00:00Z")),
                &Prospect::Nothing("a request does not wake it at this time of day"),
            ),
        ] {
            let case = format!("{own:?} {inherited:?} {hours:?}");
            let mut cluster = Cluster::new().with_service();
            let mut annotations = json!({"dayshift/wake-on-request": format!("2h{hours}")});
            if !own.is_empty() {
                annotations["dayshift/sleep-until"] = own.into();
            }
            if !inherited.is_empty() {
                cluster.namespace(json!({"dayshift/sleep-until": inherited}));
            }
            cluster.workload("slept", 0, annotations);
            let route = cluster.route();
            assert_eq!(route.prospect(now), *before, "{case}");
            assert_eq!(
                route.targets[0].is_wakeable(now),
                *before == Prospect::Wakeable,
                "{case}"
            );
            assert_eq!(route.opens_at(now), opens, "{case}");
            assert_eq!(route.prospect(later), *after, "{case}");
        }
    }

    #[test]
    fn uncovered_service_has_a_reason() {
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
            let desired = cluster.desired();
            assert!(desired.slices.is_empty() && desired.routes.is_empty());
            let problems: Vec<_> = desired.problems.values().flatten().collect();
            assert!(
                matches!(problems[..], [Problem::NotCovered(reason)] if reason.reason().contains(why)),
                "{problems:?}"
            );
        }
    }

    #[test]
    fn service_without_a_wakeable_workload_is_not_covered() {
        let is_nothing = |desired: &DesiredState| {
            desired.routes.is_empty() && desired.slices.is_empty() && desired.problems.is_empty()
        };
        let mut cluster = Cluster::new().with_service();
        for annotations in [json!({}), json!({"dayshift/wake-on-request": "soon"})] {
            cluster.workload("stopped", 0, annotations);
            assert!(is_nothing(&cluster.desired()));
        }
        cluster.workload("stopped", 0, json!({"dayshift/wake-on-request": "2h"}));
        cluster.service(json!({"selector": {"app": "other"}, "ports": [{"port": 80}]}));
        assert!(is_nothing(&cluster.desired()));
        cluster.service(json!({"ports": [{"port": 80}]}));
        assert!(
            is_nothing(&cluster.desired()),
            "no selector selects nothing"
        );
    }

    #[test]
    fn namespace_annotation_applies_to_its_workloads() {
        let mut cluster = Cluster::new().with_service();
        cluster.workload("stopped", 0, json!({}));
        cluster.namespace(json!({"dayshift/wake-on-request": "1h"}));
        let target = &cluster.route().targets[0];
        assert_eq!(target.rules.wake.lasts, TimeDelta::hours(1));
    }

    #[test]
    fn dual_stack_service_has_a_slice_for_each_family_with_an_address() {
        let mut cluster = Cluster::new().asleep();
        cluster.service(json!({
            "selector": {"app": "web"}, "ipFamilies": ["IPv4", "IPv6"], "ports": [{"port": 80}],
        }));
        let families = |desired: &DesiredState| {
            desired
                .slices
                .values()
                .map(|slice| slice.family)
                .collect::<Vec<_>>()
        };
        assert_eq!(families(&cluster.desired()), [Family::V4]);
        cluster.observe_slice(json!({
            "metadata": {"name": "dayshift-activator-6", "namespace": "dayshift",
                         "labels": {"kubernetes.io/service-name": "dayshift-activator"}},
            "addressType": "IPv6",
            "endpoints": [{"addresses": ["fd00::9"], "targetRef": {"kind": "Pod", "name": "a"}}],
        }));
        let desired = cluster.desired();
        assert_eq!(families(&desired), [Family::V4, Family::V6]);
        let ports: Vec<_> = desired
            .slices
            .values()
            .map(|slice| slice.ports[""].0)
            .collect();
        assert_eq!(ports[0], ports[1]);
    }

    #[test]
    fn workload_with_very_long_pod_labels_is_ignored() {
        for (count, expected) in [(10, 1), (200, 0)] {
            let mut cluster = Cluster::new().with_service();
            let mut labels = json!({"app": "web"});
            for number in 0..count {
                labels[format!("label-{number}")] = json!("x".repeat(63));
            }
            let wake = json!({"dayshift/wake-on-request": "2h"});
            cluster.workload_with_pods("web", "stopped", 0, wake, labels);
            assert_eq!(cluster.desired().routes.len(), expected, "{count} labels");
        }
    }

    #[test]
    fn slice_with_very_many_or_long_endpoints_is_kept_in_part() {
        let mut cluster = Cluster::new().asleep().with_service();
        let endpoint = |number: usize| {
            let name = if number == 0 {
                "x".repeat(10_000)
            } else {
                format!("web-{number}")
            };
            let addresses: Vec<_> = (0..100)
                .map(|last| format!("10.{}.{}.{last}", number / 250, number % 250))
                .collect();
            json!({
                "addresses": addresses, "conditions": {"ready": true},
                "targetRef": {"kind": "Pod", "namespace": "dev", "name": name, "uid": "u"},
            })
        };
        cluster.observe_slice(json!({
            "metadata": {"name": "web-x", "namespace": "dev", "labels": {"kubernetes.io/service-name": "web"}},
            "addressType": "IPv4", "ports": [{"name": "http", "port": 80, "protocol": "TCP"}],
            "endpoints": (0..2_000).map(endpoint).collect::<Vec<_>>(),
        }));
        let route = cluster.route();
        assert_eq!(route.backends("http").len(), 100);
        let longest = route
            .backends("http")
            .iter()
            .map(|backend| backend.pod.name.len())
            .max();
        assert!(longest < Some(254), "{longest:?}");
    }

    #[test]
    fn pods_of_a_slice_are_kept_once_for_all_ports() {
        let mut cluster = Cluster::new().asleep();
        let port = |number: usize| json!({"name": format!("p{number}"), "port": 1_000 + number});
        let ports: Vec<_> = (0..10).map(port).collect();
        cluster.service(json!({"selector": {"app": "web"}, "ports": &ports}));
        let endpoint = |number: usize| {
            json!({
                "addresses": [format!("10.0.0.{}", number + 8)], "conditions": {"ready": true},
                "targetRef": {"kind": "Pod", "namespace": "dev", "name": "web", "uid": "u"},
            })
        };
        cluster.observe_slice(json!({
            "metadata": {"name": "web-x", "namespace": "dev", "labels": {"kubernetes.io/service-name": "web"}},
            "addressType": "IPv4", "ports": ports,
            "endpoints": (0..5).map(endpoint).collect::<Vec<_>>(),
        }));
        let route = cluster.route();
        let ready: Vec<_> = route.ready.values().flatten().collect();
        assert!(ready.len() > 1);
        assert!(
            ready
                .iter()
                .all(|pods| Arc::ptr_eq(&pods.pods, &ready[0].pods))
        );
        // The address of the activator is one of them.
        assert_eq!(route.backends("p0").len(), 4);
    }

    #[test]
    fn request_wakes_the_first_hundred_workloads_of_a_service() {
        let mut cluster = Cluster::new().with_service();
        for number in (0..150).rev() {
            let wake = json!({"dayshift/wake-on-request": "2h"});
            let labels = json!({"app": "web"});
            cluster.workload_with_pods(&format!("w{number:03}"), "stopped", 0, wake, labels);
            let is_reported = !cluster.desired().problems.is_empty();
            assert_eq!(is_reported, number < 50, "{number}");
        }
        let targets = cluster.route().targets;
        let names = targets.iter().map(|target| &*target.observed.object.name);
        let names: Vec<_> = names.collect();
        assert_eq!((names.len(), names[0], names[99]), (100, "w000", "w099"));
    }

    /// A comparison of each selector with each workload would take a namespace seconds.
    #[test]
    fn selection_by_label_finds_the_workloads_that_a_selector_matches() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut labels = || -> BTreeMap<String, String> {
            let keys = ["app", "tier", "v"].into_iter();
            let some = keys.filter_map(|key| {
                let value = random.u8(0..4);
                (value > 0).then(|| (key.to_owned(), value.to_string()))
            });
            some.collect()
        };
        let cluster = Cluster::new().asleep().with_service();
        let target = &cluster.route().targets[0];
        let pods: Vec<_> = (0..60).map(|_| labels()).collect();
        let targets = pods.iter().enumerate().map(|(number, labels)| {
            let mut target = WakeTarget::clone(target);
            target.observed.object.name = format!("w{number:02}").into();
            (Arc::new(target), labels)
        });
        let selectors: Vec<_> = (0..100).map(|_| labels()).collect();
        let mut selection = Selection::new(targets.collect());
        for selector in &selectors {
            let is_selected = |labels: &&BTreeMap<_, _>| {
                let mut parts = selector.iter();
                !selector.is_empty() && parts.all(|(key, value)| labels.get(key) == Some(value))
            };
            let expected = pods.iter().filter(is_selected).count();
            let found = selection.targets(selector);
            assert_eq!(found.len(), expected, "{selector:?}");
        }
    }

    #[test]
    fn dependency_of_many_workloads_is_one_stage() {
        let mut cluster = Cluster::new().with_service();
        cluster.workload_named("db", "stopped", 0, json!({}));
        for number in 0..30 {
            let annotations =
                json!({"dayshift/wake-on-request": "2h", "dayshift/after": "deploy/db"});
            let labels = json!({"app": "web"});
            cluster.workload_with_pods(&format!("w{number:02}"), "stopped", 0, annotations, labels);
        }
        let stages = cluster.route().stages;
        assert_eq!(stages.len(), MAX_STAGES);
        let dependencies = stages.iter().filter(|stage| stage.is_dependency);
        assert_eq!(dependencies.count(), 1);
    }
}
