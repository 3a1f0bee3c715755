//! `plan` compared with the calendar.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_manifest::plan::{Period, Planner};
use dayshift_schedule::Zone;
use dayshift_workload::{
    Footprint, Inputs, Key, Kind, Prefix, Replicas, ResourceRequests, WorkloadRef,
};

use super::calendar::{Dice, MINUTE, Object};

#[test]
fn plan_matches_an_independent_calendar() {
    let mut dice = Dice(99);
    for round in 0..200 {
        let from: DateTime<Utc> = "2026-01-01T00:00:00Z".parse().unwrap();
        let from = from + TimeDelta::hours(i64::try_from(dice.roll(365 * 24)).unwrap());
        let until = from + TimeDelta::days(1 + i64::try_from(dice.roll(30)).unwrap());
        let object = Object::any(0, &mut dice, from);
        let slept = (round % 3 == 0).then(|| from + TimeDelta::minutes(7 + 15 * 50));
        let (_, cpu, _, memory) = object.requests;
        let mut expected = [0.0; 3];
        let mut at = from;
        // A schedule never acts on the past: a running workload continues until the first boundary.
        let mut is_followed = slept.is_some();
        let mut was_open = object.window.is_open(at, object.zone);
        while at < until {
            let is_open = object.window.is_open(at, object.zone);
            is_followed |= is_open != was_open;
            was_open = is_open;
            if is_followed && (!is_open || slept.is_some_and(|until| at < until)) {
                let held = f64::from(object.count.saturating_sub(object.least));
                for (expected, each) in expected.iter_mut().zip([1.0, cpu, memory]) {
                    *expected += held * each / 60.0;
                }
            }
            at += MINUTE;
        }
        let mut inputs = Inputs::default()
            .with(Key::Hours, &object.window.text())
            .with(Key::Timezone, object.zone.name())
            .with(Key::StopReplicas, &object.least.to_string());
        if let Some(until) = slept {
            inputs = inputs.with(Key::SleepUntil, &until.to_rfc3339());
        }
        let planner = Planner {
            period: Period::new(from, until).unwrap(),
            context: Zone::UTC.into(),
            prefix: Prefix::default(),
        };
        let web = WorkloadRef {
            kind: Kind::DEPLOYMENT,
            namespace: "dev".into(),
            name: "web".into(),
            uid: "".into(),
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let footprint = Footprint {
            replicas: 1,
            requests: ResourceRequests {
                cpu_nanos: (cpu * 1e9) as u64,
                memory_bytes: (memory * f64::from(1 << 30)) as u64,
            },
        };
        let plan = planner.plan(&web, &inputs, &[]).unwrap();
        let mut plan = plan.running_with(Replicas::new(object.count));
        plan.footprint = footprint;
        let saved = plan.saved().unwrap();
        let found = [
            saved.replica_hours,
            saved.cpu_core_hours,
            saved.memory_gib_hours,
        ];
        for (found, expected) in found.into_iter().zip(expected) {
            assert!(
                (found - expected).abs() < 1e-6,
                "{} {} from {from} until {until}: {found} of {expected}",
                object.window.text(),
                object.zone,
            );
        }
    }
}
