//! Schedules with many boundaries are folded in text and complete in JSON.

use super::program::{plan_of, web};
use crate::rows::words;

/// Starts in each even minute and stops in each odd one.
fn restless() -> String {
    web(&[
        "dayshift/start: '*/2 * * * *'",
        "dayshift/stop: '1-59/2 * * * *'",
    ])
}

fn planned(output: &str, days: &str) -> String {
    let args = [
        "-f",
        "-",
        "--from",
        "2026-11-23",
        "--days",
        days,
        "-o",
        output,
    ];
    let ended = plan_of(&args, &restless());
    assert_eq!(ended.status, 0, "{ended:?}");
    ended.out
}

#[test]
fn a_table_folds_repeated_boundaries() {
    assert_eq!(
        planned("table", "2"),
        "\
NAMESPACE   NAME   TIME                                ACTION            REPLICAS
default     web    Mon 2026-11-23 00:00 to 23:58 UTC   start 720 times   <saved>
default     web    Mon 2026-11-23 00:01 to 23:59 UTC   stop 720 times    0
default     web    Tue 2026-11-24 00:00 to 23:58 UTC   start 720 times   <saved>
default     web    Tue 2026-11-24 00:01 to 23:59 UTC   stop 720 times    0
"
    );
}

#[test]
fn a_chart_counts_further_boundaries_and_json_lists_them() {
    let chart = planned("chart", "1");
    assert!(chart.lines().any(|it| it.ends_with(" +719")), "{chart}");
    let document: serde_json::Value = serde_json::from_str(&planned("json", "1")).unwrap();
    let boundaries = document["workloads"][0]["boundaries"].as_array().unwrap();
    assert_eq!(boundaries.len(), 1_440);
}

#[test]
fn an_hourly_schedule_is_not_folded() {
    let hourly = web(&["dayshift/start: '0 * * * *'"]);
    let args = words("-f - --from 2026-11-23 --days 1 -o table");
    let ended = plan_of(&args, &hourly);
    assert_eq!(ended.out.lines().count(), 1 + 24, "{}", ended.out);
}
