//! The controller's metrics as Prometheus reads them.

use chrono::TimeDelta;

use crate::schedule::Action;
use crate::telemetry::metrics::Telemetry;
use crate::telemetry::outcome::{EventOutcome, Outcome};

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
