//! Several namespaces in one command.

use kube_in_memory::{Fault, Status};
use serde_json::json;

use super::ALWAYS;
use crate::fake_server::{Cluster, refusal};
use crate::rows::words;

/// Two namespaces of a team and one of another team.
fn offices() -> Cluster {
    let cluster = Cluster::new();
    for namespace in ["tokyo", "ny"] {
        cluster.api.namespace(namespace);
        cluster.deployment("web", 2, ALWAYS);
        let mut web = cluster.api.get("Deployment", "dev", "web").unwrap();
        let annotations = web["metadata"]["annotations"].clone();
        web["metadata"] = json!({
            "namespace": namespace, "name": "web", "annotations": annotations,
        });
        cluster.api.create(web).unwrap();
        cluster.api.delete("dev", "web").unwrap();
    }
    cluster.deployment("web", 2, ALWAYS);
    cluster
}

/// The namespaces whose `web` has an override.
fn overridden(cluster: &Cluster) -> Vec<&'static str> {
    let is_asked = |namespace: &&str| {
        let web = cluster.api.get("Deployment", namespace, "web").unwrap();
        let annotations = web["metadata"]["annotations"].as_object().unwrap();
        ["wake-until", "sleep-until", "pause"]
            .iter()
            .any(|key| annotations.contains_key(&format!("dayshift/{key}")))
    };
    ["dev", "ny", "tokyo"]
        .into_iter()
        .filter(is_asked)
        .collect()
}

#[test]
fn changes_workloads_in_all_given_namespaces() {
    for line in [
        "wake --all -n tokyo -n ny --for 2h --no-wait",
        "sleep --all -n tokyo -n ny --for 2h --no-wait",
        "pause --all -n tokyo,ny --no-wait",
        "pause -l app!=none --namespace=ny -n tokyo -n tokyo --no-wait",
    ] {
        let cluster = offices();
        let ran = cluster.dayshift(&words(line));
        assert_eq!((ran.status, &*ran.err), (0, ""), "{line}: {ran:?}");
        assert_eq!(overridden(&cluster), ["ny", "tokyo"], "{line}");
        assert_eq!(ran.out.matches(" in tokyo").count(), 1, "{ran:?}");
        for undo in ["resume", "sync"] {
            let line = [undo, "--all", "-n", "tokyo", "-n", "ny", "--no-wait"];
            let ran = cluster.dayshift(&line);
            assert_eq!((ran.status, &*ran.err), (0, ""), "{ran:?}");
            assert_eq!(ran.out.lines().count(), 2, "{ran:?}");
        }
    }
}

#[test]
fn shows_and_restores_workloads_in_all_given_namespaces() {
    let cluster = offices();
    let ran = cluster.dayshift(&["status", "-n", "tokyo", "-n", "ny", "-o", "json"]);
    let document = ran.json();
    let rows = document["workloads"].as_array().unwrap().iter();
    let shown: Vec<_> = rows.map(|it| it["namespace"].as_str().unwrap()).collect();
    assert_eq!(shown, ["ny", "tokyo"], "{ran:?}");
    let ran = cluster.dayshift(&["plan", "-n", "tokyo", "-n", "ny", "-o", "json"]);
    assert_eq!(ran.json()["workloads"].as_array().unwrap().len(), 2);
    for namespace in ["tokyo", "ny", "dev"] {
        let stopped = json!({
            "metadata": {"labels": {"dayshift/saved-replicas": "2"}}, "spec": {"replicas": 0},
        });
        let done = cluster.api.merge("Deployment", namespace, "web", &stopped);
        done.unwrap();
    }
    let ran = cluster.dayshift(&["restore", "--all", "-n", "tokyo", "-n", "ny"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    ran.assert_out("deployment.apps/web in tokyo restored, 0 -> 2");
    let counts = ["dev", "ny", "tokyo"].map(|namespace| {
        cluster.api.get("Deployment", namespace, "web").unwrap()["spec"]["replicas"].clone()
    });
    assert_eq!(counts, [json!(0), json!(2), json!(2)]);
}

#[test]
fn reports_the_namespace_of_a_missing_permission() {
    let cluster = offices();
    cluster.api.on_request(|request| {
        let is_it = request.resource == "deployments" && request.namespace == "ny";
        let message = refusal(request.verb, "deployments");
        is_it.then(|| Fault::Answer(Status::new(403, "Forbidden", message)))
    });
    let ran = cluster.dayshift(&words("wake --all -n tokyo,ny --for 1h --no-wait"));
    assert_eq!(ran.status, 3, "{ran:?}");
    assert_eq!(overridden(&cluster), ["tokyo"]);
    ran.assert_err("in namespace ny");
    let ran = cluster.dayshift(&["status", "-n", "tokyo", "-n", "ny"]);
    assert_eq!(ran.status, 3, "{ran:?}");
    ran.assert_out("tokyo");
    ran.assert_err("in namespace ny");
}

#[test]
fn a_missing_namespace_prevents_all_changes() {
    let cluster = offices();
    let line = ["pause", "--all", "-n", "tokyo", "-n", "typo", "--no-wait"];
    let ran = cluster.dayshift(&line);
    assert_eq!(
        (ran.status, &*ran.out, &*ran.err),
        (3, "", "error: namespace typo does not exist\n")
    );
    assert!(overridden(&cluster).is_empty());
}

#[test]
fn rejects_a_repeated_flag_that_allows_one_value() {
    let cluster = offices();
    for line in [
        "wake web -n tokyo -n ny --for 1h",
        "wake ns/tokyo -n ny --for 1h",
        "wake --all -n ny --for 1h --for 2h",
        "status --context here --context there",
        "pause -l app=web -l app=api",
        "convert -n tokyo -n ny",
        "lint examples -n tokyo -n ny",
        "plan -f examples -n tokyo -n ny",
    ] {
        let ran = cluster.dayshift(&words(line));
        assert_eq!(ran.status, 2, "{line}: {ran:?}");
        assert!(overridden(&cluster).is_empty(), "{line}");
    }
    // A flag without a value can be repeated.
    let ran = cluster.dayshift(&["status", "-A", "-A"]);
    assert_eq!(ran.status, 0, "{ran:?}");
}
