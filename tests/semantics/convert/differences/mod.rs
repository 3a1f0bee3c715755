//! The intended differences, as `docs/guides/migrate.md` lists them. Each row has a test that
//! compares the other tool's documented behavior, by an oracle, with the result of `plan` or
//! `decide`.

mod counts;
mod downscaler;
mod minute;
mod triggers;

use super::{cron_hpa, keda, kube_green};

/// The rows of the table, in its order, each with its test.
const LISTED: [(&str, fn()); 14] = [
    (
        "whole nights",
        downscaler::keeps_reversed_times_after_the_last_day,
    ),
    (
        "`uptime` and `downtime` of one object",
        downscaler::follows_py_kube_downscaler_for_uptime_with_downtime,
    ),
    (
        "`uptime` on the object, `downtime` on its Namespace",
        downscaler::prefers_the_objects_schedule_over_its_namespace,
    ),
    (
        "manual changes",
        counts::keeps_a_manual_count_until_the_next_boundary,
    ),
    (
        "a new schedule",
        counts::changes_nothing_at_the_first_observation,
    ),
    (
        "new objects in a downtime",
        counts::leaves_a_new_object_until_the_next_stop,
    ),
    (
        "never up (`uptime: never`)",
        downscaler::stops_a_never_running_object_each_midnight,
    ),
    (
        "a repeated hour",
        downscaler::ignores_the_second_hour_of_a_dst_overlap,
    ),
    (
        "a skipped time",
        kube_green::applies_a_wake_up_within_a_dst_gap,
    ),
    (
        "start and stop in the same minute",
        triggers::prefers_the_start_in_the_same_minute,
    ),
    (
        "jobs on excluded dates",
        cron_hpa::scales_only_to_zero_on_an_excluded_date,
    ),
    (
        "two jobs in the same minute",
        triggers::two_jobs_in_one_minute_are_not_converted,
    ),
    (
        "several ends in a row, without a start between",
        keda::applies_an_end_without_a_start,
    ),
    ("scaling down", triggers::stops_without_a_cooldown),
];

#[test]
fn each_row_of_the_page_has_its_test() {
    let page = include_str!("../../../../docs/guides/migrate.md");
    let (_, section) = page.split_once("\n## Differences\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| "));
    let rows: Vec<_> = rows
        .filter(|row| !row.starts_with('|'))
        .map(|row| row.split(" | ").next().unwrap())
        .collect();
    let tested: Vec<_> = LISTED.iter().map(|it| it.0).collect();
    assert_eq!(rows, tested);
}
