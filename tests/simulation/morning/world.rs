//! The controller in a cluster in memory, with pods that become ready, users and kills.

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::clock::Clock;
use dayshift_controller::{Scope, Settings};
use dayshift_workload::Kind;
use kube_in_memory::{Admission, Api, Fault, Status};
use serde_json::{Value, json};
use tokio::{task::JoinHandle, time::sleep};

use super::{
    known::{Milli, Place},
    oracle::Oracle,
    scenario::{END, Morning, MorningStep, MorningWorkload, NINE, Second},
};
use crate::harness::day::{cluster_at, deployment, on_paused_time, start_controller};

/// The result of a morning.
pub(super) struct MorningResult {
    pub(super) failure: Option<String>,
    pub(super) trace: Vec<String>,
    pub(super) starts: usize,
    pub(super) waited: usize,
    pub(super) notices: usize,
}

/// The interval of the checks.
const LOOK: Milli = 800;
const DAY: &str = "2026-11-24T00:00:00Z";

pub(super) fn run(morning: &Morning) -> MorningResult {
    on_paused_time(async {
        let mut world = World::of(morning);
        world.evening().await;
        world.pass_morning().await;
        let mut oracle = world.oracle();
        MorningResult {
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
    controller: Option<JoinHandle<()>>,
    /// The objects whose patches are denied, and until when.
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
    Observed,
    Ready,
}

impl<'m> World<'m> {
    fn of(morning: &'m Morning) -> Self {
        let day: DateTime<Utc> = DAY.parse().unwrap();
        let begin = day - TimeDelta::hours(6) - TimeDelta::minutes(1);
        let (clock, api) = cluster_at(begin, &["dev", "test"]);
        Self {
            morning,
            clock,
            day,
            api,
            oracle: Arc::new(Mutex::new(Oracle::of(morning))),
            controller: None,
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
        for workload in &self.morning.objects {
            self.api.create(manifest(workload)).unwrap();
        }
        self.start();
        sleep(Duration::from_secs(90)).await;
        for workload in &self.morning.objects {
            assert_eq!(self.replicas(workload), 0, "{}", workload.name);
        }
        self.kill();
        let night = self.day + TimeDelta::seconds(NINE - 60);
        sleep((night - self.clock.now()).to_std().unwrap()).await;
        self.listen();
        for number in 0..self.morning.objects.len() {
            self.show(number, Pods::Observed);
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
            let workload = &self.morning.objects[number];
            let Some(object) = self.get(workload) else {
                continue;
            };
            let generation = object["metadata"]["generation"].as_i64().unwrap();
            let place = place(workload);
            if self.generations.insert(place, generation) != Some(generation) {
                self.pods.retain(|it| it.1 != number);
                self.pods.insert((now, number, Pods::Observed));
                if let Some(after) = workload.ready_after {
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
        let workload = &self.morning.objects[number];
        let Some(object) = self.get(workload) else {
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
            .set_status("Deployment", workload.namespace, &workload.name, status);
        set.unwrap();
        let now = self.now();
        self.oracle()
            .record_readiness(&place(workload), now, ready > 0);
    }

    fn apply(&mut self, step: &MorningStep, now: Milli) {
        let workload = |number: &usize| &self.morning.objects[*number];
        let minute = |second: Second| {
            let at = self.day + TimeDelta::seconds(second);
            at.format("%Y-%m-%dT%H:%M:%SZ").to_string()
        };
        match step {
            MorningStep::Kill => {
                self.kill();
                self.oracle().record_scaler(now, false);
            }
            MorningStep::Start => {
                self.start();
                self.oracle().record_scaler(now, true);
            }
            MorningStep::WakeUntil(number, until) => {
                if self.annotate(workload(number), "wake-until", Some(&minute(*until))) {
                    self.oracle()
                        .record_wake(&place(workload(number)), now, *until);
                }
            }
            MorningStep::SleepUntil(number, until) => {
                if self.annotate(workload(number), "sleep-until", Some(&minute(*until))) {
                    self.oracle()
                        .record_sleep(&place(workload(number)), now, *until);
                }
            }
            MorningStep::Resume(number) => {
                let workload = workload(number);
                let holds = |key: &str| {
                    let object = self.get(workload)?;
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
                        self.annotate(workload, "wake-until", None);
                    }
                    if sleep {
                        self.annotate(workload, "sleep-until", None);
                    }
                    if wake || sleep {
                        self.oracle().record_resume(&place(workload), now);
                    }
                }
            }
            MorningStep::Hours(number, start) => {
                let workload = workload(number);
                if self.annotate(workload, "hours", Some(&hours(*start))) {
                    self.oracle().record_hours(&place(workload), now, *start);
                }
            }
            MorningStep::Delete(number) => {
                let workload = workload(number);
                if self.api.delete(workload.namespace, &workload.name).is_ok() {
                    self.oracle().record_deletion(&place(workload), now);
                }
            }
            MorningStep::Touch(number) => {
                let workload = workload(number);
                let text = now.to_string();
                let key = "example.com/touched";
                drop(
                    self.api
                        .annotate(workload.namespace, &workload.name, key, Some(&text)),
                );
            }
            MorningStep::Flicker(number, seconds) => {
                let is_ready = |it: &Value| it["status"]["readyReplicas"].as_i64() > Some(0);
                if self.get(workload(number)).is_some_and(|it| is_ready(&it)) {
                    let back = now + Milli::try_from(*seconds).unwrap() * 1000;
                    self.pods.insert((now, *number, Pods::Observed));
                    self.pods.insert((back, *number, Pods::Ready));
                }
            }
            MorningStep::Refuse(number, until) => {
                let place = place(workload(number));
                self.oracle().record_refusal(&place);
                self.refused.lock().unwrap().insert(place, until * 1000);
            }
        }
    }

    fn annotate(&self, workload: &MorningWorkload, key: &str, text: Option<&str>) -> bool {
        let key = format!("dayshift/{key}");
        let before = self
            .get(workload)
            .map(|it| it["metadata"]["annotations"][&key].clone());
        let is_news = before.is_some_and(|it| it.as_str() != text);
        let (namespace, name) = (workload.namespace, &workload.name);
        is_news && self.api.annotate(namespace, name, &key, text).is_ok()
    }

    fn get(&self, workload: &MorningWorkload) -> Option<Value> {
        self.api
            .get("Deployment", workload.namespace, &workload.name)
    }

    fn replicas(&self, workload: &MorningWorkload) -> i64 {
        let object = self.get(workload).unwrap();
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
        self.controller = Some(start_controller(&self.api, &self.clock, settings));
    }

    fn kill(&mut self) {
        if let Some(controller) = self.controller.take() {
            controller.abort();
        }
    }
}

fn place(workload: &MorningWorkload) -> Place {
    (workload.namespace.to_owned(), workload.name.clone())
}

fn hours(start: Second) -> String {
    format!("{:02}:{:02}-18:00", start / 3600, start / 60 % 60)
}

fn manifest(workload: &MorningWorkload) -> Value {
    let mut annotations = json!({"dayshift/hours": hours(workload.start)});
    if !workload.after.is_empty() {
        annotations["dayshift/after"] = json!(workload.after);
    }
    if let Some((text, _)) = workload.ready_within {
        annotations["dayshift/ready-within"] = json!(text);
    }
    let place = (workload.namespace, &*workload.name);
    deployment(place, workload.replicas, &annotations)
}
