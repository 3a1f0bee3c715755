//! The replicas after a start, after manual changes.

use crate::e2e::test_namespace::TestNamespace;
use crate::support::{ControlPlane, Parts, Scenario, deployment, nightly, scenarios, soon};

pub(crate) fn scenarios() -> Vec<Scenario> {
    nightly(scenarios![
        Parts::Server;
        start_restores_the_saved_count_unless_the_current_count_is_larger,
        manual_zero_after_a_start_is_kept,
        first_start_changes_a_zero_from_the_manifest_to_one,
        saved_count_survives_pause_edit_and_removed_schedule,
        manual_zero_survives_a_pause,
    ])
}

fn start_restores_the_saved_count_unless_the_current_count_is_larger(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "hands");
    let stop = soon(5);
    let start = stop.plus(5);
    for name in ["untouched", "one", "six"] {
        team.create(
            deployment(name)
                .replicas(5)
                .stop(stop.text())
                .start(start.text()),
        );
    }
    for name in ["untouched", "one", "six"] {
        team.await_stopped(name, start);
    }
    team.scale("one", 1);
    team.scale("six", 6);
    soon(1).wait();
    team.assert_replicas("one", 1, start);
    team.assert_replicas("six", 6, start);

    for (name, count) in [("untouched", 5), ("one", 5), ("six", 6)] {
        team.await_label(name, "dayshift/state", "running");
        assert_eq!(team.replicas(name), count, "{name}");
        assert_eq!(team.label(name, "dayshift/saved-replicas"), None, "{name}");
        team.assert_punctual(name, 2, start);
    }
    team.ends([("untouched", 3), ("one", 3), ("six", 3)]);
}

fn manual_zero_after_a_start_is_kept(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "off");
    let day_one = soon(4);
    let (night, day_two) = (day_one.plus(3), day_one.plus(6));
    team.create(
        deployment("web")
            .replicas(2)
            .start(format!("{}; {}", day_one.text(), day_two.text()))
            .stop(night.text()),
    );
    team.await_adopted("web", day_one);
    team.await_label("web", "dayshift/state", "running");
    team.scale("web", 0);
    night.assert_in_future("the workload is scaled to 0 while it should run");

    team.await_stopped("web", day_two);
    let saved = team.label("web", "dayshift/saved-replicas");
    day_two.assert_in_future("the labels are checked while it is stopped");
    assert_eq!(
        saved.as_deref(),
        Some("0"),
        "the next start must restore a manual 0"
    );
    team.await_label("web", "dayshift/state", "running");
    team.assert_punctual("web", 3, day_two);
    assert_eq!(team.replicas("web"), 0);
    team.ends([("web", 4)]);
}

fn first_start_changes_a_zero_from_the_manifest_to_one(plane: &ControlPlane) {
    let team = TestNamespace::new(plane, "zero");
    let start = soon(5);
    let off = deployment("web").replicas(0).start(start.text());
    team.kubectl_with(&["apply"], &off.manifest()).success();
    team.await_adopted("web", start);
    team.assert_replicas("web", 0, start);

    team.await_replicas("web", 1);
    team.assert_punctual("web", 1, start);
    team.ends([("web", 2)]);
}

fn annotate(team: &TestNamespace<'_>, name: &str, text: &str) {
    let text = format!("dayshift/{text}");
    team.kubectl(&["annotate", "deployment", name, &text, "--overwrite"])
        .success();
}

fn saved_count_survives_pause_edit_and_removed_schedule(plane: &ControlPlane) {
    let mut team = TestNamespace::new(plane, "outlives");
    let stop = soon(5);
    let start = stop.plus(20);
    for (name, count) in [("paused", 3), ("edited", 5), ("removed", 5)] {
        let web = deployment(name).replicas(count).stop(stop.text());
        team.create(web.start(start.text()));
    }
    for name in ["paused", "edited", "removed"] {
        team.await_stopped(name, start);
        team.scale(name, 1);
    }
    annotate(&team, "paused", "pause=true");
    annotate(&team, "edited", &format!("start={}", start.plus(1).text()));
    for key in ["dayshift/start-", "dayshift/stop-"] {
        team.kubectl(&["annotate", "deployment", "removed", key])
            .success();
    }
    team.await_state("paused", "paused", start);
    team.await_state("edited", "adopted", start);
    let reported = team.await_event("removed", "ScheduleRemoved");
    assert!(reported.contains("To restore it to 5, run"), "{reported}");
    team.kill_controllers();
    team.run(&[]);
    annotate(&team, "paused", "pause-");
    team.await_adopted("paused", start);
    for (name, count) in [("paused", "3"), ("edited", "5"), ("removed", "5")] {
        let saved = team.label(name, "dayshift/saved-replicas");
        assert_eq!(saved.as_deref(), Some(count), "{name}");
        team.assert_replicas(name, 1, start);
    }

    team.await_replicas("paused", 3);
    team.await_replicas("edited", 5);
    assert_eq!(
        team.replicas("removed"),
        1,
        "a workload without a schedule is not started"
    );
    // `start` and `stop` are removed one after the other: the first change is an edit, the second one removes
    // the schedule.
    team.ends([("paused", 5), ("edited", 4), ("removed", 4)]);
}

fn manual_zero_survives_a_pause(plane: &ControlPlane) {
    let mut team = TestNamespace::new(plane, "outlives-off");
    let day_one = soon(4);
    let (night, day_two) = (day_one.plus(14), day_one.plus(16));
    team.create(
        deployment("web")
            .replicas(2)
            .start(format!("{}; {}", day_one.text(), day_two.text()))
            .stop(night.text()),
    );
    team.await_adopted("web", day_one);
    team.await_state("web", "running", night);
    team.scale("web", 0);
    annotate(&team, "web", "pause=true");
    team.await_state("web", "paused", night);
    team.kill_controllers();
    team.run(&[]);
    annotate(&team, "web", "pause-");
    team.await_adopted("web", night);

    team.await_stopped("web", day_two);
    team.await_label("web", "dayshift/state", "running");
    assert_eq!(team.replicas("web"), 0);
    team.assert_punctual("web", 5, day_two);
    team.ends([("web", 6)]);
}
