//! The pages that a running controller serves: from its state, without delaying it.

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use dayshift::dashboard::{self, Dashboard};
use dayshift_cluster::Query;
use dayshift_controller::{CalendarFeed, CalendarPublisher, Settings, WorkStatus};
use dayshift_workload::{Kind, ParseContext, Prefix};
use http::Request;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Bytes;
use tokio::time::sleep;

use crate::{
    calendars::calendars,
    sandbox::{Sandbox, deployment, stateful_set},
};

const OFFICE: &str = "Mon-Fri 09:00-19:00";

const PATHS: [&str; 4] = [
    "/",
    "/timeline",
    "/object/dev/deploy/web",
    "/object/dev/sts/db",
];

fn pages(scenario: &Sandbox) -> Arc<Dashboard> {
    pages_with(scenario, CalendarFeed::default())
}

fn pages_with(scenario: &Sandbox, calendars: CalendarFeed) -> Arc<Dashboard> {
    let (telemetry, clock) = (scenario.telemetry.clone(), scenario.clock.clone());
    Arc::new(Dashboard::for_controller(
        telemetry,
        calendars,
        clock,
        settings(),
    ))
}

fn settings() -> dashboard::Settings {
    dashboard::Settings {
        query: Query::all(&[Kind::DEPLOYMENT, Kind::STATEFUL_SET], &[], None),
        prefix: Prefix::default(),
        context: ParseContext::default(),
        zone: None,
        title: "a scenario".to_owned(),
        controller: Some("a controller".to_owned()),
    }
}

async fn get(pages: &Arc<Dashboard>, path: &str) -> (u16, String) {
    let request = Request::get(path).body(Empty::<Bytes>::new()).unwrap();
    let answer = Arc::clone(pages).answer(request).await;
    let status = answer.status().as_u16();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

fn page(scenario: &Sandbox, pages: &Arc<Dashboard>, path: &str) -> String {
    let (status, body) = scenario.block_on(get(pages, path));
    assert_eq!(status, 200, "{path}: {body}");
    body
}

#[test]
fn pages_report_that_the_controller_has_ended() {
    let mut scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours(OFFICE));
    scenario.sleep_until("18:30");
    let pages = pages(&scenario);
    let text = "The controller has ended.";
    assert!(!page(&scenario, &pages, "/").contains(text));
    scenario.stop_controllers();
    // A view is cached for a second.
    scenario.sleep_until("18:31");
    for path in ["/", "/object/dev/deploy/web"] {
        let body = page(&scenario, &pages, path);
        assert!(body.contains(text) && body.contains("web"), "{body}");
    }
}

/// Only the controller knows why a start waits; the object does not contain the reason.
#[test]
fn shows_a_start_that_waits_for_a_slot_as_waiting() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    scenario.start_with(|settings| settings.max_starting = NonZeroUsize::new(1));
    for name in ["api", "web"] {
        scenario.apply(deployment(name).replicas(1).hours(OFFICE));
    }
    scenario.sleep_until("2026-11-23 09:05");
    let pages = pages(&scenario);
    let text = "its start waits until fewer workloads are starting (--max-starting)";
    let of = |name: &str| page(&scenario, &pages, &format!("/object/dev/deploy/{name}"));
    let waiting = ["api", "web"].iter().filter(|name| of(name).contains(text));
    assert_eq!(waiting.count(), 1);
    assert!(!page(&scenario, &pages, "/").contains("overdue"));
}

#[test]
fn shows_an_unsatisfiable_dependency_as_a_problem() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    let web = deployment("web").replicas(3).hours(OFFICE);
    scenario.apply(web.annotation("dayshift/after", "deploy/db; deploy/unknown"));
    scenario.apply(deployment("db").replicas(3).hours("Mon-Fri 12:00-19:00"));
    scenario.sleep_until("19:30");
    let pages = pages(&scenario);
    let text = "its start does not wait for deploy/db, which is stopped by its own schedule at the \
        start of Mon 2026-11-23 09:00 UTC";
    for path in ["/", "/object/dev/deploy/web"] {
        let body = page(&scenario, &pages, path);
        assert!(body.contains(text), "{body}");
        assert!(!body.contains("deploy/unknown, which"), "{body}");
    }
}

#[test]
fn pages_show_the_state_of_the_controller() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours(OFFICE));
    scenario.apply(deployment("bad").hours("Mon-Fry 09:00-19:00"));
    scenario.apply(stateful_set("db").replicas(2).hours(OFFICE));
    scenario.annotate("web", "wake-until", Some("2026-11-20 21:00"));
    scenario.sleep_until("19:30");
    let pages = pages(&scenario);
    let before = scenario.api.requests().len();

    let overview = page(&scenario, &pages, "/");
    for part in [
        "`Fry` is not a day".replace('`', ""),
        "<span class=\"number\">1</span> awake".to_owned(),
        "<span class=\"number\">1</span> stopped".to_owned(),
        "Stopped by schedules and overrides now: 2 replicas".to_owned(),
    ] {
        let plain = overview.replace("<code>", "").replace("</code>", "");
        assert!(plain.contains(&part), "{part}: {overview}");
    }
    // Unknown reverts are not reported as none.
    assert!(!overview.contains("reverted"), "{overview}");
    // `web` is awake until 21:00; `db` starts on Monday, and stops again.
    let namespaces = page(&scenario, &pages, "/namespaces");
    let dev = namespaces.split("/ns/dev").nth(1).unwrap();
    let dev = dev.split("</tr>").next().unwrap();
    for cell in [
        ">21:00 UTC</time>",
        "<td data-heading=\"Stops\">5 replicas of 2 workloads</td>",
        "<td data-heading=\"Blockers\">1 rejected</td>",
    ] {
        assert!(dev.contains(cell), "{cell}: {dev}");
    }
    let web = page(&scenario, &pages, "/object/dev/deploy/web");
    assert!(web.contains("<dd>awake since "), "{web}");
    assert!(
        web.contains("This page does not ask the API server"),
        "{web}"
    );
    assert!(
        web.contains("kubectl events --for deploy/web -n dev"),
        "{web}"
    );
    assert!(web.contains("dayshift status deploy/web -n dev"), "{web}");
    assert!(page(&scenario, &pages, "/timeline").contains("sts/db"));

    let late = "2026-11-20 21:00:30";
    scenario.sleep_until(late);
    let web = page(&scenario, &pages, "/object/dev/deploy/web");
    assert!(web.contains("<dd>stopped since "), "{web}");
    let requests = scenario.api.requests();
    let asked = requests[before..].iter();
    let reads: Vec<_> = asked
        .filter(|it| matches!(it.verb, "get" | "list"))
        .collect();
    assert!(reads.is_empty(), "{reads:?}");
}

/// The next stop in the list of namespaces, and its effect.
fn next_stop(scenario: &Sandbox, pages: &Arc<Dashboard>) -> [String; 2] {
    let list = page(scenario, pages, "/namespaces");
    ["Next stop", "Stops"].map(|heading| {
        let cell = list.split_once(&format!("data-heading=\"{heading}\">"));
        let text = cell.unwrap().1.split_once("</t").unwrap().0;
        text.rsplit('>').next().unwrap().to_owned()
    })
}

/// The pages keep the computed times of workloads that have not changed.
#[test]
fn next_stop_follows_changed_schedules_and_passed_boundaries() {
    let scenario = Sandbox::at("2026-11-20 08:00 UTC");
    for name in ["web", "api"] {
        scenario.apply(deployment(name).replicas(3).stop("daily 19:00"));
    }
    scenario.sleep_until("12:00");
    let pages = pages(&scenario);
    let both = "6 replicas of 2 workloads";
    assert_eq!(next_stop(&scenario, &pages), ["19:00 UTC", both]);
    scenario.annotate("web", "stop", Some("daily 14:00"));
    scenario.sleep_until("12:01");
    assert_eq!(next_stop(&scenario, &pages), ["14:00 UTC", both]);
    scenario.sleep_until("15:00");
    // `web` is stopped, and its next start is unknown.
    let one = "3 replicas of 1 workload";
    assert_eq!(next_stop(&scenario, &pages), ["19:00 UTC", one]);
}

/// The bars of the only workload that begin on a day, such as `running, 3 replicas: Tue 09:00 to Tue 19:00`.
fn bars_of(timeline: &str, day: &str) -> Vec<String> {
    let titles = timeline.split("<title>").skip(1);
    let titles = titles.filter_map(|text| text.split("</title>").next());
    titles
        .filter(|title| title.starts_with("running") && title.contains(&format!(": {day} ")))
        .map(str::to_owned)
        .collect()
}

/// The half hours of the next day in which workloads start, on the overview.
fn next_starts(overview: &str) -> Vec<String> {
    let slots = overview.split("<span class=\"tip\">").skip(1);
    let slots = slots.filter_map(|text| text.split("</span>").next());
    slots
        .filter(|slot| slot.contains(" starts "))
        .map(str::to_owned)
        .collect()
}

const TUESDAY_BAR: &str = "running, 3 replicas: Tue 09:00 to Tue 19:00";
const TUESDAY_START: &str = "Tue 09:00 UTC to 09:30: 1 workload starts (3 replicas: 3 in dev)";

/// A controller on a Monday at noon, and a calendar in which Tuesday is not excluded yet. If it is, neither the
/// workload nor its next boundary changes.
fn before_an_excluded_tuesday() -> (Sandbox, CalendarPublisher, CalendarFeed) {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    let (publisher, feed) = CalendarFeed::open(calendars(&["2030-01-01"]));
    let followed = feed.clone();
    scenario.start_with(|settings| settings.calendars = followed);
    let web = deployment("web").replicas(3).hours(OFFICE);
    scenario.apply(web.annotation("dayshift/except", "calendar:de"));
    scenario.sleep_until("2026-11-23 12:00");
    (scenario, publisher, feed)
}

#[test]
fn pages_of_a_controller_follow_a_changed_calendar() {
    let (scenario, publisher, feed) = before_an_excluded_tuesday();
    let pages = pages_with(&scenario, feed);
    let shown = || ["/", "/timeline"].map(|path| page(&scenario, &pages, path));
    let [overview, timeline] = shown();
    assert_eq!(next_starts(&overview), [TUESDAY_START]);
    assert_eq!(bars_of(&timeline, "Tue"), [TUESDAY_BAR]);
    let next = scenario.label("web", "next");
    scenario.sleep_until("12:01");
    publisher.publish(calendars(&["2026-11-24"]));
    // The controller has not parsed the annotations again when this page is rendered.
    page(&scenario, &pages, "/");
    scenario.sleep_until("12:02");
    let [overview, timeline] = shown();
    assert_eq!(next_starts(&overview), [""; 0]);
    assert_eq!(bars_of(&timeline, "Tue"), [""; 0]);
    assert_eq!(scenario.label("web", "next"), next);
}

#[test]
fn pages_of_a_followed_cluster_follow_a_changed_calendar() {
    let (scenario, publisher, feed) = before_an_excluded_tuesday();
    let pages = scenario.block_on(async {
        let (client, clock) = (scenario.api.client(), scenario.clock.clone());
        Arc::new(Dashboard::new(client, clock, settings()).with_calendars(feed))
    });
    let mut follow = Box::pin(pages.follow());
    let mut shown_at = |time: &str| {
        let at = scenario.utc(&format!("2026-11-23 {time}"));
        let shown = async {
            scenario.clock.sleep_until(at).await;
            [get(&pages, "/").await.1, get(&pages, "/timeline").await.1]
        };
        scenario.block_on(async {
            tokio::select! {
                shown = shown => shown,
                ended = &mut follow => panic!("{ended:?}"),
            }
        })
    };
    let [overview, timeline] = shown_at("12:01");
    assert_eq!(next_starts(&overview), [TUESDAY_START]);
    assert_eq!(bars_of(&timeline, "Tue"), [TUESDAY_BAR]);
    publisher.publish(calendars(&["2026-11-24"]));
    let [overview, timeline] = shown_at("12:02");
    assert_eq!(next_starts(&overview), [""; 0]);
    assert_eq!(bars_of(&timeline, "Tue"), [""; 0]);
}

#[test]
fn page_views_cause_no_requests_and_no_delay() {
    let [with_clients, without_clients] = [true, false].map(|_| {
        let scenario = Sandbox::at("2026-11-20 18:59 UTC");
        for at in 0..50 {
            scenario.apply(deployment(&format!("web-{at}")).replicas(3).stop("19:00"));
        }
        scenario.apply(stateful_set("db").replicas(2).hours(OFFICE));
        scenario.apply(deployment("web").replicas(2).hours(OFFICE));
        scenario
    });
    let pages = pages(&with_clients);
    for scenario in [&with_clients, &without_clients] {
        scenario.sleep_until("2026-11-20 18:59:58");
    }
    for client in 0..8 {
        let pages = Arc::clone(&pages);
        with_clients.spawn(async move {
            loop {
                // Some clients disconnect before the response.
                let path = PATHS[client % PATHS.len()];
                let patience = Duration::from_millis(if client % 3 == 0 { 0 } else { 5_000 });
                let _ = tokio::time::timeout(patience, get(&pages, path)).await;
                sleep(Duration::from_millis(40)).await;
            }
        });
    }
    for scenario in [&with_clients, &without_clients] {
        scenario.sleep_until("2026-11-20 19:00:01");
    }
    for name in ["web", "web-0", "web-49"] {
        assert_eq!(
            with_clients.patched(name),
            without_clients.patched(name),
            "{name}"
        );
    }
    let requests = [&with_clients, &without_clients].map(|it| it.api.requests().len());
    assert_eq!(requests[0], requests[1]);
    assert!(page(&with_clients, &pages, "/").contains("52</span> stopped"));
}

/// For example, a scrape or a page view just before a boundary must not delay the boundary.
#[test]
fn page_just_before_a_boundary_is_served_at_once() {
    let scenario = Sandbox::at("2026-11-20 18:59 UTC");
    scenario.apply(deployment("web").replicas(3).stop("19:00"));
    let before = scenario.utc("2026-11-20 19:00") - chrono::TimeDelta::milliseconds(60);
    scenario.block_on(scenario.clock.sleep_until(before));
    let shown = || {
        let snapshot = scenario.telemetry.snapshot().unwrap();
        (snapshot.objects[0].replicas.get(), snapshot.objects[0].work)
    };
    assert_eq!(shown(), (3, WorkStatus::Idle));
    scenario.block_on(async { sleep(Duration::from_millis(62)).await });
    assert_eq!(shown(), (0, WorkStatus::Idle));
}

#[test]
fn page_names_missing_watches_before_the_first_list() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours(OFFICE));
    let before = pages(&scenario);
    let (status, body) = scenario.block_on(get(&before, "/"));
    assert_eq!(status, 200);
    assert!(body.contains("Reading the cluster"), "{body}");
    assert!(
        body.contains("the workloads have not been listed yet"),
        "{body}"
    );
    scenario.start_controller(Settings::default());
    let known = page(&scenario, &before, "/");
    assert!(known.contains("1</span> not acted on yet"), "{known}");
    scenario.kill_controllers();
    scenario.pass(Duration::from_secs(2));
    let old = page(&scenario, &before, "/");
    assert!(old.contains("This page might be outdated."), "{old}");
    assert!(old.contains("1</span> not acted on yet"), "{old}");
}

#[test]
fn hides_workloads_outside_of_the_scope() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    scenario.start_with(|settings| settings.scope.namespace_selector = Some("env=dev".to_owned()));
    scenario.apply(deployment("web").replicas(3).hours(OFFICE));
    assert!(scenario.snapshot().objects.is_empty());
    let overview = page(&scenario, &pages(&scenario), "/");
    assert!(
        overview.contains("No workload has a schedule here."),
        "{overview}"
    );
}

#[test]
fn pages_offer_no_changes() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours(OFFICE));
    let pages = pages(&scenario);
    for path in PATHS.into_iter().chain(["/confirm", "/act"]) {
        let request = Request::post(path).body(Empty::<Bytes>::new()).unwrap();
        let answer = scenario.block_on(Arc::clone(&pages).answer(request));
        assert!([404, 405].contains(&answer.status().as_u16()), "{path}");
        let (_, body) = scenario.block_on(get(&pages, path));
        assert!(!body.contains("method=\"post\""), "{path}");
    }
}
