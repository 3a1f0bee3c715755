//! What the controller publishes of every object.

use dayshift::{
    controller::{ObjectSnapshot, WorkStatus},
    schedule::Action,
    workload::{Key, Kind, Override, Phase, Replicas},
};
use kube_in_memory::{Fault, Status};

use crate::sandbox::{Sandbox, deployment, stateful_set};

const OFFICE: &str = "Mon-Fri 09:00-19:00";

fn find<'a>(objects: &'a [ObjectSnapshot], name: &str) -> &'a ObjectSnapshot {
    objects.iter().find(|it| &*it.object.name == name).unwrap()
}

#[test]
fn a_snapshot_has_every_object_as_it_stands() {
    let story = Sandbox::at("2026-11-20 18:00 Asia/Tokyo");
    story.apply(deployment("plain"));
    for name in ["web", "night", "stuck"] {
        let office = deployment(name).replicas(3).hours(OFFICE);
        story.apply(office.annotation("timezone", "Asia/Tokyo"));
    }
    story.apply(deployment("bad").stop("Mon-Fry 19:00"));
    story.apply(stateful_set("db").replicas(2).stop("23:00"));
    story.annotate("night", "wake-until", Some("2026-11-20 21:00"));
    story.api.on_admission(|write| {
        let refusal = || Status::forbidden("apps", "deployments", "stuck", "not this one");
        (write.name == "stuck").then(refusal)
    });
    story.sleep_until("19:30");

    let snapshot = story.snapshot();
    assert_eq!(snapshot.at, story.utc("2026-11-20 19:30:00") + SETTLED);
    let names: Vec<_> = snapshot.objects.iter().map(|it| &*it.object.name).collect();
    assert_eq!(names, ["bad", "night", "stuck", "web", "db"]);
    let monday = story.utc("2026-11-23 09:00");

    let web = find(&snapshot.objects, "web");
    assert_eq!((web.object.kind, web.replicas.get()), (Kind::Deployment, 0));
    assert_eq!(web.state.phase, Some(Phase::Stopped));
    assert_eq!(web.state.saved.map(Replicas::get), Some(3));
    assert_eq!(web.inputs.text(Key::Hours), Some(OFFICE));
    let next = web.next_after(snapshot.at).unwrap();
    assert_eq!((next.at, next.action), (monday, Action::Start));
    assert_eq!((web.work, web.failures), (WorkStatus::Idle, 0));
    assert!(web.error().is_none() && web.active_override(snapshot.at).is_none());

    let night = find(&snapshot.objects, "night");
    assert_eq!(
        (night.replicas.get(), night.state.phase),
        (3, Some(Phase::Woken))
    );
    let until = story.utc("2026-11-20 21:00");
    let held = night.active_override(snapshot.at);
    assert_eq!(held, Some(Override::Wake(until)));

    let stuck = find(&snapshot.objects, "stuck");
    assert_eq!(
        (stuck.replicas.get(), stuck.work),
        (3, WorkStatus::BackingOff)
    );
    assert!(stuck.failures > 1, "{}", stuck.failures);

    let bad = find(&snapshot.objects, "bad");
    let error = bad.error().unwrap().to_string();
    assert!(error.contains("`Fry` is not a day"), "{error}");
    assert!(bad.schedule().is_none() && bad.next_after(snapshot.at).is_none());

    let db = find(&snapshot.objects, "db");
    assert_eq!(
        (db.object.kind, db.state.phase),
        (Kind::StatefulSet, Some(Phase::Adopted))
    );
}

/// A story lets 50 ms pass for whatever can be done at once.
const SETTLED: chrono::TimeDelta = chrono::TimeDelta::milliseconds(50);

#[test]
fn a_snapshot_says_why_work_waits() {
    let mut story = Sandbox::empty_at("2026-11-20 18:00 UTC");
    for name in ["asks", "waits"] {
        story.apply(deployment(name).replicas(3).stop("19:00"));
    }
    story.apply(stateful_set("hangs").replicas(3).stop("19:00"));
    let why = r#"User "x" cannot patch resource "deployments" in API group "apps""#;
    let forbidden = Status::forbidden("apps", "deployments", "asks", why);
    story
        .api
        .on_request(move |line| match (line.verb, line.resource.as_str()) {
            ("patch", "deployments") => Some(Fault::Answer(forbidden.clone())),
            ("patch", _) => Some(Fault::Hang),
            _ => None,
        });
    story.start_scaler(dayshift::controller::Settings::default());
    let objects = story.snapshot().objects;
    let mut work: Vec<_> = objects.iter().map(|it| it.work.to_string()).collect();
    work[..2].sort();
    assert_eq!(
        work,
        [
            "waiting for permission",
            "waiting to be tried again",
            "waiting for the API server's answer"
        ]
    );
    story.kill_scalers();
    assert!(story.has_no_snapshot(), "nobody answers");
}

#[test]
fn asking_changes_nothing() {
    let asked = Sandbox::at("2026-11-20 18:00 UTC");
    let silent = Sandbox::at("2026-11-20 18:00 UTC");
    for story in [&asked, &silent] {
        story.apply(deployment("web").replicas(3).stop("19:00"));
    }
    for minute in 1..60 {
        for story in [&asked, &silent] {
            story.sleep_until(&format!("18:{minute:02}"));
        }
        assert_eq!(asked.snapshot().objects.len(), 1);
    }
    for story in [&asked, &silent] {
        story.sleep_until("19:30");
    }
    assert_eq!(asked.patched("web"), silent.patched("web"));
    assert_eq!(asked.api.requests().len(), silent.api.requests().len());
}
