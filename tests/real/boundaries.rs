//! What the schedule does to a Deployment at its boundaries.

use crate::support::{ControlPlane, Dayshift, Parts, Story, deployment, soon, stories};

pub(crate) fn stories() -> Vec<Story> {
    [
        stories![
            Parts::Server;
            a_start_raises_one_to_two_at_its_instant_with_one_write,
        ],
        stories![Parts::Pods; pods_go_at_the_stop_and_come_back_at_the_start],
    ]
    .concat()
}

fn a_start_raises_one_to_two_at_its_instant_with_one_write(plane: &ControlPlane) {
    let team = plane.namespace("start");
    let mut dayshift = Dayshift::run(plane, &["run", "-n", team.name()]);
    dayshift.wait_ready();
    let start = soon(5);
    team.create(
        deployment("web")
            .start(start.text())
            .annotation("dayshift/replicas", "2"),
    );
    team.await_label("web", "dayshift/state", "adopted");
    assert_eq!(team.replicas("web"), 1, "a first sight scales nothing");

    team.await_replicas("web", 2);
    let writes = team.writes("web");
    assert_eq!(writes.len(), 2, "one adoption and one start: {writes:?}");
    let late = writes[1].received - start.micros();
    assert!((0..1_000_000).contains(&late), "{late} µs late");
    assert!(dayshift.stop().success());
}

fn pods_go_at_the_stop_and_come_back_at_the_start(plane: &ControlPlane) {
    let team = plane.namespace("pods");
    let mut dayshift = Dayshift::run(plane, &["run", "-n", team.name()]);
    dayshift.wait_ready();
    let stop = soon(5);
    let start = stop.plus(4);
    team.create(
        deployment("web")
            .replicas(3)
            .stop(stop.text())
            .start(start.text()),
    );
    team.await_pods("web", 3);

    stop.wait();
    team.await_pods("web", 0);
    assert_eq!(
        team.label("web", "dayshift/saved-replicas").as_deref(),
        Some("3")
    );

    team.await_pods("web", 3);
    assert!(start < soon(0), "not before its time");
    assert_eq!(team.label("web", "dayshift/saved-replicas"), None);
}
