//! Trying another schedule for a namespace.

use std::time::Instant;

use chrono::{TimeDelta, Utc};
use kube_in_memory::Writer;
use serde_json::json;

use super::browser::{Page, Served};
use crate::fake_server::Cluster;

const OFFICE: &str = "hours=Mon-Fri+09:00-17:00";

/// The size of a page of 2,000 workloads, in bytes.
const MAX_BYTES: usize = 300_000;

fn cluster() -> Cluster {
    let cluster = Cluster::new();
    cluster.deployment("web", 2, &[("hours", "00:00-24:00")]);
    cluster.deployment("api", 1, &[("hours", "00:00-24:00")]);
    cluster.deployment("batch", 1, &[("hours", "daily 20:00-22:00")]);
    cluster
}

/// The names of the workloads in the section about the effect now.
fn interrupted(page: &Page) -> Vec<String> {
    let mut sections = page.all("section");
    let section = sections.find(|it| it.attribute("aria-labelledby") == Some("interrupted"));
    let within = page.within(section.unwrap()).iter();
    within
        .filter(|it| it.tag == "a")
        .map(|it| it.text.clone())
        .collect()
}

/// Hours on all days of the week but today and its neighbors.
fn other_days() -> String {
    let today = Utc::now().date_naive();
    let days: Vec<_> = (2..6)
        .map(|later| (today + TimeDelta::days(later)).format("%a").to_string())
        .collect();
    format!("{} 09:00-19:00", days.join(","))
}

#[test]
fn compares_both_schedules_side_by_side() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    let address = "/ns/dev/what-if";
    let namespace = served.page("/ns/dev");
    assert!(
        namespace
            .all("a")
            .any(|it| it.attribute("href") == Some(address))
    );
    let empty = served.page(address);
    assert!(empty.all("table").next().is_none(), "{}", empty.text());

    let page = served.page(&format!("{address}?{OFFICE}"));
    // Two workloads run all 168 hours, and one runs 14; then each runs 40.
    assert_eq!(page.cells("Running"), ["350 h", "120 h", "−230 h"]);
    let used = [
        "518 replica-hours",
        "160 replica-hours",
        "−358 replica-hours",
    ];
    assert_eq!(page.cells("Used"), used);
    let fewer = "69 % fewer replica-hours than now, in seven days, with the change below";
    assert_contains!(page.text(), fewer);
    assert_eq!(page.cells("Starts")[1], "15");
    assert_eq!(page.cells("Starts Mon-Fri 09:00-17:00"), ["0", "15", "+15"]);
    let text = page.text();
    for part in [
        "kubectl annotate deploy/api deploy/batch deploy/web -n dev --overwrite dayshift/hours='Mon-Fri 09:00-17:00'",
        "Annotate 3 workloads with a schedule of their own",
    ] {
        assert_contains!(text, part);
    }
    // An annotation of the Namespace would save nothing.
    assert_lacks!(text, "namespace/dev --overwrite");
    let weeks = page.all("svg").filter(|it| it.has_class("week")).count();
    assert_eq!(weeks, 3, "the tried schedule and the two present ones");
    let requests = cluster.api.requests().into_iter();
    assert_eq!(requests.filter(|it| it.verb == "patch").count(), 0);
    // The values are kept if the reader changes the colors.
    let colors = page.all("a").find(|it| it.text == "Dark").unwrap();
    let expected = "/ns/dev/what-if?hours=Mon-Fri+09%3A00-17%3A00&theme=dark";
    assert_eq!(colors.attribute("href"), Some(expected));
}

/// The words of a command, without its single quotes.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (at, part) in command.split('\'').enumerate() {
        let is_quoted = at % 2 == 1;
        for (at, text) in part.split(' ').enumerate() {
            let last = words.last_mut().unwrap();
            match (at, is_quoted) {
                (0, _) => last.push_str(text),
                (_, true) => *last += &format!(" {text}"),
                (_, false) => words.push(text.to_owned()),
            }
        }
    }
    words
}

/// Runs the shown commands as `kubectl` would.
fn run_shown_commands(cluster: &Cluster, page: &Page) -> usize {
    let commands = page
        .all("pre")
        .filter(|it| it.text.starts_with("kubectl annotate "));
    let commands: Vec<_> = commands.map(|it| words(&it.text)).collect();
    for words in &commands {
        let at = words.iter().position(|it| it == "--overwrite").unwrap();
        let (names, annotations) = (&words[2..at], &words[at + 1..]);
        let names = names.iter().take_while(|it| *it != "-n");
        for (kind, name) in names.map(|it| it.split_once('/').unwrap()) {
            let (kind, namespace) = match kind {
                "namespace" => ("Namespace", ""),
                "deploy" => ("Deployment", "dev"),
                kind => panic!("{kind}"),
            };
            for annotation in annotations {
                let (key, text) = match annotation.split_once('=') {
                    Some((key, text)) => (key, Some(text)),
                    None => (annotation.strip_suffix('-').unwrap(), None),
                };
                cluster
                    .api
                    .annotate_of(kind, namespace, name, key, text)
                    .unwrap();
            }
        }
    }
    commands.len()
}

/// The present figures after the shown commands are the tried ones before them.
#[test]
fn the_shown_change_brings_the_shown_savings() {
    let always = ("hours", "00:00-24:00");
    let times = [("start", "Mon-Fri 06:00"), ("stop", "daily 22:00")];
    let tokyo = ("timezone", "Asia/Tokyo");
    let soon = (Utc::now() + TimeDelta::days(3)).format("%Y-%m-%d");
    let extra = format!("{soon} 22:00-24:00");
    let tried_extra = format!("extra={soon}+22:30-23:00");
    // The annotations of the Namespace, those of two workloads, the tried values, and the number of commands.
    for (namespace, web, api, query, commands) in [
        (&[][..], &[always][..], &times[..], OFFICE, 1),
        (&[always], &[], &[], OFFICE, 1),
        (&[always], &[], &[always, tokyo], OFFICE, 2),
        (&times, &[], &[("scale", "08:00 = 1; 20:00 = 0")], OFFICE, 2),
        (&times, &[tokyo], &[], OFFICE, 1),
        (
            &times,
            &[tokyo],
            &[],
            "hours=Mon-Fri+09:00-17:00&timezone=UTC",
            2,
        ),
        (&times, &[], &[always], "timezone=Asia/Tokyo", 1),
        (&[], &[always], &times, "start=Mon-Fri+09:00&stop=19:00", 1),
        (&times, &[("extra", &*extra)], &[], &*tried_extra, 2),
    ] {
        let case = format!("{namespace:?} {web:?} {api:?} {query}");
        let cluster = Cluster::new();
        for (key, text) in namespace {
            let key = format!("dayshift/{key}");
            cluster
                .api
                .annotate_of("Namespace", "", "dev", &key, Some(text))
                .unwrap();
        }
        cluster.deployment("web", 2, web);
        cluster.deployment("api", 5, api);
        let address = format!("/ns/dev/what-if?{query}");
        let page = Served::of(&cluster, &[]).page(&address);
        let tried: Vec<_> = ["Running", "Used", "Starts"]
            .map(|it| page.cells(it)[1].clone())
            .into();
        assert_eq!(
            run_shown_commands(&cluster, &page),
            commands,
            "{case}: {}",
            page.text()
        );
        let page = Served::of(&cluster, &[]).page(&address);
        let now: Vec<_> = ["Running", "Used", "Starts"]
            .map(|it| page.cells(it)[0].clone())
            .into();
        assert_eq!(now, tried, "{case}");
    }
}

/// The week of an override is not the week of the other workloads with the same schedule.
#[test]
fn draws_the_week_of_a_workload_without_an_override() {
    let cluster = Cluster::new();
    let hours = ("hours", "00:00-24:00");
    cluster.deployment("api", 1, &[hours, ("pause", "true")]);
    cluster.deployment("web", 1, &[hours]);
    let served = Served::of(&cluster, &[]);
    let page = served.page("/ns/dev/what-if?hours=Mon-Fri+09:00-17:00");
    let weeks = page.all("svg").filter_map(|it| it.attribute("aria-label"));
    let weeks: Vec<_> = weeks.collect();
    assert_eq!(weeks.len(), 2, "{weeks:?}");
    assert!(
        weeks.iter().all(|week| !week.contains("paused")),
        "{weeks:?}"
    );
}

/// A workload without times runs until its timer ends, so equal annotations do not mean equal weeks.
#[test]
fn counts_the_timer_of_each_workload() {
    let cluster = Cluster::new();
    for (name, hours) in [("young", 1), ("old", 40)] {
        cluster.deployment(name, 1, &[("stop-after", "48h")]);
        let started = Utc::now() - TimeDelta::hours(hours);
        let started = started.format("%Y-%m-%dT%H.%M.%SZ").to_string();
        let label = json!({"metadata": {"labels": {
            "dayshift/state": "running", "dayshift/started": started,
        }}});
        let helper = Writer::new("kubectl");
        cluster
            .api
            .merge_by(helper, "Deployment", "dev", name, &label)
            .unwrap();
    }
    let served = Served::of(&cluster, &[]);
    let page = served.page("/ns/dev/what-if?stop-after=50h");
    let running = page.cells("Running");
    let hours: Vec<f64> = running
        .iter()
        .map(|it| it.trim_end_matches(" h").parse().unwrap())
        .collect();
    // 47 and 8 hours now, 49 and 10 with the tried value.
    assert!((hours[0] - 55.0).abs() < 0.2, "{running:?}");
    assert!((hours[1] - 59.0).abs() < 0.2, "{running:?}");
}

#[test]
fn names_running_workloads_that_would_be_outside_of_the_hours() {
    let cluster = cluster();
    cluster.deployment("off", 0, &[("hours", "00:00-24:00")]);
    let served = Served::of(&cluster, &[]);
    let mut query = form_urlencoded::Serializer::new(String::new());
    let query = query.append_pair("hours", &other_days()).finish();
    let page = served.page(&format!("/ns/dev/what-if?{query}"));
    assert_eq!(interrupted(&page), ["dev/api", "dev/batch", "dev/web"]);
    let page = served.page("/ns/dev/what-if?hours=00:00-24:00");
    assert!(interrupted(&page).is_empty(), "{}", page.text());
    assert_contains!(page.text(), "No running workload would be interrupted.");
}

#[test]
fn rejects_what_cannot_be_tried() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    let long = format!("hours={}", "Mon-Fri+09:00-17:00;+".repeat(60));
    for (query, output) in [
        ("hours=Mon-Fry+09:00-17:00", "Fry is not a day"),
        ("timezone=Europe/Berln", "is not a time zone"),
        (
            "hours=09:00-17:00&stop=19:00",
            "cannot be combined with stop",
        ),
        ("schedule=office-tokyo", "are not known here"),
        (&*long, "it can have 1000 bytes"),
    ] {
        let page = served.page(&format!("/ns/dev/what-if?{query}"));
        assert_contains!(page.text(), output);
        assert!(page.all("table").next().is_none(), "{output}");
    }
    for path in ["/ns/gone/what-if", "/ns/dev/what-if/more", "/ns//what-if"] {
        assert_eq!(served.get(path).status, 404, "{path}");
    }
}

/// Each workload has another schedule, and the tried one is long and delays each start differently.
#[test]
fn bounds_the_work_for_two_thousand_different_workloads() {
    let cluster = Cluster::new();
    for at in 0..2_000 {
        let hours = format!("Mon-Fri {:02}:{:02}-19:00", at % 18, at % 60);
        let jitter = format!("{}m", at % 59 + 1);
        let zone = ["UTC", "Asia/Tokyo"][at / 59 % 2];
        cluster.deployment(
            &format!("web-{at:04}"),
            3,
            &[("hours", &hours), ("jitter", &jitter), ("timezone", zone)],
        );
    }
    let served = Served::of(&cluster, &[]);
    served.page("/");
    let windows: Vec<_> = (0..30)
        .map(|at| (at / 2, at % 2 * 30))
        .map(|(hour, minute)| format!("Mon-Fri+{hour:02}:{minute:02}-{hour:02}:{:02}", minute + 9))
        .collect();
    let query = format!("hours={}", windows.join(";"));
    assert!(query.len() < 1_000, "{}", query.len());
    let begun = Instant::now();
    let answer = served.get(&format!("/ns/dev/what-if?{query}"));
    // An unoptimized build needs some seconds.
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
    assert_eq!(answer.status, 200);
    assert!(answer.body.len() < MAX_BYTES, "{}", answer.body.len());
    let page = Page::read(&answer.body);
    assert_contains!(page.text(), "Left out: ");
}
