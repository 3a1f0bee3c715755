//! The pages say what `status` and `plan` say of the same objects.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use super::browser::{Node, Page, Served};
use crate::{
    fake_server::{Cluster, Scaler},
    status::state,
};

/// Objects in every state that a page tells apart.
fn cluster() -> Cluster {
    let cluster = Cluster::new();
    let hours = ("hours", "Mon-Fri 09:00-17:30");
    cluster.deployment("office", 3, &[hours, ("timezone", "Europe/Berlin")]);
    cluster.deployment("always", 2, &[("hours", "00:00-24:00")]);
    cluster.deployment(
        "jittered",
        2,
        &[
            ("start", "06:00"),
            ("stop", "0 20 * * *"),
            ("jitter", "30m"),
        ],
    );
    cluster.deployment(
        "counted",
        2,
        &[("start", "05:00"), ("stop", "23:00"), ("replicas", "7")],
    );
    cluster.deployment("steps", 4, &[("scale", "08:00 = 4; 12:00 = 9; 21:00 = 0")]);
    cluster.deployment("broken", 1, &[("hours", "Mon-Fry 09:00-17:00")]);
    cluster.deployment("woken", 2, &[hours]);
    cluster.deployment("slept", 2, &[hours]);
    cluster.deployment("paused", 2, &[hours]);
    cluster.deployment(
        "excepted",
        2,
        &[hours, ("except", "2026-01-01..2027-12-31")],
    );
    cluster.deployment("left", 0, &[]);
    state(&cluster, "left", &[("saved-replicas", "5")]);
    cluster
}

fn json(cluster: &Cluster, args: &[&str]) -> Value {
    cluster.dayshift(args).json()
}

/// As the pages name the state of what `status` says.
fn state_of(workload: &Value) -> &str {
    match &workload["error"] {
        Value::Null => workload["state"].as_str().unwrap_or("left down"),
        _ => "error",
    }
}

fn time(text: &str) -> DateTime<Utc> {
    text.parse::<DateTime<chrono::FixedOffset>>()
        .unwrap()
        .to_utc()
}

/// The row of an object on the timeline: its state, and what is next.
fn row<'p>(page: &'p Page, name: &str) -> (&'p Node, Option<&'p Node>, String) {
    let is_of = |it: &&Node| it.tag == "tr" && it.text.starts_with(name);
    let row = page.nodes.iter().find(is_of).unwrap();
    let within = page.within(row);
    let badge = within.iter().find(|it| it.has_class("badge")).unwrap();
    let next = within
        .iter()
        .find(|it| it.tag == "td" && it.has_class("next"));
    let Some(next) = next else {
        return (badge, None, String::new());
    };
    let time = page.within(next).iter().find(|it| it.tag == "time");
    (badge, time, next.text.clone())
}

#[test]
fn the_pages_say_what_status_and_plan_say() {
    let cluster = cluster();
    let _scaler = Scaler::on(&cluster);
    for (command, name) in [("wake", "deploy/woken"), ("sleep", "deploy/slept")] {
        let ran = cluster.dayshift(&[command, name, "--for", "40h"]);
        assert_eq!(ran.status, 0, "{ran:?}");
    }
    assert_eq!(cluster.dayshift(&["pause", "deploy/paused"]).status, 0);
    // By then all of them have been seen: what came first was done first.
    let status = json(&cluster, &["status", "-A", "-o", "json"]);
    let served = Served::of(&cluster, &[]);
    let timeline = served.page("/timeline");
    let workloads = status["workloads"].as_array().unwrap();
    assert_eq!(workloads.len(), 11);
    for workload in workloads {
        let name = workload["name"].as_str().unwrap();
        let (badge, next, words) = row(&timeline, name);
        assert_eq!(badge.text, state_of(workload), "{name}");
        let shown = next.map(|it| time(it.attribute("datetime").unwrap()));
        assert_eq!(shown, workload["next"].as_str().map(time), "{name}");
        if let Some(action) = workload["nextAction"].as_str() {
            assert!(words.starts_with(action), "{name}: {words}");
        }

        let page = served.page(&format!("/object/dev/deploy/{name}"));
        let text = page.text();
        for note in workload["notes"].as_array().unwrap() {
            let note = note.as_str().unwrap().replace('`', "");
            assert!(text.contains(&note), "{name}: {note} is not in {text}");
        }
        for problem in workload["problems"].as_array().unwrap() {
            let message = problem["message"].as_str().unwrap().replace('`', "");
            assert!(text.contains(&message), "{text}");
            assert!(text.contains("Mon-Fry 09:00-17:00\n    ^^^"), "{text}");
        }
        if name != "left" {
            same_as_plan(&cluster, name, &page); // it has no schedule to plan
        }
    }
    let broken = served.page("/");
    let first = broken.all("li").find(|it| it.has_class("finding")).unwrap();
    assert!(
        first.text.starts_with("error dev/broken: dayshift/hours: "),
        "{}",
        first.text
    );
    let told = cluster.dayshift(&["status", "-A"]).out;
    let warned: Vec<_> = told
        .lines()
        .filter_map(|line| line.strip_prefix("warning: ")?.split(": ").next())
        .collect();
    assert!(!warned.is_empty(), "{told}");
    for name in warned {
        let is_warned = broken
            .all("li")
            .any(|it| it.has_class("warning") && it.text.contains(name));
        assert!(
            is_warned,
            "{name} is not among the warnings of the overview"
        );
    }
    for state in ["running", "woken", "slept", "paused", "error"] {
        let page = served.page(&format!("/timeline?state={state}"));
        let rows = page
            .all("tr")
            .filter(|it| page.within(it).iter().any(|it| it.has_class("badge")));
        let found = rows.count();
        let standing = workloads.iter().filter(|it| state_of(it) == state);
        assert_eq!(found, standing.count(), "{state}");
    }
}

/// The boundaries of the page are those of the plan, as far as the page goes.
fn same_as_plan(cluster: &Cluster, name: &str, page: &Page) {
    let object = format!("deploy/{name}");
    let plan = json(cluster, &["plan", &object, "-o", "json", "--days", "20"]);
    let planned = plan["workloads"][0]["boundaries"].as_array().unwrap();
    let shown: Vec<_> = page
        .all("span")
        .filter(|it| it.has_class("boundary"))
        .map(|it| {
            let at = page.within(it).iter().find(|it| it.tag == "time").unwrap();
            (time(at.attribute("datetime").unwrap()), it.text.clone())
        })
        .collect();
    for (planned, (at, words)) in planned.iter().zip(&shown) {
        assert_eq!(
            time(planned["at"].as_str().unwrap()),
            *at,
            "{name}: {words}"
        );
        assert!(
            words.starts_with(planned["action"].as_str().unwrap()),
            "{name}: {words}"
        );
        let count = planned["replicas"].as_u64();
        let arrow = count.map(|count| format!(" → {count}"));
        assert_eq!(words.contains('→'), arrow.is_some(), "{name}: {words}");
        assert!(
            arrow.is_none_or(|it| words.contains(&it)),
            "{name}: {words}"
        );
        let is_applied = planned["applied"].as_bool().unwrap_or(true);
        assert_eq!(
            !words.contains("not applied"),
            is_applied,
            "{name}: {words}"
        );
    }
    // What is planned and not shown comes after two weeks.
    assert!(shown.len() <= planned.len(), "{name}");
    if let Some(beyond) = planned.get(shown.len()) {
        let beyond = time(beyond["at"].as_str().unwrap());
        assert!(
            beyond > Utc::now() + TimeDelta::days(13),
            "{name}: {beyond}"
        );
    }
}

#[test]
fn a_picture_is_told_as_a_table_that_is_the_same() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    let page = served.page("/timeline?from=2026-03-23&q=office");
    let cells: Vec<_> = page.all("td").map(|it| it.text.clone()).collect();
    // Monday to Sunday, in Berlin: the only zone there is on this page is the default.
    let hours = cells.iter().filter(|it| *it == "running").count();
    assert_eq!(hours, 5, "{cells:?}");
    let label = page
        .all("svg")
        .find_map(|it| it.attribute("aria-label"))
        .unwrap();
    assert_eq!(label, "dev/office: running 42 h 30 min, stopped 5 d 5 h");
}

/// UTC is what counts without the flag, and may be asked for all the same.
#[test]
fn the_zone_that_is_asked_for_is_shown() {
    let cluster = Cluster::new();
    let tokyo = ("timezone", "Asia/Tokyo");
    cluster.deployment("web", 1, &[("hours", "Mon-Fri 09:00-17:30"), tokyo]);
    for (args, expected) in [(&[][..], "M53 4h5"), (&["--timezone", "UTC"], "M0 4h5")] {
        let served = Served::of(&cluster, args);
        let page = served.page("/timeline?from=2026-11-23");
        let drawn: Vec<_> = page
            .all("path")
            .filter_map(|it| it.attribute("d"))
            .collect();
        assert!(
            drawn.iter().any(|it| it.starts_with(expected)),
            "{args:?} {drawn:?}"
        );
    }
}

#[test]
fn a_filter_asks_for_what_it_names() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    for (query, expected) in [
        ("q=STEP", vec!["steps"]),
        ("q=dev/woke", vec!["woken"]),
        ("namespace=dev&q=o&state=error", vec!["broken"]),
        ("namespace=other", vec![]),
        ("kind=StatefulSet", vec![]),
        ("kind=Deployment&q=always", vec!["always"]),
        ("state=problem", vec!["broken", "left"]),
    ] {
        let page = served.page(&format!("/timeline?{query}"));
        let names: Vec<_> = page
            .all("a")
            .filter(|it| {
                it.attribute("href")
                    .is_some_and(|it| it.starts_with("/object/"))
            })
            .map(|it| &*it.text)
            .collect();
        assert_eq!(names, expected, "{query}");
    }
}

/// `except` has local dates of each object (`docs/guides/holidays.md`): that of Tokyo begins nine hours before
/// that of UTC, in which a page is that has objects in several zones.
#[test]
fn an_excepted_date_is_shaded_where_the_object_has_it() {
    let cluster = Cluster::new();
    let hours = ("hours", "Mon-Fri 09:00-17:30");
    let except = ("except", "2026-11-24");
    cluster.deployment("plain", 1, &[hours, except]);
    cluster.deployment("tokyo", 1, &[hours, except, ("timezone", "Asia/Tokyo")]);
    let served = Served::of(&cluster, &[]);
    // 1000 are a week of 168 hours: 24 of them are 142, and 15 are 89.
    for (name, expected) in [
        ("plain", "M142 0h143v24h-143z"),
        ("tokyo", "M89 0h143v24h-143z"),
    ] {
        let page = served.page(&format!("/timeline?from=2026-11-23&q={name}"));
        let shaded = page.all("path").filter(|it| it.has_class("holiday"));
        let shaded: Vec<_> = shaded.filter_map(|it| it.attribute("d")).collect();
        assert!(shaded.contains(&expected), "{name}: {shaded:?}");
    }
}

#[test]
fn a_date_that_counts_as_another_day_is_marked() {
    let cluster = Cluster::new();
    let hours = ("hours", "Mon-Fri 09:00-17:30");
    let tomorrow = Utc::now().date_naive() + TimeDelta::days(1);
    // A Saturday that is not soon tomorrow.
    let treated = format!("2099-01-10 = Mon; {tomorrow} = Sun");
    cluster.deployment("plain", 1, &[hours]);
    cluster.deployment("treated", 1, &[hours, ("treat-as", &treated)]);
    let served = Served::of(&cluster, &[]);
    for (name, marked, said) in [("treated", true, true), ("plain", false, false)] {
        let week = served.page(&format!("/timeline?from=2099-01-05&q={name}"));
        let paths = week.all("path").filter(|it| it.has_class("treated"));
        assert_eq!(paths.count() > 0, marked, "{name}");
        let object = served.page(&format!("/object/dev/deploy/{name}"));
        assert_eq!(object.text().contains("counts as Sun"), said, "{name}");
    }
}

/// What has no schedule that is known here goes by the labels alone: they say when, and not what.
#[test]
fn next_is_called_a_pause_only_for_a_pause() {
    let cluster = Cluster::new();
    let at = |text: &str| format!("2099-01-05T{text}.00Z");
    let hours = ("hours", "00:00-24:00");
    for (name, phase, inputs, next) in [
        ("default", "running", &[][..], "09.00"),
        (
            "paused",
            "paused",
            &[hours, ("pause", "2099-01-05 10:00")],
            "10.00",
        ),
        // Its only start is still to come then: the end of the wake does nothing.
        (
            "woken",
            "woken",
            &[
                ("start", "2099-01-06 09:00"),
                ("wake-until", "2099-01-05 11:00"),
            ],
            "11.00",
        ),
    ] {
        cluster.deployment(name, 1, inputs);
        let next = at(next);
        let labels = [
            ("state", phase),
            ("last", "2026-11-20T10.30.00Z"),
            ("next", &*next),
        ];
        state(&cluster, name, &labels);
    }
    let served = Served::of(&cluster, &[]);
    let page = served.page("/");
    let rows: Vec<_> = page.all("tr").map(|it| &*it.text).collect();
    for (name, expected) in [
        ("dev/default", "start or stop"),
        ("dev/paused", "end of a pause"),
        ("dev/woken", "end of a wake"),
    ] {
        let row = rows.iter().find(|it| it.ends_with(name));
        assert!(
            row.is_some_and(|it| it.contains(expected)),
            "{name}: {rows:?}"
        );
    }
}

/// What a page proposes or shows has the prefix that it was given.
#[test]
fn no_page_names_another_prefix_than_its_own() {
    let empty = Cluster::new();
    let served = Served::of(&empty, &["--annotation-prefix", "acme.io"]);
    let page = served.page("/");
    let proposed = "kubectl annotate deploy/web acme.io/hours=\"Mon-Fri 09:00-19:00\"";
    assert!(page.text().contains(proposed), "{}", page.text());
    let cluster = Cluster::new();
    cluster.deployment("web", 2, &[]);
    for (key, text) in [
        ("acme.io/hours", "Mon-Fry 09:00-17:00"),
        ("acme.io/pause", "true"),
    ] {
        cluster.api.annotate("dev", "web", key, Some(text)).unwrap();
    }
    let served = Served::of(&cluster, &["--annotation-prefix", "acme.io"]);
    for path in ["/", "/timeline", "/object/dev/deploy/web?refresh=off"] {
        let page = served.page(path);
        assert!(page.text().contains("web"), "{}", page.text());
        assert!(
            !page.text().contains("dayshift/"),
            "{path}: {}",
            page.text()
        );
    }
}
