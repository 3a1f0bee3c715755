//! The values of each metric of a running controller: a scenario for each row of
//! `docs/reference/metrics.md`.

mod cost;
mod done;
mod row;
mod saved;
mod there;
mod well;

use std::collections::BTreeSet;

use row::Row;

const PAGE: &str = include_str!("../../../docs/reference/metrics.md");

/// The scenario of each row: a test, and the name of the metric.
macro_rules! rows {
    ($($metric:ident: $part:ident::$scenario:ident,)*) => {
        const ROWS: &[&str] = &[$(stringify!($metric)),*];

        $(
            #[test]
            fn $scenario() {
                Row::tell(stringify!($metric), $part::$scenario);
            }
        )*
    };
}

rows! {
    dayshift_overdue_workloads: well::what_is_more_than_ten_seconds_late_is_overdue,
    dayshift_invalid_schedules: well::a_schedule_that_is_refused_is_counted_until_it_is_right,
    dayshift_invalid_namespaces: well::a_namespace_that_is_refused_is_counted_until_it_is_right,
    dayshift_workloads_stopped_against_schedule: well::a_copy_that_stays_down_in_running_hours_is_counted,
    dayshift_not_ready_workloads: well::what_does_not_become_ready_is_counted_until_it_is,
    dayshift_waiting_starts: well::a_start_that_waits_is_counted_until_it_is_sent,
    dayshift_watch_up: well::a_kind_that_may_not_be_watched_is_not_up,
    dayshift_calendar_last_reload_successful: well::a_calendar_whose_file_breaks_is_not_read,
    dayshift_clock_skew_seconds: well::the_clock_is_so_far_ahead_of_the_servers,
    dayshift_boundaries_skipped_total: well::a_boundary_that_is_skipped_for_a_newer_one_is_counted,
    dayshift_transitions_total: done::each_transition_is_counted_by_how_it_ended,
    dayshift_transition_lateness_seconds: done::a_transition_is_as_late_as_its_patch_after_the_boundary,
    dayshift_request_lateness_seconds: done::a_wake_is_as_late_as_its_patch_after_the_edit,
    dayshift_start_duration_seconds: done::a_start_lasts_until_it_is_ready,
    dayshift_jobs_total: done::each_job_is_counted_by_how_its_patch_ended,
    dayshift_events_total: done::each_event_is_counted_by_what_became_of_it,
    dayshift_stop_notices_total: done::each_workload_that_is_told_of_its_stop_is_counted,
    dayshift_reverts_total: done::a_count_that_is_set_back_is_counted_by_who_did_it,
    dayshift_reverted_counts_total: done::counts_that_are_set_back_are_counted_by_namespace,
    dayshift_workloads: there::workloads_are_counted_by_state,
    dayshift_excluded_workloads: there::what_exclude_keeps_from_a_schedule_is_counted,
    dayshift_overridden_workloads: there::overrides_are_counted_by_the_user_who_is_written_on_them,
    dayshift_stopped: there::what_is_kept_stopped_is_shown_by_name,
    dayshift_next_boundary_timestamp_seconds: there::the_soonest_boundary_of_all_is_told,
    dayshift_calendar_last_date_timestamp_seconds: there::the_last_date_of_a_calendar_is_told,
    dayshift_build_info: there::the_program_and_its_zones_are_told,
    dayshift_saved_replica_seconds_total: saved::the_time_of_replicas_that_are_held_down_adds_up,
    dayshift_saved_cpu_core_seconds_total: saved::the_time_of_their_cores_adds_up,
    dayshift_saved_memory_byte_seconds_total: saved::the_time_of_their_memory_adds_up,
    dayshift_stopped_replicas: saved::replicas_that_are_held_down_are_counted,
    dayshift_running_replicas: saved::replicas_of_scheduled_workloads_that_run_are_counted,
    dayshift_namespaces_without_series: saved::namespaces_beyond_the_largest_are_counted,
    dayshift_workloads_without_requests: saved::what_requests_nothing_is_counted,
    dayshift_api_requests_total: cost::each_request_is_counted_by_its_answer,
    dayshift_watch_restarts_total: cost::a_watch_that_breaks_off_is_counted,
    dayshift_queue_depth: cost::what_waits_is_counted_by_class,
    process_cpu_seconds_total: cost::the_cpu_time_is_that_of_the_process,
    process_resident_memory_bytes: cost::the_memory_is_that_of_the_process,
    process_start_time_seconds: cost::the_start_is_that_of_the_program,
}

#[test]
fn each_metric_of_the_page_has_a_scenario() {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `"));
    let on_the_page: BTreeSet<_> = rows.filter_map(|row| row.split('`').next()).collect();
    let told: BTreeSet<_> = ROWS.iter().copied().collect();
    assert_eq!(told.len(), ROWS.len(), "a metric has two scenarios");
    assert_eq!(told, on_the_page);
}

#[test]
#[should_panic = "always the same"]
fn rejects_a_scenario_with_a_single_expected_value() {
    Row::tell("dayshift_invalid_schedules", |row| {
        let scenario = crate::sandbox::Sandbox::at("2026-11-20 18:00 UTC");
        row.expect(&scenario, "", 0.0);
        row.expect(&scenario, "", 0.0);
    });
}
