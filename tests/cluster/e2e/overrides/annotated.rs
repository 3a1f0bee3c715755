//! Overrides that users set with plain `kubectl annotate`, and `enforce`.

use crate::e2e::test_namespace::TestNamespace;
use crate::support::{
    ControlPlane, DeploymentBuilder, Parts, Scenario, Soon, deployment, nightly, scenarios, soon,
};

pub(crate) fn scenarios() -> Vec<Scenario> {
    nightly(scenarios![
        Parts::Server;
        sleep_and_wake_end_on_time,
        pause_skips_the_stop,
        enforce_reverts_a_raised_count,
        override_survives_restart_and_ends_during_downtime,
    ])
}

/// A workload with a boundary an hour ago: a start or a stop.
fn since_an_hour(name: &str, now: Soon, runs: bool) -> DeploymentBuilder {
    let (ago, later) = (now.plus(-3600).text(), now.plus(36_000).text());
    let web = deployment(name).replicas(3);
    if runs {
        web.start(ago).stop(later)
    } else {
        web.stop(ago).start(later)
    }
}

fn annotate(team: &TestNamespace<'_>, name: &str, text: &str) {
    let text = format!("dayshift/{text}");
    team.kubectl(&["annotate", "deployment", name, &text, "--overwrite"])
        .success();
}

fn saved(team: &TestNamespace<'_>, name: &str) -> Option<String> {
    team.label(name, "dayshift/saved-replicas")
}

fn sleep_and_wake_end_on_time(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "overrides");
    let end = soon(9);
    team.create(since_an_hour("day", end, true));
    team.create(since_an_hour("night", end, false));
    for name in ["day", "night"] {
        team.await_adopted(name, end);
    }
    annotate(&team, "day", &format!("sleep-until={}", end.until()));
    annotate(&team, "night", &format!("wake-until={}", end.until()));
    team.await_state("day", "slept", end);
    team.await_state("night", "woken", end);
    team.assert_replicas("day", 0, end);
    team.scale("night", 2);
    let next = team.label("day", "dayshift/next");
    end.assert_in_future("both workloads are checked during the override");
    assert_eq!(next, Some(end.until().replace(':', ".")));

    team.await_label("day", "dayshift/state", "running");
    team.await_label("night", "dayshift/state", "stopped");
    assert_eq!((team.replicas("day"), team.replicas("night")), (3, 0));
    assert_eq!(saved(&team, "night").as_deref(), Some("2"));
    for (name, key) in [("day", "sleep-until"), ("night", "wake-until")] {
        let left = team.annotation(name, &format!("dayshift/{key}"));
        assert_eq!(left, None, "{name}");
        team.assert_punctual(name, 2, end);
    }
    team.await_event("day", "Slept");
    team.await_event("night", "Woken");
    team.ends([("day", 3), ("night", 3)]);
}

fn pause_skips_the_stop(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "pause");
    let stop = soon(8);
    let end = stop.plus(4);
    for (name, pause) in [("timed", end.until()), ("held", "true".to_owned())] {
        team.create(deployment(name).replicas(3).stop(stop.text()));
        team.await_adopted(name, stop);
        annotate(&team, name, &format!("pause={pause}"));
        team.await_state(name, "paused", stop);
    }
    stop.plus(1).wait();
    for name in ["timed", "held"] {
        team.assert_replicas(name, 3, end);
    }
    annotate(&team, "held", "pause-");
    for name in ["timed", "held"] {
        team.await_label(name, "dayshift/state", "adopted");
        team.await_event(name, "Resumed");
        assert_eq!(team.replicas(name), 3, "{name}");
        assert_eq!(team.annotation(name, "dayshift/pause"), None, "{name}");
    }
    team.assert_punctual("timed", 2, end);
    team.ends([("timed", 3), ("held", 3)]);
}

fn enforce_reverts_a_raised_count(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "enforce");
    let stop = soon(5);
    let web = deployment("web").replicas(3).stop(stop.text());
    team.create(web.annotation("dayshift/enforce", "true"));
    team.await_adopted("web", stop);
    team.await_label("web", "dayshift/state", "stopped");
    for (count, kept) in [(1, "3"), (5, "5")] {
        team.scale("web", count);
        team.await_replicas("web", 0);
        assert_eq!(saved(&team, "web").as_deref(), Some(kept));
    }
    team.await_event("web", "Enforced");
    team.ends([("web", 4)]);
}

fn override_survives_restart_and_ends_during_downtime(plane: &ControlPlane) {
    let mut team = TestNamespace::new(plane, "override-away");
    let end = soon(12);
    team.create(since_an_hour("web", end, false));
    team.await_adopted("web", end);
    annotate(&team, "web", &format!("wake-until={}", end.until()));
    team.await_state("web", "woken", end);
    team.kill_controllers();
    team.scale("web", 4);
    team.run(&[]);
    soon(1).wait();
    team.assert_replicas("web", 4, end);
    team.stop_controllers();
    end.assert_in_future("the controller is stopped");
    end.plus(1).wait();
    assert_eq!(
        team.replicas("web"),
        4,
        "without a controller the override does not end"
    );

    team.run(&[]);
    team.await_replicas("web", 0);
    assert_eq!(saved(&team, "web").as_deref(), Some("4"));
    assert_eq!(team.annotation("web", "dayshift/wake-until"), None);
    team.ends([("web", 3)]);
}
