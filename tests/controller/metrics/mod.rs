//! The values of each metric of a running controller. Each metric in `docs/reference/metrics.md` has a
//! scenario, and each scenario is a test.

mod activity;
mod cost;
mod health;
mod row;
mod saved;
mod workloads;

use std::collections::BTreeSet;

use row::Row;

const PAGE: &str = include_str!("../../../docs/reference/metrics.md");

/// The scenario of each metric: the name of the metric, and the function, which becomes a test.
macro_rules! rows {
    ($($metric:ident: $part:ident::$scenario:ident,)*) => {
        const ROWS: &[&str] = &[$(stringify!($metric)),*];

        $(
            #[test]
            fn $scenario() {
                Row::run_scenario(stringify!($metric), $part::$scenario);
            }
        )*
    };
}

rows! {
    dayshift_overdue_workloads: health::counts_workloads_more_than_ten_seconds_late,
    dayshift_invalid_schedules: health::counts_invalid_schedules_until_they_are_corrected,
    dayshift_invalid_namespaces: health::counts_invalid_namespaces_until_they_are_corrected,
    dayshift_workloads_stopped_against_schedule: health::counts_stopped_copies_within_their_hours,
    dayshift_not_ready_workloads: health::counts_started_workloads_until_they_are_ready,
    dayshift_waiting_starts: health::counts_waiting_starts_until_they_are_sent,
    dayshift_watch_up: health::watch_of_a_forbidden_kind_is_not_up,
    dayshift_calendar_last_reload_successful: health::reload_of_an_invalid_calendar_file_fails,
    dayshift_schedules_last_reload_successful: health::reload_of_an_invalid_schedule_file_fails,
    dayshift_clock_skew_seconds: health::measures_the_skew_to_the_server_clock,
    dayshift_boundaries_skipped_total: health::counts_boundaries_replaced_by_a_newer_one,
    dayshift_transitions_total: activity::counts_transitions_by_outcome,
    dayshift_transition_lateness_seconds: activity::transition_lateness_is_the_time_from_boundary_to_patch,
    dayshift_request_lateness_seconds: activity::request_lateness_is_the_time_from_edit_to_patch,
    dayshift_start_duration_seconds: activity::start_duration_ends_at_readiness,
    dayshift_jobs_total: activity::counts_jobs_by_outcome_of_their_patch,
    dayshift_events_total: activity::counts_events_by_outcome,
    dayshift_stop_notices_total: activity::counts_stop_notices_by_workload,
    dayshift_reverts_total: activity::counts_reverts_by_manager,
    dayshift_reverted_counts_total: activity::counts_reverts_by_namespace,
    dayshift_workloads: workloads::counts_workloads_by_state,
    dayshift_excluded_workloads: workloads::counts_workloads_excluded_from_a_schedule,
    dayshift_overridden_workloads: workloads::counts_overrides_by_recorded_user,
    dayshift_stopped: workloads::exports_stopped_workloads_by_name,
    dayshift_next_boundary_timestamp_seconds: workloads::exports_the_next_boundary_of_all_workloads,
    dayshift_calendar_last_date_timestamp_seconds: workloads::exports_the_last_date_of_each_calendar,
    dayshift_build_info: workloads::exports_version_and_time_zone_data,
    dayshift_saved_replica_seconds_total: saved::sums_the_time_of_stopped_replicas,
    dayshift_saved_cpu_core_seconds_total: saved::sums_the_core_seconds_of_stopped_replicas,
    dayshift_saved_memory_byte_seconds_total: saved::sums_the_byte_seconds_of_stopped_replicas,
    dayshift_stopped_replicas: saved::counts_stopped_replicas,
    dayshift_running_replicas: saved::counts_running_replicas_of_scheduled_workloads,
    dayshift_namespaces_without_series: saved::counts_namespaces_without_their_own_series,
    dayshift_workloads_without_requests: saved::counts_workloads_without_resource_requests,
    dayshift_api_requests_total: cost::counts_requests_by_response_code,
    dayshift_watch_restarts_total: cost::counts_interrupted_watches,
    dayshift_queue_depth: cost::counts_queued_requests_by_priority_class,
    process_cpu_seconds_total: cost::cpu_time_equals_the_process_clock,
    process_resident_memory_bytes: cost::resident_memory_equals_that_of_the_process,
    process_start_time_seconds: cost::start_time_equals_that_of_the_process,
}

#[test]
fn every_documented_metric_has_a_scenario() {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `"));
    let on_the_page: BTreeSet<_> = rows.filter_map(|row| row.split('`').next()).collect();
    let reported: BTreeSet<_> = ROWS.iter().copied().collect();
    assert_eq!(reported.len(), ROWS.len(), "a metric has two scenarios");
    assert_eq!(reported, on_the_page);
}

#[test]
#[should_panic = "all expected values are equal"]
fn rejects_a_scenario_with_a_single_expected_value() {
    Row::run_scenario("dayshift_invalid_schedules", |row| {
        let scenario = crate::sandbox::Sandbox::at("2026-11-20 18:00 UTC");
        row.expect(&scenario, "", 0.0);
        row.expect(&scenario, "", 0.0);
    });
}
