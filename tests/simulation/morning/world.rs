//! The controller in a cluster in memory, with pods that become ready, users and kills.

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::clock::Clock;
use dayshift_controller::{Scope, Settings, Telemetry, run as run_scaler};
use dayshift_workload::Kind;
use kube_in_memory::{Admission, Api, Fault, Status};
use serde_json::{Value, json};
use tokio::{task::JoinHandle, time::sleep};

use super::{
    oracle::Oracle,
    scenario::{END, Morning, NINE, Second, Step, Thing},
    seen::{Milli, Place},
};

/// The result of a morning.
pub(super) struct Outcome {
    pub(super) failure: Option<String>,
    pub(super) trace: Vec<String>,
    pub(super) starts: usize,
    pub(super) waited: usize,
    pub(super) notices: usize,
}

/// The interval of the checks.
const LOOK: Milli = 800;
const DAY: &str = "2026-11-24T00:00:00Z";

pub(super) fn run(morning: &Morning) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut world = World::of(morning);
        world.evening().await;
        world.pass_morning().await;
        let mut oracle = world.oracle();
        Outcome {
            failure: oracle.failure.take(),
            trace: std::mem::take(&mut oracle.trace),
            starts: oracle.starts,
            waited: oracle.waited,
            notices: oracle.notices(),
        }
    })
}

struct World<'m> {
    morning: &'m Morning,
    clock: Clock,
    day: DateTime<Utc>,
    api: Api,
    oracle: Arc<Mutex<Oracle>>,
    scaler: Option<JoinHandle<()>>,
    /// The objects whose patches are denied, each with the end of that.
    refused: Arc<Mutex<BTreeMap<Place, Milli>>>,
    /// The generation that the pods of each object have.
    generations: BTreeMap<Place, i64>,
    /// The server's latest resourceVersion at the last check.
    revision: u64,
    /// The future changes of pods.
    pods: BTreeSet<(Milli, usize, Pods)>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Pods {
    /// The new spec is observed, and no pod is ready.
    Seen,
    Ready,
}

impl<'m> World<'m> {
    fn of(morning: &'m Morning) -> Self {
        let day: DateTime<Utc> = DAY.parse().unwrap();
        let clock = Clock::simulated(day - TimeDelta::hours(6) - TimeDelta::minutes(1));
        let api = Api::new({
            let clock = clock.clone();
            move || clock.now()
        });
        for namespace in ["dev", "test"] {
            api.namespace(namespace);
        }
        Self {
            morning,
            clock,
            day,
            api,
            oracle: Arc::new(Mutex::new(Oracle::of(morning))),
            scaler: None,
            refused: Arc::default(),
            generations: BTreeMap::new(),
            revision: 0,
            pods: BTreeSet::new(),
        }
    }

    fn oracle(&self) -> MutexGuard<'_, Oracle> {
        self.oracle.lock().unwrap()
    }

    fn now(&self) -> Milli {
        (self.clock.now() - self.day).num_milliseconds()
    }

    /// Creates all objects; they run and are stopped at 18:00.
    async fn evening(&mut self) {
        for thing in &self.morning.objects {
            self.api.create(manifest(thing)).unwrap();
        }
        self.start();
        sleep(Duration::from_secs(90)).await;
        for thing in &self.morning.objects {
            assert_eq!(self.replicas(thing), 0, "{}", thing.name);
        }
        self.kill();
        let night = self.day + TimeDelta::seconds(NINE - 60);
        sleep((night - self.clock.now()).to_std().unwrap()).await;
        self.listen();
        for number in 0..self.morning.objects.len() {
            self.show(number, Pods::Seen);
        }
        self.start();
        let now = self.now();
        self.oracle().record_scaler(now, true);
    }

    async fn pass_morning(&mut self) {
        let mut steps = self.morning.steps.iter().peekable();
        while self.now() < END * 1000 && self.oracle().failure.is_none() {
            sleep(Duration::from_millis(LOOK.unsigned_abs())).await;
            let now = self.now();
            while let Some((_, step)) = steps.next_if(|(at, _)| at * 1000 <= now) {
                self.oracle().note(now, &format!("{step:?}"));
                self.apply(step, now);
            }
            self.update_pods(now);
            sleep(Duration::from_millis(1)).await;
            self.oracle().check_waits(now);
        }
    }

    /// Does the work of the controllers of Kubernetes: new specs are observed, and pods become ready.
    fn update_pods(&mut self, now: Milli) {
        let revision = self.api.revision();
        let is_news = std::mem::replace(&mut self.revision, revision) != revision;
        for number in (0..self.morning.objects.len()).filter(|_| is_news) {
            let thing = &self.morning.objects[number];
            let Some(object) = self.get(thing) else {
                continue;
            };
            let generation = object["metadata"]["generation"].as_i64().unwrap();
            let place = place(thing);
            if self.generations.insert(place, generation) != Some(generation) {
                self.pods.retain(|it| it.1 != number);
                self.pods.insert((now, number, Pods::Seen));
                if let Some(after) = thing.ready_after {
                    let after = Milli::try_from(after).unwrap();
                    self.pods.insert((now + after, number, Pods::Ready));
                }
            }
        }
        while let Some((_, number, pods)) = self.pods.first().copied().filter(|it| it.0 <= now) {
            self.pods.pop_first();
            self.show(number, pods);
        }
    }

    /// Writes the status.
    fn show(&mut self, number: usize, pods: Pods) {
        let thing = &self.morning.objects[number];
        let Some(object) = self.get(thing) else {
            return;
        };
        let count = object["spec"]["replicas"].as_i64().unwrap();
        let ready = if pods == Pods::Ready { count } else { 0 };
        let status = json!({
            "observedGeneration": object["metadata"]["generation"],
            "readyReplicas": ready,
        });
        let set = self
            .api
            .set_status("Deployment", thing.namespace, &thing.name, status);
        set.unwrap();
        let now = self.now();
        self.oracle()
            .record_readiness(&place(thing), now, ready > 0);
    }

    fn apply(&mut self, step: &Step, now: Milli) {
        let thing = |number: &usize| &self.morning.objects[*number];
        let minute = |second: Second| {
            let at = self.day + TimeDelta::seconds(second);
            at.format("%Y-%m-%dT%H:%M:%SZ").to_string()
        };
        match step {
            Step::Kill => {
                self.kill();
                self.oracle().record_scaler(now, false);
            }
            Step::Start => {
                self.start();
                self.oracle().record_scaler(now, true);
            }
            Step::WakeUntil(number, until) => {
                if self.annotate(thing(number), "wake-until", Some(&minute(*until))) {
                    self.oracle()
                        .record_wake(&place(thing(number)), now, *until);
                }
            }
            Step::SleepUntil(number, until) => {
                if self.annotate(thing(number), "sleep-until", Some(&minute(*until))) {
                    self.oracle()
                        .record_sleep(&place(thing(number)), now, *until);
                }
            }
            Step::Resume(number) => {
                let thing = thing(number);
                let holds = |key: &str| {
                    let object = self.get(thing)?;
                    let key = format!("dayshift/{key}");
                    let text = object["metadata"]["annotations"][key].as_str()?.to_owned();
                    Some(text.parse::<DateTime<Utc>>().unwrap() > self.clock.now())
                };
                if ["wake-until", "sleep-until"]
                    .iter()
                    .all(|it| holds(it) != Some(false))
                {
                    let wake = holds("wake-until").is_some();
                    let sleep = holds("sleep-until").is_some();
                    if wake {
                        self.annotate(thing, "wake-until", None);
                    }
                    if sleep {
                        self.annotate(thing, "sleep-until", None);
                    }
                    if wake || sleep {
                        self.oracle().record_resume(&place(thing), now);
                    }
                }
            }
            Step::Hours(number, start) => {
                let thing = thing(number);
                if self.annotate(thing, "hours", Some(&hours(*start))) {
                    self.oracle().record_hours(&place(thing), now, *start);
                }
            }
            Step::Delete(number) => {
                let thing = thing(number);
                if self.api.delete(thing.namespace, &thing.name).is_ok() {
                    self.oracle().record_deletion(&place(thing), now);
                }
            }
            Step::Touch(number) => {
                let thing = thing(number);
                let text = now.to_string();
                let key = "example.com/touched";
                drop(
                    self.api
                        .annotate(thing.namespace, &thing.name, key, Some(&text)),
                );
            }
            Step::Flicker(number, seconds) => {
                let is_ready = |it: &Value| it["status"]["readyReplicas"].as_i64() > Some(0);
                if self.get(thing(number)).is_some_and(|it| is_ready(&it)) {
                    let back = now + Milli::try_from(*seconds).unwrap() * 1000;
                    self.pods.insert((now, *number, Pods::Seen));
                    self.pods.insert((back, *number, Pods::Ready));
                }
            }
            Step::Refuse(number, until) => {
                let place = place(thing(number));
                self.oracle().record_refusal(&place);
                self.refused.lock().unwrap().insert(place, until * 1000);
            }
        }
    }

    fn annotate(&self, thing: &Thing, key: &str, text: Option<&str>) -> bool {
        let key = format!("dayshift/{key}");
        let before = self
            .get(thing)
            .map(|it| it["metadata"]["annotations"][&key].clone());
        let is_news = before.is_some_and(|it| it.as_str() != text);
        let (namespace, name) = (thing.namespace, &thing.name);
        is_news && self.api.annotate(namespace, name, &key, text).is_ok()
    }

    fn get(&self, thing: &Thing) -> Option<Value> {
        self.api.get("Deployment", thing.namespace, &thing.name)
    }

    fn replicas(&self, thing: &Thing) -> i64 {
        let object = self.get(thing).unwrap();
        object["spec"]["replicas"].as_i64().unwrap()
    }

    /// Passes each accepted write to the oracle.
    fn listen(&self) {
        let (oracle, clock, day) = (self.oracle.clone(), self.clock.clone(), self.day);
        let now = move || (clock.now() - day).num_milliseconds();
        self.api.on_request({
            let (refused, now) = (self.refused.clone(), now.clone());
            move |line| {
                let place = (line.namespace.clone(), line.name.clone());
                let until = refused.lock().unwrap().get(&place).copied();
                let is_refused = line.verb == "patch" && until.is_some_and(|it| now() < it);
                let denied = Status::denied_by_policy;
                let why = || denied("apps", "deployments", &line.name, "nights", "not now");
                is_refused.then(|| Fault::Answer(why()))
            }
        });
        self.api.on_admission(move |admission| {
            if let Admission {
                resource: "deployments",
                old: Some(_),
                new,
                ..
            } = admission
                && new.is_object()
            {
                let place = (admission.namespace.to_owned(), admission.name.to_owned());
                oracle.lock().unwrap().wrote(&place, now(), new);
            }
            if admission.resource == "events" {
                oracle
                    .lock()
                    .unwrap()
                    .check_event(admission.new, day, now());
            }
            None
        });
    }

    fn start(&mut self) {
        let client = self.api.client_as("scaler");
        let settings = Settings {
            scope: Scope {
                kinds: vec![Kind::DEPLOYMENT],
                namespace_defaults: false,
                ..Scope::default()
            },
            max_starting: self.morning.max_starting.and_then(NonZeroUsize::new),
            seed: self.morning.seed,
            ..Settings::default()
        };
        let clock = self.clock.clone();
        let telemetry = Arc::new(Telemetry::new(clock.now()));
        self.scaler = Some(tokio::spawn(async move {
            run_scaler(client, clock, settings, telemetry, std::future::pending()).await;
        }));
    }

    fn kill(&mut self) {
        if let Some(scaler) = self.scaler.take() {
            scaler.abort();
        }
    }
}

fn place(thing: &Thing) -> Place {
    (thing.namespace.to_owned(), thing.name.clone())
}

fn hours(start: Second) -> String {
    format!("{:02}:{:02}-18:00", start / 3600, start / 60 % 60)
}

fn manifest(thing: &Thing) -> Value {
    let mut annotations = json!({"dayshift/hours": hours(thing.start)});
    if !thing.after.is_empty() {
        annotations["dayshift/after"] = json!(thing.after);
    }
    if let Some((text, _)) = thing.ready_within {
        annotations["dayshift/ready-within"] = json!(text);
    }
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "namespace": thing.namespace, "name": thing.name, "annotations": annotations,
        },
        "spec": {
            "replicas": thing.replicas,
            "selector": {"matchLabels": {"app": thing.name}},
            "template": {
                "metadata": {"labels": {"app": thing.name}},
                "spec": {"containers": [{"name": "web", "image": "web"}]},
            },
        },
    })
}
