//! Failures between a stop and its Jobs: kills, conflicts, permissions, webhooks that hang.

use std::time::Duration;

use chrono::TimeDelta;
use dayshift_controller::Settings;
use kube_in_memory::{Fault, RequestLine, Status};
use serde_json::json;

use super::cluster::{Cluster, cron_job_with_jobs, job_of, make};
use crate::sandbox::{Sandbox, cron_job, deployment};

fn is_of_jobs(line: &RequestLine) -> bool {
    line.resource == "jobs"
}

fn is_patch_of_job(line: &RequestLine) -> bool {
    is_of_jobs(line) && line.verb == "patch"
}

/// The controller is killed between two Jobs, once at the stop and once at the start.
#[test]
fn next_controller_completes_the_jobs_of_a_killed_one() {
    let mut scenario = Sandbox::at("2026-11-19 18:00 UTC");
    let api = cron_job_with_jobs(&scenario, "report", &["report-1", "report-2"]);
    for (kill, expected) in [
        ("2026-11-19 19:00:20", json!(true)),
        ("2026-11-20 09:00:20", json!(false)),
    ] {
        // When the controller is killed, the first Job is done and the second is not.
        scenario.api.on_request(|line| {
            (is_patch_of_job(line) && line.name == "report-2").then_some(Fault::Hang)
        });
        scenario.sleep_until(kill);
        assert_eq!(api.suspended("report-1").0, expected);
        assert_ne!(api.suspended("report-2").0, expected);
        scenario.kill_controllers();
        scenario.api.clear_fault();
        scenario.start_controller(Settings::default());
        scenario.settle();
        assert_eq!(api.suspended("report-2").0, expected, "{kill}");
    }
}

#[test]
fn reads_a_job_again_after_a_concurrent_change() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    let api = cron_job_with_jobs(&scenario, "report", &["theirs", "gone", "ours"]);
    scenario.sleep_until("18:59");
    scenario.api.on_request(|line| {
        is_patch_of_job(line).then_some(Fault::Delay(Duration::from_millis(500)))
    });
    scenario.sleep_until("19:00");
    api.suspend("theirs", true);
    scenario.api.delete_of("Job", "dev", "gone").unwrap();
    scenario.sleep_until("19:01");
    assert_eq!(api.suspended("theirs"), (json!(true), json!(null)));
    assert_eq!(api.suspended("ours"), (json!(true), json!(api.uid)));
    assert_eq!(
        scenario.reported("report"),
        ["JobsSuspended: suspended 1 Job: ours"]
    );
}

/// A hundred such Jobs would be 40 MB, and a controller has 64 MiB.
#[test]
fn reads_large_jobs_in_smaller_pages() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    let api = cron_job_with_jobs(&scenario, "report", &[]);
    for number in 0..30 {
        let mut job = job_of(&scenario, "report", &format!("report-{number}"));
        let container = &mut job["spec"]["template"]["spec"]["containers"][0];
        container["args"] = json!(["x".repeat(400_000)]);
        make(&scenario, job);
    }
    scenario.sleep_until("18:59");
    let before = scenario.job_requests("list");
    scenario.sleep_until("2026-11-20 19:00:10");
    for number in 0..30 {
        let name = format!("report-{number}");
        assert_eq!(
            api.suspended(&name),
            (json!(true), json!(api.uid)),
            "{name}"
        );
    }
    // One page of a hundred Jobs is too large; then three pages of ten.
    assert_eq!(scenario.job_requests("list") - before, 4);
}

/// Only one page of the list is in memory. While the second page is read, the rest of the list has expired; the next
/// pass continues.
#[test]
fn changes_the_jobs_of_a_page_before_it_reads_the_next_one() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    let names: Vec<_> = (0..250)
        .map(|number| format!("report-{number:03}"))
        .collect();
    let names: Vec<&str> = names.iter().map(|name| &**name).collect();
    let api = cron_job_with_jobs(&scenario, "report", &names);
    scenario.sleep_until("18:59");
    let before = scenario.api.requests().len();
    let is_second_page =
        |line: &RequestLine| line.verb == "list" && line.query.contains("continue=");
    scenario.api.fail_next(
        is_second_page,
        Fault::Answer(Status::new(410, "Expired", "too old")),
    );
    scenario.sleep_until("2026-11-20 19:00:10");
    for name in names {
        assert_eq!(api.suspended(name), (json!(true), json!(api.uid)), "{name}");
    }
    let requests = scenario.api.requests().split_off(before);
    let verbs: Vec<_> = requests
        .iter()
        .filter(|line| is_of_jobs(line))
        .map(|line| line.verb)
        .collect();
    let runs: Vec<_> = verbs
        .chunk_by(|one, next| one == next)
        .map(|run| (run[0], run.len()))
        .collect();
    let (first, second, third) = (("patch", 100), ("patch", 100), ("patch", 50));
    // The second pass finds no Job to change on the first page.
    let expected = [("list", 1), first, ("list", 3), second, ("list", 1), third];
    assert_eq!(runs, expected);
    assert_eq!(
        scenario.reported("report"),
        [
            "JobsSuspended: suspended 100 Jobs: report-000, report-001, report-002, report-003 and 96 more",
            "JobsSuspended: suspended 150 Jobs: report-100, report-101, report-102, report-103 and 146 more",
        ]
    );
}

/// A Job that has the label and is not suspended was resumed by a user after a controller suspended it.
#[test]
fn job_resumed_between_list_and_patch_keeps_running() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    let api = cron_job_with_jobs(&scenario, "report", &["report-1"]);
    scenario.sleep_until("18:59");
    scenario.api.on_request(|line| {
        is_patch_of_job(line).then_some(Fault::Delay(Duration::from_millis(500)))
    });
    scenario.sleep_until("19:00");
    // Meanwhile another controller suspended the Job, and a user resumed it.
    let label = json!({"metadata": {"labels": {"dayshift/suspended-by": api.uid}}});
    scenario
        .api
        .merge("Job", "dev", "report-1", &label)
        .unwrap();
    scenario.sleep_until("19:01");
    assert_eq!(api.suspended("report-1"), (json!(false), json!(api.uid)));
}

/// The CronJob itself is stopped, and one Event in the namespace names the missing permission.
#[test]
fn reports_a_missing_jobs_permission_in_one_event() {
    for verb in ["list", "patch"] {
        let scenario = Sandbox::at("2026-11-20 18:00 UTC");
        let why = format!(r#"User "dayshift" cannot {verb} resource "jobs" in API group "batch""#);
        scenario.api.on_request(move |line| {
            let forbidden = || Fault::Answer(Status::forbidden("batch", "jobs", "", &why));
            (is_of_jobs(line) && line.verb == verb).then(forbidden)
        });
        let api = cron_job_with_jobs(&scenario, "report", &["report-1"]);
        cron_job_with_jobs(&scenario, "other", &["other-1"]);
        scenario.apply(deployment("web").replicas(3).hours("09:00-19:00"));
        scenario.sleep_until("19:30");
        let report = scenario.api.get("CronJob", "dev", "report").unwrap();
        assert_eq!(report["spec"]["suspend"], true);
        assert_eq!(scenario.replicas("web"), 0);
        let reported: Vec<_> = ["report", "other"].map(|it| scenario.reported(it)).concat();
        assert_eq!(reported.len(), 1, "{reported:?}");
        assert!(
            reported[0].starts_with("JobsFailed: cannot suspend or resume its Jobs: ")
                && reported[0].contains(&format!("cannot {verb} resource"))
                && reported[0].contains("manifests/kinds/jobs.yaml"),
            "{reported:?}"
        );
        let asked = scenario.job_requests("list");
        assert!(asked < 150, "{asked} lists in {verb}");
        scenario.api.clear_fault();
        scenario.sleep_until("19:35");
        assert_eq!(api.suspended("report-1").0, true);
    }
}

#[test]
fn denial_of_one_job_does_not_delay_others() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    let api = cron_job_with_jobs(&scenario, "report", &["report-1", "report-2"]);
    let others = cron_job_with_jobs(&scenario, "other", &["other-1"]);
    scenario.api.on_admission(|it| {
        let denied =
            || Status::denied_by_policy("batch", "jobs", "report-1", "nights", "not tonight");
        (it.name == "report-1").then(denied)
    });
    scenario.sleep_until("19:30");
    assert_eq!(api.suspended("report-1").0, false);
    assert_eq!(api.suspended("report-2").0, true);
    assert_eq!(others.suspended("other-1").0, true);
    let mut reported = scenario.reported("report");
    reported.sort_unstable();
    assert_eq!(reported.len(), 2, "{reported:?}");
    assert!(
        reported[0].contains("report-1: the API server refuses"),
        "{reported:?}"
    );
    scenario.api.admit_all();
    scenario.sleep_until("19:45");
    assert_eq!(api.suspended("report-1").0, true);
}

/// A webhook for the Jobs of one namespace that never answers.
#[test]
fn hanging_job_patches_delay_no_other_workload() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    let api = cron_job_with_jobs(&scenario, "report", &["report-1"]);
    let names: Vec<String> = (0..50).map(|it| format!("web-{it}")).collect();
    for name in &names {
        scenario.apply(deployment(name).replicas(3).hours("09:00-19:00"));
    }
    scenario
        .api
        .on_request(|line| is_patch_of_job(line).then_some(Fault::Hang));
    scenario.sleep_until("2026-11-21 09:01");
    for name in &names {
        let boundaries = ["2026-11-20 19:00", "2026-11-21 09:00"].map(|it| scenario.utc(it));
        let patches = scenario.patched(name).into_iter().skip(1); // Without the adoption.
        let late = patches
            .zip(boundaries)
            .filter(|(at, due)| *at > *due + TimeDelta::milliseconds(200));
        let late = late.count();
        assert_eq!(late, 0, "{name}");
        assert_eq!(scenario.replicas(name), 3);
    }
    assert_eq!(api.suspended("report-1").0, false);
    let events = scenario.events("web-7");
    assert!(events.iter().any(|it| it == "Started"), "{events:?}");
}

/// The Jobs of four namespaces use all slots for Jobs, with patches that take two seconds each.
#[test]
fn many_jobs_of_other_namespaces_delay_jobs_by_seconds() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    let with_jobs = |namespace: &str, hours: &str, jobs: usize| {
        let object = cron_job("report").namespace(namespace).hours(hours);
        scenario.apply(object.annotation("dayshift/stop-jobs", "true"));
        let object = scenario.api.get("CronJob", namespace, "report").unwrap();
        for number in 0..jobs {
            let mut job = job_of(&scenario, "report", &format!("report-{number}"));
            job["metadata"]["namespace"] = json!(namespace);
            job["metadata"]["ownerReferences"][0]["uid"] = object["metadata"]["uid"].clone();
            make(&scenario, job);
        }
    };
    with_jobs("dev", "09:00-19:01", 1);
    let others = ["a", "b", "c", "d"];
    for namespace in others {
        scenario.api.namespace(namespace);
        with_jobs(namespace, "09:00-19:00", 60);
    }
    scenario
        .api
        .on_request(|line| is_patch_of_job(line).then_some(Fault::Delay(Duration::from_secs(2))));
    let is_suspended = |namespace: &str, number: usize| {
        let job = scenario
            .api
            .get("Job", namespace, &format!("report-{number}"));
        job.unwrap()["spec"]["suspend"] == true
    };
    scenario.sleep_until("19:01:16");
    assert!(is_suspended("dev", 0));
    scenario.sleep_until("19:04");
    for namespace in others {
        let all = (0..60).all(|number| is_suspended(namespace, number));
        assert!(all, "{namespace}: no Job is left out");
    }
}

/// The list of the Jobs of one namespace has 18 pages of 4.5 s each, and starts and stops wait all the time.
#[test]
fn long_list_of_jobs_does_not_delay_the_jobs_of_another_namespace() {
    let scenario = Sandbox::at("2026-11-20 18:58 UTC");
    let api = cron_job_with_jobs(&scenario, "report", &["report-1"]);
    for namespace in ["busy", "evil"] {
        scenario.api.namespace(namespace);
    }
    let object = cron_job("report").namespace("evil").hours("09:00-18:59");
    scenario.apply(object.annotation("dayshift/stop-jobs", "true"));
    for number in 0..1_800 {
        let mut job = job_of(&scenario, "report", &format!("job-{number}"));
        job["metadata"]["namespace"] = json!("evil");
        make(&scenario, job);
    }
    for number in 0..100 {
        let object = deployment(&format!("web-{number}")).namespace("busy");
        let often = "0-58/2 * * * * * = 1; 1-59/2 * * * * * = 2";
        scenario.apply(object.annotation("dayshift/scale", often));
    }
    scenario.sleep_until("18:58:30");
    scenario.api.on_request(|line| {
        let delay = match &*line.namespace {
            "busy" if line.verb == "patch" => 900,
            "evil" if is_of_jobs(line) => 4_500,
            _ => return None,
        };
        Some(Fault::Delay(Duration::from_millis(delay)))
    });
    scenario.sleep_until("2026-11-20 19:00:08");
    assert_eq!(api.suspended("report-1").0, true);
}
