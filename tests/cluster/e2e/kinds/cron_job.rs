//! CronJobs, and the Jobs that Kubernetes' own controller creates.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use super::{STATE, await_field, before, create};
use crate::{
    e2e::test_namespace::TestNamespace,
    support::{ControlPlane, Parts, Scenario, Soon, cron_job, scenarios, soon},
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    [
        scenarios![Parts::Pods; cron_job_creates_jobs_only_while_running],
        scenarios![
            Parts::Server;
            commands_and_kubectl_use_the_same_name_of_a_cron_job,
        ],
    ]
    .concat()
}

/// The number of Jobs that each CronJob of a Namespace created by itself.
fn jobs(team: &TestNamespace<'_>) -> BTreeMap<String, usize> {
    let listed = team.read("apis/batch/v1", "jobs").unwrap();
    let mut jobs = BTreeMap::new();
    for job in listed["items"].as_array().unwrap() {
        let metadata = &job["metadata"];
        if metadata["annotations"]["cronjob.kubernetes.io/instantiate"].is_null() {
            let owner = metadata["ownerReferences"][0]["name"].as_str().unwrap();
            *jobs.entry(owner.to_owned()).or_default() += 1;
        }
    }
    jobs
}

/// The next full minute, at which each CronJob here is due.
fn minute_after(soon: Soon) -> Soon {
    let seconds = soon.0.timestamp();
    let next = DateTime::<Utc>::from_timestamp(seconds + 60 - seconds % 60, 0);
    Soon(next.unwrap())
}

fn cron_job_creates_jobs_only_while_running(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "cron");
    let stop = soon(12);
    // One CronJob has stopped already when the others stop, so that the next minute tests all of them.
    let (early, late) = (stop.plus(4), stop.plus(8));
    let minute = minute_after(late);
    let start = Soon(minute.0 + TimeDelta::seconds(15));
    let every_minute = |name: &str, deadline: Option<i32>, start: Option<Soon>| {
        let mut job = cron_job(name);
        if let Some(start) = start {
            job = job.stop(stop.text()).start(start.text());
        }
        let mut job = Value::from(job);
        job["spec"]["schedule"] = "* * * * *".into();
        job["spec"]["startingDeadlineSeconds"] = deadline.into();
        // Running Jobs continue.
        job["spec"]["jobTemplate"]["spec"]["suspend"] = false.into();
        create(&team, job);
    };
    every_minute("always", None, None);
    every_minute("daily", None, Some(early));
    every_minute("nightly", Some(10), Some(start));
    every_minute("catching-up", None, Some(start));
    let by_hand = ["create", "job", "by-hand", "--from=cronjob/nightly"];
    team.kubectl(&by_hand).success();
    for name in ["cj/daily", "cj/nightly", "cj/catching-up"] {
        before(&team, stop, name, STATE, "adopted");
    }
    for name in ["nightly", "catching-up"] {
        team.await_suspended(name, true);
    }
    team.await_suspended("daily", false);
    team.assert_punctual("daily", 2, early);
    let before = jobs(&team);
    minute.assert_in_future("two are suspended");

    let made = |name: &str, jobs: &BTreeMap<String, usize>| jobs.get(name).copied().unwrap_or(0);
    Soon(minute.0 + TimeDelta::seconds(5)).wait();
    let at_night = start.before("the CronJob has created the Job of this minute", || {
        let at_night = jobs(&team);
        (made("always", &at_night) == made("always", &before) + 1).then_some(at_night)
    });
    for name in ["nightly", "catching-up"] {
        assert_eq!(made(name, &at_night), made(name, &before), "{name}");
    }
    await_field(
        &team,
        "cj/daily",
        "/status/lastScheduleTime",
        minute.until(),
    );
    // The existing Job is unchanged, and completes.
    await_field(&team, "job/by-hand", "/status/succeeded", 1);

    for name in ["nightly", "catching-up"] {
        team.await_suspended(name, false);
        team.assert_punctual(name, 2, start);
    }
    // Kubernetes' behavior for a missed minute is described in docs/reference/kinds.md.
    await_field(
        &team,
        "cj/catching-up",
        "/status/lastScheduleTime",
        minute.until(),
    );
    assert_eq!(made("nightly", &jobs(&team)), made("nightly", &before));
    team.ends([("daily", 3), ("nightly", 3), ("catching-up", 3)]);
}

impl TestNamespace<'_> {
    fn await_suspended(&self, name: &str, is_suspended: bool) {
        await_field(self, &format!("cj/{name}"), "/spec/suspend", is_suspended);
    }
}

fn commands_and_kubectl_use_the_same_name_of_a_cron_job(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "cron-commands");
    create(&team, Value::from(cron_job("report").hours("00:00-24:00")));
    await_field(&team, "cj/report", STATE, "adopted");
    let run = |command: &str| {
        let line = format!("dayshift {command} cj/report -n {}", team.name());
        plane.shell(&line).success()
    };
    let slept = run("sleep --for 1h");
    assert_starts_with!(slept, "cronjob.batch/report asleep until ");
    team.await_suspended("report", true);
    let shown = run("status");
    assert_contains!(shown, "suspended");
    let resumed = run("resume");
    assert_starts_with!(resumed, "cronjob.batch/report resumed");
    team.await_suspended("report", false);
    run("pause");
    await_field(&team, "cj/report", STATE, "paused");
    run("resume");
    await_field(&team, "cj/report", STATE, "adopted");
    let shown = run("status");
    assert_contains!(shown, "active");
    team.ends([("report", 5)]);
}
