//! Kinds with a switch, from the JSON of an object to the JSON that a patch makes of it: what a
//! stop writes, and that a start gives back what was there to the letter.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift::cluster::{Workload, guarded_patch};
use dayshift::workload::{
    Change, Decision, DecisionContext, Kind, Memory, ParseContext, Prefix, decide,
};
use json_patch::{Patch, PatchOperation};
use serde_json::{Value, json};

use crate::object::utc;

/// An object on a server, and a scaler that may be killed at any time.
#[derive(Clone)]
struct Live {
    kind: Kind,
    object: Value,
    now: DateTime<Utc>,
    memory: Option<Memory>,
    seen: DateTime<Utc>,
}

const PREFIX: &str = "dayshift/";

impl Live {
    /// An object with office hours, at noon.
    fn new(kind: &str, object: Value) -> Self {
        let (plural, group) = kind.split_once('.').unwrap();
        let mut live = Self {
            kind: Kind::named(plural, group),
            object,
            now: utc("2026-11-19 12:00"),
            memory: None,
            seen: utc("2026-11-19 12:00"),
        };
        live.object["metadata"]["name"] = json!("db");
        live.object["metadata"]["namespace"] = json!("dev");
        live.object["metadata"]["uid"] = json!("u1");
        live.annotate("hours", "09:00-19:00");
        live.obey();
        live
    }

    fn annotate(&mut self, key: &str, text: &str) -> &mut Self {
        self.object["metadata"]["annotations"][format!("{PREFIX}{key}")] = json!(text);
        self.seen = self.now;
        self
    }

    /// The change that is due, if there is one, and the patch that makes it.
    fn due(&mut self) -> Result<(Change, Patch), Option<DateTime<Utc>>> {
        let prefix = Prefix::default();
        let workload: Workload = serde_json::from_value(self.object.clone()).unwrap();
        let observed = workload.observe(self.kind, &prefix);
        let parsed = observed.read(&ParseContext::default());
        let memory = self.memory.get_or_insert_with(|| Memory::of(&observed));
        memory.observe(&observed, self.now);
        let context = DecisionContext {
            parsed: &parsed,
            observed: &observed,
            memory,
            seen: self.seen,
            catch_up: TimeDelta::hours(72),
            prefix: &prefix,
        };
        match decide(&context, self.now) {
            Decision::Write(change) => {
                let patch = guarded_patch(&observed, &change, &prefix);
                memory.wrote(&observed, &change, self.now);
                Ok((change, patch))
            }
            Decision::Wait { due } => Err(due),
            Decision::StopsSoon { due, .. } => Err(Some(due)),
            Decision::CorrectionLimitReached { due, .. } => Err(due),
        }
    }

    /// Everything that is due now; when something is due next.
    fn obey(&mut self) -> Option<DateTime<Utc>> {
        for _ in 0..5 {
            match self.due() {
                Ok((_, patch)) => apply(&mut self.object, &patch).unwrap(),
                Err(due) => return due,
            }
        }
        panic!("it never comes to rest: {}", self.object);
    }

    fn until(&mut self, time: &str) -> &mut Self {
        let until = utc(time);
        loop {
            match self.obey().filter(|due| *due <= until) {
                Some(due) => self.now = due.max(self.now),
                None => break,
            }
        }
        self.now = until;
        self.obey();
        self
    }

    fn killed(&mut self) -> &mut Self {
        self.memory = None;
        self
    }

    fn label(&self, name: &str) -> Option<&str> {
        self.object["metadata"]["labels"][format!("{PREFIX}{name}")].as_str()
    }

    /// All of it that is not dayshift's.
    fn theirs(&self) -> Value {
        let mut object = self.object.clone();
        for map in ["labels", "annotations"] {
            if let Some(texts) = object["metadata"][map].as_object_mut() {
                texts.retain(|key, _| !key.starts_with(PREFIX));
            }
        }
        object["metadata"].as_object_mut().unwrap().remove("labels");
        object
    }

    /// Whether it holds the stopped value, or any instant where that is one.
    fn is_stopped(&self, path: &str, stopped: &Value) -> bool {
        let is_instant = |it: &Value| it.as_str().is_some_and(|it| it.starts_with("2026"));
        let found = self.object.pointer(path);
        found.is_some_and(|it| it == stopped || is_instant(it) && is_instant(stopped))
    }

    fn error(&self) -> &str {
        let error = &self.object["metadata"]["annotations"]["dayshift/error"];
        error.as_str().unwrap_or_default()
    }
}

/// As the API server applies a JSON patch: a test for `null` passes where the last member is
/// missing, and fails where one above it is.
fn apply(object: &mut Value, patch: &Patch) -> Result<(), String> {
    let mut writes = Vec::new();
    for operation in &patch.0 {
        let PatchOperation::Test(test) = operation else {
            writes.push(operation.clone());
            continue;
        };
        let path = test.path.to_string();
        let above = path.rsplit_once('/').unwrap().0;
        if !object.pointer(above).is_some_and(Value::is_object) {
            return Err(format!("{above} is missing"));
        }
        if object.pointer(&path).unwrap_or(&Value::Null) != &test.value {
            return Err(format!("{path} is not {}", test.value));
        }
    }
    json_patch::patch(object, &writes).map_err(|error| error.to_string())
}

const CNPG: &str = "clusters.postgresql.cnpg.io";
const CRUNCHY: &str = "postgresclusters.postgres-operator.crunchydata.com";

/// What runs, by kind; where the switch is and what it holds at night.
fn running() -> Vec<(&'static str, Value, &'static str, Value)> {
    let hibernation = "/metadata/annotations/cnpg.io~1hibernation";
    let annotated =
        |text: &str| json!({"metadata": {"annotations": {"cnpg.io/hibernation": text}}});
    let mut all = vec![
        (
            CNPG,
            json!({"spec": {"instances": 3}}),
            hibernation,
            json!("on"),
        ),
        (CNPG, annotated("off"), hibernation, json!("on")),
        (CNPG, annotated(""), hibernation, json!("on")),
        (
            "notebooks.kubeflow.org",
            json!({"spec": {}}),
            "/metadata/annotations/kubeflow-resource-stopped",
            json!("2026-11-19T19:00:00Z"),
        ),
    ];
    let spec = [
        (
            CRUNCHY,
            "/spec/shutdown",
            json!(true),
            vec![json!(false), Value::Null],
        ),
        (
            "perconapgclusters.pgv2.percona.com",
            "/spec/pause",
            json!(true),
            vec![json!(false), Value::Null],
        ),
        (
            "cassandradatacenters.cassandra.datastax.com",
            "/spec/stopped",
            json!(true),
            vec![json!(false), Value::Null],
        ),
        (
            "clickhouseinstallations.clickhouse.altinity.com",
            "/spec/stop",
            json!("yes"),
            vec![
                json!("no"),
                json!("False"),
                json!("0"),
                json!(""),
                Value::Null,
            ],
        ),
        (
            "trinoclusters.trino.stackable.tech",
            "/spec/clusterOperation/stopped",
            json!(true),
            vec![json!(false), Value::Null],
        ),
        (
            "virtualmachines.kubevirt.io",
            "/spec/runStrategy",
            json!("Halted"),
            ["Always", "RerunOnFailure", "Manual", "Once"]
                .map(|it| json!(it))
                .to_vec(),
        ),
        (
            "rayclusters.ray.io",
            "/spec/suspend",
            json!(true),
            vec![json!(false), Value::Null],
        ),
        (
            "rayservices.ray.io",
            "/spec/rayClusterConfig/suspend",
            json!(true),
            vec![json!(false), Value::Null],
        ),
        (
            "cronworkflows.argoproj.io",
            "/spec/suspend",
            json!(true),
            vec![json!(false), Value::Null],
        ),
        (
            "shoots.core.gardener.cloud",
            "/spec/hibernation/enabled",
            json!(true),
            vec![json!(false), Value::Null],
        ),
        (
            "clusterdeployments.hive.openshift.io",
            "/spec/powerState",
            json!("Hibernating"),
            vec![json!("Running"), Value::Null],
        ),
    ];
    for (kind, path, stopped, values) in spec {
        for value in values {
            let mut object = json!({"spec": {"name": "x"}});
            if !value.is_null() {
                put(&mut object, path, value);
            }
            all.push((kind, object, path, stopped.clone()));
        }
    }
    // A member above it that is there, alone or with something else in it.
    for parent in [
        json!({}),
        json!({"schedules": []}),
        json!({"enabled": false}),
    ] {
        let object = json!({"spec": {"hibernation": parent}});
        all.push((
            "shoots.core.gardener.cloud",
            object,
            "/spec/hibernation/enabled",
            json!(true),
        ));
    }
    all
}

/// Writes a member, and those above it that are missing.
fn put(object: &mut Value, path: &str, value: Value) {
    let tokens = path.split('/').skip(1).map(|it| it.replace("~1", "/"));
    *tokens.fold(object, |it, token| &mut it[token]) = value;
}

/// The stopped value of that night: an instant is that of its own stop.
fn at_night(stopped: &Value, day: u32) -> Value {
    let text = stopped.as_str().filter(|it| it.starts_with("2026"));
    text.map_or_else(
        || stopped.clone(),
        |text| json!(text.replace("-19T", &format!("-{day}T"))),
    )
}

#[test]
fn a_stop_switches_off_and_a_start_brings_back_what_was_there_to_the_letter() {
    for (kind, object, path, stopped) in running() {
        for is_killed in [false, true] {
            let mut live = Live::new(kind, object.clone());
            let before = live.theirs();
            for day in 19..23 {
                live.until(&format!("2026-11-{day} 20:00"));
                assert_eq!(
                    live.object.pointer(path),
                    Some(&at_night(&stopped, day)),
                    "{kind}"
                );
                assert_eq!(live.label("saved-replicas"), Some("1"), "{kind}");
                assert!(live.label("saved-value").is_some(), "{kind}");
                if is_killed {
                    live.killed();
                }
                live.until(&format!("2026-11-{} 10:00", day + 1));
                assert_eq!(live.theirs(), before, "{kind}");
                assert_eq!(live.label("saved-value"), None, "{kind}");
            }
        }
    }
}

#[test]
fn a_wake_and_a_sleep_bring_back_the_same() {
    for (kind, object, path, stopped) in running() {
        let mut live = Live::new(kind, object);
        let before = live.theirs();
        live.annotate("sleep-until", "2026-11-19 14:00")
            .until("2026-11-19 13:00");
        assert!(live.is_stopped(path, &stopped), "{kind}");
        live.until("2026-11-19 15:00");
        assert_eq!(live.theirs(), before, "{kind}");
        live.until("2026-11-19 20:00");
        live.annotate("wake-until", "2026-11-19 22:00")
            .until("2026-11-19 21:00");
        assert_eq!(live.theirs(), before, "{kind}");
        live.until("2026-11-19 23:00");
        assert!(live.is_stopped(path, &stopped), "{kind}");
        live.annotate("pause", "2026-11-20 12:00")
            .until("2026-11-20 11:00");
        assert!(live.is_stopped(path, &stopped), "{kind}");
        live.until("2026-11-20 13:00");
        assert_eq!(live.theirs(), before, "{kind}: held down, and brought back");
    }
}

#[test]
fn what_somebody_stopped_stays_stopped_until_a_wake() {
    for (kind, object, path, stopped) in running() {
        let mut live = Live::new(kind, object);
        put(&mut live.object, path, stopped.clone());
        live.until("2026-11-21 12:00");
        assert_eq!(live.object.pointer(path), Some(&stopped), "{kind}");
        live.annotate("wake-until", "2026-11-21 22:00")
            .until("2026-11-21 13:00");
        assert_ne!(live.object.pointer(path), Some(&stopped), "{kind}");
    }
}

#[test]
fn what_somebody_writes_at_night_is_theirs() {
    // Another value, or none: it runs, and holds what they wrote.
    for value in [json!("off"), json!("false"), Value::Null] {
        let off = json!({"metadata": {"annotations": {"cnpg.io/hibernation": "off"}}});
        let mut live = Live::new(CNPG, off);
        live.until("2026-11-19 20:00");
        let annotations = live.object["metadata"]["annotations"]
            .as_object_mut()
            .unwrap();
        match &value {
            Value::Null => annotations.remove("cnpg.io/hibernation"),
            text => annotations.insert("cnpg.io/hibernation".to_owned(), text.clone()),
        };
        let theirs = live.theirs();
        live.until("2026-11-20 12:00");
        assert_eq!(live.theirs(), theirs, "{value}");
        // It is what the next stop saves.
        live.until("2026-11-20 20:00");
        assert_eq!(
            live.object["metadata"]["annotations"]["cnpg.io/hibernation"],
            "on"
        );
        live.until("2026-11-21 12:00");
        assert_eq!(live.theirs(), theirs, "{value}");
    }
}

#[test]
fn enforce_keeps_what_the_stop_saved() {
    let off = json!({"metadata": {"annotations": {"cnpg.io/hibernation": "off"}}});
    let mut live = Live::new(CNPG, off);
    let before = live.theirs();
    live.annotate("enforce", "true").until("2026-11-19 20:00");
    for raised in ["2026-11-19 21:00", "2026-11-19 22:00"] {
        let annotations = live.object["metadata"]["annotations"]
            .as_object_mut()
            .unwrap();
        annotations.remove("cnpg.io/hibernation");
        live.until(raised);
        assert_eq!(
            live.object["metadata"]["annotations"]["cnpg.io/hibernation"],
            "on"
        );
    }
    live.until("2026-11-20 12:00");
    assert_eq!(live.theirs(), before);
}

#[test]
fn labels_that_are_taken_away_are_written_again_with_the_value() {
    for (kind, object, ..) in running() {
        let mut live = Live::new(kind, object);
        let before = live.theirs();
        live.until("2026-11-19 20:00");
        let saved = live.label("saved-value").map(str::to_owned);
        live.object["metadata"]
            .as_object_mut()
            .unwrap()
            .remove("labels");
        live.obey();
        assert_eq!(
            live.label("saved-value").map(str::to_owned),
            saved,
            "{kind}"
        );
        live.object["metadata"]["labels"]
            .as_object_mut()
            .unwrap()
            .remove("dayshift/saved-value");
        live.obey();
        assert_eq!(
            live.label("saved-value").map(str::to_owned),
            saved,
            "{kind}"
        );
        live.until("2026-11-20 12:00");
        assert_eq!(live.theirs(), before, "{kind}");
    }
}

/// Where nobody knows any more what was there, it runs all the same.
#[test]
fn a_value_that_is_lost_or_means_stopped_is_the_one_of_the_table() {
    for text in [None, Some("true"), Some("on"), Some("nonsense")] {
        let mut live = Live::new(CRUNCHY, json!({"spec": {}}));
        live.until("2026-11-19 20:00").killed();
        let labels = live.object["metadata"]["labels"].as_object_mut().unwrap();
        match text {
            None => labels.remove("dayshift/saved-value"),
            Some(text) => labels.insert("dayshift/saved-value".to_owned(), json!(text)),
        };
        live.until("2026-11-20 12:00");
        assert_eq!(live.object["spec"]["shutdown"], json!(false), "{text:?}");
    }
}

#[test]
fn a_patch_fails_where_the_switch_was_changed_meanwhile() {
    for (kind, object, path, stopped) in running() {
        let mut live = Live::new(kind, object);
        live.now = utc("2026-11-19 19:00");
        let (_, stop) = live.due().unwrap();
        let mut theirs = live.object.clone();
        put(&mut theirs, path, stopped);
        assert!(apply(&mut theirs, &stop).is_err(), "{kind}");
        apply(&mut live.object, &stop).unwrap();
        // The same patch twice, or that of a second scaler.
        assert!(apply(&mut live.object, &stop).is_err(), "{kind}");
    }
}

#[test]
fn a_value_that_no_label_can_keep_is_refused() {
    let long = "x".repeat(64);
    for text in ["not a label", "absent", &long] {
        let annotations = json!({"cnpg.io/hibernation": text});
        let mut live = Live::new(CNPG, json!({"metadata": {"annotations": annotations}}));
        live.until("2026-11-20 20:00");
        assert_eq!(
            live.object["metadata"]["annotations"]["cnpg.io/hibernation"],
            json!(text)
        );
        let expected = "metadata.annotations.cnpg.io/hibernation: `";
        assert!(live.error().starts_with(expected), "{}", live.error());
        assert!(
            live.error().contains("cannot be kept in a label"),
            "{}",
            live.error()
        );
    }
}

#[test]
fn what_is_no_value_of_the_switch_is_refused() {
    for odd in [json!("yes"), json!(1), json!({"at": "night"})] {
        let mut live = Live::new(CRUNCHY, json!({"spec": {"shutdown": odd}}));
        live.until("2026-11-20 20:00");
        assert_eq!(live.object["spec"]["shutdown"], odd);
        assert!(
            live.error().starts_with("spec.shutdown: `"),
            "{}",
            live.error()
        );
        assert!(
            live.error().contains("is not true or false"),
            "{}",
            live.error()
        );
        // Corrected, it goes on.
        live.object["spec"]["shutdown"] = json!(false);
        live.until("2026-11-21 20:00");
        assert_eq!(live.object["spec"]["shutdown"], json!(true));
    }
}

#[test]
fn counts_have_no_meaning_there() {
    for key in ["replicas", "stop-replicas"] {
        let mut live = Live::new(CRUNCHY, json!({"spec": {}}));
        live.annotate(key, "1").until("2026-11-19 20:00");
        assert_eq!(live.object["spec"]["shutdown"], Value::Null);
        assert!(
            live.error()
                .contains("has no meaning on what is stopped or not")
        );
    }
}

#[test]
fn removing_the_schedule_keeps_the_value_for_whoever_brings_it_back() {
    let mut live = Live::new(CRUNCHY, json!({"spec": {"shutdown": false}}));
    live.until("2026-11-19 20:00");
    let annotations = live.object["metadata"]["annotations"]
        .as_object_mut()
        .unwrap();
    annotations.remove("dayshift/hours");
    annotations.insert("owner".to_owned(), json!("team"));
    live.obey();
    assert_eq!(live.label("state"), None);
    assert_eq!(live.label("saved-replicas"), Some("1"));
    assert_eq!(live.label("saved-value"), Some("false"));
}

#[test]
fn other_kinds_have_no_such_label() {
    let object = json!({"spec": {"replicas": 3}});
    let mut live = Live::new("rollouts.argoproj.io", object);
    live.now = utc("2026-11-19 19:00");
    let (_, stop) = live.due().unwrap();
    let patch = serde_json::to_string(&stop).unwrap();
    assert!(!patch.contains("saved-value"), "{patch}");
}

#[test]
fn a_virtual_machine_with_the_older_field_beside_is_refused() {
    let spec = json!({"spec": {"runStrategy": "Always", "running": true}});
    let mut live = Live::new("virtualmachines.kubevirt.io", spec.clone());
    live.until("2026-11-20 20:00");
    assert_eq!(live.object["spec"], spec["spec"]);
    let expected = "spec.runStrategy: spec.running stands beside it";
    assert!(live.error().starts_with(expected), "{}", live.error());
    // It appears between the decision and the patch: the patch tests that it is not there.
    let mut live = Live::new(
        "virtualmachines.kubevirt.io",
        json!({"spec": {"runStrategy": "Always"}}),
    );
    live.now = utc("2026-11-19 19:00");
    let (_, stop) = live.due().unwrap();
    live.object["spec"]["running"] = json!(true);
    assert!(apply(&mut live.object, &stop).is_err());
}

/// What the operator takes for yes, in the words that somebody used.
#[test]
fn every_word_of_clickhouse_for_yes_is_stopped() {
    for word in [
        "yes", "Yes", "1", "true", "True", "on", "On", "enable", "Enabled",
    ] {
        let spec = json!({"spec": {"stop": word}});
        let mut live = Live::new("clickhouseinstallations.clickhouse.altinity.com", spec);
        live.until("2026-11-21 12:00");
        assert_eq!(live.object["spec"]["stop"], word);
    }
}

#[test]
fn a_count_in_a_field_of_another_name_is_a_count() {
    let spec = json!({"spec": {"numberOfInstances": 3}});
    let mut live = Live::new("postgresqls.acid.zalan.do", spec);
    let count = |live: &Live| live.object["spec"]["numberOfInstances"].clone();
    live.until("2026-11-19 20:00");
    assert_eq!(
        (count(&live), live.label("saved-replicas")),
        (json!(0), Some("3"))
    );
    assert_eq!(live.label("saved-value"), None);
    live.object["spec"]["numberOfInstances"] = json!(1);
    live.until("2026-11-20 12:00");
    assert_eq!(count(&live), 3, "raised to the saved count");
    live.annotate("replicas", "2")
        .annotate("stop-replicas", "1");
    live.until("2026-11-20 20:00");
    assert_eq!(count(&live), 1);
    live.until("2026-11-21 12:00");
    assert_eq!(count(&live), 2);
}

/// A queue's cluster comes back with as many nodes as it had, and with no other number.
#[test]
fn an_exact_count_is_never_raised_and_never_made_up() {
    let rabbit = |replicas: u32| {
        let spec = json!({"spec": {"replicas": replicas}});
        Live::new("rabbitmqclusters.rabbitmq.com", spec)
    };
    let count = |live: &Live| live.object["spec"]["replicas"].clone();
    let mut live = rabbit(3);
    live.until("2026-11-19 20:00");
    assert_eq!(count(&live), 0);
    live.until("2026-11-20 12:00");
    assert_eq!(count(&live), 3);
    // What somebody has started at night runs on as it is, whatever was saved.
    live.until("2026-11-20 20:00");
    live.object["spec"]["replicas"] = json!(1);
    live.until("2026-11-21 12:00");
    assert_eq!(count(&live), 1);
    live.until("2026-11-21 20:00");
    assert_eq!(
        (count(&live), live.label("saved-replicas")),
        (json!(0), Some("1"))
    );
    // Nobody knows how many nodes it had.
    let mut live = rabbit(0);
    live.until("2026-11-21 12:00");
    assert_eq!(count(&live), 0);
    live.annotate("wake-until", "2026-11-21 14:00")
        .until("2026-11-21 13:00");
    assert_eq!(count(&live), 0);
    for key in ["replicas", "stop-replicas", "scale"] {
        let mut live = rabbit(3);
        live.annotate(key, if key == "scale" { "12:00 = 2" } else { "2" });
        live.until("2026-11-19 20:00");
        assert_eq!(count(&live), 3, "{key}");
        assert!(
            live.error().contains("with its own count or with none"),
            "{key}: {}",
            live.error()
        );
    }
}

#[test]
fn a_set_of_runners_that_keeps_none_keeps_none() {
    let set = "autoscalingrunnersets.actions.github.com";
    let least = |live: &Live| live.object["spec"]["minRunners"].clone();
    let mut live = Live::new(set, json!({"spec": {}}));
    live.until("2026-11-21 12:00");
    assert_eq!(least(&live), Value::Null);
    let mut live = Live::new(set, json!({"spec": {"minRunners": 5}}));
    live.until("2026-11-20 20:00");
    assert_eq!(least(&live), 0);
    live.until("2026-11-21 12:00");
    assert_eq!(least(&live), 5);
    // Somebody takes it away at night: it is 0, and 5 again in the morning.
    live.until("2026-11-21 20:00");
    live.object["spec"]
        .as_object_mut()
        .unwrap()
        .remove("minRunners");
    live.until("2026-11-22 12:00");
    assert_eq!(least(&live), 5);
}

/// A row that nobody has tried would be a guess.
#[test]
fn each_row_stops_and_starts_something() {
    for kind in Kind::of_operators() {
        let path = kind.pointer();
        let mut object = json!({"spec": {}});
        if kind.switch().is_none() {
            put(&mut object, &path, json!(3));
        }
        if kind.name() == "VirtualMachine" {
            put(&mut object, &path, json!("Always"));
        }
        let mut live = Live::new(kind.argument(), object);
        let before = live.theirs();
        live.until("2026-11-19 20:00");
        assert_ne!(live.theirs(), before, "{kind}");
        live.until("2026-11-20 12:00");
        assert_eq!(live.theirs(), before, "{kind}");
    }
}
