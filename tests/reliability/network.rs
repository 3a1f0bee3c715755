//! Faults of the network between dayshift and the API server.

use serde_json::json;

use crate::figures::Figures;
use crate::rows::{Row, rows};
use crate::scene::{Place, Scene};

pub(crate) fn rows() -> Vec<Row> {
    rows![
        Plane::Shared;
        "latency of 2 s" => latency,
        "10 kB/s" => bandwidth,
        "connections reset in the middle of an answer" => resets,
        "half-open connections, new ones too" => no_answer,
    ]
}

fn latency(place: &Place<'_>) -> Figures {
    let mut scene = Scene::begin(place, "latency", place.scale.usual());
    scene.suffer(
        |scene| scene.proxy.disturb("latency", &json!({"latency": 2000})),
        |scene| scene.proxy.heal(),
    );
    scene.ends()
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
    scene.ends()
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
    scene.ends()
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
    scene.ends()
}
