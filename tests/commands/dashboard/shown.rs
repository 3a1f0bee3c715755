//! The pages agree with the output of `status` and `plan`.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use super::browser::{Node, Page, Served};
use crate::{
    fake_server::{Cluster, Controller},
    status::state,
};

/// Workloads in each state that a page distinguishes.
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

/// The name on the pages for a state of `status`.
fn state_of(workload: &Value) -> &str {
    match &workload["error"] {
        Value::Null => match workload["state"].as_str().unwrap_or("left stopped") {
            "woken" => "awake",
            "slept" => "asleep",
            state => state,
        },
        _ => "error",
    }
}

fn time(text: &str) -> DateTime<Utc> {
    text.parse::<DateTime<chrono::FixedOffset>>()
        .unwrap()
        .to_utc()
}

/// The row of a workload on the timeline: its state and the next change.
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
fn the_pages_agree_with_status_and_plan() {
    let cluster = cluster();
    let _controller = Controller::on(&cluster);
    for (command, name) in [("wake", "deploy/woken"), ("sleep", "deploy/slept")] {
        let ran = cluster.dayshift(&[command, name, "--for", "40h"]);
        assert_eq!(ran.status, 0, "{ran:?}");
    }
    assert_eq!(cluster.dayshift(&["pause", "deploy/paused"]).status, 0);
    let status = json(&cluster, &["status", "-A", "-o", "json"]);
    let reported = cluster.dayshift(&["status", "-A"]).out;
    let with_level = |level: &str| {
        let lines = reported.lines();
        let named = lines.filter_map(|line| line.strip_prefix(level)?.split(": ").next());
        named.map(str::to_owned).collect::<Vec<_>>()
    };
    let warned = with_level("warning: ");
    let problems = [with_level("error: "), warned.clone()].concat();
    assert!(problems.len() > warned.len(), "{reported}");
    let served = Served::of(&cluster, &[]);
    let timeline = served.page("/timeline");
    let workloads = status["workloads"].as_array().unwrap();
    assert_eq!(workloads.len(), 11);
    for workload in workloads {
        let name = workload["name"].as_str().unwrap();
        let (badge, next, words) = row(&timeline, name);
        let full_name = format!("dev/{name}");
        let pill = match state_of(workload) {
            state if problems.contains(&full_name) => format!("needs attention {state}"),
            "adopted" => "not acted on yet".to_owned(),
            state => state.to_owned(),
        };
        let state = timeline.nodes.iter().find(|it| {
            it.has_class("state") && timeline.within(it).iter().any(|it| std::ptr::eq(it, badge))
        });
        let count = state.unwrap().text.strip_prefix(&pill);
        assert!(
            count.is_some_and(|count| count.starts_with(' ')),
            "{name}: {pill}: {state:?}"
        );
        let shown = next.map(|it| time(it.attribute("datetime").unwrap()));
        assert_eq!(shown, workload["next"].as_str().map(time), "{name}");
        if let Some(action) = workload["nextAction"].as_str() {
            let action = match action.strip_prefix("scale to ") {
                Some(count) => format!("scale from {} to {count}", workload["replicas"]),
                None => action.to_owned(),
            };
            assert!(words.starts_with(&action), "{name}: {words}");
        }

        let page = served.page(&format!("/object/dev/deploy/{name}"));
        let text = page.text();
        for note in workload["notes"].as_array().unwrap() {
            let note = note.as_str().unwrap().replace('`', "");
            assert!(text.contains(&note), "{name}: {note} is not in {text}");
        }
        for problem in workload["problems"].as_array().unwrap() {
            let message = problem["message"].as_str().unwrap().replace('`', "");
            assert_contains!(text, message);
            assert_contains!(text, "Mon-Fry 09:00-17:00\n    ^^^");
        }
        if name != "left" {
            same_as_plan(&cluster, name, &page); // a workload without a schedule has no plan
        }
    }
    let broken = served.page("/");
    let first = broken.all("li").find(|it| it.has_class("finding")).unwrap();
    assert_starts_with!(first.text, "error dev/broken: dayshift/hours: ");
    assert!(!warned.is_empty(), "{reported}");
    for name in warned {
        let is_warned = broken
            .all("li")
            .any(|it| it.has_class("warning") && it.text.contains(&name));
        assert!(
            is_warned,
            "{name} is not among the warnings of the overview"
        );
    }
    for state in ["running", "awake", "asleep", "paused", "error"] {
        let page = served.page(&format!("/timeline?state={state}"));
        let rows = page
            .all("tr")
            .filter(|it| page.within(it).iter().any(|it| it.has_class("badge")));
        let found = rows.count();
        let standing = workloads.iter().filter(|it| state_of(it) == state);
        assert_eq!(found, standing.count(), "{state}");
    }
}

/// The boundaries on the page are those of the plan, until the end of the page.
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
        assert_starts_with!(words, planned["action"].as_str().unwrap(), "{name}");
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
    // Only boundaries after two weeks are not shown.
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
fn each_bar_of_the_timeline_has_its_text() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    let page = served.page("/timeline?from=2026-03-23&q=office");
    // Monday to Friday in UTC, the zone of a page with several zones.
    let bars: Vec<_> = page.all("title").map(|it| it.text.clone()).collect();
    let running = bars
        .iter()
        .filter(|it| it.starts_with("running, 3 replicas: "));
    assert_eq!(running.count(), 5, "{bars:?}");
    assert!(
        bars.contains(&"running, 3 replicas: Mon 08:00 to Mon 16:30".to_owned()),
        "{bars:?}"
    );
    let label = page
        .all("svg")
        .find_map(|it| it.attribute("aria-label"))
        .unwrap();
    assert_eq!(label, "dev/office: running 42 h 30 min, stopped 5 d 6 h");
}

/// Without `--timezone`, a page uses the zone that all its workloads have in common.
#[test]
fn shows_times_in_the_given_zone() {
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
fn a_filter_selects_workloads() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    for (query, expected) in [
        ("q=STEP", vec!["steps"]),
        ("q=dev/woke", vec!["woken"]),
        ("namespace=dev&q=o&state=error", vec!["broken"]),
        ("namespace=other", vec![]),
        ("kind=StatefulSet", vec![]),
        ("kind=Deployment&q=always", vec!["always"]),
        ("state=needs-attention", vec!["broken", "left"]),
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

/// `except` contains local dates of each workload (`docs/guides/holidays.md`). A date in Tokyo
/// begins nine hours earlier than in UTC, the zone of a page with several zones.
#[test]
fn shades_excluded_dates_in_the_zone_of_the_workload() {
    let cluster = Cluster::new();
    let hours = ("hours", "Mon-Fri 09:00-17:30");
    let except = ("except", "2026-11-24");
    cluster.deployment("plain", 1, &[hours, except]);
    cluster.deployment("tokyo", 1, &[hours, except, ("timezone", "Asia/Tokyo")]);
    let served = Served::of(&cluster, &[]);
    // A week of 168 hours is 1000 wide: 24 hours are 142, and 15 hours are 89.
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
fn marks_treated_dates() {
    let cluster = Cluster::new();
    let hours = ("hours", "Mon-Fri 09:00-17:30");
    let tomorrow = Utc::now().date_naive() + TimeDelta::days(1);
    // A Saturday far in the future.
    let treated = format!("2099-01-10 = Mon; {tomorrow} = Sun");
    cluster.deployment("plain", 1, &[hours]);
    cluster.deployment("treated", 1, &[hours, ("treat-as", &treated)]);
    let served = Served::of(&cluster, &[]);
    for (name, marked, output) in [("treated", true, true), ("plain", false, false)] {
        let week = served.page(&format!("/timeline?from=2099-01-05&q={name}"));
        let paths = week.all("path").filter(|it| it.has_class("treated"));
        assert_eq!(paths.count() > 0, marked, "{name}");
        let object = served.page(&format!("/object/dev/deploy/{name}"));
        assert_eq!(object.text().contains("counts as Sun"), output, "{name}");
    }
}

/// A workload whose schedule is unknown here has only its labels, which contain the time of the
/// next boundary but not its action.
#[test]
fn names_the_end_of_a_pause_only_for_a_pause() {
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
        // The only start is later, so the end of the wake changes nothing.
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

#[test]
fn all_pages_use_the_configured_prefix() {
    let empty = Cluster::new();
    let served = Served::of(&empty, &["--annotation-prefix", "acme.io"]);
    let page = served.page("/");
    let proposed = "kubectl annotate deploy/api acme.io/hours=\"Mon-Fri 09:00-19:00\"";
    assert_contains!(page.text(), proposed);
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
        assert_contains!(page.text(), "web");
        assert_lacks!(page.text(), "dayshift/", "{path}");
    }
}
