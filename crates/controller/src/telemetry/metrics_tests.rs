//! The controller's metrics as Prometheus reads them.

use std::{collections::HashMap, sync::Arc};

use chrono::{DateTime, TimeDelta};
use dayshift_schedule::Action;
use prometheus_client::{encoding::text, registry::Registry};
use tokio::time::Instant;

use super::{
    by_namespace::{MAX_KNOWN, MAX_SERIES},
    savings::{Savings, SavingsBy},
    workload_metrics::NamespaceCounter,
};
use crate::telemetry::{
    metrics::Telemetry,
    outcome::{EventOutcome, Outcome},
};

fn telemetry() -> Telemetry {
    Telemetry::new("2026-11-20T10:00:00Z".parse().unwrap())
}

#[test]
fn what_the_controller_tells_is_what_prometheus_reads() {
    let told = telemetry();
    told.transition(Action::Start, Outcome::Done);
    told.transition_lateness(Action::Start, TimeDelta::milliseconds(4));
    told.transition(Action::Stop, Outcome::Conflict);
    told.request_lateness(Action::Stop, TimeDelta::milliseconds(30));
    told.invalid_namespaces(1);
    told.next_boundary("2026-11-20T19:00:00Z".parse().ok());
    told.api_request("patch", Some(200));
    told.api_request("patch", Some(200));
    told.api_request("list", None);
    told.watch_restart();
    told.watch_up("StatefulSet", true);
    told.queue_depth("transition", 7);
    told.clock_skew(-0.25);
    told.event(EventOutcome::Sent);

    let text = told.render();
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
        "dayshift_next_boundary_timestamp_seconds{} 1795201200",
        r#"dayshift_api_requests_total{verb="patch",code="200"} 2"#,
        r#"dayshift_api_requests_total{verb="list",code="error"} 1"#,
        "dayshift_watch_restarts_total 1",
        r#"dayshift_watch_up{kind="StatefulSet"} 1"#,
        r#"dayshift_queue_depth{class="transition"} 7"#,
        "dayshift_clock_skew_seconds{} -0.25",
        r#"dayshift_events_total{outcome="sent"} 1"#,
        "process_start_time_seconds 1795168800.0",
    ] {
        assert!(
            text.lines().any(|written| written == line),
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
fn what_is_unknown_is_absent() {
    let told = telemetry();
    told.next_boundary("2026-11-20T19:00:00Z".parse().ok());
    told.next_boundary(None);
    for name in [
        "dayshift_next_boundary_timestamp_seconds{",
        "dayshift_clock_skew_seconds{",
    ] {
        assert!(!told.render().contains(name), "{name}");
    }
}

/// A counter of each namespace, and its value in a scrape.
struct ScrapedCounter {
    counter: NamespaceCounter,
    registry: Registry,
}

impl ScrapedCounter {
    fn new() -> Self {
        let savings = Savings::default();
        savings.begin(SavingsBy::Namespace, DateTime::UNIX_EPOCH, Instant::now());
        let counter = NamespaceCounter::new("told", "Told.", savings);
        let mut registry = Registry::default();
        registry.register_collector(Box::new(counter.clone()));
        Self { counter, registry }
    }

    /// The samples by namespace, of which these have a schedule.
    fn scrape(&self, scheduled: &[Arc<str>]) -> HashMap<String, u64> {
        self.counter.take_in(scheduled.iter());
        let mut text = String::new();
        text::encode(&mut text, &self.registry).unwrap();
        let samples = text.lines().filter_map(|line| {
            let rest = line.strip_prefix("told_total{namespace=\"")?;
            let (namespace, value) = rest.split_once("\"} ")?;
            Some((namespace.to_owned(), value.parse().unwrap()))
        });
        samples.collect()
    }
}

/// What `increase()` of Prometheus makes of two scrapes: a series that is new adds nothing, and one that
/// fell has restarted.
fn increase(before: &HashMap<String, u64>, after: &HashMap<String, u64>) -> u64 {
    let each = after.iter().filter_map(|(series, value)| {
        let before = before.get(series)?;
        assert!(series != "(other)" || value >= before, "(other) fell");
        Some(value.checked_sub(*before).unwrap_or(*value))
    });
    each.sum()
}

#[test]
fn namespaces_that_come_and_go_leave_no_series_and_lose_no_count() {
    let scraped = ScrapedCounter::new();
    let names = |from: usize, to: usize| -> Vec<Arc<str>> {
        (from..to)
            .map(|it| format!("preview-{it}").into())
            .collect()
    };
    let mut before = scraped.scrape(&[]);
    let (mut counted, mut seen) = (0, 0);
    // 300 at a time, of which a half is replaced until the next scrape, and each gets a notice of a stop.
    for first in (0..10_000).step_by(150) {
        let living = names(first, first + 300);
        for namespace in &living {
            scraped.counter.count(namespace, 1);
            counted += 1;
        }
        let after = scraped.scrape(&living);
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
    scraped.counter.count(&"preview-20000".into(), 3);
    assert_eq!(scraped.scrape(&names(20_000, 20_001))["preview-20000"], 3);
    assert!(!scraped.scrape(&[]).contains_key("preview-20000"));
    scraped.counter.count(&"preview-20000".into(), 3);
    assert_eq!(scraped.scrape(&names(20_000, 20_001))["preview-20000"], 0);
    assert_eq!(scraped.scrape(&names(20_000, 20_001))["preview-20000"], 3);
}

#[test]
fn namespaces_that_nobody_scrapes_are_bounded_and_counted() {
    let scraped = ScrapedCounter::new();
    let before = scraped.scrape(&[]);
    for number in 0..10_000 {
        scraped
            .counter
            .count(&format!("preview-{number}").into(), 1);
    }
    assert_eq!(scraped.counter.waiting(), MAX_KNOWN + 1);
    let after = scraped.scrape(&["dev".into()]);
    let last = scraped.scrape(&["dev".into()]);
    assert_eq!(increase(&before, &after) + increase(&after, &last), 10_000);
    assert_eq!(scraped.scrape(&["dev".into()])["dev"], 0);
}
