//! Stop notices on a real API server, under the shipped permissions.

use chrono::TimeDelta;

use crate::e2e::test_namespace::TestNamespace;
use crate::support::{
    ControlPlane, Parts, Scenario, Soon, deployment, eventually, scenarios, soon,
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Server;
        two_controllers_and_a_restarted_one_announce_a_stop_once,
        simultaneous_stops_are_announced_on_the_namespace,
    ]
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
    assert!(text.ends_with(&command), "{text}");
    let described = team.kubectl(&["describe", "deployment/web"]).success();
    assert!(described.contains("StopsSoon"), "{described}");
    team.run(&[]);
    team.await_replicas("web", 0);
    assert_eq!(reported(&team, "web"), [text]);
    team.assert_punctual("web", 1, stop);
    team.ends([("web", 2)]);
}

fn simultaneous_stops_are_announced_on_the_namespace(plane: &ControlPlane) {
    let mut team = TestNamespace::without_controller(plane, "notices");
    let stop = soon(14);
    for name in ["web", "api"] {
        team.create(deployment(name).replicas(3).stop(stop.text()));
    }
    team.run(&["--notice=8s"]);
    let told_at = Soon(stop.0 - TimeDelta::seconds(8));
    for name in ["web", "api"] {
        team.await_adopted(name, told_at);
    }
    let of_namespace = || {
        let message = "jsonpath={range .items[*]}{.involvedObject.kind}: {.message}{'\\n'}{end}";
        let reason = "--field-selector=reason=StopsSoon";
        let all = team
            .kubectl(&["get", "events", reason, "-o", message])
            .success();
        all.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let told_all = eventually("the Namespace has an Event", || {
        let all = of_namespace();
        (!all.is_empty()).then_some(all)
    });
    stop.assert_in_future("the stop notice is sent");
    let expected = "Namespace: dayshift stops 2 workloads at ";
    assert!(told_all[0].starts_with(expected), "{told_all:?}");
    team.await_replicas("web", 0);
    team.await_replicas("api", 0);
    assert_eq!(of_namespace(), told_all);
    team.ends([("web", 2), ("api", 2)]);
}
