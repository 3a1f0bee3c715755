//! Annotations written by an attacker or by a broken program.

use chrono::TimeDelta;

use crate::sandbox::{DeploymentBuilder, Sandbox, deployment};

/// The maximum size of all annotations of an object in bytes.
const LIMIT: usize = 256 << 10;

/// One of several invalid schedules.
fn bad(number: usize) -> DeploymentBuilder {
    let web = deployment(&format!("bad-{number}")).replicas(2);
    match number % 7 {
        0 => web.stop("Mon-Fry 19:00"),
        1 => web.stop("0 0 30 2 *"),
        2 => web
            .stop("19:00")
            .annotation("dayshift/timezone", "Asia/Tokio"),
        3 => web.stop("19:00; ".repeat(2_000)),
        4 => web.hours("09:00-19:00").stop("19:00"),
        5 => web.stop("19:00").annotation("dayshift/strat", "09:00"),
        _ => web.stop("\u{1b}]8;;http://example.com\u{7}19:00\u{202e}"),
    }
}

/// The number of invalid workloads; more in nightly CI.
fn many() -> usize {
    match std::env::var("SCENARIOS").as_deref() {
        Ok("full") => 10_000,
        _ => 1_000,
    }
}

#[test]
fn invalid_schedules_do_not_affect_a_hundred_valid_ones() {
    let many = many();
    let scenario = Sandbox::at("2026-11-20 18:50 UTC");
    scenario.api.remember_requests(usize::MAX);
    for number in 0..100 {
        let good = deployment(&format!("good-{number}")).replicas(3);
        scenario
            .api
            .apply(good.hours("09:00-19:00").into())
            .unwrap();
    }
    for number in 0..many {
        scenario.api.apply(bad(number).into()).unwrap();
    }
    scenario.sleep_until("18:59:59");
    // A fifth of them become invalid again when the valid ones are due.
    for number in (0..many).step_by(5) {
        let name = format!("bad-{number}");
        let text = format!("{number} o'clock");
        scenario
            .api
            .annotate("dev", &name, "dayshift/stop", Some(&text))
            .unwrap();
    }
    scenario.sleep_until("2026-11-21 09:30");
    let due = ["2026-11-20 19:00", "2026-11-21 09:00"].map(|at| scenario.utc(at));
    let patches = scenario.requests("patch");
    let (mut good, bad): (Vec<_>, Vec<_>) = patches
        .iter()
        .partition(|line| line.name.starts_with("good-"));
    assert!(bad.len() <= 2 * many, "{} patches", bad.len());
    good.retain(|line| line.at >= due[0]);
    assert_eq!(good.len(), 100 * 2);
    for (index, line) in good.iter().enumerate() {
        let late = line.at - due[index / 100];
        assert_eq!(line.code, Some(200));
        assert!(
            late >= TimeDelta::zero() && late <= TimeDelta::milliseconds(1),
            "{} is {late} late",
            line.name
        );
    }
    for number in 0..many {
        let name = format!("bad-{number}");
        assert_eq!(scenario.replicas(&name), 2, "{name}");
        let error = scenario.error(&name).unwrap();
        assert!(error.starts_with("dayshift/"), "{error}");
    }
}

#[test]
fn every_second_schedule_and_manual_edits_cause_no_extra_writes() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    let busy = deployment("busy").start("*/2 * * * * *");
    scenario.apply(busy.stop("1-59/2 * * * * *"));
    scenario.apply(deployment("edited").stop("19:00"));
    scenario.api.forget_requests();
    for edit in 0..100 {
        scenario.annotate("edited", "stop", Some(&format!("19:{:02}", edit % 60)));
    }
    scenario.sleep_until("18:01");
    let counts = |name| (scenario.patched(name).len(), scenario.events(name).len());
    let (patches, events) = counts("busy");
    assert!((59..=60).contains(&patches), "{patches}");
    assert!((1..=60).contains(&events), "{events}");
    let (patches, events) = counts("edited");
    assert!((1..=100).contains(&patches), "{patches}");
    assert!((1..=100).contains(&events), "{events}");
    // The last edit applies.
    scenario.api.delete("dev", "busy").unwrap();
    scenario.sleep_until("19:38");
    assert_eq!(scenario.replicas("edited"), 1);
    scenario.sleep_until("19:40");
    assert_eq!(scenario.replicas("edited"), 0);
}

#[test]
fn reports_annotations_of_maximum_length_briefly() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    let room = LIMIT - 1_200;
    let many = |name: &str, key: &dyn Fn(usize) -> String, text: &str| {
        let mut web = deployment(name).replicas(2).stop("19:00");
        let mut left = room;
        for number in 0.. {
            let key = key(number);
            let length = "dayshift/".len() + key.len() + text.len();
            if length > left {
                break;
            }
            left -= length;
            web = web.annotation(&format!("dayshift/{key}"), text);
        }
        web
    };
    let objects = [
        many("names", &|n| format!("k{n:05}"), ""),
        many("long-names", &|n| format!("{n:063}"), ""),
        deployment("text").replicas(2).stop("x".repeat(room)),
        deployment("list")
            .replicas(2)
            .stop("19:00;".repeat(room / 6)),
        deployment("blanks").replicas(2).stop(" ".repeat(room)),
        deployment("marks")
            .replicas(2)
            .stop("\u{202e}".repeat(room / 3)),
        deployment("zone")
            .replicas(2)
            .stop("19:00")
            .annotation("dayshift/timezone", "<&>".repeat(room / 3)),
        // No room is left for the error annotation.
        deployment("full")
            .replicas(2)
            .stop("x".repeat(LIMIT - "dayshift/stop".len())),
    ];
    for object in objects {
        scenario.api.create(object.into()).unwrap();
    }
    scenario.settle();
    assert_eq!(scenario.error("full"), None);
    assert_eq!(scenario.events("full"), ["ScaleFailed"]);
    for name in [
        "names",
        "long-names",
        "text",
        "list",
        "blanks",
        "marks",
        "zone",
    ] {
        let error = scenario.error(name).unwrap();
        assert!(error.len() <= 1024, "{name}: {} bytes", error.len());
        for quoted in error.split('`').skip(1).step_by(2) {
            assert!(quoted.chars().count() <= 60, "{name}: {quoted}");
        }
        assert!(!error.contains('\u{202e}'), "{error}");
        assert_eq!(scenario.events(name), ["InvalidSchedule"]);
    }
    scenario.sleep_until("20:00");
    assert_eq!(scenario.replicas("names"), 2);
}

/// Only their beginnings are kept.
#[test]
fn rejects_oversized_values_without_delaying_patches() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    let blanks = " ".repeat(5_000);
    let zeros = "0".repeat(5_000);
    let web = |name: &str| deployment(name).replicas(2).stop("19:00");
    for object in [
        web("replicas").annotation("dayshift/replicas", format!("{zeros}3")),
        web("exclude").annotation("dayshift/exclude", format!("true{blanks}")),
        web("pause").annotation("dayshift/pause", format!("true{blanks}")),
        web("enforce").annotation("dayshift/enforce", format!("{blanks}true")),
        web("zone").annotation("dayshift/timezone", format!("UTC{blanks}")),
    ] {
        scenario.apply(object);
    }
    for (name, key) in [
        ("replicas", "replicas"),
        ("exclude", "exclude"),
        ("pause", "pause"),
        ("enforce", "enforce"),
        ("zone", "timezone"),
    ] {
        let told = "the text is longer than the 4096 bytes that are read; shorten it";
        assert_eq!(
            scenario.error(name),
            Some(format!("dayshift/{key}: {told}"))
        );
        assert_eq!(scenario.patched(name).len(), 1, "{name}");
    }
    scenario.sleep_until("18:30");
    scenario.annotate("replicas", "replicas", Some("3"));
    assert_eq!(scenario.error("replicas"), None);

    // Annotations that dayshift writes, written by another user.
    let much = "x".repeat(50_000);
    let odd = web("odd").annotation("dayshift/error", &much);
    scenario.apply(odd.annotation("dayshift/override-began", &much));
    assert_eq!(scenario.error("odd"), None);
    assert_eq!(scenario.patched("odd").len(), 1);

    scenario.sleep_until("19:01");
    for (name, count) in [("replicas", 0), ("exclude", 2), ("pause", 2), ("odd", 0)] {
        assert_eq!(scenario.replicas(name), count, "{name}");
    }
    assert_eq!(scenario.patched("odd").len(), 2);
}
