//! Tests of the rendered metrics.

use std::{collections::HashMap, sync::Arc};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::Action;
use prometheus_client::{encoding::text, registry::Registry};
use tokio::time::Instant;

use super::{
    by_namespace::{ByNamespace, Change, Counted, SeriesBy},
    series::MAX_SERIES,
};
use crate::telemetry::{
    metrics::Telemetry,
    outcome::{EventOutcome, Outcome},
};

fn telemetry() -> Telemetry {
    Telemetry::new("2026-11-20T10:00:00Z".parse().unwrap())
}

#[test]
fn recorded_values_appear_in_the_rendered_metrics() {
    let telemetry = telemetry();
    telemetry.transition(Action::Start, Outcome::Done);
    telemetry.transition_lateness(Action::Start, TimeDelta::milliseconds(4));
    telemetry.transition(Action::Stop, Outcome::Conflict);
    telemetry.request_lateness(Action::Stop, TimeDelta::milliseconds(30));
    telemetry.invalid_namespaces.set(1);
    let boundary: DateTime<Utc> = "2026-11-20T19:00:00Z".parse().unwrap();
    telemetry.next_boundary.set(Some(boundary.timestamp()));
    telemetry.api_request("patch", Some(200));
    telemetry.api_request("patch", Some(200));
    telemetry.api_request("list", None);
    telemetry.watch_restarts.inc();
    telemetry.set_watch_up("StatefulSet", true);
    telemetry.queue_depth("transition", 7);
    telemetry.clock_skew.set(Some(-0.25));
    telemetry.event(EventOutcome::Sent);

    let text = telemetry.render();
    for line in [
        r#"dayshift_transitions_total{action="start",outcome="done"} 1"#,
        r#"dayshift_transitions_total{action="stop",outcome="conflict"} 1"#,
        r#"dayshift_transitions_total{action="stop",outcome="refused"} 0"#,
        r#"dayshift_transition_lateness_seconds_bucket{le="0.0025",action="start"} 0"#,
        r#"dayshift_transition_lateness_seconds_bucket{le="0.005",action="start"} 1"#,
        r#"dayshift_transition_lateness_seconds_count{action="start"} 1"#,
        r#"dayshift_transition_lateness_seconds_count{action="stop"} 0"#,
        r#"dayshift_request_lateness_seconds_count{action="stop"} 1"#,
        "dayshift_invalid_namespaces 1",
        "dayshift_next_boundary_timestamp_seconds 1795201200",
        r#"dayshift_api_requests_total{verb="patch",code="200"} 2"#,
        r#"dayshift_api_requests_total{verb="list",code="error"} 1"#,
        "dayshift_watch_restarts_total 1",
        r#"dayshift_watch_up{kind="StatefulSet"} 1"#,
        r#"dayshift_queue_depth{class="transition"} 7"#,
        "dayshift_clock_skew_seconds -0.25",
        r#"dayshift_events_total{outcome="sent"} 1"#,
        "process_start_time_seconds 1795168800.0",
    ] {
        assert!(
            text.lines().any(|rendered| rendered == line),
            "no {line} in\n{text}"
        );
    }
    let build = concat!(
        r#"dayshift_build_info{version=""#,
        env!("CARGO_PKG_VERSION")
    );
    assert!(text.contains(build), "{text}");
    assert!(text.ends_with("# EOF\n"), "{text}");
}

#[test]
fn metrics_with_unknown_values_have_no_series() {
    let telemetry = telemetry();
    telemetry.next_boundary.set(Some(1));
    telemetry.next_boundary.set(None);
    for name in [
        "dayshift_next_boundary_timestamp_seconds",
        "dayshift_clock_skew_seconds",
    ] {
        assert!(!telemetry.render().contains(name), "{name}");
    }
}

/// The counter of stop notices by namespace, and the registry from which it is scraped.
struct ScrapedCounter {
    counter: ByNamespace,
    registry: Registry,
    /// The namespaces with a workload.
    scheduled: Vec<Arc<str>>,
}

impl ScrapedCounter {
    fn new() -> Self {
        let counter = ByNamespace::default();
        counter.begin(SeriesBy::Namespace, DateTime::UNIX_EPOCH, Instant::now());
        let mut registry = Registry::default();
        registry.register_collector(Box::new(counter.clone()));
        Self {
            counter,
            registry,
            scheduled: Vec::new(),
        }
    }

    fn add(&self, namespace: &str, events: u64) {
        let change = Change::Counted(Counted::StopNotice, events);
        self.counter.change(namespace.into(), change);
    }

    /// Scrapes the samples by namespace, while these have a workload.
    fn scrape(&mut self, scheduled: &[Arc<str>]) -> HashMap<String, u64> {
        self.counter.replace_workloads(&self.scheduled, scheduled);
        self.scheduled = scheduled.to_vec();
        self.counter.begin_scrape();
        let mut text = String::new();
        text::encode(&mut text, &self.registry).unwrap();
        let samples = text.lines().filter_map(|line| {
            let rest = line.strip_prefix("dayshift_stop_notices_total{namespace=\"")?;
            let (namespace, value) = rest.split_once("\"} ")?;
            Some((namespace.to_owned(), value.parse().unwrap()))
        });
        samples.collect()
    }
}

/// As `increase()` of Prometheus between two scrapes: a new series adds nothing, and a series whose value
/// has decreased has restarted.
fn increase(before: &HashMap<String, u64>, after: &HashMap<String, u64>) -> u64 {
    let each = after.iter().filter_map(|(series, value)| {
        let before = before.get(series)?;
        assert!(series != "(other)" || value >= before, "(other) decreased");
        Some(value.checked_sub(*before).unwrap_or(*value))
    });
    each.sum()
}

#[test]
fn series_of_deleted_namespaces_end_and_no_count_is_lost() {
    let mut scraped = ScrapedCounter::new();
    let names = |from: usize, to: usize| -> Vec<Arc<str>> {
        (from..to)
            .map(|number| format!("preview-{number}").into())
            .collect()
    };
    let mut before = scraped.scrape(&[]);
    let (mut counted, mut seen) = (0, 0);
    // 300 namespaces exist at a time, half of them are replaced before the next scrape, and each counts
    // one event.
    for first in (0..10_000).step_by(150) {
        let existing = names(first, first + 300);
        for namespace in &existing {
            scraped.add(namespace, 1);
            counted += 1;
        }
        let after = scraped.scrape(&existing);
        assert!(after.len() <= MAX_SERIES + 1, "{}", after.len());
        seen += increase(&before, &after);
        before = after;
    }
    for _ in 0..2 {
        let after = scraped.scrape(&names(20_000, 20_001));
        seen += increase(&before, &after);
        before = after;
    }
    assert_eq!(seen, counted);
    let shown: Vec<_> = before.keys().map(String::as_str).collect();
    assert_eq!(shown.len(), 2, "{shown:?}");
    assert_eq!(before["preview-20000"], 0);

    // A workload that returns starts a new series.
    scraped.add("preview-20000", 3);
    assert_eq!(scraped.scrape(&names(20_000, 20_001))["preview-20000"], 3);
    assert!(!scraped.scrape(&[]).contains_key("preview-20000"));
    scraped.add("preview-20000", 3);
    assert_eq!(scraped.scrape(&names(20_000, 20_001))["preview-20000"], 0);
    assert_eq!(scraped.scrape(&names(20_000, 20_001))["preview-20000"], 3);
}

#[test]
fn without_scrapes_series_are_bounded_and_no_count_is_lost() {
    let mut scraped = ScrapedCounter::new();
    let before = scraped.scrape(&[]);
    for number in 0..10_000 {
        scraped.add(&format!("preview-{number}"), 1);
    }
    let after = scraped.scrape(&["dev".into()]);
    assert_eq!(after.len(), MAX_SERIES + 1);
    let last = scraped.scrape(&["dev".into()]);
    assert_eq!(increase(&before, &after) + increase(&after, &last), 10_000);
    // The series of the namespaces without a workload have ended.
    let expected = [("(other)".to_owned(), 9_800), ("dev".to_owned(), 0)];
    assert_eq!(scraped.scrape(&["dev".into()]), expected.into());
}
