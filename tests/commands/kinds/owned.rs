//! For an object of an operator, the resource to schedule instead.

use serde_json::{Value, json};

use crate::dashboard::browser::Served;
use crate::fake_server::{Cluster, Controller};
use crate::program::dayshift_with;
use crate::rows::rows;

const OWNED: &str = r#"
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: db
  annotations: {dayshift/hours: "Mon-Fri 09:00-19:00"}
  ownerReferences:
    - {apiVersion: OWNER, kind: KIND, name: db, uid: u, controller: CONTROLLER}
"#;

const OPERATOR_SETS_COUNT: &str =
    "belongs to a PostgresCluster, whose operator sets its count again";
const VERSION: &str = "postgres-operator.crunchydata.com/v1beta1";
const RESOURCE: &str = "postgresclusters.postgres-operator.crunchydata.com";

#[test]
fn lint_names_the_resource_to_schedule_instead() {
    let text = |owner: &str, kind: &str, controller: &str| {
        let text = OWNED.replace("OWNER", owner).replace("KIND", kind);
        text.replace("CONTROLLER", controller)
    };
    let ran = dayshift_with(
        &[],
        &["lint", "-"],
        &text(VERSION, "PostgresCluster", "true"),
    );
    assert_eq!(ran.status, 1, "{}", ran.out);
    ran.assert_out("warning[conflicting-manager]: this StatefulSet ");
    ran.assert_out(OPERATOR_SETS_COUNT);
    let help = format!("run dayshift with {RESOURCE} among its --kinds");
    ran.assert_out(&help);
    // Owners that are not controllers, and unknown owners.
    for (owner, kind, controller) in [
        (VERSION, "PostgresCluster", "false"),
        ("example.com/v1", "Widget", "true"),
        ("apps/v1", "Deployment", "true"),
    ] {
        let ran = dayshift_with(&[], &["lint", "-"], &text(owner, kind, controller));
        ran.assert_out_lacks("conflicting-manager");
    }
}

/// Each owner, the object that it owns, and the resource that users write. The operator of Percona
/// creates a PostgresCluster of its own group, which owns the StatefulSets.
#[test]
fn lint_finds_the_resource_that_users_write() {
    let definitions = tempfile::NamedTempFile::new().unwrap();
    let row = "{resource: widgets.example.com, kind: Widget, field: spec.paused, stopped: true}";
    std::fs::write(definitions.path(), row).unwrap();
    let flags = [
        "lint",
        "-",
        "--kind-file",
        definitions.path().to_str().unwrap(),
    ];
    for [version, owner, owned, resource] in rows(
        "
            upstream.pgv2.percona.com/v1beta1 => PostgresCluster => StatefulSet => perconapgclusters.pgv2.percona.com
            postgresql.cnpg.io/v1 => Pooler => Deployment => poolers.postgresql.cnpg.io
            pxc.percona.com/v1 => PerconaXtraDBCluster => StatefulSet => perconaxtradbclusters.pxc.percona.com
            cassandra.datastax.com/v1beta1 => CassandraDatacenter => StatefulSet => cassandradatacenters.cassandra.datastax.com
            rabbitmq.com/v1beta1 => RabbitmqCluster => StatefulSet => rabbitmqclusters.rabbitmq.com
            kafka.strimzi.io/v1 => KafkaBridge => Deployment => kafkabridges.kafka.strimzi.io
            trino.stackable.tech/v1alpha1 => TrinoCluster => StatefulSet => trinoclusters.trino.stackable.tech
            kubeflow.org/v1 => Notebook => StatefulSet => notebooks.kubeflow.org
            example.com/v2 => Widget => Deployment => widgets.example.com
        "
    ) {
        let text = OWNED.replace("OWNER", version).replace("KIND", owner);
        let text = text.replace("CONTROLLER", "true");
        let text = text.replace("kind: StatefulSet", &format!("kind: {owned}"));
        let ran = dayshift_with(&[], &flags, &text);
        let help = format!("run dayshift with {resource} among its --kinds");
        assert!(ran.out.contains(&help), "{owner}: {}{}", ran.out, ran.err);
        assert_contains!(ran.out, format!("this {owned} "), "{owner}");
    }
    // A resource that an operator creates from another known resource.
    for (made, version, owner, resource) in [
        (
            "apiVersion: postgres-operator.crunchydata.com/v1beta1\nkind: PostgresCluster",
            "pgv2.percona.com/v2",
            "PerconaPGCluster",
            "perconapgclusters.pgv2.percona.com",
        ),
        (
            "apiVersion: ray.io/v1\nkind: RayCluster",
            "ray.io/v1",
            "RayService",
            "rayservices.ray.io",
        ),
    ] {
        let text = OWNED.replace("OWNER", version).replace("KIND", owner);
        let text = text.replace("CONTROLLER", "true");
        let text = text.replace("apiVersion: apps/v1\nkind: StatefulSet", made);
        let ran = dayshift_with(&[], &flags, &text);
        let help = format!("run dayshift with {resource} among its --kinds");
        assert!(ran.out.contains(&help), "{owner}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn status_names_the_owner_of_an_owned_object() {
    let cluster = Cluster::new();
    cluster.deployment("web", 3, &[("hours", "00:00-24:00")]);
    let ran = cluster.dayshift(&["status"]);
    ran.assert_out_lacks("belongs to");
    let owners = json!([{
        "apiVersion": VERSION, "kind": "PostgresCluster", "name": "db", "uid": "u",
        "controller": true,
    }]);
    let owned = json!({"metadata": {"ownerReferences": owners}});
    cluster
        .api
        .merge("Deployment", "dev", "web", &owned)
        .unwrap();
    let ran = cluster.dayshift(&["status"]);
    assert_eq!(ran.status, 1, "{}", ran.out);
    let help = format!("run dayshift with {RESOURCE} among its --kinds");
    for expected in [OPERATOR_SETS_COUNT, &help] {
        ran.assert_out(expected);
    }
}

/// A cluster with the PostgresCluster `db` and the Deployment `web` that belongs to it. `labels` gives
/// the labels of `web` from the UID of its owner.
fn operated_cluster(
    of_owner: &Value,
    of_workload: &Value,
    labels: impl FnOnce(&str) -> Value,
) -> Cluster {
    let cluster = Cluster::new();
    let (group, version) = VERSION.split_once('/').unwrap();
    let api = &cluster.api;
    api.serve_custom(group, version, "postgresclusters", "PostgresCluster");
    let owner = json!({
        "apiVersion": VERSION, "kind": "PostgresCluster",
        "metadata": {"name": "db", "namespace": "dev", "annotations": of_owner},
        "spec": {"shutdown": false},
    });
    api.create(owner).unwrap();
    let owner = api.get("PostgresCluster", "dev", "db").unwrap();
    let uid = owner["metadata"]["uid"].as_str().unwrap();
    cluster.deployment("web", 3, &[]);
    let owned = json!({"metadata": {
        "annotations": of_workload, "labels": labels(uid),
        "ownerReferences": [{
            "apiVersion": VERSION, "kind": "PostgresCluster", "name": "db", "uid": uid,
            "controller": true,
        }],
    }});
    api.merge("Deployment", "dev", "web", &owned).unwrap();
    cluster
}

/// An operator that copies the annotations of its resource to its workload, in files. The advice to
/// schedule the resource would be wrong if it is scheduled.
#[test]
fn lint_and_plan_recognize_a_workload_with_the_schedule_of_its_owner() {
    let (office, always) = (
        r#"dayshift/hours: "Mon-Fri 09:00-19:00""#,
        r#"dayshift/hours: "00:00-24:00""#,
    );
    let excluded = format!("{office}, dayshift/exclude: \"true\"");
    let copies = "the labels or annotations of this StatefulSet are copies of those of PostgresCluster db, whose";
    let both = "this StatefulSet belongs to PostgresCluster db, which has a schedule itself";
    for (namespace, owner, of_owner, of_workload, expected) in [
        ("", "dev/db", office, office, Some(copies)),
        ("", "dev/db", always, office, Some(both)),
        // Both inherit the schedule, so no operator has copied it.
        (office, "dev/db", "", "", Some(both)),
        ("", "dev/db", "", office, Some(OPERATOR_SETS_COUNT)),
        ("", "dev/db", &*excluded, office, Some(OPERATOR_SETS_COUNT)),
        ("", "dev/other", office, office, Some(OPERATOR_SETS_COUNT)),
        ("", "prod/db", office, office, Some(OPERATOR_SETS_COUNT)),
        ("", "dev/db", office, &*excluded, None),
    ] {
        let (owner_namespace, owner) = owner.split_once('/').unwrap();
        let text = format!(
            "apiVersion: v1
kind: Namespace
metadata: {{name: dev, annotations: {{{namespace}}}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: db
  namespace: dev
  annotations: {{{of_workload}}}
  ownerReferences:
    - {{apiVersion: {VERSION}, kind: PostgresCluster, name: db, uid: u, controller: true}}
---
apiVersion: {VERSION}
kind: PostgresCluster
metadata: {{name: {owner}, namespace: {owner_namespace}, annotations: {{{of_owner}}}}}
"
        );
        let kinds = format!("--kinds=statefulsets,{RESOURCE}");
        for command in [&["lint", "-", &kinds][..], &["plan", "-f", "-", &kinds]] {
            let ran = dayshift_with(&[], command, &text);
            let case = format!("{command:?} {text} {}{}", ran.out, ran.err);
            let output = format!("{}{}", ran.out, ran.err);
            let Some(expected) = expected else {
                assert!(!output.contains("conflicting-manager"), "{case}");
                continue;
            };
            assert!(output.contains(expected), "{expected}: {case}");
            let advice = "to leave it to the operator, run `kubectl annotate sts/db -n dev dayshift/exclude=true`";
            assert_eq!(
                output.contains(advice),
                expected != OPERATOR_SETS_COUNT,
                "{case}"
            );
            assert_eq!(
                output.contains("schedule the PostgresCluster instead"),
                expected == OPERATOR_SETS_COUNT,
                "{case}"
            );
        }
    }
}

#[test]
fn schedule_names_the_resource_to_schedule_instead() {
    let cluster = operated_cluster(&json!({}), &json!({}), |_| json!({}));
    cluster.deployment("plain", 1, &[]);
    for (name, is_operated) in [("web", true), ("plain", false)] {
        let ran = cluster.dayshift(&["schedule", name, "Mon-Fri 09:00-19:00", "--dry-run"]);
        let instead = format!(
            "warning: this Deployment {OPERATOR_SETS_COUNT}. Schedule the PostgresCluster instead, and run dayshift with \
             {RESOURCE} among its --kinds"
        );
        assert_eq!(
            (ran.status, ran.err.contains(&instead)),
            (0, is_operated),
            "{ran:?}"
        );
    }
}

#[test]
fn a_summary_counts_the_workloads_of_scheduled_resources() {
    let schedule = json!({"dayshift/hours": "Mon-Fri 09:00-19:00"});
    let instead = "Schedule its resource instead: PostgresCluster.\n";
    let exclude = "OPERATED: 1 workload belongs to an operator's resource that has a schedule itself. \
                   `dayshift/exclude: \"true\"` on the workload leaves its count to the operator.\n";
    let kinds = format!("deployments,{RESOURCE}");
    let plan = ["plan", "-A", "--kinds", &kinds];
    for (of_owner, expected, wrong) in [
        (&schedule, exclude, instead),
        (&json!({}), instead, exclude),
    ] {
        let cluster = operated_cluster(of_owner, &schedule, |_| json!({}));
        let ran = cluster.dayshift(&[&plan[..], &["-o", "summary"]].concat());
        assert!(
            ran.out.contains(expected) && !ran.out.contains(wrong),
            "{ran:?}"
        );
    }
    // Only the labels are copies.
    let cluster = operated_cluster(&schedule, &json!({}), |uid| {
        let fingerprint = dayshift_workload::Inputs::default().fingerprint(uid);
        json!({"dayshift/state": "running", "dayshift/fingerprint": fingerprint.to_string()})
    });
    let ran = cluster.dayshift(&plan);
    let note = "dev/web: the labels or annotations of this Deployment are copies of those of PostgresCluster db";
    ran.assert_err(note);
    ran.assert_err_lacks("no schedule annotation");
}

/// The replicas of a workload are those that its resource has, so their sum would be twice the savings.
#[test]
fn plan_counts_the_replicas_of_a_copied_schedule_once() {
    let schedule = json!({"dayshift/stop": "Mon 19:00", "dayshift/start": "Mon 21:00"});
    let instances = json!({"spec": {"shutdown": false, "instances": [{"replicas": 3}]}});
    let kinds = format!("deployments,{RESOURCE}");
    let plan = [
        "plan",
        "-A",
        "--kinds",
        &kinds,
        "--from",
        "2026-11-23",
        "--days",
        "1",
    ];
    // Three replicas are stopped for two hours.
    let text = |size: &str| {
        format!(
            "apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  annotations: {{dayshift/stop: Mon 19:00, dayshift/start: Mon 21:00}}
  ownerReferences:
    - {{apiVersion: {VERSION}, kind: PostgresCluster, name: db, uid: u, controller: true}}
spec: {{replicas: 3}}
---
apiVersion: {VERSION}
kind: PostgresCluster
metadata:
  name: db
  uid: u
  annotations: {{dayshift/stop: Mon 19:00, dayshift/start: Mon 21:00}}
spec: {{shutdown: false{size}}}
"
        )
    };
    for (has_size, expected) in [
        (true, [("db", json!(6.0)), ("web", json!(0.0))]),
        // The size of the resource is unknown.
        (false, [("db", Value::Null), ("web", json!(6.0))]),
    ] {
        let cluster = operated_cluster(&schedule, &schedule, |_| json!({}));
        let mut size = "";
        if has_size {
            size = ", instances: [{replicas: 3}]";
            let api = &cluster.api;
            api.merge("PostgresCluster", "dev", "db", &instances)
                .unwrap();
        }
        let files = ["plan", "-f", "-", "--kinds", &kinds, "-o", "json"];
        let files = [&files[..], &plan[4..]].concat();
        for ran in [
            cluster.dayshift(&[&plan[..], &["-o", "json"]].concat()),
            dayshift_with(&[], &files, &text(size)),
        ] {
            let document = ran.json();
            for (name, hours) in &expected {
                let workloads = document["workloads"].as_array().unwrap();
                let workload = workloads.iter().find(|workload| workload["name"] == *name);
                assert_eq!(
                    workload.unwrap()["savedReplicaHours"],
                    *hours,
                    "{has_size} {name}: {document}"
                );
            }
        }
        let ran = cluster.dayshift(&[&plan[..], &["-o", "summary-json"]].concat());
        assert_eq!(ran.json()["all"]["replicas"], 3, "{has_size}: {ran:?}");
    }
}

/// The controller has stopped both. With an unknown size of the resource, only the workload counts.
#[test]
fn stopped_replicas_of_a_copied_schedule_count_once() {
    let asleep =
        json!({"dayshift/hours": "00:00-24:00", "dayshift/sleep-until": "2099-01-01 00:00"});
    let kinds = format!("--kinds=deployments,{RESOURCE}");
    for instances in [json!([{"replicas": 3}]), Value::Null] {
        let cluster = operated_cluster(&asleep, &asleep, |_| json!({}));
        let spec = json!({"spec": {"instances": instances}});
        cluster
            .api
            .merge("PostgresCluster", "dev", "db", &spec)
            .unwrap();
        let _controller = Controller::with(&cluster, &[&kinds]);
        for (kind, name) in [("PostgresCluster", "db"), ("Deployment", "web")] {
            let state = || {
                let object = cluster.api.get(kind, "dev", name).unwrap();
                object["metadata"]["labels"]["dayshift/state"].clone()
            };
            while state() != "slept" {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        }
        let expected = "Stopped by schedules and overrides now: 3 replicas.";
        let ran = cluster.dayshift(&["status", &kinds, "-o", "wide"]);
        assert!(ran.out.contains(expected), "{instances}: {ran:?}");
        let served = Served::of(&cluster, &[&kinds]);
        for path in ["/", "/ns/dev"] {
            let page = served.page(path);
            let text = page.text();
            assert!(text.contains(expected), "{instances} {path}: {text}");
        }
    }
}

/// An operator that copies the labels and annotations of its resource to its workload. The controller
/// scales both.
#[test]
fn status_recognizes_a_workload_with_the_schedule_of_its_owner() {
    let schedule = json!({"dayshift/hours": "00:00-24:00"});
    let other = json!({"dayshift/hours": "Mon-Fri 09:00-19:00"});
    // The labels with which the controller has stored the state of the owner, or the workload's own.
    let owner_labels = |uid: &str| {
        let fingerprint = dayshift_workload::Inputs::default().fingerprint(uid);
        json!({
            "dayshift/state": "running", "dayshift/last": "2026-11-20T09.00.00Z",
            "dayshift/next": "never", "dayshift/fingerprint": fingerprint.to_string(),
        })
    };
    let copies = "the labels or annotations of this Deployment are copies of those of PostgresCluster db, whose operator";
    let both = "this Deployment belongs to PostgresCluster db, which has a schedule itself and whose operator";
    for (annotations, has_labels, kinds, expected) in [
        (&schedule, false, RESOURCE, Some(copies)),
        (&other, false, RESOURCE, Some(both)),
        (&json!({}), true, RESOURCE, Some(copies)),
        // The fingerprint shows whose labels they are, even if the owner is not read.
        (&json!({}), true, "deployments", Some(copies)),
        (&schedule, true, "deployments", Some(copies)),
        (&json!({}), false, RESOURCE, None),
    ] {
        let labels = |uid: &str| match has_labels {
            true => owner_labels(uid),
            false => json!({}),
        };
        let cluster = operated_cluster(&schedule, annotations, labels);
        let api = &cluster.api;
        let shown = || {
            let ran = cluster.dayshift(&[
                "status",
                "--kinds",
                &format!("deployments,{kinds}"),
                "-o",
                "json",
            ]);
            let document = ran.json();
            let workloads = document["workloads"].as_array().unwrap().iter();
            let mut of_it = workloads.filter(|it| it["name"] == "web").cloned();
            (ran.status, of_it.next())
        };
        let (status, web) = shown();
        let case = format!("{annotations} {has_labels} {kinds}: {web:?}");
        let Some(expected) = expected else {
            assert!(web.is_none(), "{case}");
            continue;
        };
        let web = web.unwrap();
        assert_eq!((status, &web["from"]), (1, &"object".into()), "{case}");
        let notes = web["notes"].as_array().unwrap().iter();
        let notes: Vec<_> = notes.map(|it| it.as_str().unwrap()).collect();
        let advice = ". To leave it to the operator, run `kubectl annotate deploy/web -n dev \
                      dayshift/exclude=true`";
        let note = notes.iter().find(|it| it.contains(expected));
        let note = note.unwrap_or_else(|| panic!("{case}"));
        assert!(note.ends_with(advice), "{case}");
        for wrong in [
            "among its --kinds",
            "no schedule is written",
            "manually",
            "set the count",
        ] {
            assert!(!notes.concat().contains(wrong), "{wrong}: {case}");
        }
        // The advice works.
        let exclude = Some("true");
        api.annotate_of("Deployment", "dev", "web", "dayshift/exclude", exclude)
            .unwrap();
        assert_eq!(shown().1, None, "{case}");
    }
}

/// The texts of `status` and `restore` name no count for an on/off field.
#[test]
fn describes_a_removed_schedule_of_an_on_off_field() {
    let cluster = Cluster::new();
    let (group, version) = VERSION.split_once('/').unwrap();
    cluster
        .api
        .serve_custom(group, version, "postgresclusters", "PostgresCluster");
    let left = json!({
        "apiVersion": VERSION, "kind": "PostgresCluster",
        "metadata": {"name": "db", "namespace": "dev", "labels": {
            "dayshift/saved-replicas": "1", "dayshift/saved-value": "false",
        }},
        "spec": {"shutdown": true},
    });
    cluster.api.create(left).unwrap();
    let flags = ["--kinds", RESOURCE];
    let ran = cluster.dayshift(&[&["status"], &flags[..]].concat());
    let output = format!(
        "its schedule was removed, and it is stopped. To start it again, run `dayshift restore {RESOURCE}/db -n dev`"
    );
    ran.assert_out(&output);
    ran.assert_out_lacks("replicas were");
    let name = format!("{RESOURCE}/db");
    let ran = cluster.dayshift(&["restore", &name]);
    let output = format!("postgrescluster.{group}/db restored, stopped -> running\n");
    assert_eq!((ran.status, ran.out), (0, output), "{}", ran.err);
    let db = cluster.api.get("PostgresCluster", "dev", "db").unwrap();
    assert_eq!(db["spec"], json!({"shutdown": false}));
}
