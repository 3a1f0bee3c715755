//! Changes to Jobs by users and by the CronJob controller while the CronJob is stopped.

use serde_json::{Value, json};

use super::cluster::{Cluster, cron_job_with_jobs, job_of, make};
use crate::sandbox::Sandbox;

#[test]
fn manually_suspended_job_stays_suspended() {
    let scenario = Sandbox::at("2026-11-19 18:00 UTC");
    let api = cron_job_with_jobs(&scenario, "report", &["theirs", "ours"]);
    api.suspend("theirs", true);
    scenario.sleep_until("19:01");
    assert_eq!(api.suspended("theirs"), (json!(true), json!(null)));
    scenario.sleep_until("2026-11-20 09:01");
    assert_eq!(api.suspended("theirs"), (json!(true), json!(null)));
    assert_eq!(api.suspended("ours"), (json!(false), json!(null)));
}

#[test]
fn job_resumed_manually_while_stopped_keeps_running() {
    let mut scenario = Sandbox::at("2026-11-19 18:00 UTC");
    let api = cron_job_with_jobs(&scenario, "report", &["urgent", "other"]);
    scenario.sleep_until("19:01");
    api.suspend("urgent", false);
    // A controller that starts in this state keeps it.
    scenario.kill_controllers();
    scenario.start_controller(Default::default());
    scenario.sleep_until("23:00");
    assert_eq!(api.suspended("urgent").0, false);
    assert_eq!(api.suspended("other").0, true);
    scenario.sleep_until("2026-11-20 09:01");
    assert_eq!(api.suspended("urgent"), (json!(false), json!(null)));
    assert!(
        scenario
            .reported("report")
            .contains(&"JobsResumed: resumed 1 Job: other".to_owned())
    );
    // At the next stop both are suspended.
    scenario.sleep_until("19:01");
    assert_eq!(api.suspended("urgent"), (json!(true), json!(api.uid)));
}

/// The CronJob controller creates a Job for the time of the stop, because it has not observed the stop yet.
#[test]
fn suspends_a_job_created_at_the_time_of_the_stop() {
    let scenario = Sandbox::at("2026-11-19 18:00 UTC");
    let api = cron_job_with_jobs(&scenario, "report", &[]);
    scenario.sleep_until("19:00:03");
    make(&scenario, job_of(&scenario, "report", "late"));
    scenario.sleep_until("19:00:30");
    assert_eq!(api.suspended("late"), (json!(true), json!(api.uid)));
}

/// As `kubectl create job --from=cronjob/report` does.
#[test]
fn job_created_manually_while_stopped_runs() {
    let mut scenario = Sandbox::at("2026-11-19 18:00 UTC");
    let api = cron_job_with_jobs(&scenario, "report", &[]);
    scenario.sleep_until("21:00");
    make(&scenario, job_of(&scenario, "report", "by-hand"));
    scenario.kill_controllers();
    scenario.start_controller(Default::default());
    scenario.sleep_until("23:00");
    assert_eq!(api.suspended("by-hand").0, false);
}

#[test]
fn leaves_finished_and_foreign_jobs_unchanged() {
    let scenario = Sandbox::at("2026-11-19 18:00 UTC");
    let api = cron_job_with_jobs(&scenario, "report", &["done", "failed"]);
    for (name, kind) in [("done", "Complete"), ("failed", "Failed")] {
        let conditions = json!({"conditions": [{"type": kind, "status": "True"}]});
        scenario
            .api
            .set_status("Job", "dev", name, conditions)
            .unwrap();
    }
    // Creates a Job of the CronJob with changed metadata.
    let but = |name: &str, change: &dyn Fn(&mut Value)| {
        let mut job = job_of(&scenario, "report", name);
        change(&mut job["metadata"]);
        make(&scenario, job);
    };
    but("owned", &|meta| {
        meta["ownerReferences"][0]["controller"] = json!(false);
    });
    but("anothers", &|meta| {
        meta["ownerReferences"][0]["uid"] = json!("7");
    });
    scenario.sleep_until("19:01");
    for name in ["done", "failed", "owned", "anothers"] {
        assert_eq!(api.suspended(name), (json!(false), json!(null)), "{name}");
    }
    assert_eq!(scenario.job_requests("patch"), 0);
}

/// Its Jobs ran before the stop, so they are resumed even if the CronJob itself stays suspended.
#[test]
fn resumes_jobs_of_a_manually_suspended_cron_job() {
    let scenario = Sandbox::at("2026-11-19 18:00 UTC");
    let api = cron_job_with_jobs(&scenario, "report", &["report-1"]);
    let suspend = json!({"spec": {"suspend": true}});
    scenario
        .api
        .merge("CronJob", "dev", "report", &suspend)
        .unwrap();
    scenario.sleep_until("19:01");
    assert_eq!(api.suspended("report-1").0, true);
    scenario.sleep_until("2026-11-20 09:01");
    assert_eq!(api.suspended("report-1").0, false);
    let report = scenario.api.get("CronJob", "dev", "report").unwrap();
    assert_eq!(report["spec"]["suspend"], true);
}

#[test]
fn wake_resumes_jobs_and_its_end_suspends_them() {
    let scenario = Sandbox::at("2026-11-19 18:00 UTC");
    let api = cron_job_with_jobs(&scenario, "report", &["report-1"]);
    scenario.sleep_until("20:00");
    let (key, until) = ("dayshift/wake-until", Some("2026-11-19T22:00:00Z"));
    scenario
        .api
        .annotate_of("CronJob", "dev", "report", key, until)
        .unwrap();
    scenario.sleep_until("20:01");
    assert_eq!(api.suspended("report-1"), (json!(false), json!(null)));
    scenario.sleep_until("22:01");
    assert_eq!(api.suspended("report-1"), (json!(true), json!(api.uid)));
}

/// The Jobs are resumed at once. If they stayed suspended, no later Event would explain it.
#[test]
fn resumes_all_jobs_if_the_annotation_is_removed() {
    for keys in [&["stop-jobs"][..], &["stop-jobs", "hours"]] {
        let scenario = Sandbox::at("2026-11-19 18:00 UTC");
        let api = cron_job_with_jobs(&scenario, "report", &["report-1"]);
        scenario.sleep_until("20:00");
        assert_eq!(api.suspended("report-1").0, true);
        for key in keys {
            let key = format!("dayshift/{key}");
            scenario
                .api
                .annotate_of("CronJob", "dev", "report", &key, None)
                .unwrap();
        }
        scenario.sleep_until("20:01");
        assert_eq!(
            api.suspended("report-1"),
            (json!(false), json!(null)),
            "{keys:?}"
        );
        let lists = scenario.job_requests("list");
        scenario.sleep_until("2026-11-20 09:01");
        assert_eq!(scenario.job_requests("list"), lists, "{keys:?}");
    }
}

#[test]
fn pause_while_stopped_leaves_jobs_unchanged() {
    let scenario = Sandbox::at("2026-11-19 18:00 UTC");
    let api = cron_job_with_jobs(&scenario, "report", &["report-1"]);
    scenario.sleep_until("20:00");
    let (key, on) = ("dayshift/pause", Some("true"));
    scenario
        .api
        .annotate_of("CronJob", "dev", "report", key, on)
        .unwrap();
    scenario.sleep_until("2026-11-20 09:01");
    assert_eq!(api.suspended("report-1").0, true);
    scenario
        .api
        .annotate_of("CronJob", "dev", "report", key, None)
        .unwrap();
    scenario.sleep_until("09:02");
    assert_eq!(api.suspended("report-1").0, false);
}
