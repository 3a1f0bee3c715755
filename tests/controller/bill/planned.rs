//! `plan` and `sandbox` report the same savings for a week of the same file.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift::sandbox::{Simulation, Speed};
use dayshift_cluster::clock::Clock;
use dayshift_manifest::plan::{Period, Planner};
use dayshift_schedule::Zone;
use dayshift_workload::{Inputs, Key, Kind, Prefix, Replicas, WorkloadRef};
use serde_json::{Value, json};

use crate::sandbox::of_deployments;

const OFFICE: (&str, &str) = ("hours", "Mon-Fri 09:00-19:00");

type File = (u32, Vec<(&'static str, &'static str)>);

/// The savings of a controller for each file in the week from `from` on.
fn played(from: DateTime<Utc>, files: &[File]) -> Vec<f64> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let mut usages = runtime.block_on(async {
        let mut simulation = Simulation::new(Clock::simulated(from), of_deployments());
        for (at, file) in files.iter().enumerate() {
            simulation.load(&manifest(&name(at), file)).unwrap();
        }
        let (until, never) = (from + TimeDelta::days(7), std::future::pending());
        let played = simulation.play(until, Vec::new(), Speed::Max, |_| Ok(()), never);
        played.await.unwrap().finish().await.usages
    });
    usages.sort_by(|one, other| one.0.cmp(&other.0));
    let saved = usages.iter().map(|(_, it)| it.saved().replica_hours);
    saved.collect()
}

fn name(at: usize) -> String {
    format!("web-{at:03}")
}

/// The savings that `plan` reports.
fn planned(from: DateTime<Utc>, name: &str, (count, annotations): &File) -> f64 {
    let planner = Planner {
        period: Period::new(from, from + TimeDelta::days(7)).unwrap(),
        context: Zone::UTC.into(),
        prefix: Prefix::default(),
    };
    let object = WorkloadRef {
        kind: Kind::DEPLOYMENT,
        namespace: "dev".into(),
        name: name.into(),
        uid: "".into(),
    };
    let inputs = annotations
        .iter()
        .fold(Inputs::default(), |inputs, (key, text)| {
            inputs.with(Key::from_name(key).unwrap(), text)
        });
    let plan = planner.plan(&object, &inputs, &[]).unwrap();
    let plan = plan.running_with(Replicas::new(*count));
    plan.saved().unwrap().replica_hours
}

fn manifest(name: &str, (count, annotations): &File) -> Value {
    let annotations: serde_json::Map<_, _> = annotations
        .iter()
        .map(|(key, text)| (format!("dayshift/{key}"), json!(text)))
        .collect();
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"namespace": "dev", "name": name, "annotations": annotations},
        "spec": {
            "replicas": count,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "web", "image": "nginx"}]},
            },
        },
    })
}

#[test]
fn counts_no_savings_if_every_date_is_excluded() {
    let from: DateTime<Utc> = "2026-11-23T00:00:00Z".parse().unwrap();
    let shut = (3, vec![OFFICE, ("except", "2026-11-16..2026-12-06")]);
    assert!(planned(from, "web", &shut).abs() < 1e-9);
    assert!(played(from, &[shut])[0].abs() < 1e-9);
}

#[test]
fn plan_and_sandbox_report_the_same_savings_for_a_week() {
    // The workload already runs on Monday at midnight, and continues until the first stop: four nights and
    // the weekend are saved.
    let monday: DateTime<Utc> = "2026-11-23T00:00:00Z".parse().unwrap();
    let office = planned(monday, "web", &(3, vec![OFFICE]));
    assert!((office - 3.0 * 109.0).abs() < 1e-9, "{office}");
    let schedules = [
        vec![OFFICE],
        vec![OFFICE, ("except", "2026-11-24; 2026-11-26..2026-11-27")],
        vec![OFFICE, ("stop-replicas", "1")],
        vec![OFFICE, ("replicas", "2")],
        vec![OFFICE, ("timezone", "America/New_York")],
        vec![OFFICE, ("jitter", "30m")],
        vec![OFFICE, ("wake-until", "2026-11-24 02:00")],
        vec![OFFICE, ("wake-until", "2026-11-25 12:00")],
        vec![OFFICE, ("sleep-until", "2026-11-24 12:00")],
        vec![OFFICE, ("sleep-until", "2026-11-25 02:00")],
        vec![OFFICE, ("pause", "2026-11-24 12:00")],
        vec![OFFICE, ("pause", "2026-11-25 02:00")],
        vec![OFFICE, ("pause", "true")],
        vec![("start", "Mon 08:00"), ("stop", "Fri 20:00")],
        vec![("stop", "22:00")],
        vec![("start", "06:00")],
        vec![("scale", "08:00 = 5; 12:00 = 10; 19:00 = 0")],
        vec![("scale", "Mon-Fri 08:00 = 4; Fri 20:00 = 1")],
        vec![("hours", "00:00-24:00")],
    ];
    let with = |count| schedules.iter().map(move |it| (count, it.clone()));
    let files: Vec<File> = [0, 1, 3].into_iter().flat_map(with).collect();
    for from in [
        "2026-11-23T00:00:00Z", // stopped
        "2026-11-23T12:00:00Z", // running
        "2026-11-23T09:00:00Z", // at a start
        "2026-11-20T19:00:00Z", // at a stop
        "2026-11-21T07:30:00Z",
    ] {
        let from: DateTime<Utc> = from.parse().unwrap();
        let played = played(from, &files);
        assert_eq!(played.len(), files.len());
        for (at, (file, sandbox)) in files.iter().zip(played).enumerate() {
            let plan = planned(from, &name(at), file);
            assert!(
                (plan - sandbox).abs() < 0.02,
                "{file:?} from {from}: plan {plan}, sandbox {sandbox}"
            );
        }
    }
}
