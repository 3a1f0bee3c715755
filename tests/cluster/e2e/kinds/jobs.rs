//! The Jobs of a CronJob with `stop-jobs`, and Kubernetes' own Job controller.

use serde_json::{Value, json};

use super::{STATE, allow_every_kind, await_field, before, create, field};
use crate::{
    e2e::test_namespace::TestNamespace,
    support::{
        ControlPlane, ENDS_AFTER, Parts, Scenario, cron_job, eventually, scenarios, soon,
        wait_until,
    },
};

const SUSPENDED_BY: &str = "/metadata/labels/dayshift~1suspended-by";

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![Parts::Pods; stop_deletes_job_pods_and_start_creates_them]
}

/// Waits for the Job controller's condition: suspended or not.
fn condition(team: &TestNamespace<'_>, job: &str, suspended: bool) -> Option<()> {
    let status = if suspended { "True" } else { "False" };
    let conditions = field(team, job, "/status/conditions");
    let conditions: Vec<Value> = serde_json::from_str(&conditions).ok()?;
    let is_it = |it: &Value| it["type"] == "Suspended" && it["status"] == status;
    conditions.iter().any(is_it).then_some(())
}

fn stop_deletes_job_pods_and_start_creates_them(plane: &ControlPlane) {
    allow_every_kind(plane);
    let mut team = TestNamespace::new(plane, "stop-jobs");
    let stop = soon(15);
    let start = stop.plus(15);
    let report = cron_job("report").stop(stop.text()).start(start.text());
    let mut report = Value::from(report.annotation("dayshift/stop-jobs", "true"));
    let pods = &mut report["spec"]["jobTemplate"]["spec"]["template"];
    pods["metadata"]["annotations"] = json!({ENDS_AFTER: "1h"});
    create(&team, report);
    for name in ["ours", "theirs"] {
        let by_hand = ["create", "job", name, "--from=cronjob/report"];
        team.kubectl(&by_hand).success();
    }
    let suspend = json!({"spec": {"suspend": true}});
    team.patch("apis/batch/v1", "jobs/theirs", &suspend);
    before(&team, stop, "cj/report", STATE, "adopted");
    let uid = field(&team, "cj/report", "/metadata/uid");

    before(&team, start, "job/ours", "/spec/suspend", true);
    start.before("Kubernetes has suspended the Job", || {
        condition(&team, "job/ours", true)
    });
    before(&team, start, "job/ours", "/status/active", "");
    let by = ["job/ours", "job/theirs"].map(|it| field(&team, it, SUSPENDED_BY));
    start.assert_in_future("the Job is checked while it is suspended");
    assert_eq!(by, [uid, String::new()]);

    await_field(&team, "job/ours", "/spec/suspend", false);
    eventually("Kubernetes has resumed the Job", || {
        condition(&team, "job/ours", false)
    });
    wait_until("the Job has pods again", || {
        let active = field(&team, "job/ours", "/status/active");
        !active.is_empty()
    });
    assert_eq!(field(&team, "job/ours", SUSPENDED_BY), "");
    assert_eq!(field(&team, "job/theirs", "/spec/suspend"), "true");
    assert_eq!(field(&team, "cj/report", STATE), "running");
    team.stop_controllers();
    let requests = team.requests();
    let mut patches = requests
        .iter()
        .filter(|it| it.resource == "jobs" && it.verb == "patch");
    let made = patches.clone().filter(|it| it.code == 200).count();
    assert!(patches.all(|it| it.name == "ours"), "{requests:#?}");
    assert_eq!(made, 2, "{requests:#?}");
}
