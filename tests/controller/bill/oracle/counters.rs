//! The counters of a controller compared with the calendar.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_controller::{Settings, Telemetry};

use super::calendar::{Dice, MINUTE, Object};
use crate::sandbox::{Sandbox, of_deployments};

/// The hours in the counters of a namespace.
fn counted(scenario: &Sandbox, namespace: &str) -> [f64; 3] {
    let metrics = scenario.metrics();
    let of = |name: &str| {
        let sample = format!("dayshift_saved_{name}_seconds_total{{namespace=\"{namespace}\"}} ");
        let value = metrics.lines().find_map(|line| line.strip_prefix(&*sample));
        value.map_or(0.0, |it| it.parse::<f64>().unwrap()) / 3600.0
    };
    let [replicas, cores, bytes] = ["replica", "cpu_core", "memory_byte"].map(of);
    [replicas, cores, bytes / f64::from(1 << 30)]
}

fn settings() -> Settings {
    Settings {
        per_namespace_metrics: true,
        ..of_deployments()
    }
}

fn text(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M").to_string()
}

/// Nine days with five Deployments that users change manually.
fn nine_days(seed: u64, begin: &str) {
    let mut dice = Dice(seed);
    let mut scenario = Sandbox::empty_at(&format!("{begin} UTC"));
    let begin = scenario.utc(begin);
    let mut objects: Vec<_> = (0..5).map(|it| Object::any(it, &mut dice, begin)).collect();
    for object in &objects {
        scenario.api.namespace(&object.namespace);
        object.apply(&scenario);
    }
    scenario.start_controller(settings());
    // The savings that earlier controllers have counted: their counters end with them.
    let mut before = vec![[0.0; 3]; objects.len()];
    let mut down_until = None;
    let mut reached = begin;
    let mut reach = |scenario: &Sandbox, at: DateTime<Utc>| {
        if at > reached {
            scenario.sleep_until(&text(at));
            reached = at;
        }
    };
    for minute in 0..9 * 24 * 60 {
        let at = begin + MINUTE * minute;
        if down_until.is_some_and(|until| at >= until) {
            down_until = None;
            reach(&scenario, at);
            scenario.telemetry = Arc::new(Telemetry::new(at));
            scenario.start_controller(settings());
        }
        for object in &mut objects {
            if down_until.is_none() {
                object.minute(at);
            } else {
                object.should_run(at);
            }
        }
        // Boundaries are at multiples of a quarter of an hour; these times never are.
        if minute % 15 == 7 && down_until.is_none() {
            if dice.roll(250) == 0 {
                reach(&scenario, at);
                for (before, object) in before.iter_mut().zip(&mut objects) {
                    for (before, now) in
                        before.iter_mut().zip(counted(&scenario, &object.namespace))
                    {
                        *before += now;
                    }
                    object.changes += 1;
                }
                scenario.kill_controllers();
                let hours = TimeDelta::hours(1 + i64::try_from(dice.roll(20)).unwrap());
                down_until = Some(at + hours);
            }
            for object in &mut objects {
                if down_until.is_none() && dice.roll(60) == 0 {
                    reach(&scenario, at);
                    object.act(&scenario, &mut dice, at);
                }
            }
        }
        if down_until.is_none() {
            objects.iter_mut().for_each(Object::pass);
        }
        if minute % 1440 == 1439 && down_until.is_none() {
            reach(&scenario, at + MINUTE);
            for (object, before) in objects.iter().zip(&before) {
                let now = counted(&scenario, &object.namespace);
                for ((expected, before), now) in object.hours.iter().zip(before).zip(now) {
                    // The sandbox lets 50 ms pass after each change; 8 replicas with 2 GiB each are
                    // the maximum.
                    let slack = 16.0 * 0.1 * f64::from(object.changes + 1) / 3600.0;
                    let found = before + now;
                    assert!(
                        (found - expected).abs() <= slack,
                        "seed {seed}, {}, {at}: {found} of {expected} ({:?}, {} saved {:?}, {} {})",
                        object.namespace,
                        object.mode,
                        object.count,
                        object.saved,
                        object.window.text(),
                        object.zone,
                    );
                }
            }
        }
    }
    let total: f64 = objects.iter().map(|it| it.hours[0]).sum();
    assert!(
        total > 100.0,
        "seed {seed} saves too little to test anything: {total}"
    );
}

#[test]
fn savings_counters_match_an_independent_calendar() {
    for seed in 0..4 {
        nine_days(seed, "2026-11-16 00:00");
    }
}

#[test]
fn savings_counters_match_an_independent_calendar_across_clock_changes() {
    for (seed, begin) in [
        (10, "2026-10-21 03:00"), // Europe on the 25th
        (11, "2026-10-28 12:00"), // America on the 1st
        (12, "2026-03-25 00:00"), // Europe on the 29th
        (13, "2026-03-31 00:00"), // Lord Howe on the 5th, by half an hour
    ] {
        nine_days(seed, begin);
    }
}
