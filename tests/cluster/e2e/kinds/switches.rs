//! Kinds with an on/off field, one of each class: an annotation, a boolean, a string, a boolean below a
//! missing member, a count in another field, and an exact count. `switches.yaml` defines them with the fields
//! of the real kinds. No operator runs here, so only the fields are checked.

use serde_json::{Value, json};

use super::{SAVED, STATE, await_field, await_watchable, before, create, field};
use crate::{
    e2e::test_namespace::TestNamespace,
    support::{ControlPlane, Parts, Scenario, Soon, scenarios, soon, wait_until},
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Pods;
        start_restores_each_on_off_field_exactly,
        new_kind_needs_a_definition_of_five_lines,
    ]
}

const KINDS: [(&str, &str, &str); 7] = [
    ("clusters", "postgresql.cnpg.io/v1", "Cluster"),
    (
        "postgresclusters",
        "postgres-operator.crunchydata.com/v1beta1",
        "PostgresCluster",
    ),
    ("virtualmachines", "kubevirt.io/v1", "VirtualMachine"),
    ("shoots", "core.gardener.cloud/v1beta1", "Shoot"),
    ("robots", "toys.example.com/v1", "Robot"),
    ("postgresqls", "acid.zalan.do/v1", "postgresql"),
    (
        "rabbitmqclusters",
        "rabbitmq.com/v1beta1",
        "RabbitmqCluster",
    ),
];

const FLAG: &str = "--kinds=clusters.postgresql.cnpg.io,\
                    postgresclusters.postgres-operator.crunchydata.com,\
                    virtualmachines.kubevirt.io,shoots.core.gardener.cloud,\
                    postgresqls.acid.zalan.do,rabbitmqclusters.rabbitmq.com";

const HIBERNATION: &str = "/metadata/annotations/cnpg.io~1hibernation";
const VALUE: &str = "/metadata/labels/dayshift~1saved-value";

/// Allows dayshift to scale them, once the server serves them.
fn serve(plane: &ControlPlane) {
    plane.install();
    plane.apply_file("tests/cluster/e2e/kinds/switches.yaml");
    for (plural, version, _) in KINDS {
        await_watchable(plane, &format!("{version}/{plural}"));
    }
}

fn object(plural: &str, name: &str, spec: &Value, stop: Soon, start: Soon) -> Value {
    let (_, version, kind) = KINDS.into_iter().find(|it| it.0 == plural).unwrap();
    json!({
        "apiVersion": version, "kind": kind, "spec": spec,
        "metadata": {"name": name, "annotations": {
            "dayshift/stop": stop.text(), "dayshift/start": start.text(),
        }},
    })
}

fn start_restores_each_on_off_field_exactly(plane: &ControlPlane) {
    serve(plane);
    let mut team = TestNamespace::without_controller(plane, "switches");
    team.run(&[FLAG]);
    let stop = soon(14);
    let start = stop.plus(12);
    let of = |plural: &str, name: &str, spec: Value| object(plural, name, &spec, stop, start);
    let mut off = of("clusters", "off", json!({"instances": 3}));
    off["metadata"]["annotations"]["cnpg.io/hibernation"] = json!("off");
    let mut without_spec = of("postgresclusters", "without-spec", json!({}));
    without_spec.as_object_mut().unwrap().remove("spec");
    let rows = [
        (
            without_spec,
            "postgresclusters/without-spec",
            "/spec",
            "",
            r#"{"shutdown":true}"#,
            "absent.1",
        ),
        (off, "clusters/off", HIBERNATION, "off", "on", "off"),
        (
            of("clusters", "bare", json!({"instances": 1})),
            "clusters/bare",
            HIBERNATION,
            "",
            "on",
            "absent",
        ),
        (
            of("postgresclusters", "said", json!({"shutdown": false})),
            "postgresclusters/said",
            "/spec/shutdown",
            "false",
            "true",
            "false",
        ),
        (
            of("postgresclusters", "unsaid", json!({"postgresVersion": 17})),
            "postgresclusters/unsaid",
            "/spec/shutdown",
            "",
            "true",
            "absent",
        ),
        (
            of(
                "virtualmachines",
                "vm",
                json!({"runStrategy": "RerunOnFailure"}),
            ),
            "virtualmachines/vm",
            "/spec/runStrategy",
            "RerunOnFailure",
            "Halted",
            "RerunOnFailure",
        ),
        (
            of("shoots", "shoot", json!({"purpose": "testing"})),
            "shoots/shoot",
            "/spec/hibernation",
            "",
            r#"{"enabled":true}"#,
            "absent.1",
        ),
        (
            of("postgresqls", "zalando", json!({"numberOfInstances": 3})),
            "postgresqls/zalando",
            "/spec/numberOfInstances",
            "3",
            "0",
            "",
        ),
        (
            of("rabbitmqclusters", "rabbit", json!({"replicas": 3})),
            "rabbitmqclusters/rabbit",
            "/spec/replicas",
            "3",
            "0",
            "",
        ),
    ];
    for (object, ..) in &rows {
        create(&team, object);
    }
    for (_, name, path, first, ..) in &rows {
        before(&team, stop, name, STATE, "adopted");
        assert_eq!(field(&team, name, path), *first, "{name}");
    }
    for (_, name, path, first, stopped, value) in &rows {
        let saved = if value.is_empty() { first } else { "1" };
        before(&team, start, name, path, stopped);
        before(&team, start, name, SAVED, saved);
        before(&team, start, name, VALUE, value);
    }
    for (_, name, path, first, ..) in &rows {
        await_field(&team, name, STATE, "running");
        assert_eq!(field(&team, name, path), *first, "{name}");
        assert_eq!(field(&team, name, VALUE), "", "{name}");
        let (_, short) = name.split_once('/').unwrap();
        team.assert_punctual(short, 1, stop);
        team.assert_punctual(short, 2, start);
    }
    let run = |command: &str| {
        let object = "virtualmachines.kubevirt.io/vm";
        let line = format!("dayshift {command} {object} -n {}", team.name());
        plane.shell(&line).success()
    };
    let slept = run("sleep --for 1h");
    let expected = "virtualmachine.kubevirt.io/vm asleep until ";
    assert_starts_with!(slept, expected);
    await_field(&team, "virtualmachines/vm", "/spec/runStrategy", "Halted");
    let shown = run("status");
    assert_contains!(shown, "stopped");
    run("resume");
    await_field(
        &team,
        "virtualmachines/vm",
        "/spec/runStrategy",
        "RerunOnFailure",
    );
    let all = rows.iter().map(|row| row.1.split_once('/').unwrap().1);
    team.ends(all.map(|name| (name, if name == "vm" { 5 } else { 3 })));
}

/// With the permissions that `dayshift kinds` prints, and beside an invalid definition.
fn new_kind_needs_a_definition_of_five_lines(plane: &ControlPlane) {
    serve(plane);
    let mut team = TestNamespace::without_controller(plane, "robots");
    let rows = tempfile::NamedTempFile::new().unwrap();
    let text = "\
- resource: robots.toys.example.com
  kind: Robot
  field: spec.power.mode
  stopped: \"off\"
  running: auto
  instances: spec.arms
  resources: spec.resources
- {resource: drones.toys.example.com, kind: Drone, field: spec.wings, stopped: 3}
";
    std::fs::write(rows.path(), text).unwrap();
    let file = rows.path().to_str().unwrap();
    let flags = [
        "--kind-file",
        file,
        "--kinds",
        "robots.toys.example.com,drones.toys.example.com",
    ];
    let account = "system:serviceaccount:dayshift:dayshift";
    let listed = |verbs: &str| {
        let line = format!("dayshift kinds --as={account} {}", flags.join(" "));
        wait_until(&format!("robots: {verbs}"), || {
            let shown = plane.shell(&line).success();
            let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
            let expected = format!(
                "robots.toys.example.com spec.power.mode off saved value, else auto yes yes {verbs}"
            );
            shown.lines().map(words).any(|it| it == expected)
        });
    };
    listed("get,list,watch,patch");
    let role = format!(
        "dayshift kinds -o yaml {} | kubectl apply -f -",
        flags.join(" ")
    );
    plane.shell(&role).success();
    listed("<none>");
    // The policy of dayshift's ServiceAccount gets a line for the kind.
    let policy = include_str!("../../../../manifests/policy/scaler.yaml");
    let row = "'robots.toys.example.com': ['spec', 'power', 'mode'],";
    let policy = policy.replacen(
        "'cronjobs.batch'",
        &format!("{row}\n        'cronjobs.batch'"),
        1,
    );
    assert_contains!(policy, row);
    plane.apply(&policy);
    let controller = team.run(&flags);
    let log = controller.log();
    let wrong = ":8:80: `3` is not true, false or a text; nothing of this kind is scaled";
    assert_contains!(log, wrong);
    let stop = soon(14);
    let start = stop.plus(16);
    let of = |name: &str, spec: &Value| object("robots", name, spec, stop, start);
    let resources = json!({"requests": {"cpu": "500m", "memory": "1Gi"}});
    let eco = json!({"power": {"mode": "eco"}, "arms": 4, "resources": resources});
    create(&team, of("eco", &eco));
    create(&team, of("bare", &json!({})));
    let mode = "/spec/power/mode";
    for name in ["robots/eco", "robots/bare"] {
        before(&team, stop, name, STATE, "adopted");
    }
    for name in ["robots/eco", "robots/bare"] {
        before(&team, start, name, mode, "off");
    }
    let line = format!(
        "dayshift status -o wide -n {} {}",
        team.name(),
        flags.join(" ")
    );
    let held = "Stopped by schedules and overrides now: 4 replicas, 2 CPU cores, 4 GiB of memory.";
    start.await_true("status shows the replicas of the Robot", || {
        plane.shell(&line).success().contains(held)
    });
    for (name, path, expected) in [("eco", mode, "eco"), ("bare", "/spec/power", "")] {
        let name = &format!("robots/{name}");
        await_field(&team, name, STATE, "running");
        assert_eq!(field(&team, name, path), expected, "{name}");
    }
    team.ends([("eco", 3), ("bare", 3)]);
}
