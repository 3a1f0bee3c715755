//! Metrics that answer: what does it save?

use dayshift_controller::{Scope, Settings};
use serde_json::json;

use super::row::Row;
use crate::sandbox::{Sandbox, cron_job, deployment};

const OFFICE: &str = "Mon-Fri 09:00-19:00";

/// The sandbox lets 50 ms pass after each change: this share of one hour's value.
const SHARE: f64 = 1e-3;

/// A metric from Friday 18:00 on, beginning with 0: each hour of `dev` adds `hour`, and each hour
/// of `test` twice as much.
fn adds_up(row: &mut Row, hour: f64) {
    let mut story = Sandbox::empty_at("2026-11-20 18:00 UTC");
    story.api.namespace("test");
    let mut by_namespace = Sandbox::empty_at("2026-11-20 18:00 UTC");
    by_namespace.api.namespace("test");
    story.start_scaler(Settings::default());
    by_namespace.start_scaler(Settings {
        per_namespace_metrics: true,
        ..Settings::default()
    });
    for story in [&story, &by_namespace] {
        for (namespace, count) in [("dev", 3), ("test", 6)] {
            let web = deployment("web").namespace(namespace).replicas(count);
            story.apply(web.hours(OFFICE).requests("500m", "256Mi"));
        }
    }
    row.expect(&story, "", 0.0);
    story.sleep_until("20:00");
    row.expect_about(&story, "", 3.0 * hour, hour * SHARE);
    story.sleep_until("22:00");
    row.expect_about(&story, "", 9.0 * hour, hour * SHARE);
    story.sleep_until("2026-11-23 09:00");
    let weekend = 62.0 * 3.0 * hour;
    row.expect_about(&story, "", weekend, hour * SHARE);
    story.sleep_until("2026-11-23 12:00");
    row.expect_about(&story, "", weekend, hour * SHARE);

    by_namespace.sleep_until("20:00");
    for (namespace, expected) in [("dev", hour), ("test", 2.0 * hour)] {
        let series = format!("{{namespace=\"{namespace}\"}}");
        row.expect_about(&by_namespace, &series, expected, hour * SHARE);
    }
    by_team(row, hour);
}

/// Both namespaces belong to one team, and one of them to another team from 20:00 on.
fn by_team(row: &mut Row, hour: f64) {
    let mut story = Sandbox::empty_at("2026-11-20 18:00 UTC");
    let belongs = |story: &Sandbox, namespace: &str, team: &str| {
        let labels = json!({"metadata": {"labels": {"example.com/team": team}}});
        let merged = story.api.merge("Namespace", "", namespace, &labels);
        merged.unwrap();
    };
    story.api.namespace("test");
    for (namespace, count) in [("dev", 3), ("test", 6)] {
        belongs(&story, namespace, "web");
        let web = deployment("web").namespace(namespace).replicas(count);
        story.apply(web.hours(OFFICE).requests("500m", "256Mi"));
    }
    story.start_scaler(Settings {
        scope: Scope {
            team_label: Some("example.com/team".to_owned()),
            ..Scope::default()
        },
        ..Settings::default()
    });
    story.sleep_until("20:00");
    row.expect_about(&story, "{team=\"web\"}", 3.0 * hour, hour * SHARE);
    belongs(&story, "test", "pay");
    story.sleep_until("21:00");
    row.expect_about(&story, "{team=\"web\"}", 4.0 * hour, hour * SHARE);
    row.expect_about(&story, "{team=\"pay\"}", 2.0 * hour, hour * SHARE);
}

pub(super) fn the_time_of_replicas_that_are_held_down_adds_up(row: &mut Row) {
    adds_up(row, 3.0 * 3600.0);
}

pub(super) fn the_time_of_their_cores_adds_up(row: &mut Row) {
    adds_up(row, 3.0 * 3600.0 * 0.5);
}

pub(super) fn the_time_of_their_memory_adds_up(row: &mut Row) {
    adds_up(row, 3.0 * 3600.0 * 268_435_456.0);
}

pub(super) fn replicas_that_are_held_down_are_counted(row: &mut Row) {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("web").replicas(3).hours(OFFICE));
    let few = deployment("few").replicas(4).hours(OFFICE);
    story.apply(few.annotation("dayshift/stop-replicas", "1"));
    row.expect(&story, "", 0.0);
    story.sleep_until("19:01");
    row.expect(&story, "", 6.0);
    story.scale("web", 2);
    row.expect(&story, "", 4.0);
    story.sleep_until("2026-11-23 09:01");
    row.expect(&story, "", 0.0);
}

pub(super) fn replicas_of_scheduled_workloads_that_run_are_counted(row: &mut Row) {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("plain").replicas(9));
    story.apply(cron_job("report").hours(OFFICE));
    row.expect(&story, "", 0.0);
    story.apply(deployment("web").replicas(3).hours(OFFICE));
    let few = deployment("few").replicas(4).hours(OFFICE);
    story.apply(few.annotation("dayshift/stop-replicas", "1"));
    row.expect(&story, "", 7.0);
    story.sleep_until("19:01");
    row.expect(&story, "", 1.0);
    story.scale("web", 2);
    row.expect(&story, "", 3.0);
    story.sleep_until("2026-11-23 09:01");
    row.expect(&story, "", 7.0);
    by_namespace(row);
}

/// As for stopped replicas.
fn by_namespace(row: &mut Row) {
    let mut story = Sandbox::empty_at("2026-11-20 18:00 UTC");
    story.start_scaler(Settings {
        per_namespace_metrics: true,
        ..Settings::default()
    });
    story.api.namespace("test");
    story.apply(
        deployment("web")
            .namespace("test")
            .replicas(2)
            .hours(OFFICE),
    );
    story.apply(deployment("web").replicas(3).hours(OFFICE));
    let [dev, test] = ["dev", "test"].map(|it| format!("{{namespace=\"{it}\"}}"));
    row.expect_all(&story, [(&*dev, 3.0), (&test, 2.0)]);
}

pub(super) fn what_requests_nothing_is_counted(row: &mut Row) {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("plain"));
    let web = || deployment("web").replicas(3).hours(OFFICE);
    story.apply(web().requests("500m", "256Mi"));
    row.expect(&story, "", 0.0);
    story.apply(deployment("api").replicas(3).hours(OFFICE));
    story.apply(web());
    row.expect(&story, "", 2.0);
    story.api.delete("dev", "api").unwrap();
    story.settle();
    row.expect(&story, "", 1.0);
}

pub(super) fn namespaces_beyond_the_largest_are_counted(row: &mut Row) {
    let mut story = Sandbox::empty_at("2026-11-20 20:00 UTC");
    story.start_scaler(Settings {
        per_namespace_metrics: true,
        ..Settings::default()
    });
    let stopped = |number: usize| {
        let namespace = format!("team-{number}");
        story.api.namespace(&namespace);
        let web = deployment("web").namespace(&namespace).replicas(1);
        story.apply(web.hours(OFFICE));
    };
    (0..200).for_each(stopped);
    story.sleep_until("2026-11-23 19:01");
    row.expect(&story, "", 0.0);
    (200..203).for_each(stopped);
    story.sleep_until("2026-11-24 19:01");
    row.expect(&story, "", 3.0);
}
