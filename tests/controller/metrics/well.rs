//! Metrics that answer: is all well?

use std::{fs, time::Duration};

use dayshift::cli::{CalendarFile, CalendarWatch};
use dayshift_controller::{CalendarFeed, Settings};
use dayshift_schedule::Calendars;
use kube_in_memory::{Fault, Status};
use serde_json::json;
use tempfile::TempDir;

use super::row::Row;
use crate::sandbox::{Sandbox, deployment};

const OFFICE: &str = "Mon-Fri 09:00-19:00";

pub(super) fn what_is_more_than_ten_seconds_late_is_overdue(row: &mut Row) {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    for name in ["api", "web", "worker"] {
        story.apply(deployment(name).replicas(3).hours(OFFICE));
    }
    story.sleep_until("18:59");
    story.api.on_request(|line| {
        let is_refused = line.verb == "patch" && line.name != "api";
        is_refused.then(|| Fault::Answer(Status::new(403, "Forbidden", "no")))
    });
    for (time, overdue) in [("19:00:09", 0.0), ("19:00:11", 2.0), ("19:30", 2.0)] {
        story.sleep_until(time);
        row.expect(&story, "", overdue);
    }
    story.api.serve_well();
    story.sleep_until("20:00");
    row.expect(&story, "", 0.0);
}

pub(super) fn what_does_not_become_ready_is_counted_until_it_is(row: &mut Row) {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    let ready = |name: &str, ready: u32| {
        let generation = story.object(name)["metadata"]["generation"].clone();
        let status = json!({"observedGeneration": generation, "readyReplicas": ready});
        let set = story.api.set_status("Deployment", "dev", name, status);
        set.unwrap();
        story.settle();
    };
    for name in ["api", "web", "worker"] {
        story.apply(deployment(name).replicas(3).hours(OFFICE));
        ready(name, 3);
    }
    story.sleep_until("2026-11-23 09:00:01");
    for (name, count) in [("api", 3), ("web", 2), ("worker", 0)] {
        ready(name, count);
    }
    for (time, count) in [("09:09:59", 0.0), ("09:10:01", 2.0)] {
        story.sleep_until(time);
        row.expect(&story, "", count);
    }
    ready("web", 3);
    row.expect(&story, "", 1.0);
    // As in a rollout: it was ready since its start.
    ready("web", 1);
    row.expect(&story, "", 1.0);
    story.sleep_until("19:01");
    row.expect(&story, "", 0.0);
}

pub(super) fn a_start_that_waits_is_counted_until_it_is_sent(row: &mut Row) {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("db").replicas(3));
    for name in ["api", "web"] {
        let object = deployment(name).replicas(3).hours(OFFICE);
        story.apply(object.annotation("dayshift/after", "deploy/db"));
    }
    for (time, count) in [("08:59", 0.0), ("09:00:01", 2.0), ("09:10:01", 0.0)] {
        story.sleep_until(&format!("2026-11-23 {time}"));
        row.expect(&story, "", count);
    }
}

pub(super) fn a_schedule_that_is_refused_is_counted_until_it_is_right(row: &mut Row) {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("web").hours(OFFICE));
    row.expect(&story, "", 0.0);
    story.annotate("web", "hours", Some("whenever"));
    story.apply(deployment("api").hours("always"));
    row.expect(&story, "", 2.0);
    story.annotate("web", "hours", Some(OFFICE));
    row.expect(&story, "", 1.0);
}

pub(super) fn a_namespace_that_is_refused_is_counted_until_it_is_right(row: &mut Row) {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.api.namespace("test");
    let annotate = |namespace: &str, hours: &str| {
        let (api, key) = (&story.api, "dayshift/hours");
        let annotated = api.annotate_of("Namespace", "", namespace, key, Some(hours));
        annotated.unwrap();
        story.settle();
    };
    row.expect(&story, "", 0.0);
    annotate("dev", "whenever");
    annotate("test", "always");
    row.expect(&story, "", 2.0);
    annotate("dev", OFFICE);
    row.expect(&story, "", 1.0);
}

pub(super) fn a_copy_that_stays_down_in_running_hours_is_counted(row: &mut Row) {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("web").replicas(3).hours(OFFICE));
    story.sleep_until("2026-11-21 12:00");
    let mut copy = story.object("web");
    story.sleep_until("2026-11-23 10:00");
    row.expect(&story, "", 0.0);
    copy["metadata"] = json!({
        "name": "copy", "namespace": "dev",
        "labels": copy["metadata"]["labels"], "annotations": copy["metadata"]["annotations"],
    });
    story.api.create(copy).unwrap();
    story.settle();
    row.expect(&story, "", 1.0);
    story.scale("copy", 3);
    row.expect(&story, "", 0.0);
}

pub(super) fn a_kind_that_may_not_be_watched_is_not_up(row: &mut Row) {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    let all = ["CronJob", "Deployment", "Namespace", "StatefulSet"];
    let up = |kind: &str| format!("{{kind=\"{kind}\"}}");
    for kind in all {
        row.expect(&story, &up(kind), 1.0);
    }
    story.api.on_request(|line| {
        let is_refused = line.resource == "statefulsets";
        is_refused.then(|| Fault::Answer(Status::new(403, "Forbidden", "no")))
    });
    story.api.close_watches();
    story.sleep_until("18:01");
    for kind in all {
        row.expect(&story, &up(kind), f64::from(kind != "StatefulSet"));
    }
    story.api.serve_well();
    story.sleep_until("18:10");
    row.expect(&story, &up("StatefulSet"), 1.0);
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
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("de.ics");
    fs::write(&path, file).unwrap();
    let file = CalendarFile::parse(&format!("de={}", path.display())).unwrap();
    let mut story = Sandbox::empty_at(at);
    let (publisher, calendars) = CalendarFeed::open(Calendars::default());
    story.start_scaler(Settings {
        calendars,
        ..Settings::default()
    });
    let (clock, telemetry) = (story.clock.clone(), story.telemetry.clone());
    story.spawn(async move {
        let watch = CalendarWatch::new(vec![file]);
        watch.run(&clock, &publisher, &telemetry).await;
    });
    story.settle();
    (story, folder)
}

pub(super) fn a_calendar_whose_file_breaks_is_not_read(row: &mut Row) {
    let (story, folder) = with_calendar("2026-11-20 18:00 UTC", &calendar("2027-01-01"));
    let de = r#"{calendar="de"}"#;
    row.expect(&story, de, 1.0);
    for (time, file, is_good) in [
        ("18:01", "<html>", 0.0),
        ("18:02", &*calendar("2027-05-01"), 1.0),
    ] {
        fs::write(folder.path().join("de.ics"), file).unwrap();
        story.sleep_until(time);
        row.expect(&story, de, is_good);
    }
    let without = Sandbox::at("2026-11-20 18:00 UTC");
    row.expect(&without, de, None);
}

/// The `Date` header has whole seconds.
pub(super) fn the_clock_is_so_far_ahead_of_the_servers(row: &mut Row) {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    row.expect_about(&story, "", 0.0, 1.0);
    for server_ahead in [20, -25, 90] {
        story.server_is_ahead(server_ahead);
        // A response reports it.
        story.apply(deployment(&format!("web-{}", server_ahead.abs())).hours(OFFICE));
        let ahead = -f64::from(i32::try_from(server_ahead).unwrap());
        row.expect_about(&story, "", ahead, 1.0);
    }
    story.step_clock(chrono::TimeDelta::seconds(30));
    row.expect_about(&story, "", -60.0, 1.0);

    let mut unasked = Sandbox::empty_at("2026-11-20 18:00 UTC");
    unasked.server_is_ahead(20);
    unasked.start_scaler(Settings {
        max_clock_skew: None,
        ..Settings::default()
    });
    row.expect(&unasked, "", None);
}

/// The stop of 19:00:00 can be sent 3 s later, when the start of :01 and the stop of :02 are due
/// too.
pub(super) fn a_boundary_that_is_skipped_for_a_newer_one_is_counted(row: &mut Row) {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    let web = deployment("web").replicas(3).start("1 0 19 * * *");
    story.apply(web.stop("0,2 0 19 * * *"));
    story.sleep_until("18:59");
    let busy = Fault::Answer(Status::too_many_requests(3));
    story.api.fail_next(|line| line.verb == "patch", busy);
    story.sleep_until("19:00:02");
    row.expect(&story, "", 0.0);
    story.sleep_until("19:00:10");
    row.expect(&story, "", 1.0);
    assert_eq!((story.replicas("web"), story.patched("web").len()), (0, 2));

    // The patch of 19:00:00 is in flight meanwhile, and is answered late or never.
    for slow in [Fault::Delay(Duration::from_secs(3)), Fault::Hang] {
        let story = Sandbox::at("2026-11-20 18:00 UTC");
        let web = deployment("web").replicas(3).start("1 0 19 * * *");
        story.apply(web.stop("0,2 0 19 * * *"));
        story.sleep_until("18:59");
        story.api.fail_next(|line| line.verb == "patch", slow);
        story.sleep_until("19:00:02");
        row.expect(&story, "", 0.0);
        story.sleep_until("19:05");
        row.expect(&story, "", 1.0);
        assert_eq!(story.replicas("web"), 0);
    }
    // It is the only one, and late.
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("web").replicas(3).hours(OFFICE));
    story.sleep_until("18:59");
    let slow = Fault::Delay(Duration::from_secs(3));
    story.api.fail_next(|line| line.verb == "patch", slow);
    story.sleep_until("19:05");
    row.expect(&story, "", 0.0);
}
