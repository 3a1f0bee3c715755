//! The overview answers four questions: does dayshift work, what runs now, what happens next, and what
//! does it save.

use chrono::{DateTime, Datelike as _, TimeDelta, Utc};

use super::browser::{Node, Page, Served};
use crate::{
    fake_server::{Cluster, Controller},
    program::wait_until,
    status::state,
};

const OFFICE: (&str, &str) = ("hours", "Mon-Fri 09:00-19:00");

/// A time as a label has it.
fn label(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%dT%H.%M.%SZ").to_string()
}

/// State labels as a controller writes them.
fn acted(cluster: &Cluster, name: &str, phase: &str) {
    let now = Utc::now();
    let (last, next) = (
        label(now - TimeDelta::hours(1)),
        label(now + TimeDelta::hours(1)),
    );
    let labels = [("state", phase), ("last", &*last), ("next", &*next)];
    state(cluster, name, &labels);
}

fn with_class<'p>(page: &'p Page, class: &str) -> Vec<&'p Node> {
    let nodes = page.nodes.iter();
    nodes.filter(|it| it.has_class(class)).collect()
}

#[test]
fn reports_whether_a_controller_acts() {
    let cluster = Cluster::new();
    cluster.deployment("web", 2, &[("hours", "00:00-24:00")]);
    let served = Served::of(&cluster, &[]);
    let page = served.page("/");
    let verdict = with_class(&page, "verdict")[0];
    assert_eq!(verdict.text, "No controller has acted yet");
    let banner = page.all("p").find(|it| it.has_class("banner")).unwrap();
    assert_contains!(banner.text, "any of the 1 workload");
    let _controller = Controller::on(&cluster);
    wait_until("acted", || {
        with_class(&served.page("/"), "verdict")[0].text != "No controller has acted yet"
    });
    let page = served.page("/");
    assert_eq!(with_class(&page, "verdict")[0].text, "dayshift is working");
    assert_contains!(page.text(), "adopted dev/web, ");
    assert!(page.all("p").all(|it| !it.has_class("banner")));
}

#[test]
fn overdue_boundaries_are_reported_as_not_working() {
    let cluster = Cluster::new();
    cluster.deployment("web", 2, &[("hours", "00:00-01:00; 02:00-03:00")]);
    let last = label(Utc::now() - TimeDelta::days(2));
    let next = label(Utc::now() - TimeDelta::days(1));
    let labels = [("state", "stopped"), ("last", &*last), ("next", &*next)];
    state(&cluster, "web", &labels);
    let served = Served::of(&cluster, &[]);
    let page = served.page("/");
    let verdict = with_class(&page, "verdict")[0];
    assert_eq!(verdict.text, "1 workload overdue");
    assert!(verdict.has_class("bad"), "{verdict:?}");
}

/// Thirty workloads with thirty different messages make one box.
#[test]
fn problems_are_grouped_by_their_cause() {
    let cluster = Cluster::new();
    for at in 10..40 {
        let hours = format!("Mon-Fr{at} 09:00-17:00");
        cluster.deployment(&format!("web-{at}"), 1, &[("hours", &hours)]);
    }
    cluster.deployment("zone", 1, &[OFFICE, ("timezone", "Mars/Olympus")]);
    let served = Served::of(&cluster, &[]);
    let page = served.page("/");
    let causes: Vec<_> = with_class(&page, "what")
        .into_iter()
        .map(|it| &*it.text)
        .collect();
    assert!(
        causes.contains(&"dayshift/hours is rejected 30 workloads"),
        "{causes:?}"
    );
    assert!(
        causes.contains(&"dayshift/timezone is rejected 1 workload"),
        "{causes:?}"
    );
    let title = page.all("title").next().unwrap();
    assert_eq!(title.text, "(31) Overview · dayshift");
    let icon = page
        .all("link")
        .find(|it| it.attribute("rel") == Some("icon"));
    assert_eq!(icon.unwrap().attribute("href"), Some("/alert.svg"));
    let icon = served.get("/alert.svg");
    assert_eq!(icon.header("content-type"), Some("image/svg+xml"));
}

#[test]
fn each_segment_leads_to_exactly_its_workloads() {
    let cluster = Cluster::new();
    for (name, phase) in [
        ("up", "running"),
        ("up-too", "running"),
        ("down", "stopped"),
        ("new", "adopted"),
    ] {
        cluster.deployment(
            name,
            i32::from(phase != "stopped"),
            &[("hours", "00:00-24:00")],
        );
        acted(&cluster, name, phase);
    }
    cluster.deployment("broken", 1, &[("hours", "Mon-Fry 09:00-17:00")]);
    acted(&cluster, "broken", "running");
    let served = Served::of(&cluster, &[]);
    let overview = served.page("/");
    let counts = overview
        .all("ul")
        .find(|it| it.has_class("counts"))
        .unwrap();
    let links: Vec<_> = overview
        .within(counts)
        .iter()
        .filter(|it| it.tag == "a")
        .collect();
    assert!(links.len() >= 4, "{links:?}");
    let mut all = 0;
    for link in links {
        let (count, name) = link.text.trim().split_once(' ').unwrap();
        let count: usize = count.parse().unwrap();
        assert!(count > 0, "{name}: zeros are hidden");
        let page = served.page(link.attribute("href").unwrap());
        let rows = page.all("tr").filter(|it| {
            let mut within = page.within(it).iter();
            within.any(|it| it.has_class("badge"))
        });
        assert_eq!(rows.count(), count, "{name}");
        all += count;
    }
    assert_eq!(all, 5);
}

#[test]
fn the_strip_shows_starts_and_stops_of_the_next_day() {
    let cluster = Cluster::new();
    let at = |hours| (Utc::now() + TimeDelta::hours(hours)).format("%Y-%m-%d %H:%M");
    let (start, stop) = (at(3).to_string(), at(5).to_string());
    cluster.deployment("web", 7, &[("start", &start), ("stop", &stop)]);
    cluster.deployment("later", 3, &[("start", &at(30).to_string())]);
    let served = Served::of(&cluster, &[]);
    let page = served.page("/");
    let slots: Vec<_> = with_class(&page, "some")
        .into_iter()
        .map(|it| it.attribute("aria-label").unwrap())
        .collect();
    assert_eq!(slots.len(), 2, "{slots:?}");
    let starts = "1 workload starts (7 replicas: 7 in dev)";
    assert_ends_with!(slots[0], starts);
    let stops = "1 workload stops (7 replicas: 7 in dev)";
    assert_ends_with!(slots[1], stops);
    assert!(with_class(&page, "some")[0].attribute("tabindex") == Some("0"));
}

#[test]
fn the_next_changes_show_the_counts_before_and_after_a_scale() {
    let cluster = Cluster::new();
    let at = (Utc::now() + TimeDelta::hours(3)).format("Mon-Sun %H:%M = 5");
    cluster.deployment("web", 2, &[("scale", &at.to_string())]);
    let page = Served::of(&cluster, &[]).page("/");
    let changes: Vec<_> = with_class(&page, "boundary");
    assert_eq!(changes[0].text, "scale from 2 to 5");
    let scale = with_class(&page, "scale");
    assert_eq!(scale[0].text, "1200", "replica-hours of a day");
    assert_eq!(scale[1].text, "303", "replicas of half an hour");
}

#[test]
fn exact_counts_start_or_stop_the_difference_to_the_previous_count() {
    let cluster = Cluster::new();
    let at = |hours, count| {
        let at = Utc::now() + TimeDelta::hours(hours);
        format!("{} = {count}", at.format("%H:%M"))
    };
    let counts = [at(3, 2), at(5, 3), at(7, 3), at(9, 0)].join("; ");
    cluster.deployment("web", 5, &[("scale", &counts)]);
    let page = Served::of(&cluster, &[]).page("/");
    let slots = with_class(&page, "some").into_iter();
    let moves: Vec<_> = slots
        .map(|it| {
            it.attribute("aria-label")
                .unwrap()
                .split_once(": ")
                .unwrap()
                .1
        })
        .collect();
    assert_eq!(
        moves,
        [
            "1 workload stops (3 replicas: 3 in dev)",
            "1 workload starts (1 replica: 1 in dev)",
            "1 workload stops (3 replicas: 3 in dev)",
        ]
    );
}

/// A verdict must not contradict the number beside it.
#[test]
fn the_verdict_counts_the_workloads_that_need_attention() {
    for (broken, verdict, class, counted) in [
        (0, "dayshift is working", "fine", None),
        (
            1,
            "dayshift is working; 1 workload needs attention",
            "warn",
            Some("1 needs attention"),
        ),
        (
            2,
            "dayshift is working; 2 workloads need attention",
            "warn",
            Some("2 need attention"),
        ),
    ] {
        let cluster = Cluster::new();
        cluster.deployment("web", 1, &[("hours", "00:00-24:00")]);
        acted(&cluster, "web", "running");
        for at in 0..broken {
            let name = format!("broken-{at}");
            cluster.deployment(&name, 1, &[("hours", "Mon-Fry 09:00-17:00")]);
        }
        let served = Served::of(&cluster, &[]);
        let page = served.page("/");
        let shown = with_class(&page, "verdict")[0];
        assert_eq!(shown.text, verdict);
        assert!(shown.has_class(class), "{shown:?}");
        let counts = page.all("ul").find(|it| it.has_class("counts")).unwrap();
        let found = page
            .within(counts)
            .iter()
            .find(|it| it.text.contains("attention"));
        assert_eq!(found.map(|it| it.text.trim()), counted);
        let namespaces = served.page("/namespaces");
        let states = &namespaces.cells("dev")[0];
        let expected = counted.is_none_or(|counted| states.ends_with(counted));
        assert!(expected, "{states}");
    }
}

/// 50 of 168 hours are used.
#[test]
fn savings_without_an_account_are_labeled_as_an_estimate() {
    let cluster = Cluster::new();
    cluster.deployment("web", 4, &[OFFICE]);
    let served = Served::of(&cluster, &[]);
    let page = served.page("/");
    let large = with_class(&page, "large")[0];
    assert_starts_with!(large.text, "70 % ");
    assert_contains!(large.text, "estimate for this week");
    let names: Vec<_> = with_class(&page, "name");
    let today = Utc::now().date_naive();
    let monday = today - TimeDelta::days(today.weekday().num_days_from_monday().into());
    assert_eq!(names[0].text, monday.format("Mon %-d").to_string());
    let days: Vec<_> = with_class(&page, "day")
        .into_iter()
        .filter_map(|it| it.attribute("aria-label"))
        .collect();
    assert_eq!(days.len(), 7, "{days:?}");
    assert_contains!(days[0], ": 40 used, 56 replica-hours saved");
    assert_contains!(days[6], ": 0 used, 96 replica-hours saved");
    let top = with_class(&page, "top")[0];
    let headings = page
        .within(top)
        .iter()
        .filter(|it| it.attribute("scope").is_some_and(|it| it != "row"));
    let headings: Vec<_> = headings.map(|it| &*it.text).collect();
    assert_eq!(headings, ["Namespace", "Saved", "Of its replica-hours"]);
    assert_eq!(page.cells("dev")[1..], ["472 replica-hours", "70 %"]);
    let titles: Vec<_> = page.all("h3").map(|it| &*it.text).collect();
    let sunday = monday + TimeDelta::days(6);
    let week = format!(
        "This week by namespace, estimated from the schedules, {} to {}",
        monday.format("%-d %b"),
        sunday.format("%-d %b")
    );
    assert_eq!(
        titles,
        [
            "Each day, in replica-hours: one replica for one hour",
            &*week
        ]
    );
    let key = with_class(&page, "key-line")[0];
    assert_eq!(key.text.trim(), "saved, estimated  used, estimated");
}

#[test]
fn bars_are_as_high_as_their_counts() {
    let cluster = Cluster::new();
    for (name, count) in [("five", 5), ("ten", 10)] {
        cluster.deployment(name, count, &[OFFICE]);
    }
    let served = Served::of(&cluster, &[]);
    let page = served.page("/timeline?from=2026-11-23");
    let height = |count: &str| {
        let mut bars = page.all("path").filter(|it| it.text.starts_with(count));
        let drawn = bars.next().unwrap().attribute("d").unwrap();
        let (_, height) = drawn.split_once('v').unwrap();
        height.split('h').next().unwrap().parse::<u32>().unwrap()
    };
    let (five, ten) = (height("running, 5 "), height("running, 10 "));
    assert!(five < ten, "{five} {ten}");
    for class in ["weekend", "ticks"] {
        assert!(!with_class(&page, class).is_empty(), "{class}");
    }
}

#[test]
fn the_timeline_is_sorted_by_link() {
    let cluster = Cluster::new();
    let in_hours = |hours: i64| {
        let at = Utc::now() + TimeDelta::hours(hours);
        at.format("%Y-%m-%d %H:%M").to_string()
    };
    cluster.deployment("a-late", 1, &[("stop", &in_hours(9))]);
    cluster.deployment("b-soon", 1, &[("stop", &in_hours(2))]);
    let served = Served::of(&cluster, &[]);
    let names = |path: &str| {
        let page = served.page(path);
        let links = page.all("a").filter(|it| {
            let to = it.attribute("href");
            to.is_some_and(|to| to.starts_with("/object/"))
        });
        links.map(|it| it.text.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names("/timeline"), ["a-late", "b-soon"]);
    let page = served.page("/timeline?q=-");
    let sort = page.all("a").find(|it| it.text == "Next").unwrap();
    let to = sort.attribute("href").unwrap();
    assert!(to.contains("q=-") && to.contains("sort=next"), "{to}");
    assert_eq!(names(to), ["dev/b-soon", "dev/a-late"]);
}

#[test]
fn the_page_of_a_workload_begins_with_a_sentence() {
    let cluster = Cluster::new();
    let now = Utc::now();
    let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let today = now.weekday().num_days_from_monday() as usize;
    let others: Vec<_> = days
        .into_iter()
        .enumerate()
        .filter(|(at, _)| *at != today)
        .map(|(_, day)| day)
        .collect();
    let hours = format!("{} 09:00-19:00", others.join(","));
    cluster.deployment("web", 0, &[("hours", &hours)]);
    let midnight = now.date_naive() + TimeDelta::days(1);
    let next = midnight.format("%Y-%m-%dT09.00.00Z").to_string();
    let last = label(now - TimeDelta::hours(20));
    let labels = [
        ("state", "stopped"),
        ("last", &*last),
        ("next", &*next),
        ("saved-replicas", "3"),
    ];
    state(&cluster, "web", &labels);
    let served = Served::of(&cluster, &[]);
    let page = served.page("/object/dev/deploy/web");
    let lead = page.all("p").find(|it| it.has_class("lead")).unwrap();
    let expected = format!(
        "Stopped because it is {} ({hours}, UTC). Starts ",
        now.format("%A")
    );
    assert_starts_with!(lead.text, expected);
    assert_contains!(lead.text, " 09:00, in ");
    let crumbs = page.all("nav").find(|it| it.has_class("crumbs")).unwrap();
    assert_eq!(crumbs.text, "Namespaces›dev›web");
}

/// A wake that has ended is not described as active, and its end is not announced as the next change.
#[test]
fn the_sentence_names_an_override_that_has_ended() {
    for (phase, key, name) in [
        ("woken", "wake-until", "wake"),
        ("slept", "sleep-until", "sleep"),
        ("paused", "pause", "pause"),
    ] {
        let cluster = Cluster::new();
        let ended = (Utc::now() - TimeDelta::seconds(3)).format("%Y-%m-%dT%H:%M:%SZ");
        let ended = ended.to_string();
        cluster.deployment("web", 1, &[OFFICE, (key, &ended)]);
        let last = label(Utc::now() - TimeDelta::hours(2));
        let next = label(Utc::now() - TimeDelta::seconds(3));
        let labels = [("state", phase), ("last", &*last), ("next", &*next)];
        state(&cluster, "web", &labels);
        let served = Served::of(&cluster, &[]);
        let page = served.page("/object/dev/deploy/web");
        let lead = page.all("p").find(|it| it.has_class("lead")).unwrap();
        let expected = format!(
            "The {name} has ended: the controller has not followed the schedule again yet \
             (Mon-Fri 09:00-19:00, UTC)."
        );
        assert_eq!(lead.text, expected);
    }
}

/// More causes than the page shows are counted, of problems and of notes.
#[test]
fn causes_that_are_not_shown_are_counted() {
    let cluster = Cluster::new();
    // Each of these kinds of error is a cause of its own.
    let keys = [
        "timezone",
        "replicas",
        "stop-replicas",
        "jitter",
        "except",
        "treat-as",
        "extra",
        "after",
        "pause",
        "wake-until",
        "sleep-until",
        "enforce",
        "notice",
        "ready-within",
    ];
    for key in keys {
        cluster.deployment(&format!("bad-{key}"), 1, &[OFFICE, (key, "?")]);
    }
    let served = Served::of(&cluster, &[]);
    let page = served.page("/");
    let causes = with_class(&page, "what").len();
    assert_eq!(causes, 12, "{}", page.text());
    assert_contains!(page.text(), "And 2 more causes.");
}
