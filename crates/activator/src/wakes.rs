//! Wakes: one patch for a workload, regardless of the number of waiting connections.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap, HashSet, btree_map::Entry},
    net::IpAddr,
    sync::Arc,
    time::Duration,
};

use chrono::{DateTime, SubsecRound as _, Utc};
use dayshift_cluster::write::PatchError;
use dayshift_workload::{AnnotationChange, Dependency, Key, Override, OverrideCommand};
use tokio::time::Instant;

use crate::{
    backoff::Backoffs,
    desired::DesiredState,
    http::Head,
    routes::{Routes, WakeDependencies},
    service::ServiceName,
    settings::Settings,
    start_times::StartTimes,
    target::{WakeLimits, WakeTarget},
};

/// A connection that requests a wake.
#[derive(Clone, Debug)]
pub(crate) struct WakeRequest {
    pub(crate) service: ServiceName,
    pub(crate) port: Box<str>,
    pub(crate) from: IpAddr,
    pub(crate) head: Option<Head>,
}

impl WakeRequest {
    /// Whether a visitor of the waiting page keeps the workload awake.
    pub(crate) fn keeps_awake(&self) -> bool {
        self.head.as_ref().is_some_and(|head| head.keeps_awake)
    }

    /// The description for Events and logs, for example `A request from 10.0.0.1 to Service web, port http,`.
    /// The host and the path are left out: every client can choose them, and a path can contain a secret, but
    /// the Event is written on the object of another user.
    pub(crate) fn words(&self) -> String {
        let what = match self.head {
            None => "A connection",
            Some(_) => "A request",
        };
        let port = match &*self.port {
            "" => String::new(),
            port => format!(", port {port},"),
        };
        format!(
            "{what} from {} to Service {}{port}",
            self.from, self.service.name
        )
    }
}

/// The maximum number of patches in flight for one namespace.
const MAX_OF_NAMESPACE: usize = 8;

/// The maximum number of requested Services of one namespace that are considered together. The others take
/// turns, so that requests to thousands of Services do not delay the wakes of other namespaces.
const MAX_SERVICES: usize = 32;

/// A patch that wakes a workload.
#[derive(Clone, Debug)]
pub(crate) struct Wake {
    pub(crate) target: Arc<WakeTarget>,
    pub(crate) request: WakeRequest,
    pub(crate) until: DateTime<Utc>,
    pub(crate) annotations: Vec<AnnotationChange>,
    /// The workload that depends on this one, if it is woken as a dependency.
    pub(crate) needed_by: Option<Dependency>,
    /// The dependencies that stay stopped, each with the reason.
    pub(crate) without: Vec<String>,
}

/// The requested wakes and the patches in flight.
pub(crate) struct Wakes {
    /// Services with a waiting connection.
    wanted: BTreeMap<ServiceName, RequestedService>,
    /// How often the requested Services were considered.
    turns: u64,
    /// The UIDs and namespaces of workloads with a patch in flight.
    in_flight: HashMap<Arc<str>, Arc<str>>,
    /// By UID, and whether a wake is prolonged: that is another write, which does not have to wait until the
    /// watch shows the first one.
    backoffs: Backoffs<(Arc<str>, bool)>,
    start_times: StartTimes,
    /// For a namespace without dependencies.
    no_needs: WakeDependencies,
}

/// A Service with a waiting connection.
pub(crate) struct RequestedService {
    request: WakeRequest,
    since: Instant,
    /// The last turn in which it was considered.
    turn: u64,
    /// The ends of wakes by UID. A dependency whose wake is retried later is woken until the same time.
    until: HashMap<Arc<str>, DateTime<Utc>>,
}

impl Wakes {
    pub(crate) fn new(start_times: StartTimes, seed: u64) -> Self {
        Self {
            wanted: BTreeMap::new(),
            turns: 0,
            in_flight: HashMap::new(),
            backoffs: Backoffs::new(seed),
            start_times,
            no_needs: WakeDependencies::default(),
        }
    }

    /// Records a wake request.
    pub(crate) fn ask(&mut self, request: WakeRequest) {
        match self.wanted.entry(request.service.clone()) {
            Entry::Vacant(entry) => {
                entry.insert(RequestedService::by(request));
            }
            Entry::Occupied(mut known) if request.keeps_awake() => {
                known.get_mut().request = request;
            }
            Entry::Occupied(_) => {}
        }
    }

    /// The patches to send now, for requested workloads and their dependencies. If two workloads share a
    /// dependency, the longer wake wins.
    pub(crate) fn due(
        &mut self,
        desired: &DesiredState,
        settings: &Settings,
        now: DateTime<Utc>,
    ) -> Vec<Wake> {
        let at = Instant::now();
        let mut due: BTreeMap<Arc<str>, Wake> = BTreeMap::new();
        let considered = self.next_turn();
        self.wanted.retain(|service, known| {
            if !considered.contains(service) {
                return known.since.elapsed() < settings.hold;
            }
            known.turn = self.turns;
            let Some(route) = desired.routes.get(service) else {
                return false;
            };
            let needs = desired.needs(&service.namespace);
            let (needs, limits) = (needs.unwrap_or(&self.no_needs), settings.wake_limits);
            let mut wanted = known.wakes_of(&route.targets, needs, limits, now);
            let is_wanted = !wanted.is_empty();
            wanted.retain(|wake| {
                !self.backoffs.is_paused(&wake.backoff_key(), at)
                    && !self.in_flight.contains_key(wake.uid())
            });
            for wake in wanted {
                let uid = Arc::clone(wake.uid());
                if due.get(&uid).is_none_or(|known| known.until < wake.until) {
                    due.insert(uid, wake);
                }
            }
            is_wanted && known.since.elapsed() < settings.hold
        });
        let (in_flight, mut wakes) = (&mut self.in_flight, Vec::new());
        for (uid, wake) in due {
            let namespace = &wake.target.observed.object.namespace;
            let of_namespace = in_flight.values().filter(|known| *known == namespace);
            // The others remain requested.
            if of_namespace.count() < MAX_OF_NAMESPACE {
                in_flight.insert(uid, Arc::clone(namespace));
                wakes.push(wake);
            }
        }
        wakes
    }

    /// The requested Services whose turn it is: of each namespace those that have waited for the longest.
    fn next_turn(&mut self) -> HashSet<ServiceName> {
        self.turns += 1;
        let mut by_namespace: HashMap<&str, Vec<(u64, &ServiceName)>> = HashMap::new();
        for (service, known) in &self.wanted {
            let of_namespace = by_namespace.entry(&service.namespace).or_default();
            of_namespace.push((known.turn, service));
        }
        let mut considered = HashSet::new();
        for mut services in by_namespace.into_values() {
            services.sort_unstable();
            let first = services.into_iter().take(MAX_SERVICES);
            considered.extend(first.map(|(_, service)| service.clone()));
        }
        considered
    }

    pub(crate) fn finished(&mut self, wake: &Wake, result: &Result<(), PatchError>) {
        self.in_flight.remove(wake.uid());
        let key = wake.backoff_key();
        match result {
            Ok(()) => {
                // Until the watch shows the change, the workload should not be patched again.
                self.backoffs.rest(key, Duration::from_secs(5));
                if !wake.is_prolonged() {
                    self.start_times.begin(&wake.request.service);
                }
            }
            Err(PatchError::Conflict) => {
                self.backoffs.rest(key, Duration::from_millis(100));
            }
            Err(_) => self.backoffs.fail(key),
        }
    }

    /// Records start times, and forgets old failures.
    pub(crate) fn note(&mut self, routes: &Routes) {
        self.start_times.note(routes);
        self.backoffs.forget_calm();
    }
}

impl Wake {
    fn uid(&self) -> &Arc<str> {
        &self.target.observed.object.uid
    }

    fn backoff_key(&self) -> (Arc<str>, bool) {
        (Arc::clone(self.uid()), self.is_prolonged())
    }

    /// Whether the workload is awake already.
    pub(crate) fn is_prolonged(&self) -> bool {
        self.target.began.is_some()
    }

    /// The effect of the request, for Events and logs.
    pub(crate) fn effect(&self) -> &'static str {
        match (self.is_prolonged(), self.request.keeps_awake()) {
            (false, _) => "wakes it",
            (true, true) => "keeps it awake",
            (true, false) => "prolongs its wake",
        }
    }
}

impl RequestedService {
    pub(crate) fn by(request: WakeRequest) -> Self {
        Self {
            request,
            since: Instant::now(),
            turn: 0,
            until: HashMap::new(),
        }
    }

    /// The wakes of the selected workloads and their dependencies. A dependency of several of them is woken
    /// for the longest wake. If a workload is starting already, only its dependencies are woken.
    pub(crate) fn wakes_of(
        &mut self,
        roots: &[Arc<WakeTarget>],
        needs: &WakeDependencies,
        limits: WakeLimits,
        now: DateTime<Utc>,
    ) -> Vec<Wake> {
        let mut roots: Vec<_> = roots
            .iter()
            .filter_map(|root| Some((root, self.until(root, limits, now)?)))
            .collect();
        roots.sort_by_key(|(_, until)| Reverse(*until));
        let mut seen = HashSet::new();
        let mut wakes = Vec::new();
        for (root, until) in roots {
            let prolongs = root.rules.wake.while_used || self.request.keeps_awake();
            let with = needs.woken_with(root, prolongs, until, &mut seen, now);
            let needed_by = Dependency::from_workload(&root.observed.object);
            let needed = with.targets.iter();
            wakes.extend(
                needed.map(|target| wake(target, &self.request, until, Some(needed_by.clone()))),
            );
            if root.is_wakeable(now) || self.prolonged_end(root, limits, now).is_some() {
                let mut own = wake(root, &self.request, until, None);
                own.without = with.without;
                wakes.push(own);
            }
        }
        wakes
    }

    /// The new end of a wake by this request; `None` if it prolongs nothing.
    fn prolonged_end(
        &self,
        root: &WakeTarget,
        limits: WakeLimits,
        now: DateTime<Utc>,
    ) -> Option<DateTime<Utc>> {
        let kept = root.kept_end(now, limits);
        let kept = kept.filter(|_| self.request.keeps_awake());
        kept.max(root.prolonged_end(now, limits))
    }

    /// The time until which a workload and its dependencies are woken; `None` if the workload can neither
    /// be woken now, nor is its wake prolonged, nor is it starting because of a wake.
    fn until(
        &mut self,
        root: &WakeTarget,
        limits: WakeLimits,
        now: DateTime<Utc>,
    ) -> Option<DateTime<Utc>> {
        let uid = &root.observed.object.uid;
        let until = match root.is_wakeable(now) {
            true => root.wake_end(now, limits),
            false => {
                let known = || self.until.get(uid).copied();
                let until = self.prolonged_end(root, limits, now);
                let until = until.or(root.starts_until);
                let until = until.or_else(known)?;
                until.min(now + limits.longest).trunc_subsecs(0)
            }
        };
        self.until.insert(uid.clone(), until);
        Some(until)
    }
}

fn wake(
    target: &Arc<WakeTarget>,
    request: &WakeRequest,
    until: DateTime<Utc>,
    needed_by: Option<Dependency>,
) -> Wake {
    let inputs = &target.observed.inputs;
    let command = OverrideCommand::Begin(Override::Wake(until));
    let annotations = command.annotations(inputs, target.rules.zone);
    // A `sleep-until` keeps its author and reason, and continues after the wake.
    let mut annotations: Vec<_> = annotations
        .into_iter()
        .filter(|(key, _)| *key == Key::WakeUntil)
        .collect();
    if inputs.own().text(Key::SleepUntil).is_none() {
        let reason = format!("request to Service {}", request.service.name);
        annotations.push((Key::Reason, Some(reason)));
        if inputs.own().text(Key::OverrideBy).is_some() {
            annotations.push((Key::OverrideBy, None));
        }
    }
    Wake {
        target: Arc::clone(target),
        request: request.clone(),
        until,
        annotations,
        needed_by,
        without: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use chrono::TimeDelta;
    use dayshift_schedule::Zone;
    use serde_json::{Value, json};
    use tokio::time::advance;

    use super::*;
    use crate::test_cluster::{Cluster, at, name, settings};

    fn now() -> DateTime<Utc> {
        at("2026-11-25T22:00:00Z")
    }

    /// A cluster with a Service for `web`, which is stopped and has this `after`.
    fn needing(after: &str) -> Cluster {
        let mut cluster = Cluster::new().with_service();
        let web = json!({"dayshift/wake-on-request": "2h", "dayshift/after": after});
        cluster.workload("stopped", 0, web);
        cluster
    }

    /// The annotations of a workload that can be woken.
    fn asking(after: Option<&str>) -> Value {
        let mut annotations = json!({"dayshift/wake-on-request": "1h"});
        if let Some(after) = after {
            annotations["dayshift/after"] = json!(after);
        }
        annotations
    }

    /// The wakes after one connection to Service `web`.
    fn asked() -> Wakes {
        let mut wakes = Wakes::new(StartTimes::default(), 1);
        wakes.ask(WakeRequest {
            service: name("dev", "web"),
            port: "http".into(),
            from: IpAddr::from([10, 0, 0, 1]),
            head: None,
        });
        wakes
    }

    fn due(wakes: &mut Wakes, cluster: &Cluster) -> Vec<Wake> {
        wakes.due(&cluster.desired(), &settings(), now())
    }

    fn names(due: &[Wake]) -> BTreeSet<&str> {
        due.iter()
            .map(|wake| &*wake.target.observed.object.name)
            .collect()
    }

    fn without(due: &[Wake]) -> Vec<&str> {
        let all = due.iter().flat_map(|wake| &wake.without);
        all.map(|reason| &**reason).collect()
    }

    #[test]
    fn transitive_dependencies_are_woken_until_the_same_time() {
        let mut cluster = needing("deploy/api");
        cluster.workload_named("api", "stopped", 0, asking(Some("deploy/db")));
        cluster.workload_named("db", "slept", 0, asking(None));
        cluster.workload_named("other", "stopped", 0, asking(None));
        let due = due(&mut asked(), &cluster);
        assert_eq!(names(&due), BTreeSet::from(["api", "db", "web"]));
        assert_eq!(due.len(), 3);
        for wake in &due {
            assert_eq!(wake.until, at("2026-11-26T00:00:00Z"), "{wake:?}");
            let is_web = &*wake.target.observed.object.name == "web";
            let needed_by = wake.needed_by.as_ref().map(ToString::to_string);
            assert_eq!(needed_by.as_deref(), (!is_web).then_some("deploy/web"));
        }
        assert!(without(&due).is_empty());
    }

    #[test]
    fn dependency_without_the_annotation_stays_stopped_and_is_reported() {
        for (state, replicas, annotations, expected) in [
            (
                "stopped",
                0,
                json!({}),
                Some("deploy/db, which has no annotation wake-on-request"),
            ),
            (
                "paused",
                0,
                json!({}),
                Some("deploy/db, which has no annotation wake-on-request"),
            ),
            (
                "running",
                0,
                json!({}),
                Some("deploy/db, which has no annotation wake-on-request"),
            ),
            (
                "stopped",
                0,
                json!({"dayshift/wake-on-request": "1h; 06:00-20:00"}),
                Some(
                    "deploy/db, which stays stopped: a request does not wake it at this time of day",
                ),
            ),
            (
                "paused",
                0,
                asking(None),
                Some("deploy/db, which stays stopped: it is paused"),
            ),
            (
                "running",
                0,
                asking(None),
                Some("deploy/db, which stays stopped: another client has scaled it to 0"),
            ),
            ("running", 1, json!({}), None),
            ("woken", 1, asking(None), None),
        ] {
            let mut cluster = needing("deploy/db");
            cluster.workload_named("db", state, replicas, annotations);
            let due = due(&mut asked(), &cluster);
            assert_eq!(names(&due), BTreeSet::from(["web"]), "{state}");
            assert_eq!(
                without(&due),
                expected.into_iter().collect::<Vec<_>>(),
                "{state}"
            );
        }
        let due = due(&mut asked(), &needing("deploy/db"));
        assert_eq!(
            (due.len(), without(&due).len()),
            (1, 0),
            "the dependency does not exist"
        );
    }

    #[test]
    fn dependency_cycle_is_woken_once() {
        let mut cluster = needing("deploy/api");
        cluster.workload_named("api", "stopped", 0, asking(Some("deploy/web; deploy/api")));
        let due = due(&mut asked(), &cluster);
        assert_eq!(
            (due.len(), names(&due)),
            (2, BTreeSet::from(["api", "web"]))
        );
    }

    #[test]
    fn request_wakes_at_most_200_dependencies() {
        let names = |parent: usize| {
            let names = (0..16).map(|child| format!("deploy/d{parent}-{child}"));
            names.collect::<Vec<_>>().join("; ")
        };
        let roots = (0..15).map(|parent| format!("deploy/d{parent}"));
        let mut cluster = needing(&roots.collect::<Vec<_>>().join("; "));
        for parent in 0..15 {
            let annotations = asking(Some(&names(parent)));
            cluster.workload_named(&format!("d{parent}"), "stopped", 0, annotations);
            for child in 0..16 {
                cluster.workload_named(&format!("d{parent}-{child}"), "stopped", 0, asking(None));
            }
        }
        let mut wakes = asked();
        let desired = cluster.desired();
        let requested = wakes.wanted.get_mut(&name("dev", "web")).unwrap();
        let targets = &desired.routes[&name("dev", "web")].targets;
        let all = requested.wakes_of(
            targets,
            desired.needs("dev").unwrap(),
            WakeLimits::default(),
            now(),
        );
        assert_eq!(all.len(), 201);
        let without = without(&all);
        assert_eq!(without.len(), 1);
        assert!(
            without[0].ends_with("a request wakes at most 200 dependencies"),
            "{without:?}"
        );
    }

    /// The time of a wake must not grow with the square of the number of workloads.
    #[test]
    fn dependency_of_many_workloads_is_woken_once_for_the_longest_wake() {
        let mut cluster = Cluster::new().with_service();
        cluster.workload_named("db", "stopped", 0, asking(None));
        for hours in 1..=20 {
            let annotations = json!({
                "dayshift/wake-on-request": format!("{hours}h"), "dayshift/after": "deploy/db",
            });
            let labels = json!({"app": "web"});
            cluster.workload_with_pods(&format!("w{hours}"), "stopped", 0, annotations, labels);
        }
        let mut wakes = asked();
        let desired = cluster.desired();
        let requested = wakes.wanted.get_mut(&name("dev", "web")).unwrap();
        let targets = &desired.routes[&name("dev", "web")].targets;
        let all = requested.wakes_of(
            targets,
            desired.needs("dev").unwrap(),
            WakeLimits::default(),
            now(),
        );
        let of_db = all
            .iter()
            .filter(|wake| &*wake.target.observed.object.name == "db");
        let of_db: Vec<_> = of_db.map(|wake| wake.until).collect();
        assert_eq!(of_db, [at("2026-11-26T18:00:00Z")]);
        assert_eq!(all.len(), 21);
    }

    #[tokio::test(start_paused = true)]
    async fn requested_services_of_a_namespace_take_turns() {
        let desired = Cluster::new().asleep().with_service().desired();
        let route = &desired.routes[&name("dev", "web")];
        let mut wakes = wakes();
        let mut desired = desired.clone();
        for number in 0..100 {
            let service = name("dev", &format!("s{number}"));
            desired.routes.insert(service.clone(), Arc::clone(route));
            wakes.ask(WakeRequest {
                service,
                ..request()
            });
        }
        let other = name("team", "web");
        desired.routes.insert(other.clone(), Arc::clone(route));
        wakes.ask(WakeRequest {
            service: other.clone(),
            ..request()
        });
        for turn in 1..=4 {
            wakes.due(&desired, &settings(), now());
            let considered = wakes.wanted.values().filter(|known| known.turn > 0).count();
            assert_eq!(considered, (32 * turn).min(100) + 1);
            assert_eq!(wakes.wanted[&other].turn, u64::try_from(turn).unwrap());
        }
        advance(settings().hold).await;
        for _ in 0..2 {
            wakes.due(&desired, &settings(), now());
        }
        assert!(wakes.wanted.is_empty(), "{}", wakes.wanted.len());
    }

    #[test]
    fn shared_dependency_is_woken_once_for_the_longer_wake() {
        let mut cluster = needing("deploy/db");
        cluster.workload_named("db", "stopped", 0, asking(None));
        let spec = json!({"selector": {"v": "1"}, "ports": [{"name": "http", "port": 80}]});
        cluster.service(spec);
        let due = due(&mut asked(), &cluster);
        let untils: BTreeSet<_> = due.iter().map(|wake| wake.until).collect();
        assert_eq!(
            (due.len(), untils),
            (2, BTreeSet::from([at("2026-11-26T00:00:00Z")]))
        );
    }

    /// The wake of a dependency can fail although that of `web` succeeds.
    #[tokio::test(start_paused = true)]
    async fn failed_dependency_wake_is_retried_after_the_workload_is_awake() {
        let mut cluster = needing("deploy/db");
        cluster.workload_named("db", "stopped", 0, asking(None));
        let mut wakes = asked();
        for wake in due(&mut wakes, &cluster) {
            let is_web = wake.needed_by.is_none();
            let refused = Err(PatchError::Rejected("no".to_owned()));
            wakes.finished(&wake, &if is_web { Ok(()) } else { refused });
        }
        cluster.workload("woken", 2, asking(Some("deploy/db")));
        assert!(due(&mut wakes, &cluster).is_empty(), "not at once");
        advance(Duration::from_secs(30)).await;
        let again = due(&mut wakes, &cluster);
        assert_eq!(names(&again), BTreeSet::from(["db"]));
        assert_eq!(again[0].until, at("2026-11-26T00:00:00Z"));
        wakes.finished(&again[0], &Ok(()));
        cluster.workload_named("db", "woken", 1, asking(None));
        advance(Duration::from_secs(10)).await;
        assert!(due(&mut wakes, &cluster).is_empty());
    }

    /// For example, another replica sent one of two patches and was killed.
    #[test]
    fn dependency_of_a_starting_workload_is_woken_for_as_long() {
        let mut cluster = Cluster::new().with_service();
        cluster.workload(
            "stopped",
            0,
            json!({
                "dayshift/wake-on-request": "2h", "dayshift/after": "deploy/db",
                "dayshift/wake-until": "2026-11-25T23:10:00Z",
            }),
        );
        cluster.workload_named("db", "stopped", 0, asking(None));
        let due = due(&mut asked(), &cluster);
        assert_eq!(names(&due), BTreeSet::from(["db"]));
        assert_eq!(due[0].until, at("2026-11-25T23:10:00Z"));
    }

    fn request() -> WakeRequest {
        WakeRequest {
            service: name("dev", "web"),
            port: "http".into(),
            from: IpAddr::from([10, 0, 0, 1]),
            head: None,
        }
    }

    fn wakes() -> Wakes {
        Wakes::new(StartTimes::default(), 1)
    }

    fn refused() -> Result<(), PatchError> {
        Err(PatchError::Rejected("no".to_owned()))
    }

    #[tokio::test(start_paused = true)]
    async fn thousand_waiting_connections_cause_one_patch() {
        let desired = Cluster::new().asleep().with_service().desired();
        let mut wakes = wakes();
        let mut sent = Vec::new();
        for _ in 0..1000 {
            wakes.ask(request());
            sent.extend(wakes.due(&desired, &settings(), now()));
        }
        let [wake] = &sent[..] else {
            panic!("{}", sent.len())
        };
        let annotations = &wake.annotations;
        let reason = Some("request to Service web".to_owned());
        let until = Some("2026-11-26T00:00:00Z".to_owned());
        assert!(
            annotations.contains(&(Key::Reason, reason)),
            "{annotations:?}"
        );
        assert_eq!(wake.until.to_rfc3339(), "2026-11-26T00:00:00+00:00");
        let written = annotations.iter().find(|(key, _)| *key == Key::WakeUntil);
        let written: DateTime<Utc> =
            dayshift_schedule::parse_date_time(written.unwrap().1.as_deref().unwrap(), Zone::UTC)
                .unwrap();
        assert_eq!(Some(written), until.and_then(|until| until.parse().ok()));
        wakes.finished(wake, &Ok(()));
        wakes.ask(request());
        assert!(
            wakes.due(&desired, &settings(), now()).is_empty(),
            "the watch has not shown it yet"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn rejected_wake_is_retried_with_backoff() {
        let desired = Cluster::new().asleep().with_service().desired();
        let mut wakes = wakes();
        wakes.ask(request());
        let mut tries = Vec::new();
        for second in 0..55 {
            for wake in wakes.due(&desired, &settings(), now()) {
                tries.push(second);
                wakes.finished(&wake, &refused());
            }
            advance(Duration::from_secs(1)).await;
        }
        assert!((4..=8).contains(&tries.len()), "{tries:?}");
        advance(Duration::from_secs(60)).await;
        wakes.due(&desired, &settings(), now());
        advance(Duration::from_secs(60)).await;
        let later = wakes.due(&desired, &settings(), now());
        assert!(later.is_empty(), "no connection waits any more");
    }

    #[tokio::test(start_paused = true)]
    async fn max_wake_limits_annotations() {
        let desired = Cluster::new().asleep().with_service().desired();
        let mut settings = settings();
        settings.wake_limits.longest = TimeDelta::minutes(30);
        let mut wakes = wakes();
        wakes.ask(request());
        let due = wakes.due(&desired, &settings, now());
        assert_eq!(due[0].until.to_rfc3339(), "2026-11-25T22:30:00+00:00");
    }

    /// Lets the clients use `web` at these seconds of a wake that begins at 22:00, each time with an activator
    /// that was just started. Returns the second of each write, and the end that it writes.
    fn prolonged(wake: &str, seconds: impl Iterator<Item = i64>) -> Vec<(i64, i64)> {
        let mut cluster = Cluster::new().with_service();
        let mut until = now() + TimeDelta::minutes(35);
        cluster.awake("web", wake, now(), until);
        let mut writes = Vec::new();
        for second in seconds {
            let at = now() + TimeDelta::seconds(second);
            if at >= until {
                break;
            }
            let mut wakes = asked();
            for wake in wakes.due(&cluster.desired_at(at), &settings(), at) {
                assert!(wake.is_prolonged());
                until = wake.until;
                writes.push((second, (until - now()).num_seconds()));
            }
            cluster.awake("web", wake, now(), until);
        }
        writes
    }

    #[test]
    fn use_prolongs_a_wake_with_one_write_in_five_minutes() {
        let always = prolonged("30m; while-used", (0..4 * 86_400).step_by(61));
        let (mut last_write, mut until) = (0, 35 * 60);
        for (second, end) in &always {
            assert!(second - last_write >= 300, "{last_write} {second}");
            // All uses since the last write are at least 30 minutes before its end.
            assert!(until - second >= 30 * 60 - 61, "{second} {until}");
            (last_write, until) = (*second, *end);
        }
        assert_eq!(until, 86_400, "a wake lasts at most a day");
        assert!(always.len() > 250, "{}", always.len());
        let once = prolonged("30m; while-used", [1_000].into_iter());
        assert_eq!(once, [(1_000, 1_000 + 35 * 60)]);
        let early = prolonged("30m; while-used", (0..300).step_by(20));
        assert_eq!(early, [], "no use is observed");
        let plain = prolonged("30m", (0..2_100).step_by(20));
        assert_eq!(plain, [], "without while-used");
        // Use after 22:10 does not count.
        let hours = prolonged("30m; while-used; 06:00-22:10", (0..86_400).step_by(20));
        assert_eq!(hours, [(300, 300 + 35 * 60)]);
    }

    #[test]
    fn wake_of_a_sleep_without_request_wakes_is_not_prolonged() {
        let mut cluster = Cluster::new().with_service();
        let later = now() + TimeDelta::minutes(10);
        for (sleep, expected) in [
            ("2026-11-26 09:00; no-request-wake", 0),
            ("2026-11-26 09:00", 1),
        ] {
            let annotations = json!({
                "dayshift/wake-on-request": "30m; while-used", "dayshift/sleep-until": sleep,
            });
            cluster.awake_with("web", annotations, now(), later);
            assert_eq!(due(&mut asked(), &cluster).len(), expected, "{sleep}");
        }
    }

    /// The request of a visitor who keeps `web` awake.
    fn visit() -> WakeRequest {
        WakeRequest {
            head: Some(Head {
                keeps_awake: true,
                ..Head::default()
            }),
            ..request()
        }
    }

    /// The new end of the wake of `web` after a visit at 22:00, in minutes from then.
    fn kept(annotations: Value, began: i64, until: i64) -> Option<i64> {
        let minutes = |minutes| now() + TimeDelta::minutes(minutes);
        let mut cluster = Cluster::new().with_service();
        cluster.awake_with("web", annotations, minutes(began), minutes(until));
        let mut wakes = wakes();
        wakes.ask(visit());
        let due = due(&mut wakes, &cluster);
        assert!(due.len() < 2, "{due:?}");
        let until = due.first().map(|wake| wake.until - now());
        until.map(|until| until.num_minutes())
    }

    #[test]
    fn visitor_keeps_a_workload_awake_for_the_duration_after_its_wake_began() {
        let wake = |text: &str| json!({"dayshift/wake-on-request": text});
        for (text, began, until, expected) in [
            ("2h; keep 8h", -60, 60, Some(420)),
            ("2h; keep 8h", 0, 120, Some(480)),
            ("2h; while-used; keep 8h", -60, 60, Some(420)),
            // Use prolongs it for longer than a visitor can.
            ("2h; while-used; keep 3h", -60, 119, Some(125)),
            ("2h; keep 8h", -60, 420, None),
            ("2h; keep 1h", -60, 60, None),
            ("2h", -60, 60, None),
            // At most `--max-wake`, which is a day.
            ("2h; keep 24h", -1_430, 5, Some(10)),
            ("2h; keep 24h", -1_439, 1, None),
            // It is 22:00.
            ("2h; keep 8h; 06:00-23:00", -60, 60, Some(420)),
            ("2h; keep 8h; 06:00-22:00", -60, 60, None),
        ] {
            let found = kept(wake(text), began, until);
            assert_eq!(found, expected, "{text} from {began} to {until}");
        }
        let sleep = json!({
            "dayshift/wake-on-request": "2h; keep 8h",
            "dayshift/sleep-until": "2026-11-26 09:00; no-request-wake",
        });
        assert_eq!(kept(sleep, -60, 60), None, "requests are ignored");
    }

    #[tokio::test(start_paused = true)]
    async fn thousand_visits_cause_one_patch_and_one_event() {
        let mut cluster = Cluster::new().with_service();
        let wake = "2h; keep 8h";
        cluster.awake("web", wake, now(), now() + TimeDelta::hours(2));
        let mut wakes = wakes();
        // A request without the form is recorded first.
        wakes.ask(request());
        let mut sent = Vec::new();
        for _ in 0..1000 {
            wakes.ask(visit());
            sent.extend(due(&mut wakes, &cluster));
        }
        let [wake_written] = &sent[..] else {
            panic!("{}", sent.len())
        };
        assert_eq!(wake_written.effect(), "keeps it awake");
        wakes.finished(wake_written, &Ok(()));
        cluster.awake("web", wake, now(), wake_written.until);
        for minute in 0..10 {
            advance(Duration::from_secs(60)).await;
            wakes.ask(visit());
            assert!(due(&mut wakes, &cluster).is_empty(), "{minute}");
        }
    }

    /// Visitors click while the page is new.
    #[tokio::test(start_paused = true)]
    async fn visitor_keeps_a_workload_awake_as_soon_as_the_watch_shows_its_wake() {
        let mut cluster = Cluster::new().with_service();
        let wake = "2h; keep 8h";
        cluster.workload("stopped", 0, json!({"dayshift/wake-on-request": wake}));
        let mut wakes = asked();
        let woken = due(&mut wakes, &cluster);
        wakes.finished(&woken[0], &Ok(()));
        wakes.ask(visit());
        assert!(due(&mut wakes, &cluster).is_empty(), "it is not awake yet");
        cluster.awake("web", wake, now(), woken[0].until);
        wakes.ask(visit());
        let kept = due(&mut wakes, &cluster);
        assert_eq!(kept[0].until, now() + TimeDelta::hours(8));
        wakes.finished(&kept[0], &Ok(()));
        wakes.ask(visit());
        assert!(
            due(&mut wakes, &cluster).is_empty(),
            "the watch has not shown it"
        );
    }

    #[test]
    fn visitor_wakes_and_starts_nothing_that_a_request_does_not() {
        for (state, replicas) in [("paused", 0), ("running", 0), ("running", 2)] {
            let mut cluster = Cluster::new().with_service();
            let annotations = json!({
                "dayshift/wake-on-request": "2h; keep 8h", "dayshift/wake-until": "2026-11-25T23:00:00Z",
            });
            cluster.workload(state, replicas, annotations);
            let mut wakes = wakes();
            wakes.ask(visit());
            assert!(due(&mut wakes, &cluster).is_empty(), "{state} {replicas}");
        }
    }

    #[test]
    fn visitor_keeps_the_dependencies_awake_too() {
        let mut cluster = Cluster::new().with_service();
        let end = |minutes| now() + TimeDelta::minutes(minutes);
        let web = json!({"dayshift/wake-on-request": "2h; keep 8h", "dayshift/after": "deploy/db; deploy/ci"});
        cluster.awake_with("web", web, end(-60), end(60));
        cluster.awake("db", "1h", end(-60), end(60));
        cluster.workload_named("ci", "running", 1, asking(None));
        let mut wakes = wakes();
        wakes.ask(visit());
        let due = due(&mut wakes, &cluster);
        assert_eq!(names(&due), BTreeSet::from(["db", "web"]));
        assert!(due.iter().all(|wake| wake.until == end(420)), "{due:?}");
    }

    #[test]
    fn use_prolongs_the_wakes_of_dependencies_too() {
        let mut cluster = Cluster::new().with_service();
        let end = |minutes| now() + TimeDelta::minutes(minutes);
        let began = end(-60);
        let with = |wake: &str, after: &str| json!({"dayshift/wake-on-request": wake, "dayshift/after": after});
        cluster.awake_with("web", with("30m; while-used", "deploy/api"), began, end(10));
        // It is awake for long enough.
        cluster.awake_with(
            "api",
            with("2h", "deploy/db; deploy/cache; deploy/ci"),
            began,
            end(60),
        );
        cluster.awake("db", "1h", began, end(10));
        cluster.awake("cache", "1h; 06:00-20:00", began, end(10));
        cluster.workload_named("ci", "running", 1, asking(None));
        let due = due(&mut asked(), &cluster);
        assert_eq!(names(&due), BTreeSet::from(["db", "web"]));
        assert!(due.iter().all(|wake| wake.until == end(35)), "{due:?}");
        // Without `while-used`, a dependency that runs is not changed.
        cluster.awake_with("web", with("30m", "deploy/api"), began, end(10));
        assert_eq!(names(&self::due(&mut asked(), &cluster)), BTreeSet::new());
    }

    #[test]
    fn sleep_override_keeps_its_reason() {
        let mut cluster = Cluster::new().with_service();
        cluster.workload(
            "slept",
            0,
            json!({
                "dayshift/wake-on-request": "2h", "dayshift/sleep-until": "2099-01-01 00:00",
                "dayshift/reason": "holidays", "dayshift/override-by": "jane",
            }),
        );
        let mut wakes = wakes();
        wakes.ask(request());
        let due = wakes.due(&cluster.desired(), &settings(), now());
        let keys: Vec<_> = due[0]
            .annotations
            .iter()
            .map(|annotation| annotation.0)
            .collect();
        assert_eq!(keys, [Key::WakeUntil]);
    }
}
