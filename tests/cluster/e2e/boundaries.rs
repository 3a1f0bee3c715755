//! The effects of a schedule on a Deployment at its boundaries.

use crate::e2e::test_namespace::TestNamespace;
use crate::support::{ControlPlane, Parts, Scenario, deployment, scenarios, soon};

pub(crate) fn scenarios() -> Vec<Scenario> {
    [
        scenarios![Parts::Server; start_sets_replicas_on_time_with_one_patch],
        scenarios![Parts::OlderServer; lists_in_pages_on_a_server_without_streaming],
        scenarios![Parts::Pods; stop_removes_pods_and_start_creates_them],
    ]
    .concat()
}

fn start_sets_replicas_on_time_with_one_patch(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "start");
    let start = soon(4);
    team.create(
        deployment("web")
            .start(start.text())
            .annotation("dayshift/replicas", "2"),
    );
    team.await_adopted("web", start);
    team.assert_replicas("web", 1, start);

    team.await_replicas("web", 2);
    team.assert_punctual("web", 1, start);
    assert_contains!(team.await_event("web", "Started"), "scaled from 1 to 2");
    team.ends([("web", 2)]);
}

fn lists_in_pages_on_a_server_without_streaming(plane: &ControlPlane) {
    let mut team = TestNamespace::without_controller(plane, "older");
    for number in 0..101 {
        team.create(deployment(&format!("plain-{number}")));
    }
    let stop = soon(6);
    team.create(deployment("web").replicas(3).stop(stop.text()));
    team.run(&[]);
    team.await_adopted("web", stop);
    team.await_replicas("web", 0);
    team.assert_punctual("web", 1, stop);
    let pages = team
        .requests()
        .iter()
        .filter(|it| it.verb == "list" && it.resource == "deployments" && !it.is_small_list())
        .count();
    assert_eq!(pages, 2);
    team.ends([("web", 2)]);
}

fn stop_removes_pods_and_start_creates_them(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "pods");
    let stop = soon(8);
    let start = stop.plus(8);
    team.create(
        deployment("web")
            .replicas(3)
            .stop(stop.text())
            .start(start.text()),
    );
    team.await_pods("web", 3);
    team.await_adopted("web", stop);

    team.await_stopped("web", start);
    team.await_pods("web", 0);
    let saved = team.label("web", "dayshift/saved-replicas");
    start.assert_in_future("the pods are gone");
    assert_eq!(saved.as_deref(), Some("3"));

    team.await_pods("web", 3);
    assert_eq!(team.label("web", "dayshift/saved-replicas"), None);
    team.assert_punctual("web", 1, stop);
    team.assert_punctual("web", 2, start);
    team.ends([("web", 3)]);
}
