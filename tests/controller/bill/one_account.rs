//! Savings are counted once: metrics, pages, `status` and the log show the same numbers. The
//! expected numbers were computed manually.

use std::{sync::Arc, time::Duration};

use dayshift::dashboard::{self, Dashboard};
use dayshift_cluster::Query;
use dayshift_controller::{CalendarFeed, Settings, Telemetry};
use dayshift_workload::{DefaultSchedule, Key, Kind, ParseContext, Prefix};
use http::Request;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Bytes;
use serde_json::json;
use tokio::time::sleep;

use crate::{
    bill::by_status::held_down_by_status,
    sandbox::{Sandbox, cron_job, deployment, stateful_set},
};

const OFFICE: &str = "Mon-Fri 09:00-19:00";

/// Every workload that runs on Friday 18:00: workloads with their own schedules, one that inherits
/// exact counts from its Namespace, and one that follows the controller's default schedule.
fn story() -> Sandbox {
    let mut story = Sandbox::empty_at("2026-11-20 18:00 UTC");
    let namespace = json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": "team", "annotations": {
            "dayshift/hours": OFFICE, "dayshift/replicas": "2",
        }},
    });
    story.api.apply(namespace).unwrap();
    story.api.namespace("far");
    start(&mut story);
    let own = |name, count| deployment(name).replicas(count).hours(OFFICE);
    story.apply(own("own", 3).requests("500m", "1Gi"));
    story.apply(own("few", 4).annotation("dayshift/stop-replicas", "1"));
    for (name, count) in [("raised", 3), ("paused", 6), ("woken", 7), ("bad", 2)] {
        story.apply(own(name, count));
    }
    let steps = deployment("steps").replicas(5);
    story.apply(steps.annotation("dayshift/scale", "08:00 = 5; 19:00 = 1"));
    story.apply(cron_job("report").hours(OFFICE));
    story.apply(deployment("web").namespace("team").replicas(5));
    story.apply(stateful_set("db").namespace("team").replicas(2));
    story.apply(deployment("plain").namespace("far").replicas(4));
    let out = deployment("out").namespace("far").replicas(9);
    story.apply(out.annotation("dayshift/exclude", "true"));
    story.annotate("paused", "pause", Some("true"));
    story.annotate("woken", "wake-until", Some("2026-11-20 21:00"));
    story
}

fn start(story: &mut Sandbox) {
    story.start_scaler(Settings {
        default_schedule: DefaultSchedule::from_texts([(Key::Hours, OFFICE.to_owned())]),
        ..Settings::default()
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
        title: "a story".to_owned(),
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
fn pages(story: &Sandbox) -> (String, String) {
    let (telemetry, clock) = (Arc::clone(&story.telemetry), story.clock.clone());
    let feed = CalendarFeed::default();
    let of_controller = Dashboard::for_controller(telemetry, feed, clock.clone(), settings());
    let of_controller = story.block_on(overview(Arc::new(of_controller)));
    let client = story.block_on(async { story.api.client_as("somebody") });
    let live = Arc::new(Dashboard::new(client, clock, settings()));
    let live = story.block_on(async {
        tokio::select! {
            ended = live.follow() => panic!("{ended:?}"),
            page = overview(Arc::clone(&live)) => page,
        }
    });
    (of_controller, live)
}

fn sample(story: &Sandbox, name: &str) -> f64 {
    let metrics = story.metrics();
    let sample = metrics.lines().find_map(|line| line.strip_prefix(name));
    sample.unwrap().trim().parse().unwrap()
}

/// Every source that shows stopped or saved replicas reports this.
#[track_caller]
fn all_say(story: &Sandbox, held: u64, hours: f64) {
    let objects = story.snapshot().objects;
    let known: u64 = objects.iter().map(|it| it.held_down().replicas).sum();
    let metric = sample(story, "dayshift_stopped_replicas ");
    assert_eq!((known, metric.to_string()), (held, held.to_string()));
    assert_eq!(held_down_by_status(story, &query()).replicas, held);
    let seconds = sample(story, "dayshift_saved_replica_seconds_total ");
    assert!((seconds / 3600.0 - hours).abs() < 0.02, "{seconds}");
    let (of_controller, live) = pages(story);
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
    for unknown in ["replica-hour", "This month", "estimate"] {
        assert!(!live.contains(unknown), "{live}");
    }
}

#[test]
fn metrics_pages_and_status_report_the_same_savings() {
    let mut story = story();
    story.sleep_until("18:59");
    all_say_nothing_yet(&story);
    story.sleep_until("19:30");
    story.scale("raised", 1);
    story.annotate("bad", "hours", Some("Mon-Fry 09:00-19:00"));
    story.sleep_until("20:00");
    let held = 3 + 3 + 2 + 2 + 4 + 2 + 2 + 4;
    all_say(&story, held, 22.5);

    // Another controller does not know the savings of the time before it started.
    story.stop_scalers();
    story.telemetry = Arc::new(Telemetry::new(story.now()));
    story.sleep_until("2026-11-22 12:00");
    start(&mut story);
    story.sleep_until("13:00");
    // The steps have raised the count again, and the wake has ended.
    all_say(&story, held - 4 + 7, 25.0);
}

fn all_say_nothing_yet(story: &Sandbox) {
    assert_eq!(held_down_by_status(story, &query()).replicas, 0);
    let (of_controller, live) = pages(story);
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
    let story = Sandbox::at("2026-11-26 18:00 Asia/Tokyo");
    let web = deployment("web").replicas(3).hours(OFFICE);
    story.apply(web.annotation("dayshift/timezone", "Asia/Tokyo"));
    for (until, today, week, all) in [
        ("2026-11-27 08:00", "24", "39", "39"),
        ("2026-11-28 12:00", "36", "93", "93"),
        ("2026-11-30 12:00", "27", "27", "228"),
        ("2026-12-01 01:00", "3", "45", "246"),
    ] {
        story.sleep_until(until);
        let telemetry = Arc::clone(&story.telemetry);
        let feed = CalendarFeed::default();
        let pages = Dashboard::for_controller(telemetry, feed, story.clock.clone(), settings());
        let page = story.block_on(overview(Arc::new(pages)));
        for expected in [
            format!("Today {today} replica-hours"),
            format!("This week {week} replica-hours"),
            format!("{all} replica-hours saved since the controller"),
        ] {
            assert!(page.contains(&expected), "{until}: {expected}: {page}");
        }
    }
}
