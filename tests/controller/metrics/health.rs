//! Metrics that answer: does dayshift work?

use std::{fs, time::Duration};

use dayshift::cli::{CalendarFile, CalendarWatch, NamedScheduleFile, ScheduleWatch};
use dayshift_controller::{CalendarFeed, ScheduleFeed};
use dayshift_schedule::Calendars;
use dayshift_workload::{NamedSchedules, ParseContext};
use kube_in_memory::{Fault, Status};
use serde_json::json;
use tempfile::TempDir;

use super::row::Row;
use crate::sandbox::{Sandbox, deployment};

const OFFICE: &str = "Mon-Fri 09:00-19:00";

pub(super) fn counts_workloads_more_than_ten_seconds_late(row: &mut Row) {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    for name in ["api", "web", "worker"] {
        scenario.apply(deployment(name).replicas(3).hours(OFFICE));
    }
    scenario.sleep_until("18:59");
    scenario.api.on_request(|line| {
        let is_refused = line.verb == "patch" && line.name != "api";
        is_refused.then(|| Fault::Answer(Status::new(403, "Forbidden", "no")))
    });
    for (time, overdue) in [("19:00:09", 0.0), ("19:00:11", 2.0), ("19:30", 2.0)] {
        scenario.sleep_until(time);
        row.expect(&scenario, "", overdue);
    }
    scenario.api.clear_fault();
    scenario.sleep_until("20:00");
    row.expect(&scenario, "", 0.0);
}

pub(super) fn counts_started_workloads_until_they_are_ready(row: &mut Row) {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    let ready = |name: &str, ready: u32| {
        let generation = scenario.object(name)["metadata"]["generation"].clone();
        let status = json!({"observedGeneration": generation, "readyReplicas": ready});
        let set = scenario.api.set_status("Deployment", "dev", name, status);
        set.unwrap();
        scenario.settle();
    };
    for name in ["api", "web", "worker"] {
        scenario.apply(deployment(name).replicas(3).hours(OFFICE));
        ready(name, 3);
    }
    scenario.sleep_until("2026-11-23 09:00:01");
    for (name, count) in [("api", 3), ("web", 2), ("worker", 0)] {
        ready(name, count);
    }
    for (time, count) in [("09:09:59", 0.0), ("09:10:01", 2.0)] {
        scenario.sleep_until(time);
        row.expect(&scenario, "", count);
    }
    ready("web", 3);
    row.expect(&scenario, "", 1.0);
    // It has been ready since its start; this is a rollout.
    ready("web", 1);
    row.expect(&scenario, "", 1.0);
    scenario.sleep_until("19:01");
    row.expect(&scenario, "", 0.0);
}

pub(super) fn counts_waiting_starts_until_they_are_sent(row: &mut Row) {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("db").replicas(3));
    for name in ["api", "web"] {
        let object = deployment(name).replicas(3).hours(OFFICE);
        scenario.apply(object.annotation("dayshift/after", "deploy/db"));
    }
    for (time, count) in [("08:59", 0.0), ("09:00:01", 2.0), ("09:10:01", 0.0)] {
        scenario.sleep_until(&format!("2026-11-23 {time}"));
        row.expect(&scenario, "", count);
    }
}

pub(super) fn counts_invalid_schedules_until_they_are_corrected(row: &mut Row) {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").hours(OFFICE));
    row.expect(&scenario, "", 0.0);
    scenario.annotate("web", "hours", Some("whenever"));
    scenario.apply(deployment("api").hours("always"));
    row.expect(&scenario, "", 2.0);
    scenario.annotate("web", "hours", Some(OFFICE));
    row.expect(&scenario, "", 1.0);
}

pub(super) fn counts_invalid_namespaces_until_they_are_corrected(row: &mut Row) {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.api.namespace("test");
    let annotate = |namespace: &str, hours: &str| {
        let (api, key) = (&scenario.api, "dayshift/hours");
        let annotated = api.annotate_of("Namespace", "", namespace, key, Some(hours));
        annotated.unwrap();
        scenario.settle();
    };
    row.expect(&scenario, "", 0.0);
    annotate("dev", "whenever");
    annotate("test", "always");
    row.expect(&scenario, "", 2.0);
    annotate("dev", OFFICE);
    row.expect(&scenario, "", 1.0);
}

pub(super) fn counts_stopped_copies_within_their_hours(row: &mut Row) {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours(OFFICE));
    scenario.sleep_until("2026-11-21 12:00");
    let mut copy = scenario.object("web");
    scenario.sleep_until("2026-11-23 10:00");
    row.expect(&scenario, "", 0.0);
    copy["metadata"] = json!({
        "name": "copy", "namespace": "dev",
        "labels": copy["metadata"]["labels"], "annotations": copy["metadata"]["annotations"],
    });
    scenario.api.create(copy).unwrap();
    scenario.settle();
    row.expect(&scenario, "", 1.0);
    scenario.scale("copy", 3);
    row.expect(&scenario, "", 0.0);
}

pub(super) fn watch_of_a_forbidden_kind_is_not_up(row: &mut Row) {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    let all = ["CronJob", "Deployment", "Namespace", "StatefulSet"];
    let up = |kind: &str| format!("{{kind=\"{kind}\"}}");
    for kind in all {
        row.expect(&scenario, &up(kind), 1.0);
    }
    scenario.api.on_request(|line| {
        let is_refused = line.resource == "statefulsets";
        is_refused.then(|| Fault::Answer(Status::new(403, "Forbidden", "no")))
    });
    scenario.api.close_watches();
    scenario.sleep_until("18:01");
    for kind in all {
        row.expect(&scenario, &up(kind), f64::from(kind != "StatefulSet"));
    }
    scenario.api.clear_fault();
    scenario.sleep_until("18:10");
    row.expect(&scenario, &up("StatefulSet"), 1.0);
}

/// A calendar file with this date.
pub(super) fn calendar(date: &str) -> String {
    format!(
        "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:{}\nEND:VEVENT\nEND:VCALENDAR",
        date.replace('-', "")
    )
}

/// A cluster whose controller uses the calendar `de`, and the directory of the file `de.ics`.
pub(super) fn with_calendar(at: &str, file: &str) -> (Sandbox, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("de.ics");
    fs::write(&path, file).unwrap();
    let file = CalendarFile::parse(&format!("de={}", path.display())).unwrap();
    let mut scenario = Sandbox::empty_at(at);
    let (publisher, calendars) = CalendarFeed::open(Calendars::default());
    scenario.start_with(|settings| settings.calendars = calendars);
    let (clock, telemetry) = (scenario.clock.clone(), scenario.telemetry.clone());
    scenario.spawn(async move {
        let watch = CalendarWatch::new(vec![file]);
        watch.run(&clock, &publisher, &telemetry).await;
    });
    scenario.settle();
    (scenario, directory)
}

pub(super) fn reload_of_an_invalid_calendar_file_fails(row: &mut Row) {
    let (scenario, directory) = with_calendar("2026-11-20 18:00 UTC", &calendar("2027-01-01"));
    let de = r#"{calendar="de"}"#;
    row.expect(&scenario, de, 1.0);
    for (time, file, is_good) in [
        ("18:01", "<html>", 0.0),
        ("18:02", &*calendar("2027-05-01"), 1.0),
    ] {
        fs::write(directory.path().join("de.ics"), file).unwrap();
        scenario.sleep_until(time);
        row.expect(&scenario, de, is_good);
    }
    let without = Sandbox::at("2026-11-20 18:00 UTC");
    row.expect(&without, de, None);
}

pub(super) fn reload_of_an_invalid_schedule_file_fails(row: &mut Row) {
    let file = tempfile::NamedTempFile::new().unwrap();
    let good = "office: {hours: 09:00-19:00}";
    fs::write(file.path(), good).unwrap();
    let named = NamedScheduleFile::parse(&file.path().display().to_string()).unwrap();
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    let (publisher, schedules) = ScheduleFeed::open(NamedSchedules::default());
    scenario.start_with(|settings| settings.schedules = schedules);
    let (clock, telemetry) = (scenario.clock.clone(), scenario.telemetry.clone());
    scenario.spawn(async move {
        let watch = ScheduleWatch::new(Some(named), ParseContext::default());
        watch.run(&clock, &publisher, &telemetry).await;
    });
    scenario.settle();
    row.expect(&scenario, "", 1.0);
    for (time, text, is_good) in [("18:01", "- office", 0.0), ("18:02", good, 1.0)] {
        fs::write(file.path(), text).unwrap();
        scenario.sleep_until(time);
        row.expect(&scenario, "", is_good);
    }
    let without = Sandbox::at("2026-11-20 18:00 UTC");
    row.expect(&without, "", None);
}

/// The `Date` header has whole seconds.
pub(super) fn measures_the_skew_to_the_server_clock(row: &mut Row) {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    row.expect_about(&scenario, "", 0.0, 1.0);
    for server_ahead in [20, -25, 90] {
        scenario.server_is_ahead(server_ahead);
        // A response reports it.
        scenario.apply(deployment(&format!("web-{}", server_ahead.abs())).hours(OFFICE));
        let ahead = -f64::from(i32::try_from(server_ahead).unwrap());
        row.expect_about(&scenario, "", ahead, 1.0);
    }
    scenario.step_clock(chrono::TimeDelta::seconds(30));
    row.expect_about(&scenario, "", -60.0, 1.0);

    let mut unasked = Sandbox::empty_at("2026-11-20 18:00 UTC");
    unasked.server_is_ahead(20);
    unasked.start_with(|settings| settings.max_clock_skew = None);
    row.expect(&unasked, "", None);
}

/// The stop of 19:00:00 is sent 3 s late, when the start of 19:00:01 and the stop of 19:00:02 are due too.
pub(super) fn counts_boundaries_replaced_by_a_newer_one(row: &mut Row) {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    let web = deployment("web").replicas(3).start("1 0 19 * * *");
    scenario.apply(web.stop("0,2 0 19 * * *"));
    scenario.sleep_until("18:59");
    let busy = Fault::Answer(Status::too_many_requests(3));
    scenario.api.fail_next(|line| line.verb == "patch", busy);
    scenario.sleep_until("19:00:02");
    row.expect(&scenario, "", 0.0);
    scenario.sleep_until("19:00:10");
    row.expect(&scenario, "", 1.0);
    assert_eq!(
        (scenario.replicas("web"), scenario.patched("web").len()),
        (0, 2)
    );

    // The patch of 19:00:00 is still in flight then: its response is late or never arrives.
    for slow in [Fault::Delay(Duration::from_secs(3)), Fault::Hang] {
        let scenario = Sandbox::at("2026-11-20 18:00 UTC");
        let web = deployment("web").replicas(3).start("1 0 19 * * *");
        scenario.apply(web.stop("0,2 0 19 * * *"));
        scenario.sleep_until("18:59");
        scenario.api.fail_next(|line| line.verb == "patch", slow);
        scenario.sleep_until("19:00:02");
        row.expect(&scenario, "", 0.0);
        scenario.sleep_until("19:05");
        row.expect(&scenario, "", 1.0);
        assert_eq!(scenario.replicas("web"), 0);
    }
    // This boundary is late, but no newer one replaces it.
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours(OFFICE));
    scenario.sleep_until("18:59");
    let slow = Fault::Delay(Duration::from_secs(3));
    scenario.api.fail_next(|line| line.verb == "patch", slow);
    scenario.sleep_until("19:05");
    row.expect(&scenario, "", 0.0);
}
