//! `plan -o summary`: the effect of the next stops in each namespace.

use kube_in_memory::Writer;
use serde_json::json;

use crate::fake_server::Cluster;
use crate::rows::words;

const ARGO_CD: Writer<'static> = Writer::new("argocd-controller");

/// Two namespaces, of which `shop` has a label.
fn cluster() -> Cluster {
    let cluster = Cluster::new();
    cluster.deployment("web", 3, &[("hours", "Mon-Fri 08:00-19:00")]);
    cluster.deployment("night", 0, &[("hours", "Mon-Fri 08:00-19:00")]);
    cluster.deployment("bad", 2, &[("stop", "Mon-Fry 19:00")]);
    cluster.deployment("plain", 4, &[]);
    let shop = json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": "shop", "labels": {"env": "dev"}},
    });
    cluster.api.create(shop).unwrap();
    let mut cart = cluster.api.get("Deployment", "dev", "plain").unwrap();
    cart["metadata"] = json!({"namespace": "shop", "name": "cart", "labels": {"app": "plain"}});
    cluster.api.create(cart).unwrap();
    cluster
}

/// The rows without the column that depends on the date.
fn rows(out: &str) -> Vec<String> {
    let table = out.split("\n\n").next().unwrap();
    let row = |line: &str| {
        let cells = line.split("   ").map(str::trim).filter(|it| !it.is_empty());
        let mut cells: Vec<_> = cells.collect();
        cells.remove(2);
        cells.join(" | ")
    };
    table.lines().skip(1).map(row).collect()
}

#[test]
fn a_summary_counts_the_effect_of_the_next_stop_of_each_namespace() {
    let cluster = cluster();
    cluster.autoscaler("hpa", ("apps/v1", "Deployment", "web"));
    let set = json!({"spec": {"replicas": 5}});
    let api = &cluster.api;
    api.merge_by(ARGO_CD, "Deployment", "dev", "web", &set)
        .unwrap();
    let ran = cluster.dayshift(&["plan", "-A", "-o", "summary"]);
    // One workload is rejected.
    assert_eq!((ran.status, &*ran.err), (1, ""), "{ran:?}");
    assert_eq!(
        rows(&ran.out),
        [
            // A start gives `night` the 1 replica that its stop removes.
            "dev | 3 of 4 | 2 | 6 | 1 | 1 | 0 | 0 | 1",
            "(all) | 3 of 4 | 2 | 6 | 1 | 1 | 0 | 0 | 1",
        ],
        "{}",
        ran.out
    );
    for output in [
        "HPA sets the count of 1 workload too: remove dayshift/stop-replicas: ",
        "Argo CD sets the count of 1 workload too: in the Application, ",
        "REJECTED: their schedules are invalid, so they stay as they are. `dayshift plan -n NAMESPACE` shows why.",
        "Not shown: 1 workload in 1 other namespace, without a schedule.",
    ] {
        ran.assert_out(output);
    }
}

#[test]
fn the_json_of_a_summary_has_the_counts_of_its_table() {
    let cluster = cluster();
    cluster.autoscaler("hpa", ("apps/v1", "Deployment", "web"));
    let ran = cluster.dayshift(&["plan", "-A", "-o", "summary-json"]);
    assert_eq!((ran.status, &*ran.err), (1, ""), "{ran:?}");
    let mut summary = ran.json();
    let next = summary["namespaces"][0]["nextStop"].take();
    assert_ends_with!(next.as_str().unwrap(), "T19:00:00Z");
    assert_eq!(summary["all"]["nextStop"].take(), next);
    let mut all = json!({
        "workloads": 4, "scheduled": 3, "nextStop": null, "stops": 2, "replicas": 4,
        "autoscaled": 1, "setByOthers": 0, "operated": 0, "loseVolumes": 0, "refused": 1,
    });
    assert_eq!(summary["all"], all);
    all["namespace"] = json!("dev");
    assert_eq!(summary["namespaces"], json!([all]));
    assert_eq!(summary["unread"], json!([]));
}

#[test]
fn a_summary_applies_default_schedules_and_namespace_selectors() {
    let cluster = cluster();
    let default = "--default-hours=Mon-Fri 09:00-17:00";
    let ran = cluster.dayshift(&["plan", "-A", "-o", "summary", default]);
    assert_eq!(
        rows(&ran.out),
        [
            "dev | 4 of 4 | 3 | 8 | 0 | 0 | 0 | 0 | 1",
            "shop | 1 of 1 | 1 | 4 | 0 | 0 | 0 | 0 | 0",
            "(all) | 5 of 5 | 4 | 12 | 0 | 0 | 0 | 0 | 1",
        ],
        "{}",
        ran.out
    );
    let selected = ["plan", "-A", "--namespace-selector=env=dev", default];
    let ran = cluster.dayshift(&[&selected[..], &["-o", "summary"]].concat());
    assert_eq!(
        rows(&ran.out),
        [
            "shop | 1 of 1 | 1 | 4 | 0 | 0 | 0 | 0 | 0",
            "(all) | 1 of 1 | 1 | 4 | 0 | 0 | 0 | 0 | 0",
        ],
        "{}",
        ran.out
    );
    assert_eq!(ran.status, 0);
    // The other formats contain the same workloads.
    let ran = cluster.dayshift(&[&selected[..], &["-o", "json"]].concat());
    let plan = ran.json();
    assert_eq!(plan["workloads"].as_array().unwrap().len(), 1);
    assert_eq!(plan["workloads"][0]["from"], "scaler");
}

#[test]
fn a_summary_needs_a_cluster_and_a_selector_all_namespaces() {
    let cluster = cluster();
    for (arguments, output) in [
        (
            &["plan", "-f", "examples", "-o", "summary"][..],
            "a summary is of live workloads",
        ),
        (
            &["plan", "--namespace-selector=env=dev"],
            "--all-namespaces",
        ),
    ] {
        let ran = cluster.dayshift(arguments);
        assert_eq!(ran.status, 2, "{ran:?}");
        ran.assert_err(output);
    }
    cluster.refuse(&["list"], "namespaces");
    let selected = words("plan -A --namespace-selector=env=dev -o summary");
    let ran = cluster.dayshift(&selected);
    assert_eq!(ran.status, 3, "{ran:?}");
    ran.assert_err("cannot list the Namespaces of --namespace-selector");
}
