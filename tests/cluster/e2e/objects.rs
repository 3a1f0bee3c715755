//! kubectl and the state of a Deployment: replaced labels, and the printed command that restores the count.

use crate::e2e::test_namespace::TestNamespace;
use crate::support::{ControlPlane, Parts, Scenario, deployment, nightly, scenarios, soon};

pub(crate) fn scenarios() -> Vec<Scenario> {
    nightly(scenarios![
        Parts::Server;
        labels_are_restored_after_kubectl_replace,
        removed_schedule_event_contains_the_restore_command,
    ])
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
