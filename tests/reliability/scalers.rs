//! Scalers that are killed, stopped for a while, or more than one.

use std::thread;
use std::time::Duration;

use chrono::Utc;
use rustix::process::Signal;
use serde_json::json;

use crate::figures::Figures;
use crate::rows::{Row, rows};
use crate::scene::{Place, Scene, Size};
use crate::support::too_slow;

pub(crate) fn rows() -> Vec<Row> {
    rows![
        Plane::Shared;
        "SIGKILL 20 times in a boundary of 500" => killed,
        "SIGSTOP for 30 s" => stopped,
        "two scalers" => two_scalers,
        "three scalers" => three_scalers,
    ]
}

/// Each life has one request under way, and each request is 20 ms under way, so that the boundary
/// outlasts them all.
fn killed(place: &Place<'_>) -> Figures {
    let scale = place.scale;
    let size = Size {
        fleet: scale.pick(100, 500),
        lead: scale.pick(12, 40),
        fault: scale.pick(5, 25),
        recovery: scale.pick(8, 25),
    };
    let mut scene = Scene::set(place, "killed", size);
    scene.slow_down();
    scene.run();
    scene.await_adopted();
    scene.ask_no_probes();
    let latency = json!({"latency": 20});
    scene.proxy.disturb_requests("latency", &latency);
    scene.stop.wait();
    let mut random = fastrand::Rng::new();
    let mut kills = 0;
    let mut last = Utc::now();
    while kills < scale.pick(4, 20) {
        thread::sleep(Duration::from_millis(random.u64(50..450)));
        scene.note_memory();
        let mut scaler = scene.scalers.pop().unwrap();
        scaler.kill();
        if scene.look().count("stopped") < size.fleet as usize {
            (kills, last) = (kills + 1, Utc::now());
        } else {
            too_slow(&format!("{kills} kills before the end"));
        }
        scene.begin_scaler();
    }
    scene.was_from_to(scene.stop.0, last);
    scene.proxy.heal();
    scene.ends()
}

fn stopped(place: &Place<'_>) -> Figures {
    let usual = place.scale.usual();
    let size = Size {
        fault: place.scale.pick(usual.fault, 28),
        ..usual
    };
    let mut scene = Scene::begin(place, "stopped", size);
    scene.suffer(
        |scene| scene.scalers[0].signal(Signal::STOP),
        |scene| scene.scalers[0].signal(Signal::CONT),
    );
    scene.ends().was_not_ready().within(5.0)
}

fn two_scalers(place: &Place<'_>) -> Figures {
    several(place, 2)
}

fn three_scalers(place: &Place<'_>) -> Figures {
    several(place, 3)
}

fn several(place: &Place<'_>, count: usize) -> Figures {
    let mut scene = Scene::set(place, "several", place.scale.usual());
    for _ in 0..count {
        scene.run();
    }
    scene.await_adopted();
    scene.was_from_to(scene.stop.0, scene.stop.0);
    scene.ends()
}
