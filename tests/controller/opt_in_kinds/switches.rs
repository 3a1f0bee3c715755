//! Kinds with an on/off field: killed controllers, two controllers at once, and concurrent changes.

use dayshift_controller::Settings;
use dayshift_workload::KindTable;
use serde_json::{Value, json};

use super::line::{Line, object};
use crate::sandbox::{Sandbox, default_with};

const HIBERNATION: &str = "cnpg.io/hibernation";
const PATH: &str = "/metadata/annotations/cnpg.io~1hibernation";

fn settings() -> Settings {
    let kinds = vec![
        KindTable::default().resource("clusters", "postgresql.cnpg.io"),
        KindTable::default().resource("postgresclusters", "postgres-operator.crunchydata.com"),
    ];
    default_with(|settings| settings.scope.kinds = kinds)
}

fn served() -> Sandbox {
    let scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    let crunchy = "postgres-operator.crunchydata.com";
    for (group, version, plural, kind) in [
        ("postgresql.cnpg.io", "v1", "clusters", "Cluster"),
        (crunchy, "v1beta1", "postgresclusters", "PostgresCluster"),
    ] {
        scenario.api.serve_custom(group, version, plural, kind);
    }
    scenario
}

fn begin(line: &Line, objects: &[Value]) -> Sandbox {
    let mut scenario = served();
    scenario.start_controller_with(|api| line.client(api), settings());
    for object in objects {
        scenario.api.create(object.clone()).unwrap();
    }
    scenario.settle();
    scenario
}

fn cnpg(hibernation: Option<&str>) -> Value {
    let mut cluster = object("postgresql.cnpg.io/v1", "Cluster", &json!({"instances": 3}));
    if let Some(text) = hibernation {
        cluster["metadata"]["annotations"][HIBERNATION] = json!(text);
    }
    cluster
}

fn crunchy(spec: &Value) -> Value {
    let version = "postgres-operator.crunchydata.com/v1beta1";
    object(version, "PostgresCluster", spec)
}

fn get(scenario: &Sandbox, kind: &str) -> Value {
    scenario.api.get(kind, "dev", "web").unwrap()
}

fn saved_value(scenario: &Sandbox, kind: &str) -> Value {
    get(scenario, kind)["metadata"]["labels"]["dayshift/saved-value"].clone()
}

#[test]
fn each_on_off_field_is_written_in_one_patch_and_restored() {
    let (absent, gone) = (Value::Null, json!("-"));
    for (object, kind, path, before, down, up, saved) in [
        (
            cnpg(None),
            "Cluster",
            PATH,
            absent.clone(),
            "on".into(),
            gone.clone(),
            "absent",
        ),
        (
            cnpg(Some("off")),
            "Cluster",
            PATH,
            "off".into(),
            "on".into(),
            "off".into(),
            "off",
        ),
        (
            crunchy(&json!({})),
            "PostgresCluster",
            "/spec/shutdown",
            absent,
            json!(true),
            gone,
            "absent",
        ),
        (
            crunchy(&json!({"shutdown": false})),
            "PostgresCluster",
            "/spec/shutdown",
            json!(false),
            json!(true),
            json!(false),
            "false",
        ),
    ] {
        let shown = object.to_string();
        let line = Line::default();
        let scenario = begin(&line, &[object]);
        let first = get(&scenario, kind);
        assert_eq!(line.count(), 1, "adopted: {shown}");
        scenario.sleep_until("19:00");
        let stop = [
            ("test".to_owned(), before),
            ("add".to_owned(), down.clone()),
        ];
        assert_eq!(line.last(path), stop, "{shown}");
        assert_eq!(saved_value(&scenario, kind), saved, "{shown}");
        scenario.sleep_until("21:00");
        let goes = if up == "-" { "remove" } else { "add" };
        let start = [("test".to_owned(), down), (goes.to_owned(), up)];
        assert_eq!(line.last(path), start, "{shown}");
        assert_eq!(line.count(), 3, "each object is patched once: {shown}");
        assert_eq!(
            get(&scenario, kind).pointer(path),
            first.pointer(path),
            "{shown}"
        );
        assert_eq!(saved_value(&scenario, kind), Value::Null, "{shown}");
    }
}

/// The stop saves the value that a user wrote concurrently.
#[test]
fn restores_a_value_that_a_user_wrote_during_a_stop() {
    let line = Line::default();
    let scenario = begin(&line, &[cnpg(None)]);
    scenario.sleep_until("18:59");
    line.0.lock().unwrap().1 = Some(|api| {
        let theirs = json!({"metadata": {"annotations": {HIBERNATION: "off"}}});
        api.merge("Cluster", "dev", "web", &theirs).unwrap();
    });
    scenario.sleep_until("19:00");
    assert_eq!(saved_value(&scenario, "Cluster"), "off");
    assert_eq!(get(&scenario, "Cluster").pointer(PATH), Some(&json!("on")));
    scenario.sleep_until("21:00");
    assert_eq!(get(&scenario, "Cluster").pointer(PATH), Some(&json!("off")));
}

/// At each boundary both controllers are replaced by two new ones without memory.
#[test]
fn two_repeatedly_killed_controllers_lose_no_value() {
    let mut scenario = served();
    scenario.api.create(cnpg(Some("off"))).unwrap();
    scenario
        .api
        .create(crunchy(&json!({"shutdown": false})))
        .unwrap();
    let mut times = vec!["2026-11-20 18:30".to_owned()];
    for day in 20..24 {
        times.extend([19, 21].map(|hour| format!("2026-11-{day} {hour}:00")));
    }
    for time in &times {
        scenario.kill_controllers();
        scenario.start_controller(settings());
        scenario.start_controller(settings());
        scenario.sleep_until(time);
        let is_night = time.ends_with("19:00");
        let shown = (
            get(&scenario, "Cluster").pointer(PATH).cloned(),
            get(&scenario, "PostgresCluster")["spec"]["shutdown"].clone(),
        );
        let expected = if is_night { json!("on") } else { json!("off") };
        assert_eq!(shown, (Some(expected), json!(is_night)), "{time}");
    }
}

/// The state after a user applies a manifest, which does not contain dayshift's values, while the workload is
/// stopped.
#[test]
fn manifest_applied_while_stopped_starts_it_until_the_next_stop() {
    let line = Line::default();
    let scenario = begin(&line, &[crunchy(&json!({"shutdown": false}))]);
    scenario.sleep_until("20:00");
    let applied = json!({"spec": {"shutdown": false}});
    scenario
        .api
        .merge("PostgresCluster", "dev", "web", &applied)
        .unwrap();
    let shutdown =
        |scenario: &Sandbox| get(scenario, "PostgresCluster")["spec"]["shutdown"].clone();
    for (time, expected) in [
        ("20:59", false),
        ("21:00", false),
        ("2026-11-21 19:00", true),
    ] {
        scenario.sleep_until(time);
        assert_eq!(shutdown(&scenario), expected, "{time}");
    }
    scenario.sleep_until("2026-11-21 21:00");
    assert_eq!(shutdown(&scenario), false);
}
