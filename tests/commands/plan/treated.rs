//! Dates that are treated as another weekday in a plan.

use serde_json::json;

use super::program::{plan_of, web};
use crate::rows::words;

const LINES: [&str; 2] = [
    "dayshift/hours: Mon-Fri 09:00-18:00",
    "dayshift/treat-as: 2026-10-10 = Mon; 2026-10-08 = Sun; 2027-01-01 = Sun",
];

fn week(output: &str) -> crate::program::Ended {
    let args = [
        "-f",
        "-",
        "--from",
        "2026-10-07",
        "--days",
        "5",
        "-o",
        output,
    ];
    plan_of(&args, &web(&LINES))
}

#[test]
fn json_contains_the_treated_dates() {
    let plan = week("json").json();
    let expected = json!([
        {"date": "2026-10-08", "as": "Sun"},
        {"date": "2026-10-10", "as": "Mon"},
    ]);
    assert_eq!(plan["workloads"][0]["treatedAs"], expected);
    let without = plan_of(
        &["-f", "-", "--from", "2026-11-07", "-o", "json"],
        &web(&LINES),
    );
    assert!(without.json()["workloads"][0].get("treatedAs").is_none());
}

#[test]
fn the_table_has_a_row_for_each_date() {
    let table = week("table").out;
    let rows: Vec<_> = table
        .lines()
        .filter(|line| line.contains("counts as"))
        .map(|line| {
            line.split_whitespace()
                .skip(2)
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    assert_eq!(
        rows,
        [
            "Thu 2026-10-08 counts as Sun <none>",
            "Sat 2026-10-10 counts as Mon <none>"
        ]
    );
}

#[test]
fn the_chart_marks_treated_dates() {
    let chart = week("chart").out;
    let marked: Vec<_> = chart.lines().filter(|line| line.contains('=')).collect();
    assert!(marked[0].starts_with("Thu  8="), "{chart}");
    assert!(marked[1].starts_with("Sat 10="), "{chart}");
    assert_eq!(
        marked[2],
        "= counts as another day: Thu 8 Oct as Sun, Sat 10 Oct as Mon"
    );
    assert_eq!(marked.len(), 3, "{chart}");
}

#[test]
fn additional_windows_run_even_on_excluded_dates() {
    let lines = [
        "dayshift/hours: Mon-Fri 09:00-18:00",
        "dayshift/except: 2026-10-09..2026-10-11",
        "dayshift/treat-as: 2026-10-10 = Mon",
        "dayshift/extra: 2026-10-09..2026-10-10 Sat 06:00-11:00; 2026-10-12 18:00-20:00",
    ];
    let args = words("-f - --from 2026-10-09 --days 4 -o table");
    let table = plan_of(&args, &web(&lines)).out;
    let rows: Vec<_> = table
        .lines()
        .filter(|line| line.contains("start ") || line.contains("stop "))
        .map(|line| {
            let words: Vec<_> = line.split_whitespace().skip(2).take(3).collect();
            words.join(" ")
        })
        .collect();
    assert_eq!(
        rows,
        [
            "Sat 2026-10-10 06:00",
            "Sat 2026-10-10 11:00",
            "Mon 2026-10-12 09:00",
            "Mon 2026-10-12 20:00",
        ]
    );
}
