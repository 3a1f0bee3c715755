//! A core for tests, without a runtime or a server. Tests set the time, and read effects as text.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write as _,
    sync::Arc,
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::{
    Workload,
    read::NamespaceMeta,
    watch::{ObjectName, ReflectorEvent},
    write::{Patch, PatchError},
};
use dayshift_workload::{Kind, Label, Prefix};
use serde_json::{Map, Value, json};

use crate::{
    clock::guard::Now,
    core::{
        Core,
        io::{Effect, Input, Purpose, Request, Response, WatchInput},
    },
    ids::RequestId,
    settings::{Settings, Watched},
    telemetry::{metrics::Telemetry, snapshot::WorkStatus},
};

/// No effects.
pub(super) const NO_EFFECTS: [&str; 0] = [];

/// A builder of Deployments.
#[derive(Clone)]
pub(super) struct Deployment(Value);

pub(super) fn deployment(name: &str) -> Deployment {
    Deployment(json!({
        "metadata": {"namespace": "dev", "name": name, "uid": name, "annotations": {}, "labels": {}},
        "spec": {"replicas": 3},
    }))
}

impl Deployment {
    pub(super) fn replicas(mut self, count: u32) -> Self {
        self.0["spec"]["replicas"] = count.into();
        self
    }

    pub(super) fn namespace(mut self, name: &str) -> Self {
        self.0["metadata"]["namespace"] = name.into();
        self
    }

    pub(super) fn hours(self, text: &str) -> Self {
        self.annotation("hours", text)
    }

    pub(super) fn stop(self, text: &str) -> Self {
        self.annotation("stop", text)
    }

    /// Sets the creation time, in seconds since the Unix epoch.
    pub(super) fn created(mut self, seconds: u32) -> Self {
        let at = DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds.into());
        self.0["metadata"]["creationTimestamp"] = at.to_rfc3339().into();
        self
    }

    pub(super) fn annotation(mut self, key: &str, text: &str) -> Self {
        self.0["metadata"]["annotations"][format!("dayshift/{key}")] = text.into();
        self
    }

    pub(super) fn label(mut self, key: &str, text: &str) -> Self {
        self.0["metadata"]["labels"][format!("dayshift/{key}")] = text.into();
        self
    }

    fn name(&self) -> &str {
        self.0["metadata"]["name"].as_str().unwrap()
    }
}

/// A core, the current time, and the objects in the cluster.
pub(super) struct Rig {
    pub(super) core: Core,
    telemetry: Arc<Telemetry>,
    now: Now,
    objects: HashMap<String, Deployment>,
    version: u32,
    /// The requests in flight, by the name of their object.
    requests: BTreeMap<String, Vec<(RequestId, Option<Value>)>>,
    effects: Vec<String>,
    max_decisions: usize,
    /// The most bytes of annotations that were parsed in one step.
    max_parsed: usize,
}

impl Rig {
    /// A controller with the default settings that has listed an empty cluster.
    pub(super) fn at(wall: &str) -> Self {
        Self::with(wall, Settings::default())
    }

    /// A controller with these settings that has listed an empty cluster.
    pub(super) fn with(wall: &str, settings: Settings) -> Self {
        let wall = wall.parse().unwrap();
        let telemetry = Arc::new(Telemetry::new(wall));
        let watches = settings.scope.watches().count();
        let mut rig = Self {
            core: Core::new(settings, Arc::clone(&telemetry)),
            telemetry,
            now: Now {
                wall,
                elapsed: Duration::from_secs(100),
                ahead: Some(TimeDelta::zero()),
            },
            objects: HashMap::new(),
            version: 100,
            requests: BTreeMap::new(),
            effects: Vec::new(),
            max_decisions: 0,
            max_parsed: 0,
        };
        for watch in 0..watches {
            let opened = ReflectorEvent::Opened {
                unverified_version: None,
            };
            for event in [opened, ReflectorEvent::Listed { objects: 0 }] {
                rig.step(Input::Watch(watch, WatchInput::Namespace(event)));
            }
        }
        rig.effects.clear();
        rig
    }

    /// Adds objects and responds to their adoptions.
    pub(super) fn adopted(mut self, objects: impl IntoIterator<Item = Deployment>) -> Self {
        let objects: Vec<_> = objects.into_iter().collect();
        for object in &objects {
            self.apply(object.clone());
        }
        self.respond_to_all();
        self.max_decisions = 0;
        self.max_parsed = 0;
        self.effects.clear();
        self
    }

    /// Responds to requests until none is in flight.
    pub(super) fn respond_to_all(&mut self) {
        loop {
            let waiting = self.requests.keys().next().cloned();
            match waiting {
                Some(name) => self.respond_to(&name),
                None if self.core.next_wake(self.now) <= self.now.wall => self.step(Input::Tick),
                None => return,
            }
        }
    }

    fn step(&mut self, input: Input) {
        let before = self.all_decisions();
        let parsed_before = self.core.store.parse_cache.parsed_bytes;
        let mut effects = Vec::new();
        self.core.step(self.now, input, &mut effects);
        let decisions = self.all_decisions() - before;
        self.max_decisions = self.max_decisions.max(decisions);
        let parsed = self.core.store.parse_cache.parsed_bytes - parsed_before;
        self.max_parsed = self.max_parsed.max(parsed);
        for effect in effects {
            let words = self.describe(effect);
            self.effects.push(words);
        }
        self.core
            .store
            .publish(usize::MAX, self.now.wall, |_, _| {});
    }

    fn describe(&mut self, effect: Effect) -> String {
        match effect {
            Effect::Flush => "flush".to_owned(),
            Effect::Relist => "relist".to_owned(),
            Effect::Abort(_) => "abort".to_owned(),
            Effect::Team { namespace, team } => format!("team {namespace}: {team:?}"),
            Effect::Send(id, request) => {
                let change = self.change(id);
                let (name, words, patch) = match request {
                    Request::Patch(object, patch) => {
                        let words = format!("patch {}: {change}", object.name);
                        (object.name.to_string(), words, Some(json_of(&patch)))
                    }
                    Request::Read(object) => (
                        object.name.to_string(),
                        format!("read {}", object.name),
                        None,
                    ),
                    Request::Managers(object) => {
                        let words = format!("managers {}", object.name);
                        (object.name.to_string(), words, None)
                    }
                    Request::Event(event) => {
                        let (name, reason) = (&event.object.name, event.text.reason);
                        (String::new(), format!("event {name}: {reason}"), None)
                    }
                    Request::Jobs(pass) => {
                        let words = format!("jobs {}", pass.namespace);
                        (String::new(), words, None)
                    }
                    Request::Version { kind, .. } => {
                        (String::new(), format!("version of {kind}"), None)
                    }
                    Request::Probe(object) => {
                        (String::new(), format!("probe by {}", object.name), None)
                    }
                };
                if !name.is_empty() {
                    self.requests.entry(name).or_default().push((id, patch));
                }
                words
            }
        }
    }

    /// `adopt`, or `stop 3 -> 0`.
    fn change(&self, id: RequestId) -> String {
        let Some(Purpose::Patch(sent)) = self.core.flight.purpose(id) else {
            return String::new();
        };
        let mut words = sent.change.kind.to_string();
        if sent.from != sent.change.replicas {
            write!(words, " {} -> {}", sent.from, sent.change.replicas).unwrap();
        }
        words
    }

    /// Creates or updates an object, keeping its labels, and reports it from the watch.
    pub(super) fn apply(&mut self, object: Deployment) {
        self.version += 1;
        let name = object.name().to_owned();
        let mut object = object;
        object.0["metadata"]["resourceVersion"] = self.version.to_string().into();
        if let Some(known) = self.objects.get(&name) {
            object.0["metadata"]["labels"] = known.0["metadata"]["labels"].clone();
        }
        self.objects.insert(name.clone(), object);
        self.echo(&name);
    }

    /// Reports the current object from the watch.
    pub(super) fn echo(&mut self, name: &str) {
        let object = self.workload(name);
        self.watch(ReflectorEvent::changed(object));
    }

    /// Deletes an object, and reports that from the watch.
    pub(super) fn delete(&mut self, name: &str) {
        let object = self.workload(name);
        self.objects.remove(name);
        self.watch(ReflectorEvent::Deleted {
            name: ObjectName::from_object(&object),
            uid: Some(object.uid().to_owned()),
        });
    }

    /// Creates or replaces a Namespace with this annotation.
    pub(super) fn annotate_namespace(&mut self, name: &str, key: &str, text: &str) {
        self.version += 1;
        let namespace = json!({"metadata": {
            "name": name, "uid": name, "resourceVersion": self.version.to_string(),
            "annotations": {format!("dayshift/{key}"): text},
        }});
        let namespace: NamespaceMeta = serde_json::from_value(namespace).unwrap();
        let watch = {
            let mut watches = self.core.settings.scope.watches();
            watches.position(|(watched, _)| watched == Watched::Namespaces)
        };
        let event = WatchInput::Namespace(ReflectorEvent::changed(namespace));
        self.step(Input::Watch(watch.unwrap(), event));
    }

    fn watch(&mut self, event: ReflectorEvent<Workload>) {
        let kind = Kind::DEPLOYMENT;
        let watch = self.core.store.watches.watch_of(&kind, "");
        self.step(Input::Watch(watch, WatchInput::Workload(kind, event)));
    }

    fn workload(&self, name: &str) -> Workload {
        serde_json::from_value(self.objects[name].0.clone()).unwrap()
    }

    /// Applies the oldest request about an object, and passes the response to the core.
    pub(super) fn respond_to(&mut self, name: &str) {
        let (id, patch) = self.take_request(name);
        if let Some(patch) = &patch {
            self.version += 1;
            let object = &mut self.objects.get_mut(name).unwrap().0;
            apply_patch(patch, object);
            object["metadata"]["resourceVersion"] = self.version.to_string().into();
        }
        let workload = self.workload(name);
        let response = match patch {
            Some(_) => Response::Patch(Box::new(Ok(workload))),
            None => Response::Read(Box::new(Ok(workload))),
        };
        self.step(Input::Response(id, response));
    }

    /// Responds to the oldest patch of an object with this error.
    pub(super) fn fail(&mut self, name: &str, error: PatchError) {
        let (id, _) = self.take_request(name);
        let response = Response::Patch(Box::new(Err(error)));
        self.step(Input::Response(id, response));
    }

    pub(super) fn forbid(&mut self, name: &str) {
        self.fail(name, PatchError::Forbidden("no patch for you".to_owned()));
    }

    fn take_request(&mut self, name: &str) -> (RequestId, Option<Value>) {
        let requests = self.requests.get_mut(name).unwrap();
        let request = requests.remove(0);
        if requests.is_empty() {
            self.requests.remove(name);
        }
        request
    }

    /// The JSON Patch that is in flight for an object.
    pub(super) fn json_patch(&self, name: &str) -> Value {
        self.requests[name][0].1.clone().unwrap()
    }

    /// The effects since the last call.
    pub(super) fn take_effects(&mut self) -> Vec<String> {
        std::mem::take(&mut self.effects)
    }

    /// Advances to this time of the day, and returns the effects of the step at that time.
    pub(super) fn tick(&mut self, time: &str) -> Vec<String> {
        let wall = format!("{}T{time}Z", self.now.wall.format("%Y-%m-%d"));
        self.tick_at(wall.parse().unwrap())
    }

    /// Advances to this time of the next day, and returns the effects of the step at that time.
    pub(super) fn tick_tomorrow(&mut self, time: &str) -> Vec<String> {
        let day = self.now.wall + TimeDelta::days(1);
        let wall = format!("{}T{time}Z", day.format("%Y-%m-%d"));
        self.tick_at(wall.parse().unwrap())
    }

    /// Sets the count of an object, as another controller does.
    pub(super) fn set_count(&mut self, name: &str, count: u32) {
        let object = self.objects[name].clone();
        self.apply(object.replicas(count));
    }

    /// Reports that all replicas of an object are ready.
    pub(super) fn make_ready(&mut self, name: &str) {
        let count = self.objects[name].0["spec"]["replicas"].clone();
        self.set_ready(name, &count);
    }

    /// Reports that no replica of an object is ready.
    pub(super) fn make_not_ready(&mut self, name: &str) {
        self.set_ready(name, &0.into());
    }

    fn set_ready(&mut self, name: &str, count: &Value) {
        let object = &mut self.objects.get_mut(name).unwrap().0;
        object["metadata"]["generation"] = 1.into();
        object["status"] = json!({"observedGeneration": 1, "readyReplicas": count});
        let object = self.objects[name].clone();
        self.apply(object);
    }

    /// The patches among the effects since the last call.
    pub(super) fn take_patches(&mut self) -> Vec<String> {
        let mut effects = self.take_effects();
        effects.retain(|effect| effect.starts_with("patch "));
        effects
    }

    /// Advances to the next wake-up of the core.
    pub(super) fn tick_next(&mut self) -> Vec<String> {
        self.tick_at(self.core.next_wake(self.now))
    }

    fn tick_at(&mut self, wall: DateTime<Utc>) -> Vec<String> {
        let passed = (wall - self.now.wall).to_std().unwrap();
        self.now.wall = wall;
        self.now.elapsed += passed;
        self.effects.clear();
        self.step(Input::Tick);
        self.take_effects()
    }

    /// Sets the wall clock this many seconds ahead of the server's.
    pub(super) fn set_clock_ahead(&mut self, seconds: i64) {
        let before = self.now.ahead.unwrap();
        let ahead = TimeDelta::seconds(seconds);
        self.now.ahead = Some(ahead);
        self.now.wall += ahead - before;
        self.step(Input::Tick);
    }

    pub(super) fn shut_down(&mut self) {
        self.step(Input::Shutdown);
    }

    /// When the core should be called next, as a time of day.
    pub(super) fn next_wake(&self) -> String {
        let wake = self.core.next_wake(self.now);
        wake.format("%H:%M:%S").to_string()
    }

    /// The number of decisions about an object.
    pub(super) fn decisions(&self, name: &str) -> usize {
        let namespace = self.objects[name].0["metadata"]["namespace"].as_str();
        let store = &self.core.store;
        let id = store.find(&Kind::DEPLOYMENT, namespace.unwrap(), name);
        store.decisions.borrow().0[&id.unwrap()]
    }

    /// The number of decisions about all objects.
    pub(super) fn all_decisions(&self) -> usize {
        self.core.store.decisions.borrow().1
    }

    /// The maximum number of decisions in one step since the objects were adopted.
    pub(super) const fn max_decisions(&self) -> usize {
        self.max_decisions
    }

    /// The most bytes of annotations that were parsed in one step since the objects were adopted.
    pub(super) const fn max_parsed(&self) -> usize {
        self.max_parsed
    }

    pub(super) fn has_condition(&self, condition: &str) -> bool {
        let unmet = self.telemetry.ready().err().unwrap_or_default();
        !unmet.iter().any(|text| text.contains(condition))
    }

    /// The saved count of an object.
    pub(super) fn saved(&self, name: &str) -> Option<&str> {
        let label = Prefix::default().label(Label::SavedReplicas);
        self.objects[name].0["metadata"]["labels"][label].as_str()
    }

    /// The annotation `error` of an object.
    pub(super) fn error(&self, name: &str) -> Option<&str> {
        self.objects[name].0["metadata"]["annotations"]["dayshift/error"].as_str()
    }

    /// The status of the work on an object.
    pub(super) fn work(&self, name: &str) -> WorkStatus {
        let namespace = self.objects[name].0["metadata"]["namespace"].as_str();
        let store = &self.core.store;
        let id = store.find(&Kind::DEPLOYMENT, namespace.unwrap(), name);
        store.get(id.unwrap()).unwrap().work_status()
    }

    /// The state label of an object.
    pub(super) fn state(&self, name: &str) -> Option<&str> {
        let label = Prefix::default().label(Label::State);
        self.objects[name].0["metadata"]["labels"][label].as_str()
    }
}

fn json_of(patch: &Patch) -> Value {
    serde_json::to_value(patch).unwrap()
}

/// Applies a JSON Patch without its tests.
fn apply_patch(patch: &Value, object: &mut Value) {
    for operation in patch.as_array().unwrap() {
        let path = operation["path"].as_str().unwrap();
        let (parent, key) = path.rsplit_once('/').unwrap();
        let key = key.replace("~1", "/").replace("~0", "~");
        let parent = object.pointer_mut(parent).unwrap();
        if parent.is_null() {
            *parent = Value::Object(Map::new());
        }
        match operation["op"].as_str() {
            Some("add") => parent[key] = operation["value"].clone(),
            Some("remove") => drop(parent.as_object_mut().unwrap().remove(&key)),
            _ => {}
        }
    }
}
