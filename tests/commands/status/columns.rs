//! The columns of `dayshift status`.

use chrono::{Days, NaiveDate, Utc};
use serde_json::{Value, json};

use super::{OFFICE, STOPPED, evening, state};
use crate::{dashboard::browser::Served, fake_server::Cluster, program::Ended};

#[test]
fn shows_the_count_beside_a_larger_saved_count() {
    let cluster = evening();
    for (name, count, phase, saved) in [
        ("down", 0, "stopped", "3"),
        ("by-hand", 1, "stopped", "3"),
        ("raised", 3, "stopped", "3"),
        ("woken", 3, "woken", "0"),
        ("paused", 3, "paused", "0"),
        ("resumed", 3, "adopted", "0"),
        ("none", 0, "stopped", "0"),
    ] {
        cluster.deployment(name, count, OFFICE);
        state(&cluster, name, STOPPED);
        let labels = [("state", phase), ("saved-replicas", saved)];
        state(&cluster, name, &labels);
    }
    let ran = cluster.dayshift(&["status", "--sort-by", "name"]);
    let mut lines = ran.out.lines();
    let heading = lines.next().unwrap();
    let ends = heading.find("STATE").unwrap();
    let begins = heading.find("REPLICAS").unwrap();
    assert_lacks!(heading, "SAVED");
    let counts = lines.by_ref().take_while(|it| !it.is_empty());
    let counts: Vec<_> = counts.map(|it| it[begins..ends].trim()).collect();
    assert_eq!(counts, ["1 of 3", "0 of 3", "0", "3", "3", "3", "3"]);
}

#[test]
fn a_wake_that_ends_in_running_hours_keeps_running() {
    let cluster = evening();
    let began = ("last", "2026-11-20T10.30.00Z");
    let ends = |next: &'static str| [("state", "woken"), began, ("next", next)];
    let morning = ends("2026-11-23T01.00.00Z");
    let inside = [OFFICE, &[("wake-until", "2026-11-23 10:00")]].concat();
    let exact = [&*inside, &[("replicas", "5")]].concat();
    for (name, count, inputs) in [
        ("on", 3, &inside),
        ("off", 0, &inside),
        ("exact", 3, &exact),
    ] {
        cluster.deployment(name, count, inputs);
        state(&cluster, name, &morning);
    }
    cluster.deployment("less", 3, &inside);
    state(&cluster, "less", &morning);
    state(&cluster, "less", &[("saved-replicas", "4")]);
    let outside = [OFFICE, &[("wake-until", "2026-11-20 22:00")]].concat();
    cluster.deployment("out", 3, &outside);
    state(&cluster, "out", &ends("2026-11-20T13.00.00Z"));
    let ran = cluster.dayshift(&["status", "--sort-by", "name"]);
    for (name, next) in [
        ("on", "wake ends Mon 10:00 JST (in 2 d 14 h), runs on"),
        // A user set it to 0 after the wake, so it stays at 0.
        ("off", "wake ends Mon 10:00 JST (in 2 d 14 h), stays at 0"),
        ("exact", "start Mon 10:00 JST (in 2 d 14 h)"),
        ("less", "start Mon 10:00 JST (in 2 d 14 h)"),
        ("out", "stop 22:00 JST (in 2 h)"),
    ] {
        let mut rows = ran.out.lines();
        let row = rows.find(|it| it.split_whitespace().nth(1) == Some(name));
        let row = row.unwrap();
        assert!(row.contains(&format!("   {next}   ")), "{name}: {row}");
    }
    let found = cluster.dayshift(&["status", "on", "-o", "json"]).json();
    let on = &found["workloads"][0];
    assert_eq!(on["nextAction"], Value::Null);
    assert_eq!(on["next"], "2026-11-23T10:00:00+09:00");
}

#[test]
fn the_ready_column_is_shown_if_readiness_is_known() {
    let cluster = evening();
    for name in ["api", "db", "web"] {
        cluster.deployment(name, 3, OFFICE);
    }
    let heading = |ran: &Ended| ran.out.lines().next().unwrap().to_owned();
    for output in ["table", "wide"] {
        let ran = cluster.dayshift(&["status", "-o", output]);
        assert!(!heading(&ran).contains("READY"), "{}", ran.out);
    }
    for (name, ready) in [("api", 1), ("db", 3)] {
        let status = json!({"observedGeneration": 1, "readyReplicas": ready});
        let set = cluster.api.set_status("Deployment", "dev", name, status);
        set.unwrap();
    }
    cluster.api.scale("dev", "db", 4).unwrap();
    let ran = cluster.dayshift(&["status", "--sort-by", "name"]);
    let columns = |line: &str| {
        let mut words = line.split_whitespace().map(str::to_owned);
        words.by_ref().skip(1).take(3).collect::<Vec<_>>()
    };
    let rows: Vec<_> = ran.out.lines().take(4).map(columns).collect();
    let expected = [
        ["NAME", "REPLICAS", "READY"],
        ["api", "3", "1/3"],
        ["db", "4", "3/4"],
        ["web", "3", "<none>"],
    ];
    assert_eq!(rows, expected);
    let found = cluster.dayshift(&["status", "--sort-by", "name", "-o", "json"]);
    let found = found.json();
    let each = found["workloads"].as_array().unwrap().iter();
    let each: Vec<_> = each
        .map(|it| [&it["ready"], &it["readyReplicas"]])
        .collect();
    let (no, none) = (json!(false), Value::Null);
    assert_eq!(
        each,
        [[&no, &json!(1)], [&no, &json!(3)], [&none, &none]],
        "the status of db is of before its spec"
    );
}

/// On an excluded date the stop of a stopped workload is a boundary, but not a change.
#[test]
fn next_is_the_next_change() {
    let cluster = evening();
    let hours = [OFFICE, &[("except", "2026-11-23")]].concat();
    cluster.deployment("web", 0, &hours);
    state(&cluster, "web", STOPPED);
    state(&cluster, "web", &[("next", "2026-11-23T10.00.00Z")]);
    let ran = cluster.dayshift(&["status"]);
    ran.assert_out("start Tue 09:00 JST");
    let ran = cluster.dayshift(&["status", "-o", "json"]);
    let web = &ran.json()["workloads"][0];
    assert_eq!(web["next"], "2026-11-24T09:00:00+09:00");
    assert_eq!(web["nextAction"], "start");
}

/// Today is excluded, so the stop of today changes nothing.
#[test]
fn the_dashboard_shows_the_next_change_too() {
    let cluster = Cluster::new();
    let today = Utc::now().date_naive();
    let except = [today, today + Days::new(1)].map(|date| date.to_string());
    let hours = [("hours", "09:00-23:59"), ("except", &*except.join("; "))];
    cluster.deployment("web", 0, &hours);
    let label = |date: NaiveDate| date.format("%Y-%m-%dT23.59.00Z").to_string();
    let (last, next) = (label(today - Days::new(1)), label(today));
    state(&cluster, "web", STOPPED);
    state(&cluster, "web", &[("last", &last), ("next", &next)]);
    let served = Served::of(&cluster, &[]);
    let start = (today + Days::new(2)).format("%a").to_string();
    let page = served.page("/object/dev/deploy/web");
    let shown = page.text();
    let expected = format!("start {start} 09:00");
    assert_contains!(shown, expected);
}
