//! Controllers that are killed or suspended, and several controllers at once.

use std::thread;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use rustix::process::Signal;
use serde_json::json;

use crate::reliability::harness::cases::{Case, cases, nightly};
use crate::reliability::harness::figures::Figures;
use crate::reliability::harness::profile::Profile;
use crate::reliability::harness::scenario::{Place, Scenario, Size};
use crate::support::{Soon, too_slow};

pub(crate) fn cases() -> Vec<Case> {
    [
        cases![
            Plane::Shared;
            "SIGKILL 20 times in a boundary of 500 workloads" => killed,
            "SIGSTOP for 30 s" => stopped,
        ],
        nightly(cases![
            Plane::Shared;
            "two controllers" => two_controllers,
            "three controllers" => three_controllers,
            "SIGKILL 20 times while timers of a team run out" => killed_while_timers_run_out,
        ]),
    ]
    .concat()
}

/// Each controller has one request in flight, and each request takes 20 ms, so that the boundary lasts longer
/// than a controller.
fn killed(place: &Place<'_>) -> Figures {
    let profile = place.profile;
    let size = Size {
        fleet: profile.pick(100, 500),
        lead: profile.pick(12, 40),
        fault: profile.pick(5, 25),
        // Each new controller needs a second or two on a busy machine until it continues.
        recovery: profile.pick(20, 25),
    };
    let mut scenario = Scenario::set(place, "killed", size);
    scenario.slow_down();
    scenario.run();
    scenario.await_adopted();
    let stop = scenario.stop.0;
    kill_repeatedly(&mut scenario, profile, size, stop);
    scenario.ends()
}

/// As [`killed`], for workloads without annotations, which the `stop-after` of their team stops a minute after
/// their creation.
fn killed_while_timers_run_out(place: &Place<'_>) -> Figures {
    let profile = place.profile;
    let size = Size {
        fleet: profile.pick(100, 300),
        lead: 65,
        fault: profile.pick(5, 25),
        recovery: profile.pick(8, 25),
    };
    let mut created = Utc::now();
    let mut scenario = Scenario::set_with(
        place,
        "killed-timers",
        size,
        |fleet, namespace, _, start| {
            let start = format!("--from-literal=start={}", start.text());
            let account = format!("--serviceaccount={}:dayshift", namespace.name());
            for arguments in [
                &[
                    "create",
                    "configmap",
                    "dayshift",
                    "--from-literal=stop-after=1m",
                    &start,
                ][..],
                &[
                    "create",
                    "role",
                    "teams",
                    "--verb=list,watch",
                    "--resource-name=dayshift",
                    "--resource=configmaps",
                ],
                &["create", "rolebinding", "teams", "--role=teams", &account],
            ] {
                namespace.kubectl(arguments).success();
            }
            created = Utc::now();
            fleet.create_unscheduled(namespace);
        },
    );
    scenario.slow_down();
    scenario.read_team_defaults();
    scenario.run();
    scenario.await_adopted();
    let first_stop = created + TimeDelta::seconds(60);
    kill_repeatedly(&mut scenario, profile, size, first_stop);
    scenario.ends()
}

/// Kills and restarts the controller from then on, while the fleet is stopped.
fn kill_repeatedly(scenario: &mut Scenario<'_>, profile: Profile, size: Size, from: DateTime<Utc>) {
    scenario.stop_probes();
    let latency = json!({"latency": 20});
    scenario.proxy.disturb_requests("latency", &latency);
    Soon(from).wait();
    let mut random = fastrand::Rng::new();
    let mut kills = 0;
    let mut last = Utc::now();
    while kills < profile.pick(4, 20) {
        thread::sleep(Duration::from_millis(random.u64(50..450)));
        scenario.note_memory();
        let mut controller = scenario.controllers.pop().unwrap();
        controller.kill();
        if scenario.look().count("stopped") < size.fleet as usize {
            (kills, last) = (kills + 1, Utc::now());
        } else {
            too_slow(&format!("{kills} kills before the end"));
        }
        scenario.begin_controller();
    }
    scenario.record_fault(from, last);
    scenario.proxy.heal();
}

fn stopped(place: &Place<'_>) -> Figures {
    let usual = place.profile.usual();
    let size = Size {
        fault: place.profile.pick(usual.fault, 28),
        ..usual
    };
    let mut scenario = Scenario::begin(place, "stopped", size);
    scenario.run_fault(
        |scenario| scenario.controllers[0].signal(Signal::STOP),
        |scenario| scenario.controllers[0].signal(Signal::CONT),
    );
    scenario.ends().was_not_ready().within(5.0)
}

fn two_controllers(place: &Place<'_>) -> Figures {
    several(place, 2)
}

fn three_controllers(place: &Place<'_>) -> Figures {
    several(place, 3)
}

fn several(place: &Place<'_>, count: usize) -> Figures {
    let mut scenario = Scenario::set(place, "several", place.profile.usual());
    for _ in 0..count {
        scenario.run();
    }
    scenario.await_adopted();
    scenario.record_fault(scenario.stop.0, scenario.stop.0);
    scenario.ends()
}
