//! The real operator of CloudNativePG: a Cluster that dayshift stops hibernates, and starts again with its
//! volume. See `tests/cloudnativepg`.
//!
//! No PostgreSQL runs: the scenario reports the status of a healthy instance.
//!
//! `OPERATORS=full cargo test --test cluster operators` runs it, because building it takes minutes.

use std::env;

use serde_json::json;

use crate::e2e::kinds::{SAVED, STATE, await_field, create, field};
use crate::e2e::test_namespace::TestNamespace;
use crate::support::{ControlPlane, Operator, Parts, Scenario, scenarios, soon, wait_until};

pub(crate) fn scenarios() -> Vec<Scenario> {
    match env::var("OPERATORS").as_deref() {
        Err(_) => Vec::new(),
        Ok("full") => scenarios![
            Parts::Server;
            cloud_native_pg_cluster_hibernates_and_keeps_its_volume,
        ],
        Ok(other) => panic!("OPERATORS={other}: write `full`, or leave it out"),
    }
}

const KINDS: &str = "--kinds=clusters.postgresql.cnpg.io";
const HIBERNATION: &str = "/metadata/annotations/cnpg.io~1hibernation";

fn cloud_native_pg_cluster_hibernates_and_keeps_its_volume(plane: &ControlPlane) {
    plane.install();
    let mut team = TestNamespace::without_controller(plane, "cloudnativepg");
    let operator = Operator::cloud_native_pg(plane);
    // As in docs/reference/operator-kinds.md.
    let role = format!("dayshift kinds -o yaml {KINDS} | kubectl apply -f -");
    plane.shell(&role).success();
    team.run(&[KINDS]);
    let cluster = json!({
        "apiVersion": "postgresql.cnpg.io/v1", "kind": "Cluster", "metadata": {"name": "db"},
        "spec": {"instances": 1, "storage": {"size": "1Gi"}},
    });
    create(&team, &cluster);
    let set_status = |object: &str, status: serde_json::Value| {
        let patch = json!({"status": status}).to_string();
        let merge = ["--subresource=status", "--type=merge", "-p", &patch];
        team.kubectl(&[&["patch", object], &merge[..]].concat())
    };
    let get = |resource: &str, template: &str| {
        let found = team.kubectl(&["get", resource, "-o", &format!("jsonpath={template}")]);
        found.ok.then_some(found.stdout)
    };
    let has_pod = || get("pods", "{.items[*].metadata.name}").is_some_and(|it| it == "db-1");
    wait_until("the operator sets up an instance", || {
        set_status("job/db-1-initdb", json!({"succeeded": 1})).ok
    });
    wait_until("the instance has its pod", &has_pod);
    let volume = || get("pvc/db-1", "{.metadata.uid}").unwrap();
    let first = volume();

    let stop = soon(16);
    let start = stop.plus(30);
    let times = [
        format!("dayshift/stop={}", stop.text()),
        format!("dayshift/start={}", start.text()),
    ];
    team.kubectl(&["annotate", "cluster/db", &times[0], &times[1]])
        .success();
    stop.await_true("db is adopted", || {
        field(&team, "clusters/db", STATE) == "adopted"
    });
    let condition = || {
        let path = r#"{.status.conditions[?(@.type=="cnpg.io/hibernation")].reason}"#;
        get("cluster/db", path).unwrap()
    };
    assert_eq!(condition(), "", "{}", operator.log());

    // The operator hibernates only a healthy cluster.
    start.await_true("the operator has hibernated it", || {
        set_status("cluster/db", json!({"phase": "Cluster in healthy state"})).success();
        condition() == "Hibernated"
    });
    assert_eq!(field(&team, "clusters/db", HIBERNATION), "on");
    assert_eq!(field(&team, "clusters/db", SAVED), "1");
    assert!(!has_pod());
    assert_eq!(volume(), first);

    start.wait();
    await_field(&team, "clusters/db", HIBERNATION, "");
    await_field(&team, "clusters/db", STATE, "running");
    wait_until("the instance is back", &has_pod);
    assert_eq!(condition(), "", "{}", operator.log());
    assert_eq!(volume(), first);
    operator.stop();
    team.stop_controllers();
}
