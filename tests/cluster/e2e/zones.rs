//! Local times: the zone of an object, the zone of the flag, and a changed flag.

use chrono_tz::{America::New_York, Asia::Kathmandu, Asia::Tokyo};

use crate::e2e::test_namespace::TestNamespace;
use crate::support::{ControlPlane, Parts, Scenario, deployment, nightly, scenarios, soon};

pub(crate) fn scenarios() -> Vec<Scenario> {
    nightly(scenarios![
        Parts::Server;
        time_zone_flag_applies_without_own_zone,
        changed_time_zone_flag_does_not_apply_past_boundaries,
    ])
}

fn time_zone_flag_applies_without_own_zone(plane: &ControlPlane) {
    let mut team = TestNamespace::without_controller(plane, "zones");
    team.run(&["--timezone", "Asia/Tokyo"]);
    let stop = soon(4);
    let own = deployment("own").replicas(3);
    team.create(
        own.stop(stop.text_in(New_York))
            .timezone("America/New_York"),
    );
    team.create(deployment("flag").replicas(3).stop(stop.text_in(Tokyo)));
    let utc = deployment("utc").replicas(3).stop(stop.text());
    team.create(utc.timezone("UTC"));
    // Without the flag, nine hours from now.
    team.create(deployment("later").replicas(3).stop(stop.text()));

    for name in ["own", "flag", "utc", "later"] {
        team.await_adopted(name, stop);
    }
    for name in ["own", "flag", "utc"] {
        team.await_replicas(name, 0);
        team.assert_punctual(name, 1, stop);
    }
    assert!(
        team.await_event("own", "Stopped").contains(" E"),
        "EST or EDT"
    );
    assert!(team.await_event("flag", "Stopped").contains(" JST"));
    assert_eq!(team.replicas("later"), 3);
    team.ends([("own", 2), ("flag", 2), ("utc", 2), ("later", 1)]);
}

/// The value contains two times: the current minute in Kathmandu, which was 3 h 15 min ago in Tokyo and
/// passes again while no controller runs, and one in the future.
fn changed_time_zone_flag_does_not_apply_past_boundaries(plane: &ControlPlane) {
    let mut team = TestNamespace::without_controller(plane, "flag");
    team.run(&["--timezone", "Asia/Tokyo"]);
    let gone_by = soon(4);
    let to_come = gone_by.plus(6);
    team.create(deployment("web").replicas(3).stop(format!(
        "{}; {}",
        gone_by.text_in(Kathmandu),
        to_come.text_in(Kathmandu)
    )));
    team.await_adopted("web", gone_by);
    let next_in_tokyo = team.label("web", "dayshift/next").unwrap();
    team.stop_controllers();
    gone_by.assert_in_future("the controller is stopped");
    gone_by.plus(1).wait();

    team.run(&["--timezone", "Asia/Kathmandu"]);
    let next = to_come.0.format("%Y-%m-%dT%H.%M.%SZ").to_string();
    assert_ne!(next, next_in_tokyo);
    to_come.before("the next boundary is known", || {
        (team.label("web", "dayshift/next").as_ref() == Some(&next)).then_some(())
    });
    team.assert_replicas("web", 3, to_come);

    team.await_replicas("web", 0);
    team.assert_punctual("web", 2, to_come);
    team.ends([("web", 3)]);
}
