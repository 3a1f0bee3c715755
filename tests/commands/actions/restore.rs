//! `dayshift restore`.

use crate::fake_server::Cluster;
use crate::rows::rows;
use kube_in_memory::{Fault, Status};
use serde_json::{Value, json};

const OFFICE: &[(&str, &str)] = &[("hours", "Mon-Fri 09:00-19:00")];
const NOTE: &str = "note: a running controller acts again at the next boundary\n";

/// A Deployment in the state in which a controller left it.
fn left(
    cluster: &Cluster,
    name: &str,
    replicas: i32,
    schedule: &[(&str, &str)],
    labels: &[(&str, &str)],
) {
    cluster.deployment(name, replicas, schedule);
    for (label, text) in labels {
        let label = format!("dayshift/{label}");
        cluster.api.label("dev", name, &label, Some(*text)).unwrap();
    }
}

fn labels(cluster: &Cluster, name: &str) -> Value {
    cluster.api.get("Deployment", "dev", name).unwrap()["metadata"]["labels"].clone()
}

fn replicas(cluster: &Cluster, name: &str) -> i32 {
    cluster.api.replicas("dev", name).unwrap()
}

#[test]
fn restore_raises_only_stopped_workloads() {
    let table = "
        # workload => replicas => schedule => saved count => state => restored replicas
        stopped => 0 => office => 3 => stopped => 3
        edited while stopped => 0 => office => 3 => adopted => 3
        asleep => 0 => office => 3 => slept => 3
        paused while stopped => 0 => office => 3 => paused => 3
        without its schedule => 0 => none => 3 => none => 3
        at its stop-replicas => 1 => office => 5 => stopped => 5
        raised manually, but to less than the saved count => 2 => office => 5 => stopped => 5
        raised manually above the saved count => 6 => office => 5 => stopped => none
        wanted off => 0 => office => 0 => stopped => none
        stopped with nothing to save => 0 => office => none => stopped => none
        up => 3 => office => none => running => none
        not ours => 0 => none => none => none => none
    ";
    for [was, replicas_before, schedule, saved, state, expected] in rows(table) {
        let cluster = Cluster::new();
        let replicas_before = replicas_before.parse().unwrap();
        let schedule = if schedule == "office" { OFFICE } else { &[] };
        let mut texts = vec![("saved-replicas", saved), ("state", state)];
        texts.retain(|(_, text)| *text != "none");
        left(&cluster, "web", replicas_before, schedule, &texts);
        let before = labels(&cluster, "web");
        let ran = cluster.dayshift(&["restore", "--all"]);
        assert_eq!(ran.status, 0, "{was}: {ran:?}");
        let Ok(count) = expected.parse::<i32>() else {
            assert_eq!(ran.out, "nothing to restore in namespace dev\n", "{was}");
            assert_eq!(labels(&cluster, "web"), before, "{was}");
            assert_eq!(replicas(&cluster, "web"), replicas_before, "{was}");
            continue;
        };
        let line = format!("deployment.apps/web restored, {replicas_before} -> {count}\n");
        assert_eq!(ran.out, line, "{was}");
        assert_eq!(
            ran.err,
            if schedule.is_empty() { "" } else { NOTE },
            "{was}"
        );
        assert_eq!(replicas(&cluster, "web"), count, "{was}");
        assert_eq!(
            labels(&cluster, "web")["dayshift/saved-replicas"],
            Value::Null,
            "{was}"
        );

        let again = cluster.dayshift(&["restore", "--all"]);
        assert_eq!(again.out, "nothing to restore in namespace dev\n", "{was}");
    }
}

#[test]
fn restore_sets_the_state_to_running_and_keeps_other_labels() {
    let cluster = Cluster::new();
    let next = ("next", "2099-11-23T09.00.00Z");
    left(
        &cluster,
        "web",
        0,
        OFFICE,
        &[("state", "stopped"), ("saved-replicas", "3"), next],
    );
    assert_eq!(cluster.dayshift(&["restore", "web"]).status, 0);
    assert_eq!(
        labels(&cluster, "web"),
        json!({"app": "web", "dayshift/state": "running", "dayshift/next": next.1})
    );
}

#[test]
fn names_namespaces_and_a_dry_run() {
    let cluster = Cluster::new();
    for name in ["api", "web"] {
        left(&cluster, name, 0, &[], &[("saved-replicas", "2")]);
    }
    cluster.deployment("up", 3, &[]);
    let dry = cluster.dayshift(&["restore", "-A", "--dry-run"]);
    assert_eq!(
        dry.out,
        "deployment.apps/api in dev restored, 0 -> 2 (dry run)\n\
         deployment.apps/web in dev restored, 0 -> 2 (dry run)\n"
    );
    assert_eq!(
        (replicas(&cluster, "api"), replicas(&cluster, "web")),
        (0, 0)
    );

    let named = cluster.dayshift(&["restore", "deploy/web", "deploy/up", "deploy/gone"]);
    assert_eq!(
        named.out,
        "deployment.apps/web restored, 0 -> 2\ndeployment.apps/up unchanged\n"
    );
    assert_eq!(
        named.err,
        "error: deployment.apps/gone is not in namespace dev\n"
    );
    assert_eq!((named.status, replicas(&cluster, "api")), (3, 0));

    cluster.api.namespace("prod");
    let elsewhere = cluster.dayshift(&["restore", "--all", "-n", "prod"]);
    assert_eq!(elsewhere.out, "nothing to restore in namespace prod\n");
    let by_label = cluster.dayshift(&["restore", "-l", "app=api"]);
    assert_eq!(by_label.out, "deployment.apps/api restored, 0 -> 2\n");
    assert_eq!(
        cluster.dayshift(&["restore"]).status,
        2,
        "`restore` without a workload is wrong usage"
    );
}

#[test]
fn a_workload_that_cannot_be_restored_is_reported_and_the_others_are_restored() {
    let cluster = Cluster::new();
    let saved = ("saved-replicas", "3");
    left(
        &cluster,
        "later",
        0,
        OFFICE,
        &[saved, ("fingerprint", "v3-whatever")],
    );
    left(&cluster, "odd", 0, OFFICE, &[("saved-replicas", "many")]);
    left(&cluster, "web", 0, OFFICE, &[saved]);
    let ran = cluster.dayshift(&["restore", "--all"]);
    assert_eq!(
        (ran.status, ran.out.as_str()),
        (1, "deployment.apps/web restored, 0 -> 3\n")
    );
    for part in [
        "error: deployment.apps/later: not restored: its state was written by a later version",
        "error: deployment.apps/odd: not restored: its saved count `many`",
    ] {
        ran.assert_err(part);
    }
    assert_eq!(
        (replicas(&cluster, "later"), replicas(&cluster, "odd")),
        (0, 0)
    );
}

#[test]
fn retries_a_conflict_but_not_a_rejection() {
    let cluster = Cluster::new();
    left(&cluster, "web", 0, OFFICE, &[("saved-replicas", "3")]);
    let patches = |line: &kube_in_memory::RequestLine| line.verb == "patch";
    cluster
        .api
        .fail_next(patches, Fault::Answer(Status::new(403, "Forbidden", "no")));
    let refused = cluster.dayshift(&["restore", "web"]);
    assert_eq!((refused.status, refused.out.as_str()), (3, ""));
    refused.assert_err("not restored: the API server refuses");

    cluster.api.fail_next(
        patches,
        Fault::Answer(Status::new(409, "Conflict", "again")),
    );
    let done = cluster.dayshift(&["restore", "web"]);
    assert_eq!(
        (done.status, done.out.as_str()),
        (0, "deployment.apps/web restored, 0 -> 3\n")
    );
    let web = cluster.api.get("Deployment", "dev", "web").unwrap();
    let entries = web["metadata"]["managedFields"].as_array().unwrap();
    let owns = |entry: &&Value| entry.pointer("/fieldsV1/f:spec/f:replicas").is_some();
    let owner = entries.iter().rfind(owns).unwrap();
    assert_eq!(owner["manager"], "dayshift-cli", "{entries:?}");
}

#[test]
fn a_missing_namespace_is_an_error() {
    let cluster = Cluster::new();
    for choice in [&["--all"][..], &["-l", "app=web"], &["deploy/web"]] {
        let arguments = [&["restore", "-n", "lab"], choice].concat();
        let ran = cluster.dayshift(&arguments);
        assert_eq!(
            ran.err, "error: namespace lab does not exist\n",
            "{choice:?}"
        );
        assert_eq!((ran.status, &*ran.out), (3, ""), "{choice:?}");
    }
    // The user may not read the Namespace, so no hint about it is shown.
    cluster.api.on_request(|request| {
        let asks = request.verb == "get" && request.resource == "namespaces";
        asks.then(|| Fault::Answer(Status::new(403, "Forbidden", "no")))
    });
    let ran = cluster.dayshift(&["restore", "--all", "-n", "lab"]);
    assert_eq!(ran.out, "nothing to restore in namespace lab\n");
    assert_eq!((ran.status, &*ran.err), (0, ""));
}

#[test]
fn restore_has_a_document_for_other_programs() {
    let cluster = Cluster::new();
    left(&cluster, "web", 0, OFFICE, &[("saved-replicas", "3")]);
    left(&cluster, "api", 0, OFFICE, &[("saved-replicas", "2")]);
    cluster.api.on_request(|request| {
        let is_it = request.verb == "patch" && request.name == "api";
        is_it.then(|| Fault::Answer(Status::new(403, "Forbidden", "you may not")))
    });
    let ran = cluster.dayshift(&["restore", "--all", "-o", "json"]);
    assert_eq!(ran.status, 3, "{ran:?}");
    let document = ran.json();
    assert_eq!(document["apiVersion"], "dayshift/v1");
    assert_eq!(document["command"], "restore");
    assert_eq!(document["dryRun"], false);
    let results = &document["results"];
    assert_eq!(results[0]["outcome"], "unable");
    let failed = results[0]["message"].as_str().unwrap();
    assert_starts_with!(failed, "deployment.apps/api: not restored: ");
    let restored = json!({"outcome": "done", "message": "deployment.apps/web restored, 0 -> 3"});
    assert_eq!(results[1], restored);
    assert_eq!(results.as_array().unwrap().len(), 2);
    cluster.api.clear_fault();
    let nothing = cluster.dayshift(&["restore", "deploy/web", "-o", "json", "--dry-run"]);
    let unchanged = json!([{"outcome": "done", "message": "deployment.apps/web unchanged"}]);
    assert_eq!(nothing.json()["results"], unchanged);
    assert_eq!(nothing.json()["dryRun"], true);
}
