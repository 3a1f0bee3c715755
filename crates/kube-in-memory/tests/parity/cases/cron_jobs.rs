//! CronJobs: defaults, mutable fields, and validation common to all kinds.

use serde_json::{Value, json};

use super::super::table::{CRON_JOBS, Case, REPORT, case};
use super::{cron_job, with};

fn report() -> Value {
    let mut report = cron_job("report");
    report["metadata"]["labels"] = json!({"app": "report", "tier": "back"});
    report["metadata"]["annotations"] = json!({"plain": "x"});
    report["spec"]["suspend"] = json!(false);
    report
}

/// A case with an existing `report`.
fn given(name: &'static str) -> Case {
    case(name).given_at(CRON_JOBS, report())
}

fn create(name: &'static str, path: &str, value: Value) -> Case {
    case(name).post(CRON_JOBS, with(report(), path, value))
}

pub fn cases() -> Vec<Case> {
    let mut cases = objects();
    cases.extend(refusals());
    cases.extend(changes());
    cases.extend(reads());
    cases
}

fn objects() -> Vec<Case> {
    vec![
        case("a created object has its defaults")
            .post(CRON_JOBS, cron_job("report"))
            .whole()
            .get(REPORT)
            .whole(),
        create(
            "given values stay",
            "/spec",
            json!({
                "schedule": "*/5 9-17 * jan-jun mon-fri", "timeZone": "Asia/Tokyo", "suspend": true,
                "concurrencyPolicy": "Forbid", "startingDeadlineSeconds": 60,
                "successfulJobsHistoryLimit": 0, "failedJobsHistoryLimit": 0,
                "jobTemplate": {
                    "metadata": {"labels": {"of": "report"}, "annotations": {"a": "b"}},
                    "spec": {
                        "parallelism": 2, "completions": 2, "backoffLimit": 0,
                        "activeDeadlineSeconds": 600, "ttlSecondsAfterFinished": 60,
                        "template": {
                            "metadata": {"labels": {"app": "report"}},
                            "spec": {
                                "containers": [{"name": "report", "image": "busybox", "command": ["true"]}],
                                "restartPolicy": "OnFailure",
                            },
                        },
                    },
                },
            }),
        )
        .whole(),
        create(
            "empty maps of the template are left out",
            "/spec/jobTemplate/metadata",
            json!({"labels": {}, "annotations": {}}),
        )
        .whole(),
        create("an unknown member is dropped", "/spec/replicas", json!(3)).whole(),
        case("created twice")
            .post(CRON_JOBS, report())
            .post(CRON_JOBS, report()),
        case("no such object")
            .get(REPORT)
            .delete(REPORT)
            .put(REPORT, report())
            .json_patch(REPORT, json!([])),
        given("deleted").delete(REPORT).get(REPORT),
        case("deleted with a finalizer")
            .post(
                CRON_JOBS,
                with(report(), "/metadata/finalizers", json!(["example.com/wait"])),
            )
            .delete(REPORT)
            .merge_patch(REPORT, json!({"metadata": {"finalizers": null}}))
            .get(REPORT),
        case("dry runs")
            .post(&format!("{CRON_JOBS}?dryRun=All"), report())
            .get(REPORT)
            .given_at(CRON_JOBS, report())
            .merge_patch(&format!("{REPORT}?dryRun=All"), json!({"spec": {"suspend": true}}))
            .get(REPORT),
    ]
}

fn refusals() -> Vec<Case> {
    let template = "/spec/jobTemplate/spec";
    let below = |path: &str| format!("{template}{path}");
    vec![
        case("no schedule").post(
            CRON_JOBS,
            with(cron_job("report"), "/spec/schedule", json!(null)),
        ),
        create("suspend that is a text", "/spec/suspend", json!("true")),
        create("suspend that is a number", "/spec/suspend", json!(1)),
        create(
            "an unknown policy",
            "/spec/concurrencyPolicy",
            json!("Maybe"),
        ),
        create("an empty policy", "/spec/concurrencyPolicy", json!("")),
        create(
            "a negative deadline",
            "/spec/startingDeadlineSeconds",
            json!(-1),
        ),
        create(
            "a deadline that is a text",
            "/spec/startingDeadlineSeconds",
            json!("1"),
        ),
        create(
            "a negative history",
            "/spec/successfulJobsHistoryLimit",
            json!(-1),
        ),
        create(
            "a negative history of failures",
            "/spec/failedJobsHistoryLimit",
            json!(-2),
        ),
        create("a negative parallelism", &below("/parallelism"), json!(-1)),
        create("negative completions", &below("/completions"), json!(-1)),
        create("a negative backoff", &below("/backoffLimit"), json!(-1)),
        create(
            "a backoff that is a text",
            &below("/backoffLimit"),
            json!("1"),
        ),
        create(
            "a negative activeDeadlineSeconds",
            &below("/activeDeadlineSeconds"),
            json!(-1),
        ),
        create(
            "a negative ttlSecondsAfterFinished",
            &below("/ttlSecondsAfterFinished"),
            json!(-1),
        ),
        create(
            "a selector",
            &below("/selector"),
            json!({"matchLabels": {"a": "b"}}),
        ),
        create(
            "no restart policy",
            &below("/template/spec/restartPolicy"),
            json!(null),
        ),
        create(
            "always restarted",
            &below("/template/spec/restartPolicy"),
            json!("Always"),
        ),
        create(
            "an unknown restart policy",
            &below("/template/spec/restartPolicy"),
            json!("x"),
        ),
        create(
            "no containers",
            &below("/template/spec/containers"),
            json!([]),
        ),
        create(
            "a container without an image",
            &below("/template/spec/containers/0"),
            json!({"name": "a"}),
        ),
        create(
            "a bad label of the pods",
            &below("/template/metadata"),
            json!({"labels": {"x": "a b"}}),
        ),
        create("a template that is a text", "/spec/jobTemplate", json!("x")),
        create("a job that is a list", template, json!([])),
        create(
            "a pod template that is a text",
            &below("/template"),
            json!("x"),
        ),
        create("a pod that is a text", &below("/template/spec"), json!("x")),
        create("a bad label", "/metadata/labels/x", json!("a b")),
        create("a bad name", "/metadata/name", json!("Report_1")),
        create("a name with a dot", "/metadata/name", json!("report.1")),
        create("the longest name", "/metadata/name", json!("x".repeat(52))),
        create(
            "a name that is too long",
            "/metadata/name",
            json!("x".repeat(53)),
        ),
        case("no spec").post(
            CRON_JOBS,
            json!({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "report"}}),
        ),
        create("a spec that is a text", "/spec", json!("x")),
        create("another version", "/apiVersion", json!("batch/v1beta1")),
        create("another kind", "/kind", json!("Job")),
        case("a kind that is not served").get("/apis/batch/v1/namespaces/{ns}/cronjobz"),
    ]
}

fn changes() -> Vec<Case> {
    let patch = |name, path, value| {
        given(name).json_patch(REPORT, json!([{"op": "add", "path": path, "value": value}]))
    };
    vec![
        given("a transition with tests").json_patch(
            REPORT,
            json!([
                {"op": "test", "path": "/metadata/uid", "value": "{uid}"},
                {"op": "test", "path": "/spec/suspend", "value": false},
                {"op": "test", "path": "/metadata/labels/dayshift~1last", "value": null},
                {"op": "replace", "path": "/spec/suspend", "value": true},
                {"op": "add", "path": "/metadata/labels/dayshift~1state", "value": "stopped"},
            ]),
        ),
        given("a test that fails").json_patch(
            REPORT,
            json!([
                {"op": "test", "path": "/spec/suspend", "value": true},
                {"op": "replace", "path": "/spec/suspend", "value": false},
            ]),
        ),
        given("suspend is removed")
            .json_patch(REPORT, json!([{"op": "remove", "path": "/spec/suspend"}]))
            .merge_patch(REPORT, json!({"spec": {"suspend": null}})),
        patch("suspend becomes a text", "/spec/suspend", json!("true")),
        patch(
            "a pod template becomes a text",
            "/spec/jobTemplate/spec/template",
            json!("x"),
        ),
        patch(
            "restarted always",
            "/spec/jobTemplate/spec/template/spec/restartPolicy",
            json!("Always"),
        ),
        given("mutable fields")
            .merge_patch(REPORT, json!({"spec": {"suspend": true}}))
            .merge_patch(REPORT, json!({"spec": {"timeZone": "Europe/Berlin"}}))
            .merge_patch(REPORT, json!({"spec": {"concurrencyPolicy": "Replace"}}))
            .merge_patch(REPORT, json!({"spec": {"startingDeadlineSeconds": 0}}))
            .merge_patch(
                REPORT,
                json!({"spec": {"jobTemplate": {"metadata": {"labels": {"a": "b"}}}}}),
            )
            .json_patch(
                REPORT,
                json!([{
                    "op": "replace",
                    "path": "/spec/jobTemplate/spec/template/spec/containers/0/image",
                    "value": "busybox",
                }]),
            )
            .get(REPORT)
            .whole(),
        given("changes that increment the generation")
            .merge_patch(REPORT, json!({"metadata": {"labels": {"x": "y"}}}))
            .merge_patch(REPORT, json!({"metadata": {"annotations": {"x": "y"}}}))
            .merge_patch(REPORT, json!({"spec": {"suspend": true}})),
        given("a strategic merge patch").ask(
            "PATCH",
            REPORT,
            "application/strategic-merge-patch+json",
            r#"{"spec":{"suspend":true},"metadata":{"annotations":{"plain":null,"b":"c"}}}"#,
        ),
        given("unchanged put").put(
            REPORT,
            with(report(), "/metadata/resourceVersion", json!("{rv}")),
        ),
        given("put without a resourceVersion")
            .put(REPORT, with(report(), "/spec/suspend", json!(true))),
        given("put with a stale resourceVersion")
            .merge_patch(REPORT, json!({"spec": {"suspend": true}}))
            .put(
                REPORT,
                with(report(), "/metadata/resourceVersion", json!("1")),
            ),
        given("put removes omitted fields").put(REPORT, cron_job("report")),
        given("put does not change the status").put(
            REPORT,
            with(
                report(),
                "/status",
                json!({"lastScheduleTime": "2026-11-20T03:00:00Z"}),
            ),
        ),
        given("a null in the spec").merge_patch(REPORT, json!({"spec": null})),
        case("field managers")
            .given_at(&format!("{CRON_JOBS}?fieldManager=helm"), report())
            .merge_patch(
                &format!("{REPORT}?fieldManager=dayshift"),
                json!({"spec": {"suspend": true}, "metadata": {"labels": {"state": "stopped"}}}),
            )
            .owners()
            .merge_patch(
                &format!("{REPORT}?fieldManager=kubectl"),
                json!({"spec": {"suspend": false}}),
            )
            .owners(),
    ]
}

fn reads() -> Vec<Case> {
    let at = |query: &str| format!("{CRON_JOBS}?watch=true&{query}");
    let labelled =
        |name: &str, tier: &str| with(cron_job(name), "/metadata/labels", json!({"tier": tier}));
    vec![
        case("a list")
            .given_at(CRON_JOBS, labelled("b", "back"))
            .given_at(CRON_JOBS, labelled("a", "front"))
            .get(CRON_JOBS)
            .get(&format!("{CRON_JOBS}?limit=1"))
            .get(&format!("{CRON_JOBS}?limit=1&continue={{continue}}"))
            .get(&format!("{CRON_JOBS}?fieldSelector=metadata.name%3Db"))
            .get(&format!("{CRON_JOBS}?fieldSelector=spec.suspend%3Dtrue"))
            .get(&format!("{CRON_JOBS}?labelSelector=tier%3Dfront"))
            .get(&format!("{CRON_JOBS}?labelSelector=tier+notin+(front)")),
        case("a list of whole objects").given_at(CRON_JOBS, report()).get(CRON_JOBS).whole(),
        given("a watch")
            .merge_patch(REPORT, json!({"spec": {"suspend": true}}))
            .merge_patch(REPORT, json!({"metadata": {"labels": {"tier": "front"}}}))
            .delete(REPORT)
            .watch(&at("resourceVersion={rv0}"), 3)
            .whole()
            .watch(&at("resourceVersion={rv0}&labelSelector=tier%3Dback"), 2),
        given("a streamed list")
            .get(CRON_JOBS)
            .watch(
                &at("resourceVersion=0&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"),
                2,
            )
            .whole(),
    ]
}
