//! Faults of the network between dayshift and the API server.

use serde_json::json;

use crate::reliability::harness::blackhole_proxy::BlackholeProxy;
use crate::reliability::harness::cases::{Case, cases, nightly};
use crate::reliability::harness::figures::Figures;
use crate::reliability::harness::gate::Gate;
use crate::reliability::harness::scenario::{Place, Scenario, Size};
use crate::support::{deployment, too_late};

pub(crate) fn cases() -> Vec<Case> {
    [
        cases![
            Plane::Shared;
            "latency of 2 s" => latency,
            "10 kB/s" => bandwidth,
            "connections reset in the middle of a response" => resets,
            "no response on any connection, for 22 s" => no_answer,
            "half-open connections, since 2 s before the stop" => half_open,
        ],
        nightly(cases![
            Plane::Shared;
            "half-open connections, since 12 s before the stop" => half_open_while_idle,
            "watches cut, and no response to new watches, for 22 s" => unanswered_watches,
        ]),
    ]
    .concat()
}

fn latency(place: &Place<'_>) -> Figures {
    let mut scenario = Scenario::begin(place, "latency", place.profile.usual());
    scenario.run_fault(
        |scenario| {
            let latency = json!({"latency": 2000});
            scenario.proxy.disturb_requests("latency", &latency);
        },
        |scenario| scenario.proxy.heal(),
    );
    scenario.ends().was_held_up(2)
}

fn bandwidth(place: &Place<'_>) -> Figures {
    let mut scenario = Scenario::begin(place, "bandwidth", place.profile.usual());
    scenario.run_fault(
        |scenario| {
            scenario.proxy.disturb("bandwidth", &json!({"rate": 10}));
            scenario
                .proxy
                .disturb_requests("bandwidth", &json!({"rate": 10}));
        },
        |scenario| scenario.proxy.heal(),
    );
    scenario.ends().was_held_up(2)
}

/// Each connection is closed after 20 kB: about seven responses after its handshake.
fn resets(place: &Place<'_>) -> Figures {
    let mut scenario = Scenario::begin(place, "resets", place.profile.usual());
    scenario.run_fault(
        |scenario| {
            scenario
                .proxy
                .disturb("limit_data", &json!({"bytes": 20_000}));
        },
        |scenario| scenario.proxy.heal(),
    );
    scenario.ends().was_not_ready()
}

fn no_answer(place: &Place<'_>) -> Figures {
    let mut scenario = Scenario::begin(place, "no-answer", place.profile.usual());
    scenario.run_fault(
        |scenario| {
            scenario.proxy.disturb("timeout", &json!({"timeout": 0}));
            scenario
                .proxy
                .disturb_requests("timeout", &json!({"timeout": 0}));
        },
        |scenario| scenario.proxy.heal(),
    );
    let usual = place.profile.usual();
    scenario
        .ends()
        .was_not_ready()
        .was_held_up(usual.fault)
        .within(10.0)
}

fn half_open(place: &Place<'_>) -> Figures {
    // The controller detects the fault within ten seconds, eight of them after the stop.
    forgotten(place, "half-open", 2).within(10.0)
}

/// The controller detects the fault before the stop is due.
fn half_open_while_idle(place: &Place<'_>) -> Figures {
    forgotten(place, "idle", 12).within(3.0)
}

/// A firewall drops the connections this many seconds before the stop, permanently. The results are counted
/// from the stop.
fn forgotten(place: &Place<'_>, name: &str, lead: i64) -> Figures {
    let usual = place.profile.usual();
    let size = Size {
        lead: usual.lead + lead,
        fault: 0,
        recovery: 16,
        ..usual
    };
    let mut scenario = Scenario::set(place, name, size);
    let firewall = BlackholeProxy::before(place.plane.url());
    scenario.connect_via(&firewall.url());
    scenario.run();
    scenario.await_adopted_before(lead);
    scenario.run_fault_from(lead, |_| firewall.forget(), |_| ());
    scenario.ends().was_not_ready()
}

/// Due work continues. The server never responds to the reopened watches, so the controller must open them
/// again by itself.
fn unanswered_watches(place: &Place<'_>) -> Figures {
    let size = Size {
        fault: 22,
        recovery: ASKED_AGAIN + 6,
        ..place.profile.usual()
    };
    let mut scenario = Scenario::set(place, "unanswered", size);
    let gate = Gate::before(&scenario.namespace);
    let firewall = BlackholeProxy::before(&gate.url());
    scenario.connect_via(&firewall.url());
    scenario.run();
    scenario.await_adopted();
    scenario.run_fault(
        |scenario| {
            gate.swallow("watch=true");
            firewall.close();
            let late = deployment("late").replicas(2).stop("00:00");
            scenario.namespace.create(late);
        },
        |scenario| {
            // The watches of three kinds and of the Namespace, each opened twice.
            assert!(
                gate.open() > 4,
                "the controller does not reopen its watches"
            );
            let state = scenario.namespace.label("late", "dayshift/state");
            assert_eq!(state, None, "the watch was answered");
        },
    );
    let end = scenario.fault_ends.plus(ASKED_AGAIN);
    end.before("workloads created during the fault are adopted", || {
        scenario.namespace.label("late", "dayshift/state")
    });
    let stop = scenario.stop;
    let figures = scenario.ends().was_not_ready().within(ASKED_AGAIN as f64);
    let late = figures.late.unwrap();
    if late > 3.0 {
        too_late("all were stopped", stop.0, late, 3.0);
    }
    figures
}

/// The maximum time until a watch is reopened, in seconds.
const ASKED_AGAIN: i64 = 30;
