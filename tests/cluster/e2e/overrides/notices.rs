//! Stop notices on a real API server, under the shipped permissions.

use crate::e2e::test_namespace::TestNamespace;
use crate::support::{ControlPlane, Parts, Scenario, deployment, scenarios, soon};

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![Parts::Server; two_controllers_and_a_restarted_one_announce_a_stop_once]
}

/// The texts of the Events with a reason about an object of that name.
fn reported(team: &TestNamespace<'_>, name: &str) -> Vec<String> {
    let events = team.events(name).into_iter();
    let reported = events.filter(|(reason, _)| reason == "StopsSoon");
    reported.map(|(_, text)| text).collect()
}

fn two_controllers_and_a_restarted_one_announce_a_stop_once(plane: &ControlPlane) {
    let mut team = TestNamespace::new(plane, "notice");
    team.run(&[]);
    let stop = soon(14);
    let web = deployment("web").replicas(3).stop(stop.text());
    team.create(web.annotation("dayshift/notice", "10s"));
    team.await_adopted("web", stop);
    let text = team.await_event("web", "StopsSoon");
    stop.assert_in_future("the stop notice is sent");
    let command = format!("`dayshift wake deploy/web -n {} --for 2h`", team.name());
    assert_ends_with!(text, command);
    let described = team.kubectl(&["describe", "deployment/web"]).success();
    assert_contains!(described, "StopsSoon");
    team.run(&[]);
    team.await_replicas("web", 0);
    assert_eq!(reported(&team, "web"), [text]);
    team.assert_punctual("web", 1, stop);
    team.ends([("web", 2)]);
}
