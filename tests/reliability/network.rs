//! Faults of the network between dayshift and the API server.

use serde_json::json;

use crate::figures::Figures;
use crate::firewall::Firewall;
use crate::rows::{Row, rows};
use crate::scene::{Place, Scene, Size};

pub(crate) fn rows() -> Vec<Row> {
    rows![
        Plane::Shared;
        "latency of 2 s" => latency,
        "10 kB/s" => bandwidth,
        "connections reset in the middle of an answer" => resets,
        "no connection ever answers, for 22 s" => no_answer,
        "half-open connections, since 2 s before the stop" => half_open,
        "half-open connections, since 12 s before the stop" => half_open_while_idle,
    ]
}

fn latency(place: &Place<'_>) -> Figures {
    let mut scene = Scene::begin(place, "latency", place.scale.usual());
    scene.suffer(
        |scene| {
            let latency = json!({"latency": 2000});
            scene.proxy.disturb_requests("latency", &latency);
        },
        |scene| scene.proxy.heal(),
    );
    scene.ends().was_held_up(2)
}

fn bandwidth(place: &Place<'_>) -> Figures {
    let mut scene = Scene::begin(place, "bandwidth", place.scale.usual());
    scene.suffer(
        |scene| {
            scene.proxy.disturb("bandwidth", &json!({"rate": 10}));
            scene
                .proxy
                .disturb_requests("bandwidth", &json!({"rate": 10}));
        },
        |scene| scene.proxy.heal(),
    );
    scene.ends().was_held_up(2)
}

/// Each connection is closed after 20 kB: about seven answers after its handshake.
fn resets(place: &Place<'_>) -> Figures {
    let mut scene = Scene::begin(place, "resets", place.scale.usual());
    scene.suffer(
        |scene| {
            scene.proxy.disturb("limit_data", &json!({"bytes": 20_000}));
        },
        |scene| scene.proxy.heal(),
    );
    scene.ends().was_not_ready()
}

fn no_answer(place: &Place<'_>) -> Figures {
    let mut scene = Scene::begin(place, "no-answer", place.scale.usual());
    scene.suffer(
        |scene| {
            scene.proxy.disturb("timeout", &json!({"timeout": 0}));
            scene
                .proxy
                .disturb_requests("timeout", &json!({"timeout": 0}));
        },
        |scene| scene.proxy.heal(),
    );
    let usual = place.scale.usual();
    scene
        .ends()
        .was_not_ready()
        .was_held_up(usual.fault)
        .within(10.0)
}

fn half_open(place: &Place<'_>) -> Figures {
    // It notices within ten seconds, eight of them after the stop.
    forgotten(place, "half-open", 2).within(10.0)
}

/// It has noticed before anything is due.
fn half_open_while_idle(place: &Place<'_>) -> Figures {
    forgotten(place, "idle", 12).within(3.0)
}

/// Connections that a firewall forgets so many seconds before the stop. The fault has no end: the
/// seconds count from the stop.
fn forgotten(place: &Place<'_>, name: &str, lead: i64) -> Figures {
    let usual = place.scale.usual();
    let size = Size {
        lead: usual.lead + lead,
        fault: 0,
        recovery: 16,
        ..usual
    };
    let mut scene = Scene::set(place, name, size);
    let firewall = Firewall::before(place.plane.url());
    let namespace = scene.namespace.name();
    let kubeconfig = place
        .plane
        .kubeconfig_via(&firewall.url(), namespace, "dayshift");
    scene.connect_with(kubeconfig);
    scene.run();
    scene.await_adopted_before(lead);
    scene.suffer_from(lead, |_| firewall.forget(), |_| ());
    scene.ends().was_not_ready()
}
