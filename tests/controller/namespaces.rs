//! The annotations of a Namespace are defaults for what is in it.

use std::{fs, time::Duration};

use dayshift::{
    controller::{OwnPod, Scope, Settings},
    workload::{Annotations, Key},
};
use kube_in_memory::{Fault, Status};
use serde_json::Value;

use crate::sandbox::{Sandbox, cron_job, deployment, logged, stateful_set};

/// Sets annotations of a Namespace, each as key and text.
fn annotate(story: &Sandbox, namespace: &str, texts: &[(&str, Option<&str>)]) {
    for (key, text) in texts {
        let key = format!("dayshift/{key}");
        story
            .api
            .annotate_of("Namespace", "", namespace, &key, *text)
            .unwrap();
    }
    story.settle();
}

fn office() -> Vec<(&'static str, Option<&'static str>)> {
    vec![("hours", Some("Mon-Fri 09:00-19:00"))]
}

fn patches(story: &Sandbox) -> usize {
    let lines = story.api.requests();
    lines.iter().filter(|line| line.verb == "patch").count()
}

fn state_of(story: &Sandbox, kind: &str, name: &str) -> Option<String> {
    let object = story.api.get(kind, "dev", name).unwrap();
    let state = &object["metadata"]["labels"]["dayshift/state"];
    state.as_str().map(str::to_owned)
}

#[test]
fn everything_in_it_follows_the_schedule_of_a_namespace() {
    let story = Sandbox::at("2026-11-20 12:00 UTC");
    story.apply(deployment("web").replicas(3));
    story.apply(stateful_set("db").replicas(2));
    story.apply(cron_job("report"));
    annotate(&story, "dev", &office());
    for (kind, name) in [
        ("Deployment", "web"),
        ("StatefulSet", "db"),
        ("CronJob", "report"),
    ] {
        assert_eq!(state_of(&story, kind, name).as_deref(), Some("adopted"));
    }
    // And what comes later.
    story.apply(deployment("late").replicas(4));
    assert_eq!(patches(&story), 4, "one adoption each");
    story.sleep_until("19:00");
    assert_eq!((story.replicas("web"), story.replicas("late")), (0, 0));
    let report = story.api.get("CronJob", "dev", "report").unwrap();
    assert_eq!(report["spec"]["suspend"], true);
    story.sleep_until("2026-11-23 09:00");
    assert_eq!((story.replicas("web"), story.replicas("late")), (3, 4));
    assert_eq!(
        patches(&story),
        4 + 2 * 4,
        "one request for each transition"
    );
}

#[test]
fn what_stands_on_the_object_wins_key_by_key_and_the_schedule_as_a_whole() {
    let story = Sandbox::at("2026-11-20 12:00 UTC");
    story.apply(deployment("own").replicas(3).stop("13:00"));
    story.apply(
        deployment("zoned")
            .replicas(3)
            .annotation("timezone", "Asia/Tokyo"),
    );
    story.apply(deployment("out").replicas(3).annotation("exclude", "true"));
    let texts = [
        ("hours", Some("Mon-Fri 09:00-14:00")),
        ("stop-replicas", Some("1")),
        ("timezone", Some("Europe/Berlin")),
    ];
    annotate(&story, "dev", &texts);
    // 13:00 in Berlin is 12:00 UTC, which has just gone by.
    story.sleep_until("12:59");
    assert_eq!(story.replicas("own"), 3);
    story.sleep_until("13:00");
    assert_eq!(story.replicas("own"), 3, "its own time is of Berlin by now");
    story.sleep_until("2026-11-21 12:00");
    assert_eq!(story.replicas("own"), 1, "one is left by the Namespace");
    // 14:00 in Tokyo is 05:00 UTC.
    story.sleep_until("2026-11-23 04:59");
    assert_eq!(story.replicas("zoned"), 3);
    story.sleep_until("2026-11-23 05:00");
    assert_eq!(story.replicas("zoned"), 1);
    assert_eq!(
        (story.replicas("out"), story.label("out", "state")),
        (3, None)
    );
}

#[test]
fn an_edit_of_the_namespace_is_an_edit_of_what_inherits_it_and_of_nothing_else() {
    let story = Sandbox::at("2026-11-20 12:00 UTC");
    story.api.namespace("other");
    story.apply(deployment("web").replicas(3));
    story.apply(deployment("own").replicas(3).hours("08:00-20:00"));
    story.apply(
        deployment("far")
            .namespace("other")
            .replicas(3)
            .hours("08:00-20:00"),
    );
    annotate(&story, "dev", &office());
    let before = patches(&story);
    annotate(&story, "dev", &[("hours", Some("Mon-Fri 09:00-11:00"))]);
    assert_eq!(patches(&story) - before, 1, "of `web` alone");
    assert_eq!(story.replicas("web"), 3, "it never acts backwards");
    assert_eq!(story.events("web"), ["ScheduleChanged"]);
    // Counts and overrides are no edit.
    annotate(&story, "dev", &[("replicas", Some("2")), ("jitter", None)]);
    assert_eq!(patches(&story) - before, 1);
    story.sleep_until("2026-11-23 11:00");
    assert_eq!(story.replicas("web"), 0);
    story.sleep_until("2026-11-24 09:00");
    assert_eq!(story.replicas("web"), 2);
    // Taken away at night, it scales nothing and keeps the count.
    story.sleep_until("12:00");
    let texts = [("hours", None), ("replicas", None)];
    annotate(&story, "dev", &texts);
    assert_eq!(
        (story.replicas("web"), story.label("web", "state")),
        (0, None)
    );
    assert_eq!(story.label("web", "saved-replicas").as_deref(), Some("2"));
    assert_eq!(story.replicas("own"), 2, "it inherits `replicas`");
}

#[test]
fn a_bad_namespace_is_told_once_and_what_inherits_it_stays_as_it_is() {
    let story = Sandbox::at("2026-11-20 12:00 UTC");
    for name in ["web", "api", "db"] {
        story.apply(deployment(name).replicas(3));
    }
    story.apply(deployment("own").replicas(3).hours("08:00-19:00"));
    annotate(&story, "dev", &office());
    let before = patches(&story);
    annotate(&story, "dev", &[("hours", Some("Mon-Fri 9-19"))]);
    assert_eq!(patches(&story), before, "nothing is written to the objects");
    assert_eq!(story.events("dev"), ["InvalidSchedule"]);
    let events = story.api.list("Event");
    let told = events.iter().find(|it| it["regarding"]["name"] == "dev");
    let told = told.unwrap();
    assert_eq!(told["regarding"]["kind"], "Namespace");
    assert_eq!(told["type"], "Warning");
    let note = told["note"].as_str().unwrap();
    assert!(
        note.starts_with("dayshift/hours on the Namespace: "),
        "{note}"
    );
    story.pass(Duration::from_secs(2));
    assert!(story.metrics().contains("dayshift_invalid_namespaces 1\n"));
    // The others go on.
    story.sleep_until("19:30");
    assert_eq!((story.replicas("own"), story.replicas("web")), (0, 3));
    assert_eq!(story.error("web"), None);
    // Put right to the same schedule it resumes and catches up.
    annotate(&story, "dev", &office());
    assert_eq!(story.replicas("web"), 0);
    story.pass(Duration::from_secs(2));
    assert!(story.metrics().contains("dayshift_invalid_namespaces 0\n"));
}

#[test]
fn a_bad_key_concerns_only_what_inherits_it() {
    let story = Sandbox::at("2026-11-20 12:00 UTC");
    story.apply(
        deployment("zoned")
            .replicas(3)
            .hours("09:00-19:00")
            .annotation("timezone", "UTC"),
    );
    story.apply(deployment("plain").replicas(3).hours("09:00-19:00"));
    annotate(
        &story,
        "dev",
        &[("timezone", Some("Mars/Olympus")), ("strat", Some("09:00"))],
    );
    assert_eq!(story.events("dev").len(), 2, "one for each edit");
    story.sleep_until("19:00");
    assert_eq!(story.replicas("zoned"), 0);
    assert_eq!(story.replicas("plain"), 3, "which zone is not known");
}

#[test]
fn an_override_of_a_namespace_holds_for_all_in_it_and_one_of_an_object_wins() {
    let story = Sandbox::at("2026-11-20 12:00 UTC");
    story.apply(deployment("web").replicas(3));
    story.apply(deployment("own").replicas(3).hours("08:00-19:00"));
    story.apply(
        deployment("plain")
            .replicas(3)
            .annotation("exclude", "true"),
    );
    story.apply(
        deployment("woken")
            .replicas(3)
            .annotation("wake-until", "2026-11-20 20:00"),
    );
    annotate(&story, "dev", &office());
    annotate(&story, "dev", &[("sleep-until", Some("2026-11-20 15:00"))]);
    let counts =
        |story: &Sandbox| ["web", "own", "plain", "woken"].map(|name| story.replicas(name));
    assert_eq!(counts(&story), [0, 0, 3, 3]);
    assert_eq!(story.label("web", "state").as_deref(), Some("slept"));
    story.sleep_until("15:00");
    assert_eq!(counts(&story), [3, 3, 3, 3]);
    let namespace = story.api.get("Namespace", "", "dev").unwrap();
    let texts = &namespace["metadata"]["annotations"];
    assert_eq!(
        texts["dayshift/sleep-until"], "2026-11-20 15:00",
        "it is left there"
    );
    // A pause of the Namespace, and a word against it.
    annotate(&story, "dev", &[("pause", Some("true"))]);
    story
        .api
        .annotate("dev", "own", "dayshift/pause", Some("false"))
        .unwrap();
    story.sleep_until("19:00");
    assert_eq!(counts(&story), [3, 0, 3, 3]);
    story.sleep_until("20:00");
    assert_eq!(
        counts(&story),
        [3, 0, 3, 3],
        "the wake is over, and it is paused"
    );
    assert_eq!(story.label("woken", "state").as_deref(), Some("paused"));
    annotate(&story, "dev", &[("pause", None)]);
    story.sleep_until("2026-11-23 19:00");
    assert_eq!(counts(&story), [0, 0, 3, 0]);
}

#[test]
fn a_thousand_objects_are_adopted_without_delay_to_anybody_else() {
    let story = Sandbox::at("2026-11-20 18:59 UTC");
    story.api.namespace("other");
    story.apply(
        deployment("far")
            .namespace("other")
            .replicas(3)
            .stop("19:00"),
    );
    for number in 0..1000 {
        let manifest: Value = deployment(&format!("web-{number}")).replicas(2).into();
        story.api.apply(manifest).unwrap();
    }
    story.settle();
    let before = patches(&story);
    story.sleep_until("18:59:59");
    annotate(&story, "dev", &[("hours", Some("Mon-Fri 09:00-19:30"))]);
    story.sleep_until("19:00");
    let far = story.api.replicas("other", "far").unwrap();
    assert_eq!(far, 0);
    let stopped = story.api.requests();
    let stopped = stopped.iter().find(|line| {
        line.verb == "patch"
            && line.namespace == "other"
            && line.at >= story.utc("2026-11-20 19:00")
    });
    let late = stopped.unwrap().at - story.utc("2026-11-20 19:00");
    assert!(late.num_milliseconds() < 50, "{late}");
    story.sleep_until("19:29");
    assert_eq!(patches(&story) - before, 1000 + 1, "one write each");
    for number in [0, 500, 999] {
        let name = format!("web-{number}");
        assert_eq!(story.label(&name, "state").as_deref(), Some("adopted"));
        assert_eq!(story.replicas(&name), 2);
    }
    story.sleep_until("19:31");
    assert_eq!(story.replicas("web-999"), 0);
}

/// Two scalers of which one has not seen the edit yet: each takes the schedule of the other for an
/// edit, until both have seen it, or thrice.
#[test]
fn two_scalers_that_see_different_versions_for_a_while_converge() {
    let mut story = Sandbox::at("2026-11-20 12:00 UTC");
    story.apply(deployment("web").replicas(3));
    annotate(&story, "dev", &office());
    story.start_scaler(Settings::default());
    // The second one's watch of Namespaces fails from now on.
    story.api.on_request(|line| {
        let is_it = line.resource == "namespaces" && line.who == "scaler-1";
        is_it.then(|| Fault::Answer(Status::internal("away")))
    });
    story.api.close_watches();
    story.pass(Duration::from_secs(1));
    let before = patches(&story);
    annotate(&story, "dev", &[("hours", Some("Mon-Fri 09:00-18:00"))]);
    story.pass(Duration::from_secs(600));
    let fought = patches(&story) - before;
    assert!(fought <= 8, "{fought} writes");
    story.api.serve_well();
    story.api.close_watches();
    story.sleep_until("18:00");
    assert_eq!(story.replicas("web"), 0);
    let settled = patches(&story);
    story.sleep_until("18:59");
    assert_eq!(patches(&story), settled);
}

#[test]
fn nothing_is_done_before_the_namespaces_are_known() {
    let mut story = Sandbox::empty_at("2026-11-20 12:00 UTC");
    story.apply(deployment("web").replicas(3));
    annotate(&story, "dev", &office());
    story.start_scaler(Settings::default());
    story.sleep_until("19:00");
    assert_eq!(story.replicas("web"), 0);
    story.kill_scalers();
    // The next one hears of the Namespaces late.
    story
        .api
        .on_request(|line| (line.resource == "namespaces").then_some(Fault::Hang));
    story.start_scaler(Settings::default());
    story.pass(Duration::from_secs(5));
    assert_eq!(story.label("web", "state").as_deref(), Some("stopped"));
    story.api.serve_well();
    story.api.close_watches();
    story.sleep_until("2026-11-23 09:00");
    assert_eq!(story.replicas("web"), 3);
}

/// A cluster whose RBAC has no rule for Namespaces: what may inherit is left alone, and told.
#[test]
fn where_namespaces_cannot_be_read_what_depends_on_them_is_left_alone() {
    let (_guard, log) = logged();
    let mut story = Sandbox::empty_at("2026-11-20 12:00 UTC");
    story.apply(deployment("web").replicas(3));
    story.apply(deployment("own").replicas(3).hours("09:00-19:00"));
    story.apply(deployment("mixed").replicas(3).hours("09:00-14:00"));
    annotate(
        &story,
        "dev",
        &[
            ("hours", Some("09:00-20:00")),
            ("timezone", Some("Asia/Tokyo")),
        ],
    );
    story.apply(
        deployment("own")
            .replicas(3)
            .hours("09:00-19:00")
            .annotation("timezone", "UTC"),
    );
    story.start_scaler(Settings::default());
    story.pass(Duration::from_secs(60));
    story.kill_scalers();
    let forbidden = Fault::Answer(Status::forbidden("", "namespaces", "", "no rule"));
    story
        .api
        .on_request(move |line| (line.resource == "namespaces").then(|| forbidden.clone()));
    story.start_scaler(Settings::default());
    story.sleep_until("2026-11-21 12:00");
    assert_eq!(story.replicas("own"), 3, "it has all it needs");
    assert_eq!(
        story.label("own", "next").as_deref(),
        Some("2026-11-21T19.00.00Z")
    );
    for name in ["web", "mixed"] {
        assert_eq!(story.replicas(name), 3, "{name}");
        assert_eq!(
            story.label(name, "state").as_deref(),
            Some("adopted"),
            "{name}"
        );
        assert!(story.events(name).is_empty(), "{name}");
    }
    assert_eq!(
        story.telemetry.unwatched(),
        ["cannot watch namespaces: forbidden"]
    );
    assert_eq!(story.telemetry.ready(), Ok(()));
    let text = fs::read_to_string(log.path()).unwrap();
    let told = text
        .lines()
        .filter(|line| line.contains("Namespaces cannot be read"));
    assert_eq!(told.count(), 1);
    // Once they may be read again everything goes on.
    story.api.serve_well();
    story.sleep_until("2026-11-23 12:00");
    assert_eq!(story.replicas("web"), 0, "it is 21:00 in Tokyo");
}

#[test]
fn without_namespace_defaults_nothing_is_asked_of_namespaces() {
    let mut story = Sandbox::empty_at("2026-11-20 12:00 UTC");
    story.apply(deployment("web").replicas(3));
    annotate(&story, "dev", &office());
    story.start_scaler(Settings {
        scope: Scope {
            namespace_defaults: false,
            ..Scope::default()
        },
        ..Settings::default()
    });
    story.sleep_until("19:00");
    assert_eq!((story.replicas("web"), patches(&story)), (3, 0));
    let asked = story.api.requests();
    assert!(
        asked
            .iter()
            .all(|line| line.resource != "namespaces" || line.verb == "patch")
    );
}

#[test]
fn a_namespace_that_is_being_deleted_takes_nothing_back() {
    let story = Sandbox::at("2026-11-20 12:00 UTC");
    let mut held: Value = deployment("web").replicas(3).into();
    held["metadata"]["finalizers"] = serde_json::json!(["example.com/hold"]);
    story.api.apply(held).unwrap();
    annotate(&story, "dev", &office());
    story.sleep_until("19:00");
    let before = patches(&story);
    story.api.delete_of("Namespace", "", "dev").unwrap();
    story.sleep_until("2026-11-23 09:00");
    assert_eq!(patches(&story), before, "what goes is never patched");
    assert!(story.telemetry.ready().is_ok());
}

#[test]
fn a_dry_run_inherits_too_and_writes_nothing() {
    let (_guard, log) = logged();
    let mut story = Sandbox::empty_at("2026-11-20 12:00 UTC");
    story.apply(deployment("web").replicas(3));
    annotate(&story, "dev", &office());
    story.start_scaler(Settings {
        dry_run: true,
        ..Settings::default()
    });
    story.sleep_until("19:01");
    assert_eq!(patches(&story), 0);
    let text = fs::read_to_string(log.path()).unwrap();
    assert!(text.contains("would"), "{text}");
    assert!(
        text.lines()
            .any(|it| it.contains("stop") && it.contains("dev/web")),
        "{text}"
    );
}

/// An object moves between inheriting and a schedule of its own, and keeps its count.
#[test]
fn an_object_may_move_between_its_own_schedule_and_that_of_its_namespace() {
    let story = Sandbox::at("2026-11-20 12:00 UTC");
    story.apply(deployment("web").replicas(3));
    annotate(&story, "dev", &office());
    story.sleep_until("19:00");
    story.annotate("web", "hours", Some("Mon-Fri 08:00-19:00"));
    assert_eq!(
        (story.replicas("web"), saved(&story)),
        (0, Some("3".to_owned()))
    );
    story.annotate("web", "hours", None);
    assert_eq!(
        (story.replicas("web"), saved(&story)),
        (0, Some("3".to_owned()))
    );
    assert_eq!(
        story.label("web", "next").as_deref(),
        Some("2026-11-23T09.00.00Z")
    );
    story.annotate("web", "exclude", Some("true"));
    assert_eq!(
        (story.replicas("web"), story.label("web", "state")),
        (0, None)
    );
    assert_eq!(
        saved(&story),
        Some("3".to_owned()),
        "it can be brought back"
    );
    story.annotate("web", "exclude", None);
    story.sleep_until("2026-11-23 09:00");
    assert_eq!(story.replicas("web"), 3);
}

fn saved(story: &Sandbox) -> Option<String> {
    story.label("web", "saved-replicas")
}

fn by_default(scope: Scope) -> Settings {
    let hours = [(Key::Hours, "Mon-Fri 09:00-19:00".to_owned())];
    Settings {
        default_schedule: Some(Annotations::of(hours).into()),
        own_pod: Some(OwnPod {
            namespace: "ops".to_owned(),
            name: "dayshift-6c8f7d9b5-x2x4z".to_owned(),
        }),
        scope,
        ..Settings::default()
    }
}

/// Most users of other tools run theirs so: everything in these namespaces sleeps at night.
#[test]
fn a_default_schedule_takes_in_what_has_none_and_says_what_that_is() {
    let (_guard, log) = logged();
    let mut story = Sandbox::empty_at("2026-11-20 12:00 UTC");
    for namespace in ["team", "ops", "kube-system", "far"] {
        story.api.namespace(namespace);
    }
    story.apply(deployment("plain").replicas(3));
    story.apply(deployment("own").replicas(3).hours("08:00-22:00"));
    story.apply(deployment("out").replicas(3).annotation("exclude", "true"));
    for namespace in ["team", "ops", "kube-system", "far"] {
        story.apply(deployment("web").namespace(namespace).replicas(2));
    }
    annotate(&story, "team", &[("hours", Some("08:00-20:00"))]);
    let namespaces = ["dev", "team", "ops", "kube-system"].map(str::to_owned);
    story.start_scaler(by_default(Scope {
        namespaces: namespaces.into(),
        ..Scope::default()
    }));
    let text = fs::read_to_string(log.path()).unwrap();
    let said = text
        .lines()
        .find(|line| line.contains("by the default schedule"));
    let said = said.unwrap();
    assert!(said.contains("by the default schedule: dev (1)"), "{said}");
    assert!(said.contains("objects=1 namespaces=1"), "{said}");
    story.apply(deployment("late").replicas(4));
    let count = |namespace: &str, name: &str| story.api.replicas(namespace, name).unwrap();
    let all = || {
        let dev = ["plain", "own", "out", "late"].map(|name| count("dev", name));
        let web = ["team", "ops", "kube-system", "far"].map(|it| count(it, "web"));
        (dev, web)
    };
    story.sleep_until("19:00");
    assert_eq!(all(), ([0, 3, 3, 0], [2, 2, 2, 2]));
    story.sleep_until("20:00");
    assert_eq!(all(), ([0, 3, 3, 0], [0, 2, 2, 2]), "its Namespace's own");
    story.sleep_until("2026-11-23 09:00");
    assert_eq!(all(), ([3, 3, 3, 4], [2, 2, 2, 2]));
}

#[test]
fn another_default_schedule_is_an_edit() {
    let mut story = Sandbox::empty_at("2026-11-20 12:00 UTC");
    story.apply(deployment("web").replicas(3));
    let scope = || Scope {
        namespaces: vec!["dev".to_owned()],
        ..Scope::default()
    };
    story.start_scaler(by_default(scope()));
    story.sleep_until("19:00");
    assert_eq!(story.replicas("web"), 0);
    story.stop_scalers();
    let hours = [(Key::Hours, "Mon-Fri 09:00-21:00".to_owned())];
    story.start_scaler(Settings {
        default_schedule: Some(Annotations::of(hours).into()),
        ..by_default(scope())
    });
    story.sleep_until("19:30");
    assert_eq!(story.replicas("web"), 0, "nothing acts backwards");
    assert_eq!(saved(&story).as_deref(), Some("3"));
    story.sleep_until("2026-11-23 09:00");
    assert_eq!(story.replicas("web"), 3);
}

/// What a namespace's labels say bounds everything, and may change.
#[test]
fn a_namespace_selector_bounds_the_scope() {
    let mut story = Sandbox::empty_at("2026-11-20 12:00 UTC");
    story.api.namespace("other");
    let label = |namespace: &str, text: Option<&str>| {
        let patch = serde_json::json!({"metadata": {"labels": {"env": text}}});
        story.api.merge("Namespace", "", namespace, &patch).unwrap();
    };
    label("dev", Some("dev"));
    story.apply(deployment("web").replicas(3));
    story.apply(deployment("own").replicas(3).hours("09:00-18:00"));
    story.apply(
        deployment("own")
            .namespace("other")
            .replicas(3)
            .hours("09:00-18:00"),
    );
    story.start_scaler(by_default(Scope {
        namespace_selector: Some("env=dev".to_owned()),
        ..Scope::default()
    }));
    let count = |namespace: &str, name: &str| story.api.replicas(namespace, name).unwrap();
    let all = || {
        [
            count("dev", "web"),
            count("dev", "own"),
            count("other", "own"),
        ]
    };
    story.sleep_until("19:00");
    assert_eq!(all(), [0, 0, 3]);
    // One leaves, and is forgotten without a write; another enters, and is adopted.
    let before = patches(&story);
    let label = |namespace: &str, text: Option<&str>| {
        let patch = serde_json::json!({"metadata": {"labels": {"env": text}}});
        story.api.merge("Namespace", "", namespace, &patch).unwrap();
    };
    label("dev", None);
    label("other", Some("dev"));
    story.settle();
    assert_eq!(patches(&story) - before, 1);
    story.sleep_until("2026-11-21 18:00");
    assert_eq!(all(), [0, 0, 0]);
    story.sleep_until("2026-11-23 12:00");
    assert_eq!(all(), [0, 0, 3], "what has left stays as it is");
    // Back again it goes on where it was: the start that was missed is made up for.
    label("dev", Some("dev"));
    story.settle();
    assert_eq!(all(), [3, 3, 3]);
}
