//! Metrics that answer: what does dayshift save?

use dayshift_controller::Settings;
use serde_json::json;

use super::row::Row;
use crate::sandbox::{Sandbox, cron_job, deployment};

const OFFICE: &str = "Mon-Fri 09:00-19:00";

/// The tolerance as a share of one hour's value: the sandbox lets 50 ms pass after each change.
const SHARE: f64 = 1e-3;

/// Asserts that a metric grows from 0 on Friday 18:00: by `hour` for each hour in `dev`, and by twice as much
/// in `test`.
fn adds_up(row: &mut Row, hour: f64) {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    scenario.api.namespace("test");
    let mut by_namespace = Sandbox::empty_at("2026-11-20 18:00 UTC");
    by_namespace.api.namespace("test");
    scenario.start_controller(Settings::default());
    by_namespace.start_with(|settings| settings.per_namespace_metrics = true);
    for scenario in [&scenario, &by_namespace] {
        for (namespace, count) in [("dev", 3), ("test", 6)] {
            let web = deployment("web").namespace(namespace).replicas(count);
            scenario.apply(web.hours(OFFICE).requests("500m", "256Mi"));
        }
    }
    row.expect(&scenario, "", 0.0);
    scenario.sleep_until("20:00");
    row.expect_about(&scenario, "", 3.0 * hour, hour * SHARE);
    scenario.sleep_until("22:00");
    row.expect_about(&scenario, "", 9.0 * hour, hour * SHARE);
    scenario.sleep_until("2026-11-23 09:00");
    let weekend = 62.0 * 3.0 * hour;
    row.expect_about(&scenario, "", weekend, hour * SHARE);
    scenario.sleep_until("2026-11-23 12:00");
    row.expect_about(&scenario, "", weekend, hour * SHARE);

    by_namespace.sleep_until("20:00");
    for (namespace, expected) in [("dev", hour), ("test", 2.0 * hour)] {
        let series = format!("{{namespace=\"{namespace}\"}}");
        row.expect_about(&by_namespace, &series, expected, hour * SHARE);
    }
    by_team(row, hour);
}

/// Both namespaces belong to one team, and one of them to another team from 20:00 on.
fn by_team(row: &mut Row, hour: f64) {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    let belongs = |scenario: &Sandbox, namespace: &str, team: &str| {
        let labels = json!({"metadata": {"labels": {"example.com/team": team}}});
        let merged = scenario.api.merge("Namespace", "", namespace, &labels);
        merged.unwrap();
    };
    scenario.api.namespace("test");
    for (namespace, count) in [("dev", 3), ("test", 6)] {
        belongs(&scenario, namespace, "web");
        let web = deployment("web").namespace(namespace).replicas(count);
        scenario.apply(web.hours(OFFICE).requests("500m", "256Mi"));
    }
    scenario.start_with(|settings| settings.scope.team_label = Some("example.com/team".to_owned()));
    scenario.sleep_until("20:00");
    row.expect_about(&scenario, "{team=\"web\"}", 3.0 * hour, hour * SHARE);
    belongs(&scenario, "test", "pay");
    scenario.sleep_until("21:00");
    row.expect_about(&scenario, "{team=\"web\"}", 4.0 * hour, hour * SHARE);
    row.expect_about(&scenario, "{team=\"pay\"}", 2.0 * hour, hour * SHARE);
}

pub(super) fn sums_the_time_of_stopped_replicas(row: &mut Row) {
    adds_up(row, 3.0 * 3600.0);
}

pub(super) fn sums_the_core_seconds_of_stopped_replicas(row: &mut Row) {
    adds_up(row, 3.0 * 3600.0 * 0.5);
}

pub(super) fn sums_the_byte_seconds_of_stopped_replicas(row: &mut Row) {
    adds_up(row, 3.0 * 3600.0 * 268_435_456.0);
}

pub(super) fn counts_stopped_replicas(row: &mut Row) {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours(OFFICE));
    let few = deployment("few").replicas(4).hours(OFFICE);
    scenario.apply(few.annotation("dayshift/stop-replicas", "1"));
    row.expect(&scenario, "", 0.0);
    scenario.sleep_until("19:01");
    row.expect(&scenario, "", 6.0);
    scenario.scale("web", 2);
    row.expect(&scenario, "", 4.0);
    scenario.sleep_until("2026-11-23 09:01");
    row.expect(&scenario, "", 0.0);
}

pub(super) fn counts_running_replicas_of_scheduled_workloads(row: &mut Row) {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("plain").replicas(9));
    scenario.apply(cron_job("report").hours(OFFICE));
    row.expect(&scenario, "", 0.0);
    scenario.apply(deployment("web").replicas(3).hours(OFFICE));
    let few = deployment("few").replicas(4).hours(OFFICE);
    scenario.apply(few.annotation("dayshift/stop-replicas", "1"));
    row.expect(&scenario, "", 7.0);
    scenario.sleep_until("19:01");
    row.expect(&scenario, "", 1.0);
    scenario.scale("web", 2);
    row.expect(&scenario, "", 3.0);
    scenario.sleep_until("2026-11-23 09:01");
    row.expect(&scenario, "", 7.0);
    by_namespace(row);
}

/// With `--per-namespace-metrics`, each namespace has a series.
fn by_namespace(row: &mut Row) {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    scenario.start_with(|settings| settings.per_namespace_metrics = true);
    scenario.api.namespace("test");
    scenario.apply(
        deployment("web")
            .namespace("test")
            .replicas(2)
            .hours(OFFICE),
    );
    scenario.apply(deployment("web").replicas(3).hours(OFFICE));
    let [dev, test] = ["dev", "test"].map(|it| format!("{{namespace=\"{it}\"}}"));
    row.expect_all(&scenario, [(&*dev, 3.0), (&test, 2.0)]);
}

pub(super) fn counts_workloads_without_resource_requests(row: &mut Row) {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("plain"));
    let web = || deployment("web").replicas(3).hours(OFFICE);
    scenario.apply(web().requests("500m", "256Mi"));
    row.expect(&scenario, "", 0.0);
    scenario.apply(deployment("api").replicas(3).hours(OFFICE));
    scenario.apply(web());
    row.expect(&scenario, "", 2.0);
    scenario.api.delete("dev", "api").unwrap();
    scenario.settle();
    row.expect(&scenario, "", 1.0);
}

pub(super) fn counts_namespaces_without_their_own_series(row: &mut Row) {
    let mut scenario = Sandbox::empty_at("2026-11-20 20:00 UTC");
    scenario.start_with(|settings| settings.per_namespace_metrics = true);
    let stopped = |number: usize| {
        let namespace = format!("team-{number}");
        scenario.api.namespace(&namespace);
        let web = deployment("web").namespace(&namespace).replicas(1);
        scenario.apply(web.hours(OFFICE));
    };
    (0..200).for_each(stopped);
    scenario.sleep_until("2026-11-23 19:01");
    row.expect(&scenario, "", 0.0);
    (200..203).for_each(stopped);
    scenario.sleep_until("2026-11-24 19:01");
    row.expect(&scenario, "", 3.0);
}
