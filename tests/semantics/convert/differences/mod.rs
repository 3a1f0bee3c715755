//! What differs, as `docs/guides/migrate.md` lists it: for each row a test that shows what the other tool
//! documents, by an oracle of it, beside what `plan` or `decide` makes of the conversion.

mod counts;
mod downscaler;
mod minute;
mod triggers;

use super::{cron_hpa, keda, kube_green};

/// The rows of the table, in its order, each with its test.
const LISTED: [(&str, fn()); 14] = [
    (
        "whole nights",
        downscaler::a_night_that_was_cut_off_at_midnight_is_whole,
    ),
    (
        "`uptime` and `downtime` of one object",
        downscaler::both_of_one_object_are_what_one_of_the_tools_has,
    ),
    (
        "`uptime` on the object, `downtime` on its Namespace",
        downscaler::the_object_alone_counts_and_not_its_namespace,
    ),
    (
        "manual changes",
        counts::what_a_hand_raises_holds_until_the_next_boundary,
    ),
    ("a new schedule", counts::the_first_look_acts_on_nothing),
    (
        "new objects in a downtime",
        counts::what_is_new_is_left_until_the_next_stop,
    ),
    (
        "never up (`uptime: never`)",
        downscaler::what_never_runs_is_stopped_each_midnight,
    ),
    (
        "a repeated hour",
        downscaler::an_hour_that_clocks_repeat_is_not_lived_twice,
    ),
    (
        "a skipped time",
        kube_green::a_wake_up_that_a_clock_change_skips_happens_all_the_same,
    ),
    (
        "start and stop in the same minute",
        triggers::of_a_start_and_a_stop_in_one_minute_the_start_wins,
    ),
    (
        "jobs on excluded dates",
        cron_hpa::on_an_excluded_date_nothing_is_brought_up_but_zero_is_set,
    ),
    (
        "two jobs in the same minute",
        triggers::two_jobs_in_one_minute_are_not_converted,
    ),
    (
        "several ends in a row, without a start between",
        keda::an_end_without_a_start_before_it_ends_all_the_same,
    ),
    ("scaling down", triggers::an_end_is_not_cooled_down),
];

#[test]
fn each_row_of_the_page_has_its_test() {
    let page = include_str!("../../../../docs/guides/migrate.md");
    let (_, section) = page.split_once("\n## What differs\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| "));
    let rows: Vec<_> = rows
        .filter(|row| !row.starts_with('|'))
        .map(|row| row.split(" | ").next().unwrap())
        .collect();
    let tested: Vec<_> = LISTED.iter().map(|it| it.0).collect();
    assert_eq!(rows, tested);
}
