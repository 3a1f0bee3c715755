//! Annotations written by an attacker or by a broken program.

use std::time::Duration;

use chrono::TimeDelta;
use dayshift_controller::Settings;
use serde_json::Value;
use tokio::time::sleep;

use crate::sandbox::{DeploymentBuilder, Sandbox, deployment, logged};

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
    // A fifth of them get another invalid value when the valid ones are due.
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
        // This value leaves no room for the error annotation.
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

/// The controller stores only the beginning of an oversized value.
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
        let reported = "the text is longer than the 4096 bytes that are read; shorten it";
        assert_eq!(
            scenario.error(name),
            Some(format!("dayshift/{key}: {reported}"))
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

/// Twenty annotations of 4 kB that no other object has.
fn oversized(number: usize) -> DeploymentBuilder {
    let web = deployment(&format!("oversized-{number}")).replicas(0);
    let keys = (0..16).map(|nth| format!("unknown-{nth}"));
    let keys = ["start", "stop", "hours", "except"]
        .map(str::to_owned)
        .into_iter()
        .chain(keys);
    keys.fold(web, |web, key| {
        let text = format!("{key} {number} {}", "x".repeat(4_000));
        web.annotation(&format!("dayshift/{key}"), text)
    })
    .namespace("hostile")
}

/// A valid schedule of 8 kB that no other object has.
fn long(number: usize) -> DeploymentBuilder {
    let padded = |time: String| time + &" ".repeat(4_000);
    deployment(&format!("long-{number:03}"))
        .start(padded("09:00".to_owned()))
        .stop(padded(format!(
            "19:00; {:02}:{:02}",
            20 + number / 60,
            number % 60
        )))
        .namespace("hostile")
}

/// The reasons and objects of all Events in a namespace, sorted.
fn events_in(scenario: &Sandbox, namespace: &str) -> Vec<(String, String)> {
    let mut events = scenario.api.list("Event");
    events.retain(|event| event["metadata"]["namespace"] == namespace);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut events: Vec<_> = events
        .iter()
        .map(|event| (text(&event["reason"]), text(&event["regarding"]["name"])))
        .collect();
    events.sort();
    events
}

#[test]
fn a_namespace_with_too_much_text_is_rejected_and_no_other_is_affected() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:50 UTC");
    scenario.api.namespace("hostile");
    for number in 0..10 {
        scenario.api.create(oversized(number).into()).unwrap();
    }
    for number in 0..100 {
        scenario.block_on(async {
            scenario.api.create(long(number).into()).unwrap();
            sleep(Duration::from_secs(1)).await;
        });
    }
    for number in 0..10 {
        let web = deployment(&format!("web-{number}")).replicas(3);
        let hours = web.hours("09:00-19:00");
        scenario.api.create(hours.into()).unwrap();
    }
    scenario.api.remember_requests(usize::MAX);
    scenario.start_controller(Settings::default());
    scenario.sleep_until("19:01");
    let due = scenario.utc("2026-11-20 19:00");
    for number in 0..10 {
        let patched = scenario.patched(&format!("web-{number}"));
        let late = patched[1] - due;
        assert!(late <= TimeDelta::milliseconds(10), "{late}");
    }
    // 65 of the long schedules fit into the text budget of the namespace.
    let hostile = |name: &str| scenario.api.get("Deployment", "hostile", name).unwrap();
    let error = |name: &str| {
        let annotations = &hostile(name)["metadata"]["annotations"];
        annotations["dayshift/error"].as_str().map(str::to_owned)
    };
    assert_eq!(error("long-064"), None);
    assert_eq!(scenario.api.replicas("hostile", "long-064"), Some(0));
    let no_room = error("long-065").unwrap();
    assert!(
        no_room.contains("use the 524288 bytes that dayshift keeps"),
        "{no_room}"
    );
    assert_eq!(scenario.api.replicas("hostile", "long-065"), Some(1));
    let oversized = error("oversized-7").unwrap();
    let expected = "dayshift/start: the annotations of dayshift have at least 80";
    assert!(oversized.starts_with(expected), "{oversized}");
    let mut invalid = events_in(&scenario, "hostile");
    invalid.retain(|(reason, _)| reason == "InvalidSchedule");
    invalid.dedup();
    assert_eq!(invalid.len(), 10 + 35);

    // Each invalid workload has one Event and no further write until the next boundary. If a stored schedule
    // is deleted, the next one fits.
    scenario.api.forget_requests();
    scenario.sleep_until("19:50");
    assert_eq!(scenario.requests("patch").len(), 0);
    let again = events_in(&scenario, "hostile");
    assert_eq!(
        again
            .iter()
            .filter(|(reason, _)| reason == "InvalidSchedule")
            .count(),
        45
    );
    scenario.api.delete("hostile", "long-000").unwrap();
    scenario.settle();
    assert_eq!(error("long-065"), None);
    assert!(error("long-066").is_some());
}

#[test]
fn constant_edits_do_not_flood_the_log() {
    let scenario = Sandbox::at("2026-11-20 12:00 UTC");
    scenario.api.namespace("test");
    let (_guard, log) = logged();
    let lines = |part: &str| {
        let log = std::fs::read_to_string(log.path()).unwrap();
        log.lines().filter(|line| line.contains(part)).count()
    };
    let other = || deployment("web").namespace("test").replicas(2);
    scenario.apply(deployment("bad").replicas(2).hours("09:00-19:00"));
    scenario.sleep_until("12:00:10");
    for number in 0..150 {
        let text = format!("{number} o'clock");
        scenario.annotate("bad", "hours", Some(&text));
        scenario.pass(Duration::from_millis(100));
    }
    assert_eq!(lines("object=dev/bad"), 100);
    // Another namespace is not affected, and neither are starts and stops.
    scenario.apply(other().hours("never"));
    assert_eq!(lines("object=test/web"), 1);
    scenario.apply(deployment("good").replicas(2).stop("12:01"));
    scenario.sleep_until("12:01:01");
    assert_eq!(lines("object=dev/good"), 1);
    scenario.sleep_until("12:01:30");
    scenario.annotate("bad", "hours", Some("noon"));
    assert_eq!(
        lines("suppressed="),
        1,
        "{}",
        std::fs::read_to_string(log.path()).unwrap()
    );
}
