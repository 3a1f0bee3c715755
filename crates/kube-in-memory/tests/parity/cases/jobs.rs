//! Jobs: the requests of a client that suspends and resumes the Jobs of a CronJob.

use serde_json::{Value, json};

use super::super::table::{Case, JOBS, REPORT_1, case};
use super::with;

/// A Job with a label. Without labels, the server copies those of its pods.
fn job(name: &str) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {
            "name": name, "labels": {"app": "report"},
        },
        "spec": {"template": {"spec": {
            "containers": [{"name": "report", "image": "busybox:1"}],
            "restartPolicy": "Never",
        }}},
    })
}

/// A case with a running `report-1`.
fn given(name: &'static str) -> Case {
    case(name).given_at(JOBS, job("report-1"))
}

fn create(name: &'static str, path: &str, value: Value) -> Case {
    case(name).post(JOBS, with(job("report-1"), path, value))
}

pub fn cases() -> Vec<Case> {
    let mut cases = objects();
    cases.extend(patches());
    cases.extend(lists());
    cases
}

fn objects() -> Vec<Case> {
    vec![
        case("a created Job runs")
            .post(JOBS, job("report-1"))
            .get(REPORT_1),
        create("a Job that begins suspended", "/spec/suspend", json!(true)),
        create("suspend that is a text", "/spec/suspend", json!("true")),
        create("suspend that is a number", "/spec/suspend", json!(1)),
        create("suspend that is null", "/spec/suspend", Value::Null),
        create("negative completions", "/spec/completions", json!(-1)),
        create("a negative backoff", "/spec/backoffLimit", json!(-1)),
        create(
            "pods that always restart",
            "/spec/template/spec/restartPolicy",
            json!("Always"),
        ),
        create(
            "pods of a Job that restart on failure",
            "/spec/template/spec/restartPolicy",
            json!("Sometimes"),
        ),
        create(
            "the status of a new Job is ignored",
            "/status",
            json!({"active": 3}),
        ),
        case("no such Job").get(REPORT_1).json_patch(
            REPORT_1,
            json!([{"op": "add", "path": "/spec/suspend", "value": true}]),
        ),
        given("a Job twice").post(JOBS, job("report-1")),
        given("a stale Job")
            .merge_patch(REPORT_1, json!({"spec": {"suspend": true}}))
            .merge_patch(
                REPORT_1,
                json!({"metadata": {"resourceVersion": "1"}, "spec": {"suspend": false}}),
            ),
        given("a client cannot set the status of a Job")
            .merge_patch(REPORT_1, json!({"status": {"active": 3}})),
    ]
}

/// Patches that suspend and resume. Each tests all fields that the decision used.
fn patches() -> Vec<Case> {
    let label = "/metadata/labels/dayshift~1suspended-by";
    let test = |path: &str, value: Value| json!({"op": "test", "path": path, "value": value});
    let suspend = json!([
        test("/metadata/uid", json!("{uid}")),
        test("/spec/suspend", json!(false)),
        test(label, Value::Null),
        {"op": "add", "path": "/spec/suspend", "value": true},
        {"op": "add", "path": label, "value": "owner"},
    ]);
    let resume = json!([
        test("/metadata/uid", json!("{uid}")),
        test("/spec/suspend", json!(true)),
        test(label, json!("owner")),
        {"op": "add", "path": "/spec/suspend", "value": false},
        {"op": "remove", "path": label},
    ]);
    let only = |path: &str, value: Value| json!([test(path, value)]);
    let manager = format!("{REPORT_1}?fieldManager=dayshift");
    vec![
        given("a Job is suspended and resumed")
            .get(REPORT_1)
            .json_patch(REPORT_1, suspend.clone())
            .json_patch(REPORT_1, suspend.clone())
            .json_patch(REPORT_1, resume.clone())
            .json_patch(REPORT_1, resume),
        given("a Job of another UID").json_patch(REPORT_1, only("/metadata/uid", json!("gone"))),
        given("a Job suspended by another client in the meantime")
            .get(REPORT_1)
            .merge_patch(REPORT_1, json!({"spec": {"suspend": true}}))
            .json_patch(REPORT_1, suspend.clone()),
        given("a test of suspend for null")
            .json_patch(REPORT_1, only("/spec/suspend", Value::Null)),
        given("suspend of a Job becomes a text").json_patch(
            REPORT_1,
            json!([{"op": "add", "path": "/spec/suspend", "value": "true"}]),
        ),
        given("suspend of a Job is removed")
            .json_patch(REPORT_1, json!([{"op": "remove", "path": "/spec/suspend"}])),
        case("field manager of suspend")
            .given_at(&format!("{JOBS}?fieldManager=helm"), job("report-1"))
            .get(REPORT_1)
            .json_patch(&manager, suspend)
            .owners(),
    ]
}

fn lists() -> Vec<Case> {
    let at = |query: &str| format!("{JOBS}?{query}");
    let three = |name| {
        let labelled =
            |name: &str, tier: &str| with(job(name), "/metadata/labels/tier", json!(tier));
        case(name)
            .given_at(JOBS, labelled("a", "back"))
            .given_at(JOBS, labelled("b", "front"))
            .given_at(JOBS, labelled("c", "back"))
    };
    vec![
        three("all Jobs").get(JOBS),
        three("pages of Jobs")
            .get(&at("limit=2"))
            .get(&at("limit=2&continue={continue}")),
        three("Jobs with a label")
            .get(&at("labelSelector=tier%3Dback"))
            .get(&at("labelSelector=dayshift%2Fsuspended-by")),
        case("no Jobs").get(JOBS),
    ]
}
