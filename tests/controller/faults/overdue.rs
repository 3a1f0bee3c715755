//! What is overdue, as the metrics have it at the time of a scrape.

use dayshift::controller::{Scope, Settings};
use kube_in_memory::{Fault, Status};
use serde_json::json;

use crate::sandbox::{Sandbox, deployment};

fn overdue(story: &Sandbox) -> String {
    let text = story.metrics();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("dayshift_overdue_workloads "));
    line.unwrap().to_owned()
}

#[test]
fn what_is_refused_is_overdue_until_it_is_done() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    for name in ["api", "web"] {
        story.apply(deployment(name).replicas(3).hours("Mon-Fri 09:00-19:00"));
    }
    story.sleep_until("18:59");
    assert_eq!(overdue(&story), "0");
    let no = || Fault::Answer(Status::new(403, "Forbidden", "no"));
    story
        .api
        .on_request(move |line| (line.verb == "patch" && line.name == "web").then(no));
    story.sleep_until("19:00:09");
    assert_eq!(overdue(&story), "0", "within the grace");
    story.sleep_until("19:00:11");
    assert_eq!(overdue(&story), "1");
    story.annotate("api", "wake-until", Some("2026-11-20 22:00"));
    assert_eq!(overdue(&story), "1", "one that was obeyed");
    story.api.serve_well();
    story.sleep_until("19:30");
    assert_eq!((story.replicas("web"), &*overdue(&story)), (0, "0"));
}

/// The controller is stopped, as one that hangs: what it counted last still tells.
#[test]
fn who_hangs_is_seen_to_be_late() {
    let mut story = Sandbox::empty_at("2026-11-20 18:00 UTC");
    story.start_scaler(Settings::default());
    story.apply(deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00"));
    story.sleep_until("18:59");
    story.kill_scalers();
    story.sleep_until("19:00:11");
    assert_eq!(overdue(&story), "1");
}

/// A count that is to be put back has no time at which it was due.
#[test]
fn what_enforce_cannot_put_back_is_not_overdue() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    let web = deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00");
    story.apply(web.annotation("enforce", "true"));
    story.sleep_until("19:30");
    assert_eq!(story.replicas("web"), 0);
    let no = || Fault::Answer(Status::new(403, "Forbidden", "no"));
    story
        .api
        .on_request(move |line| (line.verb == "patch").then(no));
    story.scale("web", 2);
    story.sleep_until("19:40");
    assert_eq!((story.replicas("web"), &*overdue(&story)), (2, "0"));
}

/// What is in a namespace that the selector matches no more is left to others.
#[test]
fn what_has_left_the_scope_is_not_overdue() {
    let mut story = Sandbox::empty_at("2026-11-20 18:00 UTC");
    let label = |story: &Sandbox, text: Option<&str>| {
        let patch = json!({"metadata": {"labels": {"env": text}}});
        story.api.merge("Namespace", "", "dev", &patch).unwrap();
    };
    label(&story, Some("dev"));
    story.apply(deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00"));
    story.start_scaler(Settings {
        scope: Scope {
            namespace_selector: Some("env=dev".to_owned()),
            ..Scope::default()
        },
        ..Settings::default()
    });
    story.sleep_until("18:30");
    assert_eq!(story.label("web", "state").as_deref(), Some("adopted"));
    label(&story, None);
    story.sleep_until("19:01");
    assert_eq!((story.replicas("web"), &*overdue(&story)), (3, "0"));
    label(&story, Some("dev"));
    story.sleep_until("19:02");
    assert_eq!((story.replicas("web"), &*overdue(&story)), (0, "0"));
}

/// More of them than are looked at again in one second.
#[test]
fn each_of_many_is_overdue_until_it_is_done() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    for number in 0..600 {
        let web = deployment(&format!("web-{number}"));
        story.apply(web.replicas(1).hours("Mon-Fri 09:00-19:00"));
    }
    story.sleep_until("18:59");
    let no = || Fault::Answer(Status::new(403, "Forbidden", "no"));
    story
        .api
        .on_request(move |line| (line.verb == "patch").then(no));
    for time in ["19:00:11", "19:00:30", "19:02"] {
        story.sleep_until(time);
        assert_eq!(overdue(&story), "600", "{time}");
    }
    story.api.serve_well();
    story.sleep_until("20:00");
    assert_eq!((story.replicas("web-599"), &*overdue(&story)), (0, "0"));
}

/// Its time passes, and nothing is asked for it any more.
#[test]
fn what_is_being_deleted_is_not_overdue() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    for (name, hours) in [("web", "09:00-19:00"), ("api", "09:00-19:01")] {
        story.apply(deployment(name).replicas(3).hours(hours));
    }
    let finalizers = json!({"metadata": {"finalizers": ["example.com/wait"]}});
    let api = &story.api;
    api.merge("Deployment", "dev", "web", &finalizers).unwrap();
    story.sleep_until("18:30");
    api.delete("dev", "web").unwrap();
    story.sleep_until("19:01:30");
    assert_eq!((story.replicas("api"), story.replicas("web")), (0, 3));
    assert_eq!(overdue(&story), "0");
}
