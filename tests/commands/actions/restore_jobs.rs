//! `dayshift restore` of a CronJob resumes the Jobs that its stop has suspended.

use kube_in_memory::{Fault, Status};
use serde_json::{Value, json};

use crate::fake_server::Cluster;

const SUSPENDED_BY: &str = "dayshift/suspended-by";

/// A CronJob that a controller has stopped.
fn stopped(cluster: &Cluster, name: &str, annotations: &[(&str, &str)]) -> String {
    cluster.cron_job(name, annotations);
    let labels = json!({"dayshift/state": "stopped", "dayshift/saved-replicas": "1"});
    let left = json!({"metadata": {"labels": labels}, "spec": {"suspend": true}});
    cluster.api.merge("CronJob", "dev", name, &left).unwrap();
    let object = cluster.api.get("CronJob", "dev", name).unwrap();
    object["metadata"]["uid"].as_str().unwrap().to_owned()
}

/// A Job of that CronJob, suspended by this manager.
fn job(cluster: &Cluster, name: &str, owner: &str, suspend: bool, by: Option<&str>) {
    let mut job = json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {
            "name": name, "namespace": "dev", "labels": {"app": name},
            "ownerReferences": [{
                "apiVersion": "batch/v1", "kind": "CronJob", "name": "report", "uid": owner,
                "controller": true,
            }],
        },
        "spec": {"suspend": suspend, "template": {"spec": {
            "restartPolicy": "Never", "containers": [{"name": "job", "image": "job"}],
        }}},
    });
    if let Some(by) = by {
        job["metadata"]["labels"][SUSPENDED_BY] = json!(by);
    }
    cluster.api.create(job).unwrap();
}

/// Whether the Job is suspended, and by which manager.
fn seen(cluster: &Cluster, name: &str) -> (bool, Value) {
    let job = cluster.api.get("Job", "dev", name).unwrap();
    let by = job["metadata"]["labels"][SUSPENDED_BY].clone();
    (job["spec"]["suspend"].as_bool().unwrap(), by)
}

const NIGHT: &[(&str, &str)] = &[("hours", "Mon-Fri 09:00-19:00"), ("stop-jobs", "true")];

#[test]
fn restore_resumes_only_jobs_that_a_stop_suspended() {
    let cluster = Cluster::new();
    let report = stopped(&cluster, "report", NIGHT);
    let other = stopped(&cluster, "other", NIGHT);
    job(&cluster, "ours", &report, true, Some(&report));
    job(&cluster, "theirs", &report, true, None);
    job(&cluster, "resumed", &report, false, Some(&report));
    job(&cluster, "others", &other, true, Some(&other));

    let dry = cluster.dayshift(&["restore", "cj/report", "--dry-run"]);
    let output = "cronjob.batch/report restored, suspended -> active (dry run)\n\
                job.batch/ours resumed (dry run)\n";
    assert_eq!((dry.status, &*dry.out), (0, output), "{}", dry.err);
    assert_eq!(seen(&cluster, "ours"), (true, json!(report)));

    let ran = cluster.dayshift(&["restore", "cj/report"]);
    let output = "cronjob.batch/report restored, suspended -> active\njob.batch/ours resumed\n";
    assert_eq!((ran.status, &*ran.out), (0, output), "{}", ran.err);
    assert_eq!(seen(&cluster, "ours"), (false, Value::Null));
    assert_eq!(seen(&cluster, "theirs"), (true, Value::Null));
    assert_eq!(seen(&cluster, "resumed"), (false, Value::Null));
    assert_eq!(seen(&cluster, "others"), (true, json!(other)));

    // A CronJob that a user resumed manually has no saved count, but its Jobs are still suspended.
    let by_hand = json!({
        "metadata": {"labels": {"dayshift/saved-replicas": null}}, "spec": {"suspend": false},
    });
    cluster
        .api
        .merge("CronJob", "dev", "other", &by_hand)
        .unwrap();
    let ran = cluster.dayshift(&["restore", "-A"]);
    let output = "job.batch/others in dev resumed\n";
    assert_eq!((ran.status, &*ran.out), (0, output), "{}", ran.err);
    assert_eq!(seen(&cluster, "others"), (false, Value::Null));
    let ran = cluster.dayshift(&["restore", "-A"]);
    assert_eq!(ran.out, "nothing to restore in all namespaces\n");
}

#[test]
fn does_not_list_jobs_without_stop_jobs() {
    let cluster = Cluster::new();
    let report = stopped(&cluster, "report", &NIGHT[..1]);
    job(&cluster, "theirs", &report, true, None);
    cluster.refuse(&["list", "patch"], "jobs");
    let ran = cluster.dayshift(&["restore", "cj/report"]);
    let output = "cronjob.batch/report restored, suspended -> active\n";
    assert_eq!((ran.status, &*ran.out), (0, output), "{}", ran.err);
}

#[test]
fn retries_a_changed_job_and_reports_a_rejection() {
    let cluster = Cluster::new();
    let report = stopped(&cluster, "report", NIGHT);
    job(&cluster, "ours", &report, true, Some(&report));
    let patches = |it: &kube_in_memory::RequestLine| it.verb == "patch" && it.resource == "jobs";
    let again = Fault::Answer(Status::new(409, "Conflict", "again"));
    cluster.api.fail_next(patches, again);
    let ran = cluster.dayshift(&["restore", "cj/report"]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert_ends_with!(ran.out, "job.batch/ours resumed\n");
    assert_eq!(seen(&cluster, "ours"), (false, Value::Null));

    let cluster = Cluster::new();
    let report = stopped(&cluster, "report", NIGHT);
    job(&cluster, "ours", &report, true, Some(&report));
    cluster.refuse(&["patch"], "jobs");
    let ran = cluster.dayshift(&["restore", "cj/report"]);
    let output = "error: job.batch/ours: not resumed: the API server refuses: ";
    assert_eq!(ran.status, 3, "{}", ran.err);
    assert_starts_with!(ran.err, output);
    ran.assert_out("restored, suspended -> active");

    let cluster = Cluster::new();
    stopped(&cluster, "report", NIGHT);
    cluster.refuse(&["list"], "jobs");
    let ran = cluster.dayshift(&["restore", "cj/report"]);
    let output = "error: Jobs in dev: not resumed: the API server refuses: ";
    assert_eq!(ran.status, 3, "{}", ran.err);
    assert_starts_with!(ran.err, output);
}
