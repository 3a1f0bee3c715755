//! Deployments that are created, changed and deleted while dayshift runs.

use chrono::{NaiveDateTime, TimeDelta};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::e2e::test_namespace::{TestNamespace, assert_frugal};
use crate::support::{
    ControlPlane, Dayshift, Parts, Scenario, deployment, nightly, scenarios, soon,
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    nightly(scenarios![
        Parts::Server;
        edited_schedule_takes_effect_at_its_next_boundary,
        recreated_deployment_is_adopted_as_new,
        a_copy_with_its_state_in_another_namespace_is_adopted,
        labels_are_restored_after_kubectl_replace,
        removed_schedule_event_contains_the_restore_command,
        preview_is_stopped_a_minute_after_its_creation,
    ])
}

fn edited_schedule_takes_effect_at_its_next_boundary(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "edited");
    let old = soon(4);
    let new = old.plus(4);
    team.create(deployment("web").replicas(3).stop(old.text()));
    team.await_adopted("web", old);
    team.annotate("web", "dayshift/stop", &*new.text());
    assert!(
        team.await_event("web", "ScheduleChanged")
            .contains("nothing is scaled now")
    );
    old.assert_in_future("the schedule was edited");

    old.plus(1).wait();
    team.assert_replicas("web", 3, new);
    team.await_replicas("web", 0);
    team.assert_punctual("web", 2, new);
    team.ends([("web", 3)]);
}

fn recreated_deployment_is_adopted_as_new(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "again");
    let (first, second) = (soon(5), soon(9));
    team.create(deployment("web").replicas(3).stop(first.text()));
    team.create(deployment("gone").replicas(3).stop(first.text()));
    for name in ["web", "gone"] {
        team.await_adopted(name, first);
        team.delete(name);
    }
    team.create(deployment("web").replicas(2).stop(second.text()));
    team.await_adopted("web", first);

    first.plus(1).wait();
    team.assert_replicas("web", 2, second);
    team.await_replicas("web", 0);
    assert_eq!(
        team.label("web", "dayshift/saved-replicas").as_deref(),
        Some("2")
    );
    team.assert_punctual("web", 2, second);
    assert_eq!(
        team.writes("gone").len(),
        1,
        "the deleted Deployment gets no further write"
    );
    team.ends([("web", 3), ("gone", 1)]);
}

/// The controller watches all namespaces here, as in the shipped manifest, but only this scenario's
/// Deployments.
fn a_copy_with_its_state_in_another_namespace_is_adopted(plane: &ControlPlane) {
    let origin = TestNamespace::without_controller(plane, "origin");
    let copies = TestNamespace::without_controller(plane, "copy");
    let selector = format!("scenario={}", origin.name());
    let mark = plane.audit().mark();
    let mut dayshift = Dayshift::run(plane, &["run", "-l", &selector]);
    dayshift.wait_ready();
    let stop = soon(4);
    let start = stop.plus(6);
    for name in ["day", "night"] {
        origin.create(
            deployment(name)
                .replicas(3)
                .label("scenario", origin.name())
                .stop(stop.text())
                .start(start.text()),
        );
        origin.await_adopted(name, stop);
    }
    let copy = |name| {
        let original = origin.get(name);
        copies.create(Deployment {
            metadata: ObjectMeta {
                name: original.metadata.name,
                labels: original.metadata.labels,
                annotations: original.metadata.annotations,
                ..Default::default()
            },
            spec: original.spec,
            status: None,
        });
    };
    copy("day");
    assert!(
        copies
            .await_event("day", "ScheduleChanged")
            .contains("new or edited")
    );
    stop.assert_in_future("the running Deployment is copied");
    origin.await_stopped("night", start);
    copy("night");
    copies.await_adopted("night", start);
    let saved = copies.label("night", "dayshift/saved-replicas");
    start.assert_in_future("the stopped Deployment is copied");
    assert_eq!(
        saved.as_deref(),
        Some("3"),
        "the copied saved count is kept until the start"
    );

    for (team, counts) in [(&origin, [3, 3]), (&copies, [3, 2])] {
        for (name, writes) in ["day", "night"].into_iter().zip(counts) {
            team.await_replicas(name, 3);
            team.await_label(name, "dayshift/state", "running");
            team.assert_punctual(name, writes - 1, start);
        }
    }
    assert!(dayshift.stop().success());
    let mut requests = plane.audit().since(mark);
    requests.retain(|each| {
        let ours = [origin.name(), copies.name()].contains(&&*each.namespace);
        each.is_dayshift() && (ours || each.uri.contains(origin.name()))
    });
    assert_frugal(&requests, 1, plane.closed_watches(), &[]);
    let mut watches = requests.iter().filter(|each| each.verb == "watch");
    assert!(
        watches.all(|each| each.namespace.is_empty()),
        "one watch for all namespaces: {requests:#?}"
    );
    origin.ends([("day", 3), ("night", 3)]);
    copies.ends([("day", 3), ("night", 2)]);
}

/// `kubectl replace` drops every label that is not in the file.
fn labels_are_restored_after_kubectl_replace(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "replaced");
    let stop = soon(4);
    let start = stop.plus(6);
    let web = deployment("web").stop(stop.text()).start(start.text());
    team.create(web.clone().replicas(3));
    team.await_adopted("web", stop);
    team.await_stopped("web", start);
    let state = team.get("web").metadata.labels;
    team.kubectl_with(&["replace"], &web.replicas(0).manifest())
        .success();

    start.before("the labels are restored", || {
        (team.get("web").metadata.labels == state).then_some(())
    });
    team.await_replicas("web", 3);
    team.assert_punctual("web", 3, start);
    team.ends([("web", 4)]);
}

fn removed_schedule_event_contains_the_restore_command(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "removed");
    let stop = soon(4);
    let start = stop.plus(4);
    team.create(
        deployment("web")
            .replicas(3)
            .stop(stop.text())
            .start(start.text()),
    );
    team.await_adopted("web", stop);
    team.await_stopped("web", start);
    team.kubectl(&[
        "annotate",
        "deployment/web",
        "dayshift/stop-",
        "dayshift/start-",
    ])
    .success();
    let reported = team.await_event("web", "ScheduleRemoved");
    start.assert_in_future("the schedule is removed while it is stopped");
    let warnings = ["events", "--for=deployment/web", "--types=Warning"];
    assert!(
        team.kubectl(&warnings)
            .success()
            .contains("ScheduleRemoved")
    );

    start.plus(1).wait();
    assert_eq!(team.replicas("web"), 0, "nothing is scaled");
    let labels = team.get("web").metadata.labels.unwrap();
    let ours: Vec<_> = labels
        .iter()
        .filter(|(key, _)| key.starts_with("dayshift/"))
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect();
    assert_eq!(ours, [("dayshift/saved-replicas", "3")]);

    let command = reported.split('`').nth(1).expect(&reported);
    plane.shell(command).success();
    assert_eq!(team.replicas("web"), 3);
    team.ends([("web", 3)]);
}

fn preview_is_stopped_a_minute_after_its_creation(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "preview");
    let preview = deployment("web").replicas(2);
    team.create(preview.annotation("dayshift/stop-after", "1m"));
    let stopped = soon(61);
    team.await_adopted("web", soon(10));
    let time = |label: &str| {
        let text = team.label("web", &format!("dayshift/{label}"));
        let text = text.unwrap();
        let text = text.split_once("Z-").map_or(&*text, |(at, _)| at);
        let at = NaiveDateTime::parse_from_str(text.trim_end_matches('Z'), "%Y-%m-%dT%H.%M.%S");
        at.unwrap()
    };
    assert_eq!(time("next") - time("started"), TimeDelta::minutes(1));
    assert_eq!(team.replicas("web"), 2);
    stopped.wait();
    team.await_replicas("web", 0);
    assert_eq!(
        team.label("web", "dayshift/saved-replicas").as_deref(),
        Some("2")
    );
    assert_eq!(team.label("web", "dayshift/next").as_deref(), Some("never"));
    team.ends([("web", 2)]);
}
