//! The Jobs of a CronJob with `stop-jobs`: suspended after its stop, resumed after its start.

mod cluster;
mod nights;
mod trouble;

use cluster::{Cluster, cron_job_with_jobs, job};
use dayshift_controller::Settings;
use serde_json::json;

use crate::sandbox::{Sandbox, cron_job, deployment};

pub(crate) use cluster::{job_of, make};

#[test]
fn suspends_running_jobs_at_the_stop_and_resumes_them_at_the_start() {
    let scenario = Sandbox::at("2026-11-19 18:00 UTC");
    let api = cron_job_with_jobs(&scenario, "report", &["report-1", "report-2"]);
    scenario.sleep_until("18:59");
    assert_eq!(
        scenario.job_requests("list"),
        1,
        "one list when the controller starts"
    );
    scenario.sleep_until("19:01");
    for name in ["report-1", "report-2"] {
        assert_eq!(api.suspended(name), (json!(true), json!(api.uid)), "{name}");
    }
    let events = [
        "Stopped: suspended until Fri 09:00",
        "JobsSuspended: suspended 2 Jobs: report-1, report-2",
    ];
    assert_eq!(
        scenario.reported("report")[..1],
        events[1..],
        "{:?}",
        scenario.reported("report")
    );
    assert_eq!(scenario.job_requests("patch"), 2);
    scenario.sleep_until("2026-11-20 09:01");
    for name in ["report-1", "report-2"] {
        assert_eq!(api.suspended(name), (json!(false), json!(null)), "{name}");
    }
    assert!(
        scenario
            .reported("report")
            .contains(&"JobsResumed: resumed 2 Jobs: report-1, report-2".to_owned())
    );
    assert_eq!(scenario.job_requests("patch"), 4);
    // One when the controller starts, one at the stop, one some time after it, and one at the start on
    // Friday.
    assert_eq!(scenario.job_requests("list"), 4);
}

#[test]
fn costs_no_request_without_stop_jobs() {
    let scenario = Sandbox::at("2026-11-19 18:00 UTC");
    scenario.apply(cron_job("report").hours("Mon-Fri 09:00-19:00"));
    make(&scenario, job_of(&scenario, "report", "report-1"));
    let no = cron_job("no").hours("Mon-Fri 09:00-19:00");
    scenario.apply(no.annotation("dayshift/stop-jobs", "false"));
    scenario.sleep_until("2026-11-20 09:01");
    assert_eq!(job(&scenario, "report-1")["spec"]["suspend"], false);
    let asked = scenario.api.requests();
    assert!(asked.iter().all(|line| line.resource != "jobs"));
}

#[test]
fn lists_the_jobs_of_a_namespace_once() {
    let scenario = Sandbox::at("2026-11-19 18:00 UTC");
    let names: Vec<String> = (0..20).map(|it| format!("report-{it}")).collect();
    for name in &names {
        let job = format!("{name}-1");
        cron_job_with_jobs(&scenario, name, &[&job]);
    }
    scenario.sleep_until("18:59");
    let before = scenario.job_requests("list");
    scenario.sleep_until("19:01");
    assert_eq!(scenario.job_requests("patch"), 20);
    let lists = scenario.job_requests("list") - before;
    assert!(lists <= 4, "{lists} lists at a stop");
}

/// Each controller acts on Jobs that the other has not changed yet.
#[test]
fn two_controllers_suspend_and_resume_each_job_once() {
    let mut scenario = Sandbox::at("2026-11-19 18:00 UTC");
    scenario.start_controller(Settings::default());
    let names: Vec<String> = (0..30).map(|it| format!("report-{it}")).collect();
    let names: Vec<&str> = names.iter().map(|it| &**it).collect();
    let api = cron_job_with_jobs(&scenario, "report", &names);
    for (until, expected) in [
        ("19:05", (json!(true), json!(api.uid))),
        ("2026-11-20 09:05", (json!(false), json!(null))),
    ] {
        scenario.sleep_until(until);
        for name in &names {
            assert_eq!(api.suspended(name), expected, "{name}");
        }
    }
    let patches = scenario.api.requests().into_iter();
    let done =
        patches.filter(|it| it.resource == "jobs" && it.verb == "patch" && it.code == Some(200));
    assert_eq!(done.count(), 60);
}

#[test]
fn dry_run_reads_no_jobs() {
    let mut scenario = Sandbox::empty_at("2026-11-19 18:00 UTC");
    scenario.start_with(|settings| settings.dry_run = true);
    let api = cron_job_with_jobs(&scenario, "report", &["report-1"]);
    scenario.sleep_until("19:01");
    assert_eq!(api.suspended("report-1").0, false);
    assert_eq!(scenario.job_requests("list"), 0);
}

#[test]
fn only_cron_jobs_have_jobs() {
    let scenario = Sandbox::at("2026-11-19 18:00 UTC");
    let web = || deployment("web").hours("09:00-19:00");
    scenario.apply(web().annotation("dayshift/stop-jobs", "true"));
    let error = scenario.error("web").unwrap();
    assert!(
        error
            .starts_with("dayshift/stop-jobs: `true` has no meaning here: only a CronJob has Jobs"),
        "{error}"
    );
    scenario.apply(web().annotation("dayshift/stop-jobs", "maybe"));
    scenario.apply(
        cron_job("report")
            .hours("09:00-19:00")
            .annotation("dayshift/stop-jobs", "maybe"),
    );
    let report = scenario.api.get("CronJob", "dev", "report").unwrap();
    let error = report["metadata"]["annotations"]["dayshift/error"].to_string();
    assert!(
        error.contains("`maybe` is neither `true` nor `false`"),
        "{error}"
    );
}

/// Lost progress cannot be restored, so each CronJob must enable this itself.
#[test]
fn stop_jobs_is_not_inherited_from_the_namespace() {
    let scenario = Sandbox::at("2026-11-19 18:00 UTC");
    for (key, text) in [("hours", "09:00-19:00"), ("stop-jobs", "true")] {
        let key = format!("dayshift/{key}");
        let set = scenario
            .api
            .annotate_of("Namespace", "", "dev", &key, Some(text));
        set.unwrap();
    }
    scenario.apply(cron_job("report"));
    scenario.apply(deployment("web"));
    make(&scenario, job_of(&scenario, "report", "report-1"));
    scenario.sleep_until("19:01");
    let report = scenario.api.get("CronJob", "dev", "report").unwrap();
    assert_eq!(report["spec"]["suspend"], true);
    assert_eq!(job(&scenario, "report-1")["spec"]["suspend"], false);
    assert_eq!((scenario.error("web"), scenario.replicas("web")), (None, 0));
}
