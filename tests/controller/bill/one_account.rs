//! Savings are counted once: metrics, pages, `status` and the log show the same numbers. The
//! expected numbers were computed manually.

use std::{sync::Arc, time::Duration};

use dayshift::dashboard::{self, Dashboard};
use dayshift_cluster::Query;
use dayshift_controller::{CalendarFeed, Telemetry};
use dayshift_workload::{DefaultSchedule, Key, Kind, ParseContext, Prefix};
use http::Request;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Bytes;
use serde_json::json;
use tokio::time::sleep;

use crate::{
    bill::by_status::stopped_by_status,
    sandbox::{Sandbox, cron_job, deployment, stateful_set},
};

const OFFICE: &str = "Mon-Fri 09:00-19:00";

/// Every workload that runs on Friday 18:00: workloads with their own schedules, one that inherits
/// exact counts from its Namespace, and one that follows the controller's default schedule.
fn scenario() -> Sandbox {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    let namespace = json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": "team", "annotations": {
            "dayshift/hours": OFFICE, "dayshift/replicas": "2",
        }},
    });
    scenario.api.apply(namespace).unwrap();
    scenario.api.namespace("far");
    start(&mut scenario);
    let own = |name, count| deployment(name).replicas(count).hours(OFFICE);
    scenario.apply(own("own", 3).requests("500m", "1Gi"));
    scenario.apply(own("few", 4).annotation("dayshift/stop-replicas", "1"));
    for (name, count) in [("raised", 3), ("paused", 6), ("woken", 7), ("bad", 2)] {
        scenario.apply(own(name, count));
    }
    let steps = deployment("steps").replicas(5);
    scenario.apply(steps.annotation("dayshift/scale", "08:00 = 5; 19:00 = 1"));
    scenario.apply(cron_job("report").hours(OFFICE));
    scenario.apply(deployment("web").namespace("team").replicas(5));
    scenario.apply(stateful_set("db").namespace("team").replicas(2));
    scenario.apply(deployment("plain").namespace("far").replicas(4));
    let out = deployment("out").namespace("far").replicas(9);
    scenario.apply(out.annotation("dayshift/exclude", "true"));
    scenario.annotate("paused", "pause", Some("true"));
    scenario.annotate("woken", "wake-until", Some("2026-11-20 21:00"));
    scenario
}

fn start(scenario: &mut Sandbox) {
    scenario.start_with(|settings| {
        settings.default_schedule = DefaultSchedule::from_texts([(Key::Hours, OFFICE.to_owned())]);
    });
}

fn query() -> Query {
    Query::all(&Kind::DEFAULT, &[], None)
}

fn settings() -> dashboard::Settings {
    dashboard::Settings {
        query: query(),
        prefix: Prefix::default(),
        context: ParseContext::default(),
        zone: None,
        title: "a scenario".to_owned(),
        controller: None,
    }
}

/// The text of the first page, once it has content.
async fn overview(pages: Arc<Dashboard>) -> String {
    loop {
        let request = Request::get("/").body(Empty::<Bytes>::new()).unwrap();
        let answer = Arc::clone(&pages).answer(request).await;
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        let page = String::from_utf8(body.to_vec()).unwrap();
        if !page.contains("Reading the cluster") {
            let texts = page.split('<').filter_map(|it| it.split_once('>'));
            let texts = texts.flat_map(|(_, text)| text.split_whitespace());
            return texts.collect::<Vec<_>>().join(" ");
        }
        sleep(Duration::from_millis(10)).await;
    }
}

/// The page of the controller, and the page of a dashboard that only reads the cluster.
fn pages(scenario: &Sandbox) -> (String, String) {
    let (telemetry, clock) = (Arc::clone(&scenario.telemetry), scenario.clock.clone());
    let feed = CalendarFeed::default();
    let of_controller = Dashboard::for_controller(telemetry, feed, clock.clone(), settings());
    let of_controller = scenario.block_on(overview(Arc::new(of_controller)));
    let client = scenario.block_on(async { scenario.api.client_as("somebody") });
    let live = Arc::new(Dashboard::new(client, clock, settings()));
    let live = scenario.block_on(async {
        tokio::select! {
            ended = live.follow() => panic!("{ended:?}"),
            page = overview(Arc::clone(&live)) => page,
        }
    });
    (of_controller, live)
}

fn sample(scenario: &Sandbox, name: &str) -> f64 {
    let metrics = scenario.metrics();
    let sample = metrics.lines().find_map(|line| line.strip_prefix(name));
    sample.unwrap().trim().parse().unwrap()
}

/// Asserts that every source reports this number of stopped replicas and these saved replica-hours.
#[track_caller]
fn assert_all_report(scenario: &Sandbox, held: u64, hours: f64) {
    let objects = scenario.snapshot().objects;
    let known: u64 = objects
        .iter()
        .map(|it| it.stopped_capacity().replicas)
        .sum();
    let metric = sample(scenario, "dayshift_stopped_replicas ");
    assert_eq!((known, metric.to_string()), (held, held.to_string()));
    assert_eq!(stopped_by_status(scenario, &query()).replicas, held);
    let seconds = sample(scenario, "dayshift_saved_replica_seconds_total ");
    assert!((seconds / 3600.0 - hours).abs() < 0.02, "{seconds}");
    let (of_controller, live) = pages(scenario);
    for page in [&of_controller, &live] {
        assert!(page.contains(&format!(": {held} replicas")), "{page}");
    }
    for expected in [
        format!("Today {hours} replica-hours"),
        format!("This week {hours} replica-hours"),
        format!("This month {hours} replica-hours"),
        format!("{hours} replica-hours"),
    ] {
        assert!(of_controller.contains(&expected), "{of_controller}");
    }
    assert!(
        of_controller.contains("saved since the controller"),
        "{of_controller}"
    );
    for unknown in ["This month", "saved since the controller"] {
        assert!(!live.contains(unknown), "{live}");
    }
    assert!(live.contains("estimate for this week"), "{live}");
    // Only the table of namespaces is an estimate on the page of a controller.
    assert!(
        of_controller.contains("measured today")
            && !of_controller.contains("estimate for this week"),
        "{of_controller}"
    );
}

#[test]
fn metrics_pages_and_status_report_the_same_savings() {
    let mut scenario = scenario();
    scenario.sleep_until("18:59");
    assert_all_report_nothing(&scenario);
    scenario.sleep_until("19:30");
    scenario.scale("raised", 1);
    scenario.annotate("bad", "hours", Some("Mon-Fry 09:00-19:00"));
    scenario.sleep_until("20:00");
    let held = 3 + 3 + 2 + 2 + 4 + 2 + 2 + 4;
    assert_all_report(&scenario, held, 22.5);

    // A restarted controller does not know the savings of the time before its start.
    scenario.stop_controllers();
    scenario.telemetry = Arc::new(Telemetry::new(scenario.now()));
    scenario.sleep_until("2026-11-22 12:00");
    start(&mut scenario);
    scenario.sleep_until("13:00");
    // The scale steps have raised `exact` again, and the wake has ended.
    assert_all_report(&scenario, held - 4 + 7, 25.0);
}

fn assert_all_report_nothing(scenario: &Sandbox) {
    assert_eq!(stopped_by_status(scenario, &query()).replicas, 0);
    let (of_controller, live) = pages(scenario);
    for page in [&of_controller, &live] {
        assert!(page.contains(": 0 replicas"), "{page}");
    }
    assert!(
        of_controller.contains("This month 0 replica-hours"),
        "{of_controller}"
    );
}

/// Days follow the time zone of the page; earlier savings stay in the sum.
#[test]
fn logs_the_savings_of_the_day_and_of_the_week() {
    let scenario = Sandbox::at("2026-11-26 18:00 Asia/Tokyo");
    let web = deployment("web").replicas(3).hours(OFFICE);
    scenario.apply(web.annotation("dayshift/timezone", "Asia/Tokyo"));
    for (until, today, week, all) in [
        ("2026-11-27 08:00", "24", "39", "39"),
        ("2026-11-28 12:00", "36", "93", "93"),
        ("2026-11-30 12:00", "27", "27", "228"),
        ("2026-12-01 01:00", "3", "45", "246"),
    ] {
        scenario.sleep_until(until);
        let telemetry = Arc::clone(&scenario.telemetry);
        let feed = CalendarFeed::default();
        let pages = Dashboard::for_controller(telemetry, feed, scenario.clock.clone(), settings());
        let page = scenario.block_on(overview(Arc::new(pages)));
        for expected in [
            format!("Today {today} replica-hours"),
            format!("This week {week} replica-hours"),
            format!("{all} replica-hours saved since the controller"),
        ] {
            assert!(page.contains(&expected), "{until}: {expected}: {page}");
        }
    }
}
