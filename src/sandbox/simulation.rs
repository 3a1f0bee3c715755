//! A run of the unchanged controller against a cluster in memory, and the changes that a user makes
//! during it: requests of `--request`, and those for the shipped examples. Incomplete manifests, as they
//! occur in documentation, are completed first.

use std::{
    cmp::Reverse,
    io,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_activator::RequestedWake;
use dayshift_cluster::clock::{Clock, RealTime};
use dayshift_controller::{Settings, Telemetry};
use dayshift_manifest::ManifestWorkload;
use dayshift_schedule::Action;
use dayshift_text::cut_bytes;
use dayshift_workload::{Inheritance, Key, Kind, ParseContext, Prefix, Shape, WorkloadRef, read};
use futures::{FutureExt as _, future::select_all};
use kube_in_memory::{Api, Changes, Status, StoredChange};
use serde_json::{Value, json};
use tokio::{sync::oneshot, task::JoinHandle};

use crate::sandbox::timeline::{EventKind, Observer, Requests, Speed, Summary, TimelineEvent};

/// A cluster in memory, before the controller starts.
#[derive(Debug)]
pub struct Simulation {
    api: Api,
    clock: Clock,
    settings: Settings,
    from: DateTime<Utc>,
    changes: Vec<(Kind, Changes)>,
    observer: Observer,
    telemetry: Arc<Telemetry>,
}

/// A cluster in memory after a simulated period. Its controller still runs.
#[derive(Debug)]
pub struct RunningSimulation {
    simulation: Simulation,
    until: DateTime<Utc>,
    stopped: bool,
    end: oneshot::Sender<()>,
    controller: JoinHandle<()>,
    requests: Arc<Mutex<Requests>>,
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The next change of any kind. If several are available, the first kind wins.
async fn next_of(changes: &mut [(Kind, Changes)]) -> (Kind, Option<StoredChange>) {
    let each = changes
        .iter_mut()
        .map(|(kind, changes)| Box::pin(changes.next().map(|change| (kind.clone(), change))));
    select_all(each).await.0
}

/// Removes the fields that only a server sets.
fn without_server_fields(manifest: &mut Value) {
    if let Some(object) = manifest.as_object_mut() {
        object.remove("status");
    }
    if let Some(metadata) = manifest["metadata"].as_object_mut() {
        for key in [
            "creationTimestamp",
            "deletionGracePeriodSeconds",
            "deletionTimestamp",
            "generation",
            "managedFields",
            "resourceVersion",
            "selfLink",
            "uid",
        ] {
            metadata.remove(key);
        }
    }
}

impl Simulation {
    /// An empty cluster. It needs a current-thread tokio runtime with paused time: time then advances only
    /// when every task is idle, so all times are exact.
    pub fn new(clock: Clock, settings: Settings) -> Self {
        let from = clock.now();
        let api = Api::new({
            let clock = clock.clone();
            move || clock.now()
        });
        api.remember_requests(0);
        if settings.scope.team_defaults {
            api.serve_custom("", "v1", "configmaps", "ConfigMap");
        }
        Self {
            changes: settings
                .scope
                .kinds
                .iter()
                .filter_map(|kind| Some((kind.clone(), api.changes_of(kind.name()).ok()?)))
                .collect(),
            observer: Observer::new(
                settings.prefix.clone(),
                settings.parse_context(),
                Inheritance {
                    from_namespaces: settings.scope.namespace_defaults,
                    from_teams: settings.scope.team_defaults,
                    default_schedule: settings.default_schedule.clone(),
                    schedules: settings.schedules.current(),
                },
            ),
            telemetry: Arc::new(Telemetry::new(from)),
            api,
            clock,
            settings,
            from,
        }
    }

    /// Creates a workload and its namespace. Fields that only a server sets are removed, so exports of a real
    /// cluster can be loaded. A fragment ([`is_fragment`](crate::sandbox::is_fragment)) is completed.
    ///
    /// # Errors
    ///
    /// The rejection by the API server.
    pub fn load(&mut self, manifest: &Value) -> Result<(), Box<Status>> {
        self.serve(manifest);
        let mut manifest = manifest.clone();
        if is_fragment(&manifest) {
            manifest = completed(manifest);
        }
        without_server_fields(&mut manifest);
        if let Some(namespace) = manifest["metadata"]["namespace"].as_str() {
            self.api.namespace(namespace);
        }
        self.api.create(manifest).map(drop).map_err(Box::new)
    }

    /// Creates a Namespace. If it exists already, it is replaced.
    ///
    /// # Errors
    ///
    /// The rejection by the API server.
    pub fn load_namespace(&mut self, manifest: &Value) -> Result<(), Box<Status>> {
        if let Ok(namespace) = serde_json::from_value(self.apply(manifest)?) {
            self.observer.add_namespace(&namespace);
        }
        Ok(())
    }

    /// Creates the ConfigMap with the defaults of a team, and its namespace. If it exists already, it is
    /// replaced. Must precede [`Self::load_namespace`].
    ///
    /// # Errors
    ///
    /// The rejection by the API server.
    pub fn load_team_defaults(&mut self, manifest: &Value) -> Result<(), Box<Status>> {
        if let Ok(config_map) = serde_json::from_value(self.apply(manifest)?) {
            self.observer.add_team_defaults(&config_map);
        }
        Ok(())
    }

    /// Stores an object, in a namespace that exists, and returns it.
    fn apply(&self, manifest: &Value) -> Result<Value, Box<Status>> {
        let mut manifest = manifest.clone();
        without_server_fields(&mut manifest);
        if let Some(namespace) = manifest["metadata"]["namespace"].as_str() {
            self.api.namespace(namespace);
        }
        self.api.apply(manifest).map_err(Box::new)
    }

    /// Serves the kind of a manifest if it is a custom resource.
    fn serve(&mut self, manifest: &Value) {
        let text = |name: &str| manifest[name].as_str().unwrap_or_default();
        let (api_version, name) = (text("apiVersion"), text("kind"));
        let Some(kind) = self.settings.kinds.from_manifest(api_version, name) else {
            return;
        };
        let version = api_version.rsplit('/').next().unwrap_or_default();
        if kind.shape() != Shape::Custom {
            return;
        }
        kind.discovered(name, version);
        if self.changes.iter().all(|(known, _)| *known != kind) {
            self.api
                .serve_custom(kind.group(), version, kind.plural(), name);
            let changes = self.api.changes_of(name).ok();
            self.changes.extend(changes.map(|changes| (kind, changes)));
        }
    }

    /// Runs the controller until just before `until`, or until `stop`. Events are passed to `emit` in order,
    /// each at its time if a speed is set. The controller keeps running, until
    /// [`RunningSimulation::finish`].
    ///
    /// # Errors
    ///
    /// An error of `emit`, which ends the run.
    pub async fn play(
        mut self,
        until: DateTime<Utc>,
        mut actions: Vec<UserAction>,
        speed: Speed,
        mut emit: impl FnMut(&TimelineEvent) -> io::Result<()>,
        stop: impl Future<Output = ()>,
    ) -> io::Result<RunningSimulation> {
        // The end itself is not part of the period.
        let last = until - TimeDelta::milliseconds(1);
        actions.sort_by_key(|action| Reverse(action.at));
        let requests = self.count_requests();
        let (end, controller) = self.start_controller();
        let real = RealTime::begin();
        let from = self.from;
        let shown = |at: DateTime<Utc>| real.reach(speed.shown_after(at - from));
        let mut stop = pin!(stop);
        let mut stopped = false;
        while !stopped {
            let due = actions.last().map_or(last, |action| action.at.min(last));
            tokio::select! {
                biased;
                () = &mut stop => stopped = true,
                (kind, change) = next_of(&mut self.changes) => {
                    if let Some(event) = self.observe(&kind, change) {
                        stopped = completes_first(&mut stop, shown(event.at)).await;
                        emit(&event)?;
                    }
                }
                () = self.clock.sleep_until(due) => match actions.pop() {
                    Some(action) if action.at < until => {
                        if let Some(event) = self.perform(&action) {
                            stopped = completes_first(&mut stop, shown(event.at)).await;
                            emit(&event)?;
                        }
                    }
                    _ => break,
                },
            }
        }
        if !stopped {
            completes_first(&mut stop, shown(until)).await;
        }
        Ok(RunningSimulation {
            until: if stopped { self.clock.now() } else { until },
            simulation: self,
            stopped,
            end,
            controller,
            requests,
        })
    }

    fn observe(&mut self, kind: &Kind, change: Option<StoredChange>) -> Option<TimelineEvent> {
        self.observer.observe(kind, &change?)
    }

    fn count_requests(&self) -> Arc<Mutex<Requests>> {
        let requests = Arc::<Mutex<Requests>>::default();
        let counted = Arc::clone(&requests);
        self.api.on_request(move |line| {
            lock(&counted).count(line);
            None
        });
        requests
    }

    /// Starts the controller of `dayshift run`. It ends when the sender is dropped.
    fn start_controller(&self) -> (oneshot::Sender<()>, JoinHandle<()>) {
        let (end, ended) = oneshot::channel();
        let controller = dayshift_controller::run(
            self.api.client_as("dayshift"),
            self.clock.clone(),
            self.settings.clone(),
            Arc::clone(&self.telemetry),
            async { drop(ended.await) },
        );
        (end, tokio::spawn(controller))
    }

    /// Makes a user's change. Returns the event of a request that wakes nothing. All other events are emitted
    /// later, when the changed object is observed; there is none if the object does not exist or does not
    /// change.
    fn perform(&mut self, action: &UserAction) -> Option<TimelineEvent> {
        let object = self
            .observer
            .object(&action.kind, &action.namespace, &action.name)?;
        match action.command() {
            Some(command) => self.change(&object, EventKind::UserAction(command), &action.patch()),
            None => {
                let at = self.clock.now();
                match self.observer.request_wakes(&object, at) {
                    Ok(wakes) => wakes.iter().for_each(|wake| self.wake(wake)),
                    Err(why) => return self.observer.idle_request(&object, at, why),
                }
            }
        }
        None
    }

    /// Applies the patch of the activator.
    fn wake(&mut self, wake: &RequestedWake) {
        let prefix = &self.settings.prefix;
        let texts = wake.annotations.iter();
        let texts: serde_json::Map<_, _> = texts
            .map(|(key, text)| (prefix.annotation(*key), text.clone().into()))
            .collect();
        let patch = serde_json::json!({"metadata": {"annotations": texts}});
        self.change(&wake.object, EventKind::Request(wake.until), &patch);
    }

    fn change(&mut self, object: &WorkloadRef, action: EventKind, patch: &Value) {
        self.observer.expect_action(object, action);
        let _ = self
            .api
            .merge(object.kind.name(), &object.namespace, &object.name, patch);
    }
}

impl RunningSimulation {
    /// Whether `stop` ended the run early.
    pub const fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// The summary so far.
    pub fn summary(&self) -> Summary {
        let observer = &self.simulation.observer;
        Summary {
            from: self.simulation.from,
            until: self.until,
            usages: observer.usages(self.until),
            lateness: observer.lateness(),
            rejections: observer.rejections(),
            requests: *lock(&self.requests),
        }
    }

    /// Stops the controller, and returns the summary.
    pub async fn finish(self) -> Summary {
        let summary = self.summary();
        drop(self.end);
        // The controller has no requests in flight, so it ends at once.
        let _ = self.controller.await;
        summary
    }

    /// A client of the cluster.
    pub fn client(&self) -> kube::Client {
        self.simulation.api.client_as("dashboard")
    }

    /// The telemetry of the controller.
    pub fn telemetry(&self) -> Arc<Telemetry> {
        Arc::clone(&self.simulation.telemetry)
    }

    /// Lets simulated time pass at the speed of real time until `stop`. Events are shown when they occur.
    ///
    /// # Errors
    ///
    /// An error of `emit`, which ends the run.
    pub async fn run_in_real_time(
        &mut self,
        mut emit: impl FnMut(&TimelineEvent) -> io::Result<()>,
        stop: impl Future<Output = ()>,
    ) -> io::Result<()> {
        let mut stop = pin!(stop);
        tokio::time::resume();
        loop {
            tokio::select! {
                biased;
                () = &mut stop => return Ok(()),
                (kind, change) = next_of(&mut self.simulation.changes) => {
                    if let Some(event) = self.simulation.observe(&kind, change) {
                        emit(&event)?;
                    }
                }
            }
        }
    }
}

/// Whether `one` completes before `other`.
async fn completes_first(one: impl Future<Output = ()>, other: impl Future<Output = ()>) -> bool {
    tokio::select! {
        biased;
        () = one => true,
        () = other => false,
    }
}

/// Whether a manifest lacks the fields that an API server requires: the selector and pod template, or the job
/// template of a CronJob.
pub fn is_fragment(manifest: &Value) -> bool {
    let spec = &manifest["spec"];
    match manifest["kind"].as_str().and_then(shape) {
        Some(Shape::Pods) => spec["selector"].is_null() && spec["template"].is_null(),
        Some(Shape::Jobs) => spec["jobTemplate"].is_null(),
        Some(Shape::Autoscaler | Shape::Custom) | None => false,
    }
}

fn shape(kind: &str) -> Option<Shape> {
    let mut kinds = Kind::BUILT_IN.into_iter();
    Some(kinds.find(|known| known.name() == kind)?.shape())
}

/// The fields that a fragment of this kind lacks.
pub fn missing_fields(kind: &str) -> &'static str {
    match shape(kind) {
        Some(Shape::Jobs) => "no spec.jobTemplate",
        _ => "no spec.selector and no spec.template",
    }
}

/// The maximum length of a label value in bytes.
const MAX_LABEL: usize = 63;

/// Adds the missing fields.
pub(super) fn completed(mut manifest: Value) -> Value {
    // A label value is shorter than a name.
    let name = manifest["metadata"]["name"].as_str().unwrap_or_default();
    let name = cut_bytes(name, MAX_LABEL).trim_end_matches(['-', '.']);
    let name = name.to_owned();
    let makes_jobs = manifest["kind"].as_str().and_then(shape) == Some(Shape::Jobs);
    let spec = &mut manifest["spec"];
    if spec.is_null() {
        *spec = json!({});
    }
    let containers = json!([{"name": "main", "image": "example.com/main"}]);
    if spec.is_object() && makes_jobs {
        let pods = json!({"restartPolicy": "Never", "containers": containers});
        spec["jobTemplate"] = json!({"spec": {"template": {"spec": pods}}});
        if spec["schedule"].is_null() {
            spec["schedule"] = json!("@hourly");
        }
    } else if spec.is_object() {
        spec["selector"] = json!({"matchLabels": {"app": name}});
        spec["template"] = json!({
            "metadata": {"labels": {"app": name}},
            "spec": {"containers": containers},
        });
    }
    manifest
}

/// A change that a user makes to a workload.
#[derive(Clone, Debug, PartialEq)]
pub struct UserAction {
    /// The time of the change.
    pub at: DateTime<Utc>,
    /// The kind of the workload.
    pub kind: Kind,
    /// The namespace of the workload.
    pub namespace: String,
    /// The name of the workload.
    pub name: String,
    /// The change.
    pub change: UserChange,
}

/// The kinds of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserChange {
    /// Scales to this count.
    Scale(u32),
    /// Removes these annotations, which are full names.
    Unannotate(Vec<String>),
    /// Sends a request to the Service of the workload.
    Request,
}

impl UserAction {
    /// The equivalent kubectl command. `None` for a request.
    pub fn command(&self) -> Option<String> {
        let object = format!("{}/{}", self.kind.singular(), self.name);
        let namespace = &self.namespace;
        let place = match &**namespace {
            "default" => String::new(),
            _ => format!(" -n {namespace}"),
        };
        match &self.change {
            UserChange::Scale(count) => {
                Some(format!("kubectl scale {object}{place} --replicas={count}"))
            }
            UserChange::Unannotate(names) => {
                let names: String = names.iter().map(|name| format!(" {name}-")).collect();
                Some(format!("kubectl annotate {object}{place}{names}"))
            }
            UserChange::Request => None,
        }
    }

    /// The equivalent JSON merge patch.
    pub(super) fn patch(&self) -> Value {
        match &self.change {
            UserChange::Scale(count) => json!({"spec": {"replicas": count}}),
            UserChange::Unannotate(names) => {
                let gone = names.iter().map(|name| (name.clone(), Value::Null));
                json!({"metadata": {"annotations": gone.collect::<serde_json::Map<_, _>>()}})
            }
            UserChange::Request => json!({}),
        }
    }
}

/// The time after its first stop at which `office-hours` is scaled up.
const SCALE_DELAY: TimeDelta = TimeDelta::hours(3);
/// The time after its first start at which the schedule of `one-start` is removed.
const REMOVAL_DELAY: TimeDelta = TimeDelta::seconds(30);

/// The user changes of the shipped examples: `office-hours` is scaled to one replica after its first stop,
/// and the schedule of `one-start` is removed after its first start.
pub fn example_actions(
    workloads: &[ManifestWorkload],
    from: DateTime<Utc>,
    prefix: &Prefix,
    context: &ParseContext,
) -> Vec<UserAction> {
    let action = |name: &str, action: Action, later: TimeDelta, change: UserChange| {
        let mut workloads = workloads.iter();
        let workload = workloads.find(|workload| &*workload.object.name == name)?;
        let spec = read(&workload.inputs, context).into_spec()?;
        let mut at = from;
        loop {
            let boundary = spec.next_after(&workload.object, None, at)?;
            at = boundary.at;
            if boundary.action == action {
                break;
            }
        }
        Some(UserAction {
            at: at + later,
            kind: workload.object.kind.clone(),
            namespace: workload.object.namespace.to_string(),
            name: name.to_owned(),
            change,
        })
    };
    let schedule = [Key::Start, Key::Replicas].map(|key| prefix.annotation(key));
    let raise = action(
        "office-hours",
        Action::Stop,
        SCALE_DELAY,
        UserChange::Scale(1),
    );
    let leave = UserChange::Unannotate(schedule.to_vec());
    let leave = action("one-start", Action::Start, REMOVAL_DELAY, leave);
    raise.into_iter().chain(leave).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn action_equals_a_kubectl_command() {
        let action = |namespace: &str, change| UserAction {
            at: DateTime::UNIX_EPOCH,
            kind: Kind::DEPLOYMENT,
            namespace: namespace.into(),
            name: "web".into(),
            change,
        };
        let names = vec!["dayshift/start".to_owned(), "dayshift/stop".to_owned()];
        for (action, expected) in [
            (
                action("default", UserChange::Scale(1)),
                "kubectl scale deployment/web --replicas=1",
            ),
            (
                action("dev", UserChange::Unannotate(names)),
                "kubectl annotate deployment/web -n dev dayshift/start- dayshift/stop-",
            ),
        ] {
            assert_eq!(action.command().as_deref(), Some(expected));
        }
    }
}
