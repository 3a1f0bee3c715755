//! Wakes: one patch for a workload, however many connections wait for it. [`request_wakes`] tells a
//! simulation what a request would wake, without a connection or a write.

use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use chrono::{DateTime, SubsecRound as _, TimeDelta, Utc};
use dayshift_cluster::write::PatchError;
use dayshift_schedule::{Tzdata, Zone};
use dayshift_workload::{
    AnnotationChange, Dependency, Key, Observed, Override, OverrideCommand, WorkloadRef,
};
use tokio::time::Instant;

use crate::{
    backoff::Backoffs,
    desired::{DesiredState, target},
    http::Head,
    index::stays_stopped,
    routes::{Prospect, Route, Routes, WakeDependencies, WakeTarget},
    service::ServiceName,
    settings::Settings,
};

/// A connection that asks for a wake.
#[derive(Clone, Debug)]
pub(crate) struct WakeRequest {
    pub(crate) service: ServiceName,
    pub(crate) port: Box<str>,
    pub(crate) from: IpAddr,
    pub(crate) head: Option<Head>,
}

impl WakeRequest {
    /// What asks for what, in words: `A request from 10.0.0.1 for dev.example.com/ to Service web, port
    /// http,`.
    pub(crate) fn words(&self) -> String {
        let what = match &self.head {
            None => format!("A connection from {}", self.from),
            Some(head) => format!(
                "A request from {} for {}{}",
                self.from, head.host, head.path
            ),
        };
        let port = match &*self.port {
            "" => String::new(),
            port => format!(", port {port},"),
        };
        format!("{what} to Service {}{port}", self.service.name)
    }
}

/// A workload that is to be woken, and by what.
#[derive(Clone, Debug)]
pub(crate) struct Wake {
    pub(crate) target: Arc<WakeTarget>,
    pub(crate) request: WakeRequest,
    pub(crate) until: DateTime<Utc>,
    pub(crate) annotations: Vec<AnnotationChange>,
    /// For which other workload, if it is not one of the Service that was asked for.
    pub(crate) needed_by: Option<Dependency>,
    /// What it needs that stays stopped, each with the reason.
    pub(crate) without: Vec<String>,
}

/// The wakes that are wanted and under way.
pub(crate) struct Wakes {
    /// Services that somebody has asked for.
    wanted: BTreeMap<ServiceName, RequestedService>,
    /// The UIDs of workloads whose patch is under way.
    in_flight: HashSet<Arc<str>>,
    /// The UIDs of those that are not patched for a while.
    pauses: Backoffs<Arc<str>>,
    /// Services that were woken, and when.
    starting: HashMap<ServiceName, Instant>,
    took: StartDurations,
}

/// A Service that somebody has asked for.
pub(crate) struct RequestedService {
    request: WakeRequest,
    since: Instant,
    /// Until when workloads were to be woken for it, by UID: what they need is woken as long, even if they
    /// are quicker.
    until: HashMap<Arc<str>, DateTime<Utc>>,
}

impl Wakes {
    pub(crate) fn new(took: StartDurations, seed: u64) -> Self {
        Self {
            wanted: BTreeMap::new(),
            in_flight: HashSet::new(),
            pauses: Backoffs::new(seed),
            starting: HashMap::new(),
            took,
        }
    }

    /// Takes in what somebody asks for.
    pub(crate) fn ask(&mut self, request: WakeRequest) {
        let service = request.service.clone();
        self.wanted
            .entry(service)
            .or_insert_with(|| RequestedService::by(request));
    }

    /// The wakes that are due: what is wanted and what that needs, asleep and not being woken yet.
    /// What two of them need is woken once, for the longer of both.
    pub(crate) fn due(
        &mut self,
        cover: &DesiredState,
        settings: &Settings,
        now: DateTime<Utc>,
    ) -> Vec<Wake> {
        let at = Instant::now();
        let mut due: BTreeMap<Arc<str>, Wake> = BTreeMap::new();
        self.wanted.retain(|service, known| {
            let Some(route) = cover.routes.get(service) else {
                return false;
            };
            let wanted = route.targets.iter();
            let mut wanted: Vec<_> = wanted
                .flat_map(|target| known.wakes_of(target, &cover.needs, settings.max_wake, now))
                .collect();
            let is_wanted = !wanted.is_empty();
            wanted.retain(|wake| {
                let uid = wake.uid();
                !self.pauses.is_paused(uid, at) && !self.in_flight.contains(uid)
            });
            for wake in wanted {
                let uid = Arc::clone(wake.uid());
                if due.get(&uid).is_none_or(|known| known.until < wake.until) {
                    due.insert(uid, wake);
                }
            }
            is_wanted && known.since.elapsed() < settings.hold
        });
        self.in_flight.extend(due.keys().cloned());
        due.into_values().collect()
    }

    /// A patch has ended.
    pub(crate) fn finished(&mut self, wake: &Wake, result: &Result<(), PatchError>) {
        let uid = &wake.target.observed.object.uid;
        self.in_flight.remove(uid);
        match result {
            Ok(()) => {
                // The watch shows it in a moment; until then it must not be patched again.
                self.pauses.rest(uid.clone(), Duration::from_secs(5));
                self.starting
                    .entry(wake.request.service.clone())
                    .or_insert_with(Instant::now);
            }
            Err(PatchError::Conflict) => {
                self.pauses.rest(uid.clone(), Duration::from_millis(100));
            }
            Err(_) => self.pauses.fail(uid.clone()),
        }
    }

    /// Notes what is ready by now, and forgets what is over.
    pub(crate) fn note(&mut self, routes: &Routes) {
        let took = &self.took;
        self.starting.retain(|service, since| {
            let route = routes.get(service);
            let is_ready = route
                .is_some_and(|route| route.ready.values().any(|backends| !backends.is_empty()));
            if is_ready {
                took.note(service, since.elapsed());
            }
            !is_ready && route.is_some() && since.elapsed() < Duration::from_secs(3600)
        });
        self.pauses.forget_calm();
    }
}

impl Wake {
    fn uid(&self) -> &Arc<str> {
        &self.target.observed.object.uid
    }
}

impl RequestedService {
    /// Asked for now.
    pub(crate) fn by(request: WakeRequest) -> Self {
        Self {
            request,
            since: Instant::now(),
            until: HashMap::new(),
        }
    }

    /// The wakes of a workload of the Service, and of what it needs: until the same instant, however long
    /// a request to those would wake them. Of one that starts already, only of what it needs.
    pub(crate) fn wakes_of(
        &mut self,
        root: &Arc<WakeTarget>,
        needs: &WakeDependencies,
        max_wake: TimeDelta,
        now: DateTime<Utc>,
    ) -> Vec<Wake> {
        let uid = &root.observed.object.uid;
        let is_wakeable = root.is_wakeable(now);
        let until = match root.starts_until.or(self.until.get(uid).copied()) {
            _ if is_wakeable => now + root.wake.lasts,
            Some(until) => until,
            None => return Vec::new(),
        };
        let until = until.min(now + max_wake).trunc_subsecs(0);
        self.until.insert(uid.clone(), until);
        let with = needs.woken_with(root, now);
        let needed_by = Dependency::from_workload(&root.observed.object);
        let needed = with.targets.iter();
        let mut wakes: Vec<_> = needed
            .map(|target| wake(target, &self.request, until, Some(needed_by.clone())))
            .collect();
        if is_wakeable {
            let mut own = wake(root, &self.request, until, None);
            own.without = with.without;
            wakes.push(own);
        }
        wakes
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
    let annotations = command.annotations(inputs, target.zone);
    // Somebody's sleep goes on after the wake, with its author and reason.
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

/// How many starts are remembered for each Service, and for how many Services.
const MAX_STARTS: usize = 3;
const MAX_SERVICES: usize = 10_000;

/// How long the last starts took, in seconds, by Service.
#[derive(Clone, Debug, Default)]
pub(crate) struct StartDurations(Arc<Mutex<HashMap<ServiceName, VecDeque<u64>>>>);

impl StartDurations {
    /// The last ones, the newest first.
    pub(crate) fn last(&self, service: &ServiceName) -> Vec<u64> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(service)
            .map(|starts| starts.iter().copied().collect())
            .unwrap_or_default()
    }

    fn note(&self, service: &ServiceName, took: Duration) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_SERVICES {
            all.clear();
        }
        let starts = all.entry(service.clone()).or_default();
        starts.push_front(took.as_secs().max(1));
        starts.truncate(MAX_STARTS);
    }
}

/// A workload that a request wakes.
#[derive(Clone, Debug)]
pub struct RequestedWake {
    /// Which one.
    pub object: WorkloadRef,
    /// Until when.
    pub until: DateTime<Utc>,
    /// What is written on it.
    pub annotations: Vec<AnnotationChange>,
}

/// What a request to a Service of this workload wakes at that instant: itself and what it needs, of all
/// that there are.
///
/// # Errors
/// It wakes nothing: why.
pub fn request_wakes(
    object: &WorkloadRef,
    all: &[&Observed],
    default_zone: Zone,
    tzdata: &Tzdata,
    now: DateTime<Utc>,
) -> Result<Vec<RequestedWake>, &'static str> {
    let all = all
        .iter()
        .filter(|observed| observed.object.namespace == object.namespace);
    let mut needs = WakeDependencies::default();
    let mut root = None;
    for observed in all.clone() {
        let Some(target) = target(observed, default_zone, tzdata, now).map(Arc::new) else {
            continue;
        };
        needs.add(&target, |needed| {
            let mut others = all.clone();
            others.any(|observed| needed.is(&observed.object) && stays_stopped(observed))
        });
        if observed.object == *object {
            root = Some(target);
        }
    }
    let root = root.ok_or("it has no schedule, or does not ask for it by wake-on-request")?;
    let route = Route {
        ports: BTreeMap::new(),
        targets: vec![Arc::clone(&root)],
        ready: BTreeMap::new(),
        selector: BTreeMap::new(),
    };
    match route.prospect(now) {
        Prospect::Running => return Err("it runs, or starts already"),
        Prospect::Nothing(why) => return Err(why),
        Prospect::Wakeable => {}
    }
    let mut wanted = RequestedService::by(WakeRequest {
        service: ServiceName {
            namespace: object.namespace.clone(),
            name: (&*object.name).into(),
        },
        port: "".into(),
        from: IpAddr::from([127, 0, 0, 1]),
        head: None,
    });
    // The longest that an annotation can ask for is the default of --max-wake too.
    let wakes = wanted.wakes_of(&root, &needs, TimeDelta::hours(24), now);
    let wakes = wakes.into_iter().map(|wake| RequestedWake {
        object: wake.target.observed.object.clone(),
        until: wake.until,
        annotations: wake.annotations,
    });
    Ok(wakes.collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};
    use tokio::time::advance;

    use super::*;
    use crate::test_cluster::{Cluster, at, name, settings};

    fn now() -> DateTime<Utc> {
        at("2026-11-25T22:00:00Z")
    }

    /// A cluster with a Service of `web`, which is asleep and needs this.
    fn needing(after: &str) -> Cluster {
        let mut cluster = Cluster::new().with_service();
        let web = json!({"dayshift/wake-on-request": "2h", "dayshift/after": after});
        cluster.workload("stopped", 0, web);
        cluster
    }

    /// Annotations of what asks to be woken, and has to have `after` ready first.
    fn asking(after: Option<&str>) -> Value {
        let mut annotations = json!({"dayshift/wake-on-request": "1h"});
        if let Some(after) = after {
            annotations["dayshift/after"] = json!(after);
        }
        annotations
    }

    fn asked() -> Wakes {
        let mut wakes = Wakes::new(StartDurations::default(), 1);
        wakes.ask(WakeRequest {
            service: name("dev", "web"),
            port: "http".into(),
            from: IpAddr::from([10, 0, 0, 1]),
            head: None,
        });
        wakes
    }

    fn due(wakes: &mut Wakes, cluster: &Cluster) -> Vec<Wake> {
        wakes.due(&cluster.cover(), &settings(), now())
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
    fn what_it_needs_and_what_that_needs_is_woken_until_the_same_instant() {
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
    fn who_does_not_ask_for_it_is_not_woken_for_others_and_that_is_told() {
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
                Some("deploy/db, which stays stopped: somebody else has scaled it to 0"),
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
        assert_eq!((due.len(), without(&due).len()), (1, 0), "it is not there");
    }

    #[test]
    fn a_circle_is_woken_once() {
        let mut cluster = needing("deploy/api");
        cluster.workload_named("api", "stopped", 0, asking(Some("deploy/web; deploy/api")));
        let due = due(&mut asked(), &cluster);
        assert_eq!(
            (due.len(), names(&due)),
            (2, BTreeSet::from(["api", "web"]))
        );
    }

    #[test]
    fn what_is_needed_and_asked_for_itself_is_woken_once_for_the_longer_of_both() {
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

    /// Its wake may be refused while that of `web` is not.
    #[tokio::test(start_paused = true)]
    async fn what_is_needed_is_tried_again_after_the_workload_is_awake() {
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

    /// As when another replica of the activator has sent one of two patches and was killed.
    #[test]
    fn what_a_workload_needs_that_starts_already_is_woken_as_long() {
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
        Wakes::new(StartDurations::default(), 1)
    }

    fn refused() -> Result<(), PatchError> {
        Err(PatchError::Rejected("no".to_owned()))
    }

    #[tokio::test(start_paused = true)]
    async fn a_thousand_that_wait_make_one_patch() {
        let cover = Cluster::new().asleep().with_service().cover();
        let mut wakes = wakes();
        let mut sent = Vec::new();
        for _ in 0..1000 {
            wakes.ask(request());
            sent.extend(wakes.due(&cover, &settings(), now()));
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
            wakes.due(&cover, &settings(), now()).is_empty(),
            "the watch is late"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_wake_that_is_refused_is_tried_again_and_not_at_once() {
        let cover = Cluster::new().asleep().with_service().cover();
        let mut wakes = wakes();
        wakes.ask(request());
        let mut tries = Vec::new();
        for second in 0..55 {
            for wake in wakes.due(&cover, &settings(), now()) {
                tries.push(second);
                wakes.finished(&wake, &refused());
            }
            advance(Duration::from_secs(1)).await;
        }
        assert!((4..=8).contains(&tries.len()), "{tries:?}");
        advance(Duration::from_secs(60)).await;
        wakes.due(&cover, &settings(), now());
        advance(Duration::from_secs(60)).await;
        let later = wakes.due(&cover, &settings(), now());
        assert!(later.is_empty(), "nobody waits any more");
    }

    #[tokio::test(start_paused = true)]
    async fn no_annotation_wakes_for_longer_than_the_limit() {
        let cover = Cluster::new().asleep().with_service().cover();
        let mut settings = settings();
        settings.max_wake = TimeDelta::minutes(30);
        let mut wakes = wakes();
        wakes.ask(request());
        let due = wakes.due(&cover, &settings, now());
        assert_eq!(due[0].until.to_rfc3339(), "2026-11-25T22:30:00+00:00");
    }

    #[test]
    fn somebodys_sleep_keeps_its_reason() {
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
        let due = wakes.due(&cluster.cover(), &settings(), now());
        let keys: Vec<_> = due[0]
            .annotations
            .iter()
            .map(|annotation| annotation.0)
            .collect();
        assert_eq!(keys, [Key::WakeUntil]);
    }
}
