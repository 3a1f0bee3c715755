//! Live objects are converted to kubectl commands.

use kube_in_memory::{Fault, RequestLine, Status};
use serde_json::{Value, json};

use std::fs;

use crate::{
    fake_server::Cluster,
    program::{Ended, run},
};

/// Deployments in `dev` with annotations of other tools.
fn cluster(objects: &[(&str, Value)]) -> Cluster {
    let cluster = Cluster::new();
    for (name, annotations) in objects {
        cluster.deployment(name, 0, &[]);
        let patch = json!({"metadata": {"annotations": annotations}});
        cluster
            .api
            .merge("Deployment", "dev", name, &patch)
            .unwrap();
    }
    cluster
}

fn convert(cluster: &Cluster, args: &[&str]) -> Ended {
    cluster.dayshift(&[&["convert"], args].concat())
}

#[test]
fn each_object_has_one_command() {
    let cluster = cluster(&[
        (
            "api",
            json!({"downscaler/uptime": "Mon-Fri 08:00-20:00 UTC"}),
        ),
        ("other", json!({"team": "a"})),
        (
            "web",
            json!({"downscaler/downtime": "Sat-Sun 00:00-24:00 UTC", "downscaler/original-replicas": "3"}),
        ),
    ]);
    let api = "kubectl annotate deployment api -n dev dayshift/hours='Mon-Fri 08:00-20:00' dayshift/timezone=UTC downscaler/uptime-\n";
    let web = "kubectl patch deployment web -n dev --type merge -p '{\"metadata\":{\"annotations\":{\"dayshift/hours\":\"Mon-Fri 00:00-24:00\",\"dayshift/timezone\":\"UTC\",\"downscaler/downtime\":null,\"downscaler/original-replicas\":null},\"labels\":{\"dayshift/saved-replicas\":\"3\"}}}'\n";
    for (args, expected) in [
        (&["-A"][..], format!("{api}{web}")),
        (&["-n", "dev"], format!("{api}{web}")),
        (&["deploy/web"], web.to_owned()),
        (&["-l", "app=api"], api.to_owned()),
        (&["dev/api"], api.to_owned()),
        (&["deploy/other"], String::new()),
    ] {
        let ran = convert(&cluster, args);
        assert_eq!((ran.status, ran.out), (0, expected), "{args:?} {}", ran.err);
    }
    let ran = convert(&cluster, &["-A", "--check"]);
    assert_eq!(ran.status, 1);
    let ran = convert(&cluster, &["deploy/web"]);
    let output = "info[saved-count]: downscaler/original-replicas: the count 3 is now the label dayshift/saved-replicas\n";
    assert!(
        ran.err.contains(output) && ran.err.contains("in: Deployment dev/web\n"),
        "{}",
        ran.err
    );
}

/// Applies the merge patch of each command to the in-memory API.
#[test]
fn the_patch_makes_the_change() {
    let cluster = cluster(&[(
        "web",
        json!({"downscaler/uptime": "Mon-Fri 08:00-20:00 UTC", "downscaler/original-replicas": "3"}),
    )]);
    let ran = convert(&cluster, &["deploy/web"]);
    let patch = ran
        .out
        .split_once("-p '")
        .unwrap()
        .1
        .trim_end()
        .trim_end_matches('\'');
    let patch: Value = serde_json::from_str(patch).unwrap();
    cluster
        .api
        .merge("Deployment", "dev", "web", &patch)
        .unwrap();
    assert_eq!(
        cluster.annotation("web", "hours").as_deref(),
        Some("Mon-Fri 08:00-20:00")
    );
    let object = cluster.api.get("Deployment", "dev", "web").unwrap();
    assert_eq!(object["metadata"]["labels"]["dayshift/saved-replicas"], "3");
    assert_eq!(
        object["metadata"]["annotations"].get("downscaler/uptime"),
        None
    );
    let again = convert(&cluster, &["-A"]);
    assert_eq!((again.status, again.out.as_str()), (0, ""));
}

#[test]
fn reports_an_unreadable_namespace() {
    let cluster = cluster(&[(
        "api",
        json!({"downscaler/uptime": "Mon-Fri 08:00-20:00 UTC"}),
    )]);
    cluster.api.on_request(|request| {
        let is_it = request.verb == "get" && request.resource == "namespaces";
        let message = "User \"me\" cannot get resource \"namespaces\"";
        is_it.then(|| Fault::Answer(Status::new(403, "Forbidden", message)))
    });
    let ran = convert(&cluster, &["-n", "dev"]);
    assert_eq!(ran.status, 3);
    assert_starts_with!(ran.out, "kubectl annotate deployment api -n dev ");
    let warning = "warning: not allowed to read the Namespace dev, so its annotations are not converted: 403 Forbidden: User \"me\" cannot get resource \"namespaces\"\n";
    ran.assert_err(warning);
}

#[test]
fn missing_live_objects_are_reported() {
    let cluster = cluster(&[]);
    let ran = convert(&cluster, &["deploy/web"]);
    assert_eq!(ran.status, 3);
    ran.assert_err("deployments/web is not in namespace dev");
    for args in [
        &["ds/web"][..],
        &["ns/Team"],
        &["deploy/web", "-A"],
        &["-i", "deploy/web"],
    ] {
        assert_eq!(convert(&cluster, args).status, 2, "{args:?}");
    }
    let ran = convert(&cluster, &["ns/dev"]);
    assert_eq!((ran.status, ran.out.as_str()), (0, ""), "{}", ran.err);
    for args in [&["-n", "lab"][..], &["-n", "lab", "-l", "app=web"]] {
        let ran = convert(&cluster, args);
        assert_eq!(ran.status, 3, "{args:?}");
        ran.assert_err("namespace lab does not exist");
    }
}

#[test]
fn quotes_the_message_of_a_busy_server() {
    let cluster = cluster(&[]);
    let busy = Status::new(429, "TooManyRequests", "too many requests");
    cluster.api.fail_next(|_| true, Fault::Answer(busy));
    let ran = convert(&cluster, &["-A"]);
    assert_eq!(ran.status, 3);
    assert_starts_with!(
        ran.err,
        "error: the API server is not available: 429 Too Many Requests: too many requests (the server is"
    );
}

/// The list takes longer than the server keeps its pages.
#[test]
fn reads_a_list_without_pages_if_they_expire() {
    let cluster = Cluster::new();
    for n in 0..501 {
        cluster.deployment(&format!("web-{n}"), 1, &[]);
    }
    cluster.api.forget_requests();
    cluster.api.on_request(|line| {
        let old = || Status::new(410, "Expired", "the continue token is too old");
        let is_later_page = line.query.contains("continue=");
        is_later_page.then(|| Fault::Answer(old()))
    });
    let ran = convert(&cluster, &["-n", "dev"]);
    assert_eq!((ran.status, ran.out.as_str()), (0, ""), "{}", ran.err);
    let of_deployments = |it: &&RequestLine| it.resource == "deployments";
    let requests = cluster.api.requests();
    assert_eq!(requests.iter().filter(of_deployments).count(), 3);
}

/// A running controller observes the commands one by one. A workload that is stopped must not be without a
/// schedule between two of them.
#[test]
fn converts_a_namespace_after_its_workloads() {
    let cluster = cluster(&[("api", json!({"downscaler/exclude": "true"}))]);
    let patch =
        json!({"metadata": {"annotations": {"downscaler/uptime": "Mon-Fri 08:00-20:00 UTC"}}});
    cluster.api.merge("Namespace", "", "dev", &patch).unwrap();
    let ran = convert(&cluster, &["-n", "dev"]);
    let lines: Vec<_> = ran.out.lines().collect();
    assert_eq!(lines.len(), 2, "{ran:?}");
    assert!(
        lines[0].starts_with("kubectl annotate deployment api -n dev dayshift/exclude=true")
            && lines[1].starts_with("kubectl annotate namespace dev dayshift/hours="),
        "{ran:?}"
    );
}

/// Other tools scale more kinds than dayshift, and each unsupported object should be reported.
#[test]
fn reports_live_objects_of_unsupported_kinds() {
    let cluster = cluster(&[]);
    cluster
        .api
        .serve_custom("apps", "v1", "daemonsets", "DaemonSet");
    let annotations = json!({"downscaler/uptime": "Mon-Fri 08:00-20:00 UTC"});
    let agent = json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": "dev", "annotations": annotations},
    });
    cluster.api.create(agent).unwrap();
    for args in [&["-A"], &["-n", "dev"][..]] {
        let ran = convert(&cluster, args);
        assert_eq!((ran.status, &*ran.out), (1, ""), "{}", ran.err);
        let output = "warning[other-kind]: dayshift does not scale a DaemonSet; its annotations stay as they are\n";
        ran.assert_err(output);
        ran.assert_err("in: DaemonSet dev/agent\n");
    }
}

/// GoKubeDownscaler also scales databases, and the server decides which version it serves.
#[test]
fn converts_live_databases() {
    let cluster = cluster(&[]);
    let api = &cluster.api;
    api.serve_custom("postgresql.cnpg.io", "v2", "clusters", "Cluster");
    api.serve_custom("argoproj.io", "v1alpha1", "rollouts", "Rollout");
    for (api_version, kind) in [
        ("postgresql.cnpg.io/v2", "Cluster"),
        ("argoproj.io/v1alpha1", "Rollout"),
    ] {
        let annotations = json!({"downscaler/uptime": "Mon-Fri 08:00-20:00 UTC"});
        let object = json!({
            "apiVersion": api_version, "kind": kind,
            "metadata": {"name": "db", "namespace": "dev", "annotations": annotations},
            "spec": {"replicas": 1},
        });
        api.create(object).unwrap();
    }
    for args in [&["-A"], &["-n", "dev"][..]] {
        let ran = convert(&cluster, args);
        let words =
            "dayshift/hours='Mon-Fri 08:00-20:00' dayshift/timezone=UTC downscaler/uptime-\n";
        let expected = ["rollout.argoproj.io", "cluster.postgresql.cnpg.io"]
            .map(|kind| format!("kubectl annotate {kind} db -n dev {words}"));
        assert_eq!(
            (ran.status, &*ran.out),
            (0, &*expected.concat()),
            "{}",
            ran.err
        );
        for resource in ["rollouts.argoproj.io", "clusters.postgresql.cnpg.io"] {
            let output = format!("--kinds deployments,statefulsets,cronjobs,{resource}\n");
            ran.assert_err(&output);
        }
    }
}

/// Files in the working directory do not change the meaning of a word.
#[test]
fn a_directory_with_the_name_of_a_workload_is_not_converted() {
    let annotations = json!({"downscaler/uptime": "Mon-Fri 08:00-20:00 UTC"});
    let cluster = cluster(&[("web", annotations)]);
    let directory = tempfile::tempdir().unwrap();
    let file = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, annotations: {downscaler/exclude: 'true'}}\n";
    for path in ["deploy/web", "ns/dev", "k8s/base/dev/team"] {
        let path = directory.path().join(path);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("a.yaml"), file).unwrap();
    }
    let ran = |args: &[&str]| {
        let mut command = cluster.command();
        let command = command.current_dir(directory.path()).arg("convert");
        run(command.args(args), "")
    };
    let live = "kubectl annotate deployment web -n dev ";
    for (word, expected) in [("deploy/web", live), ("ns/dev", "")] {
        let ended = ran(&[word, "-n", "dev"]);
        assert!(ended.out.starts_with(expected), "{word} {ended:?}");
        assert!(!ended.out.contains("dayshift/exclude"), "{word} {ended:?}");
        let output = format!("write ./{word}");
        assert!(ended.err.contains(&output), "{word} {}", ended.err);
    }
    for args in [
        &["./deploy/web"][..],
        &["deploy/web/"],
        &["-f", "deploy/web"],
        &["k8s/base/dev/team"],
    ] {
        let ended = ran(args);
        assert!(ended.out.contains("dayshift/exclude"), "{args:?} {ended:?}");
        assert!(!ended.err.contains("write ./"), "{args:?} {}", ended.err);
    }
}
