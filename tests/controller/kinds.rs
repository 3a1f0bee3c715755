//! Workloads of several kinds beside each other.

use kube_in_memory::{Fault, RequestLine, Status};
use serde_json::Value;

use crate::sandbox::{Sandbox, deployment, stateful_set};

fn count(story: &Sandbox, kind: &str) -> (i64, Option<String>) {
    let object = story.api.get(kind, "dev", "db").unwrap();
    let saved = &object["metadata"]["labels"]["dayshift/saved-replicas"];
    let count = object["spec"]["replicas"].as_i64().unwrap();
    (count, saved.as_str().map(str::to_owned))
}

#[test]
fn two_of_one_name_and_different_kinds_go_by_their_own_schedules() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("db").replicas(3).stop("19:00").start("21:00"));
    story.apply(stateful_set("db").replicas(5).stop("20:00").start("22:00"));
    let saved = |text: &str| Some(text.to_owned());
    for (time, deployment, stateful) in [
        ("18:59", (3, None), (5, None)),
        ("19:00", (0, saved("3")), (5, None)),
        ("20:00", (0, saved("3")), (0, saved("5"))),
        ("21:00", (3, None), (0, saved("5"))),
        ("22:00", (3, None), (5, None)),
    ] {
        story.sleep_until(time);
        assert_eq!(count(&story, "Deployment"), deployment, "{time}");
        assert_eq!(count(&story, "StatefulSet"), stateful, "{time}");
        // The server keeps an Event for an hour.
        let events = story.api.list("Event");
        let at = |event: &Value| event["eventTime"].as_str().unwrap().to_owned();
        let newest = events.iter().max_by_key(|event| at(event));
        let kind = newest.map(|event| event["regarding"]["kind"].as_str().unwrap().to_owned());
        let expected = match time {
            "18:59" => None,
            "19:00" | "21:00" => Some("Deployment".to_owned()),
            _ => Some("StatefulSet".to_owned()),
        };
        assert_eq!(kind, expected, "{time}");
    }
}

/// What one kind's watch or permission lacks holds up nothing of the other's.
#[test]
fn the_trouble_of_one_kind_is_its_own() {
    let forbidden = Status::forbidden("apps", "statefulsets", "", "no");
    for fault in [Fault::Hang, Fault::Answer(forbidden)] {
        let mut story = Sandbox::empty_at("2026-11-20 18:00 UTC");
        let shown = format!("{fault:?}");
        let fails =
            move |line: &RequestLine| (line.resource == "statefulsets").then(|| fault.clone());
        story.api.on_request(fails);
        story.start_scaler(dayshift::controller::Settings::default());
        story.apply(deployment("db").replicas(3).stop("19:00"));
        story.apply(stateful_set("db").replicas(5).stop("19:00"));
        story.sleep_until("19:00");
        assert_eq!(count(&story, "Deployment").0, 0, "{shown}");
        assert_eq!(count(&story, "StatefulSet").0, 5, "{shown}");
    }
}
