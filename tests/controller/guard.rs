//! Each `test` operation of the guarded patch is necessary: if it is removed, a concurrent change is lost.
//! The patches are those of the real controller, changed in transit.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use dayshift_controller::Settings;
use dayshift_workload::Kind;
use http::{Method, Request};
use kube::{Client, client::Body};
use kube_in_memory::Api;
use serde_json::{Value, json};
use tower::{BoxError, service_fn};

use crate::sandbox::{Sandbox, deployment, of_deployments, stateful_set};

/// The change of another client between the decision and the patch.
type ConcurrentChange = fn(&Api);

/// Whether an object shows a loss after the response.
type Harm = fn(&Value) -> bool;

/// Prepares an object and a controller that will patch it.
type Fixture = fn(&Trap) -> Sandbox;

struct TestCase {
    /// The path of the `test` operation that is removed.
    test: &'static str,
    fixture: Fixture,
    change: ConcurrentChange,
    harm: Harm,
    /// The loss without the operation.
    lost: &'static str,
}

macro_rules! rows {
    ($($test:literal, $fixture:ident, $change:expr, $harm:expr, $lost:literal;)+) => {
        [$(TestCase { test: $test, fixture: $fixture, change: $change, harm: $harm, lost: $lost }),+]
    };
}

/// One row for each `test` operation of a patch for an object with labels and annotations.
fn rows() -> impl Iterator<Item = TestCase> {
    let rows = rows![
        "/metadata/uid", stop, |api| restore(api), stopped, "a restored copy is stopped although it was not observed";
        "/metadata/deletionTimestamp", stop, |api| delete(api), stopped, "an object that is being deleted is changed";
        "/spec/replicas", stop, |api| scale(api, 6), |it| stopped(it) && saved(it) != "6", "the count 6 that a user has just set is lost";
        "/metadata/labels/dayshift~1state", stop, |api| label(api, "state", "slept"), |it| state(it) != "slept", "the state that another controller wrote is lost";
        "/metadata/labels/dayshift~1last", stop, |api| label(api, "last", "2026-11-20T20.00.00Z"), |it| text(it, "labels", "last") < "2026-11-20T20", "an earlier boundary is considered again";
        "/metadata/labels/dayshift~1next", stop, |api| label(api, "next", "2026-11-20T20.00.00Z"), stopped, "it is stopped before its next boundary";
        "/metadata/labels/dayshift~1saved-replicas", stop, |api| label(api, "saved-replicas", "5"), |it| saved(it) != "5", "the saved count 5 is lost";
        "/metadata/labels/dayshift~1fingerprint", stop, |api| label(api, "fingerprint", "v1-0"), stopped, "it is stopped by the schedule of another object";
        "/metadata/annotations/dayshift~1error", stop, |api| write(api, "error", "it is refused"), stopped, "a rejected schedule is carried out";
        "/metadata/annotations/dayshift~1override-began", slept, |api| write(api, "override-began", "2026-11-19T10:00:00Z"), stopped, "an ended override is applied again";
        "/metadata/annotations/dayshift~1start", start, |api| write(api, "start", "10:00"), started, "started an hour early";
        "/metadata/annotations/dayshift~1stop", stop, |api| write(api, "stop", "20:00"), stopped, "stopped an hour early";
        "/metadata/annotations/dayshift~1hours", stop, |api| write(api, "hours", "09:00-20:00"), stopped, "stopped by a schedule that is now invalid";
        "/metadata/annotations/dayshift~1scale", stop, |api| write(api, "scale", "09:00 = 3"), stopped, "stopped by a schedule that is now invalid";
        "/metadata/annotations/dayshift~1schedule", stop, |api| write(api, "schedule", "unknown"), stopped, "stopped by a schedule that is now invalid";
        "/metadata/annotations/dayshift~1timezone", stop, |api| write(api, "timezone", "America/New_York"), stopped, "stopped five hours early";
        "/metadata/annotations/dayshift~1replicas", start, |api| write(api, "replicas", "1"), started, "3 replicas run, but 1 is requested";
        "/metadata/annotations/dayshift~1stop-replicas", stop, |api| write(api, "stop-replicas", "1"), stopped, "no replica runs, but 1 is requested";
        "/metadata/annotations/dayshift~1jitter", start, |api| write(api, "jitter", "1h"), started, "all start at once";
        "/metadata/annotations/dayshift~1except", start, |api| write(api, "except", "2026-11-21"), started, "started on a holiday";
        "/metadata/annotations/dayshift~1treat-as", start, |api| write(api, "treat-as", "2026-11-21 = Mon; 2026-11-21 = Tue"), started, "started by a schedule that is now invalid";
        "/metadata/annotations/dayshift~1extra", start, |api| write(api, "extra", "whenever"), started, "started by an invalid schedule";
        "/metadata/annotations/dayshift~1stop-after", start, |api| write(api, "stop-after", "8 hours"), started, "started by an invalid schedule";
        "/metadata/annotations/dayshift~1after", start, |api| write(api, "after", "deploy/web; db"), started, "started by a schedule that is now invalid";
        "/metadata/annotations/dayshift~1pause", stop, |api| write(api, "pause", "true"), stopped, "stopped while paused";
        "/metadata/annotations/dayshift~1wake-until", stop, |api| write(api, "wake-until", "2026-11-20 22:00"), stopped, "stopped while kept awake";
        "/metadata/annotations/dayshift~1sleep-until", start, |api| write(api, "sleep-until", "2026-11-21 12:00"), started, "started while kept asleep";
        "/metadata/annotations/dayshift~1enforce", enforced, |api| write(api, "enforce", None), stopped, "a count is reverted that is no longer enforced";
        "/metadata/annotations/dayshift~1exclude", stop, |api| write(api, "exclude", "true"), stopped, "stopped although it is excluded";
        "/metadata/annotations/dayshift~1allow-volume-deletion", stop, |api| write(api, "allow-volume-deletion", "maybe"), stopped, "stopped by a schedule that is now invalid";
    ];
    rows.into_iter()
}

/// Rows for the tests that only other objects need: one without labels, a StatefulSet, and one without
/// annotations.
fn bare() -> [TestCase; 3] {
    rows![
        "/metadata/labels", unlabelled, |api| merge(api, &json!({"labels": {"team": "shop"}})), |it| it["metadata"]["labels"]["team"].is_null(), "a user's label is lost";
        "/spec/persistentVolumeClaimRetentionPolicy/whenScaled", stop_set, |api| delete_volumes(api), stopped, "the volumes are deleted";
        "/metadata/annotations", unscheduled, |api| write(api, "stop", "19:00"), |it| state(it).is_empty(), "the state of an object that has a schedule again is lost";
    ]
}

#[test]
fn each_test_operation_of_a_patch_prevents_a_loss() {
    for row in rows().chain(bare()) {
        let TestCase { test, lost, .. } = row;
        let trap = Trap::default();
        let (_, without) = trap.spring(&row, Some(test));
        let without = without.unwrap_or_else(|| panic!("{test} is not tested"));
        assert!((row.harm)(&without), "{lost}, without {test}: {without:#}");
        let (_, with) = Trap::default().spring(&row, None);
        let with = with.unwrap();
        assert!(!(row.harm)(&with), "{lost}, with {test}: {with:#}");
    }
}

#[test]
fn every_test_operation_of_a_patch_is_in_the_table() {
    let row = rows().next().unwrap();
    let (tested, _) = Trap::default().spring(&row, None);
    let known: BTreeSet<_> = rows().map(|row| row.test.to_owned()).collect();
    let unknown: Vec<_> = tested.difference(&known).collect();
    assert_eq!(unknown, Vec::<&String>::new());
}

/// Intercepts the next patch of a Deployment once it is armed.
#[derive(Clone, Default)]
struct Trap(Arc<Mutex<Set>>);

#[derive(Default)]
struct Set {
    /// The concurrent change, made before the patch takes effect.
    change: Option<ConcurrentChange>,
    without: Option<&'static str>,
    tested: BTreeSet<String>,
    /// The object after the response; `None` if the patch did not contain the operation.
    after: Option<Value>,
}

impl Trap {
    /// Runs the test case. Returns the paths that its patch tested, and the object after the response.
    fn spring(
        self,
        row: &TestCase,
        without: Option<&'static str>,
    ) -> (BTreeSet<String>, Option<Value>) {
        self.0.lock().unwrap().without = without;
        let scenario = (row.fixture)(&self);
        self.0.lock().unwrap().change = Some(row.change);
        // All preparations of the fixtures happen within a quarter of an hour.
        scenario.pass(std::time::Duration::from_secs(900));
        let mut set = self.0.lock().unwrap();
        assert!(set.change.is_none(), "{} has no patch", row.test);
        (std::mem::take(&mut set.tested), set.after.take())
    }

    /// A client for this API whose patches pass through the trap.
    fn client(&self, api: &Api) -> Client {
        let (trap, api) = (self.clone(), api.clone());
        let inner = api.client_as("scaler");
        let service = service_fn(move |request: Request<Body>| {
            let (trap, api, inner) = (trap.clone(), api.clone(), inner.clone());
            async move {
                let (head, body) = request.into_parts();
                let mut bytes = body.collect_bytes().await?.to_vec();
                let is_patch = head.method == Method::PATCH;
                let change = trap.0.lock().unwrap().change.take_if(|_| is_patch);
                if let Some(change) = change {
                    change(&api);
                    bytes = trap.0.lock().unwrap().remove_operation(&bytes);
                }
                let answer = inner
                    .send(Request::from_parts(head, Body::from(bytes)))
                    .await;
                let mut set = trap.0.lock().unwrap();
                if change.is_some() && set.is_as_wanted() {
                    let kinds = ["Deployment", "StatefulSet"].iter();
                    set.after = kinds.filter_map(|kind| api.get(kind, "dev", "web")).next();
                }
                drop(set);
                Ok::<_, BoxError>(answer?)
            }
        });
        Client::new(service, "default")
    }
}

impl Set {
    /// Whether the patch contained the operation that was to be removed.
    fn is_as_wanted(&self) -> bool {
        self.without.is_none_or(|test| self.tested.contains(test))
    }

    /// Removes the operation from the patch, and records the paths that the patch tests.
    fn remove_operation(&mut self, patch: &[u8]) -> Vec<u8> {
        let mut operations: Vec<Value> = serde_json::from_slice(patch).unwrap();
        let tests = operations.iter().filter(|it| it["op"] == "test");
        self.tested = tests
            .map(|it| it["path"].as_str().unwrap().to_owned())
            .collect();
        operations
            .retain(|it| it["op"] != "test" || Some(it["path"].as_str().unwrap()) != self.without);
        json!(operations).to_string().into_bytes()
    }
}

fn scheduled() -> Value {
    let mut web: Value = deployment("web")
        .replicas(3)
        .start("09:00")
        .stop("19:00")
        .into();
    web["metadata"]["finalizers"] = json!(["example.com/wait"]);
    web["metadata"]["labels"] = json!({"app": "web"});
    web
}

fn settings() -> Settings {
    let mut settings = of_deployments();
    settings.scope.kinds.push(Kind::STATEFUL_SET);
    settings
}

fn begin(trap: &Trap, at: &str, web: Value) -> Sandbox {
    let mut scenario = Sandbox::empty_at(&format!("{at} UTC"));
    scenario.start_controller_with(|api| trap.client(api), settings());
    scenario.api.create(web).unwrap();
    scenario.settle();
    scenario
}

/// A minute before the stop.
fn stop(trap: &Trap) -> Sandbox {
    let scenario = begin(trap, "2026-11-20 18:00", scheduled());
    scenario.sleep_until("18:59");
    scenario
}

/// A StatefulSet a minute before the stop.
fn stop_set(trap: &Trap) -> Sandbox {
    let mut set: Value = stateful_set("web").replicas(3).stop("19:00").into();
    set["metadata"]["labels"] = json!({"app": "web"});
    let scenario = begin(trap, "2026-11-20 18:00", set);
    scenario.sleep_until("18:59");
    scenario
}

fn delete_volumes(api: &Api) {
    let policy = json!({"persistentVolumeClaimRetentionPolicy": {"whenScaled": "Delete"}});
    api.merge("StatefulSet", "dev", "web", &json!({"spec": policy}))
        .unwrap();
}

/// A minute before the start.
fn start(trap: &Trap) -> Sandbox {
    let scenario = stop(trap);
    scenario.sleep_until("2026-11-21 08:59");
    assert_eq!(scenario.replicas("web"), 0);
    scenario
}

/// A workload that a user raised while it was stopped.
fn enforced(trap: &Trap) -> Sandbox {
    let scenario = stop(trap);
    scenario.annotate("web", "enforce", Some("true"));
    scenario.sleep_until("20:00");
    assert_eq!(scenario.replicas("web"), 0);
    scale(&scenario.api, 5);
    scenario
}

/// A workload that a user put to sleep during its hours.
fn slept(trap: &Trap) -> Sandbox {
    let scenario = stop(trap);
    write(&scenario.api, "sleep-until", "2026-11-20 22:00");
    scenario
}

/// A workload without labels that is not adopted yet.
fn unlabelled(trap: &Trap) -> Sandbox {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    scenario.start_controller_with(|api| trap.client(api), settings());
    let mut web = scheduled();
    web["metadata"]["labels"].take();
    scenario.api.create(web).unwrap();
    scenario
}

/// A workload whose annotations were all removed by `kubectl replace`.
fn unscheduled(trap: &Trap) -> Sandbox {
    let scenario = stop(trap);
    let mut web = scenario.object("web");
    web["metadata"]["annotations"].take();
    scenario.api.replace(web).unwrap();
    scenario
}

fn merge(api: &Api, metadata: &Value) {
    api.merge("Deployment", "dev", "web", &json!({"metadata": metadata}))
        .unwrap();
}

fn write<'t>(api: &Api, key: &str, value: impl Into<Option<&'t str>>) {
    let key = format!("dayshift/{key}");
    merge(api, &json!({"annotations": {key: value.into()}}));
}

fn label(api: &Api, key: &str, value: &str) {
    let key = format!("dayshift/{key}");
    merge(api, &json!({"labels": {key: value}}));
}

fn scale(api: &Api, replicas: i32) {
    api.scale("dev", "web", replicas).unwrap();
}

/// Its finalizer keeps the object.
fn delete(api: &Api) {
    api.delete("dev", "web").unwrap();
}

/// The same object with another UID.
fn restore(api: &Api) {
    let mut web = api.get("Deployment", "dev", "web").unwrap();
    delete(api);
    merge(api, &json!({"finalizers": null}));
    for member in ["uid", "resourceVersion", "creationTimestamp"] {
        web["metadata"].as_object_mut().unwrap().remove(member);
    }
    api.create(web).unwrap();
}

fn text<'o>(object: &'o Value, map: &str, key: &str) -> &'o str {
    let text = &object["metadata"][map][format!("dayshift/{key}")];
    text.as_str().unwrap_or_default()
}

fn state(object: &Value) -> &str {
    text(object, "labels", "state")
}

fn saved(object: &Value) -> &str {
    text(object, "labels", "saved-replicas")
}

fn stopped(object: &Value) -> bool {
    object["spec"]["replicas"] == 0
}

fn started(object: &Value) -> bool {
    object["spec"]["replicas"] == 3
}
