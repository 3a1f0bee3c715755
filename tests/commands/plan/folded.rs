//! Schedules with many boundaries are shortened in a chart and complete in JSON.

use super::program::{plan_of, web};

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
fn a_chart_counts_further_boundaries_and_json_lists_them() {
    let chart = planned("chart", "1");
    assert!(chart.lines().any(|it| it.ends_with(" +719")), "{chart}");
    let document: serde_json::Value = serde_json::from_str(&planned("json", "1")).unwrap();
    let boundaries = document["workloads"][0]["boundaries"].as_array().unwrap();
    assert_eq!(boundaries.len(), 1_440);
}
