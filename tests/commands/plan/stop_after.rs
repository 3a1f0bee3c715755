//! Plans with `stop-after`.

use serde_json::json;

use super::program::{plan_of, web};
use crate::program::Ended;

fn two_days(lines: &[&str], output: &str) -> Ended {
    let from = "2026-11-20T00:00:00Z";
    let args = ["-f", "-", "--from", from, "--days", "2", "-o", output];
    plan_of(&args, &web(lines))
}

#[test]
fn a_plan_stops_after_each_start_unless_the_schedule_stops_first() {
    let daily = "dayshift/hours: 09:00-19:00";
    let times = |ended: Ended| -> Vec<String> {
        let boundaries = ended.boundaries().into_iter();
        boundaries
            .map(|line| line.rsplit_once(' ').unwrap().0.to_owned())
            .collect()
    };
    let boundaries = times(two_days(&[daily, "dayshift/stop-after: 4h"], "json"));
    assert_eq!(
        boundaries,
        [
            "2026-11-20T09:00:00+00:00 start",
            "2026-11-20T13:00:00+00:00 stop",
            "2026-11-20T19:00:00+00:00 stop",
            "2026-11-21T09:00:00+00:00 start",
            "2026-11-21T13:00:00+00:00 stop",
            "2026-11-21T19:00:00+00:00 stop",
        ]
    );
    let longer = two_days(&[daily, "dayshift/stop-after: 12h"], "json").boundaries();
    assert_eq!(longer.len(), 4, "{longer:?}");
    let starts = two_days(
        &["dayshift/start: '09:00'", "dayshift/stop-after: 1d"],
        "json",
    );
    let starts = starts.boundaries();
    assert_eq!(starts.len(), 2, "each start restarts the timer: {starts:?}");
}

#[test]
fn the_json_has_the_timer() {
    let timer = |line: &str| {
        let plan = two_days(&["dayshift/stop: '19:00'", line], "json").json();
        plan["workloads"][0].get("stopAfter").cloned()
    };
    let expected = json!({"seconds": 5_400, "since": "start"});
    assert_eq!(timer("dayshift/stop-after: 1h 30m"), Some(expected));
    let expected = json!({"seconds": 172_800, "since": "creation"});
    assert_eq!(
        timer("dayshift/stop-after: 48h since creation"),
        Some(expected)
    );
    assert_eq!(timer("dayshift/timezone: UTC"), None);
}

#[test]
fn the_chart_shows_the_time_of_the_stop() {
    let text = |lines: &[&str]| {
        let chart = two_days(lines, "chart").out;
        chart.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let preview = text(&["dayshift/stop-after: 48h since creation"]);
    assert_contains!(preview, "It is stopped 48h after its creation.");
    let office = text(&["dayshift/hours: 09:00-19:00", "dayshift/stop-after: 8h"]);
    let expected = "It is stopped 8h after its last start or deploy.";
    assert_contains!(office, expected);
    assert_contains!(office, "16 of 48 hours running");
}
