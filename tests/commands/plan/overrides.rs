//! The ends of overrides in a plan, compared with the controller.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift::sandbox::{EventKind, Simulation, Speed};
use dayshift_cluster::clock::Clock;
use dayshift_manifest::plan::{Period, Planner};
use dayshift_schedule::{Action, Zone};
use dayshift_workload::{Inputs, Key, Kind, Prefix, WorkloadRef};
use k8s_openapi::api::apps::v1::Deployment;
use proptest::prelude::*;
use serde_json::json;

use super::program::{plan_of, web};
use crate::{
    of_deployments::of_deployments,
    program::Ended,
    rows::{rows, words},
};

const HOURS: &str = "dayshift/hours: '09:00-19:00'";

fn monday(lines: &[&str]) -> Ended {
    let args = ["-f", "-", "--from", "2026-11-23 08:00", "--days", "1"];
    plan_of(&args, &web(lines))
}

/// The annotations of a row, which are separated by ` | `.
fn with_overrides<'a>(hours: &'a str, row: &'a str) -> Vec<&'a str> {
    let overrides = row.split(" | ").filter(|text| *text != "none");
    [hours].into_iter().chain(overrides).collect()
}

/// The applied boundaries, one per line, with the override that ends there.
fn applied(ended: &Ended) -> Vec<String> {
    let plan = ended.json();
    let boundaries = plan["workloads"][0]["boundaries"].as_array().unwrap();
    let applied = boundaries.iter().filter(|it| it["applied"] != false);
    let line = |it: &serde_json::Value| {
        let ends = it["ends"].as_str().map(|it| format!(" {it}"));
        let (at, action) = (it["at"].as_str().unwrap(), it["action"].as_str().unwrap());
        format!("{} {action}{}", &at[8..16], ends.unwrap_or_default())
    };
    applied.map(line).collect()
}

#[test]
fn the_end_of_an_override_is_a_boundary() {
    for [over, expected] in rows("
            dayshift/wake-until: 2026-11-23 22:00 => 23T22:00 stop wake-until
            dayshift/sleep-until: 2026-11-23 12:00 => 23T12:00 start sleep-until, 23T19:00 stop
            dayshift/wake-until: 2026-11-23 12:00 => 23T12:00 start wake-until, 23T19:00 stop
            # The override ends at the time of the stop: one stop.
            dayshift/wake-until: 2026-11-23 19:00 => 23T19:00 stop wake-until
            # The end of a pause starts a workload that was stopped before it, and applies a boundary
            # at the same time.
            dayshift/pause: 2026-11-23 12:00 => 23T12:00 start pause, 23T19:00 stop
            dayshift/pause: 2026-11-23 09:00 => 23T09:00 start pause, 23T19:00 stop
            dayshift/pause: 2026-11-23 19:00 => 23T19:00 stop pause
            dayshift/pause: 2026-11-23 20:00 => none
            # An override below another takes effect when that one ends.
            dayshift/pause: 2026-11-23 10:00 | dayshift/wake-until: 2026-11-23 12:00 | dayshift/sleep-until: 2026-11-23 14:00 => 23T10:00 start pause, 23T12:00 stop wake-until, 23T14:00 start sleep-until, 23T19:00 stop
            # An override is over at its end and at the beginning of the period.
            dayshift/sleep-until: 2026-11-23 08:00 => 23T09:00 start, 23T19:00 stop
            dayshift/sleep-until: 2026-11-24 08:00 => none
        ") {
        let found = applied(&monday(&with_overrides(HOURS, over))).join(", ");
        assert_eq!(found, expected.replace("none", ""), "{over}");
    }
    // If the schedule has no state, a workload that an override stopped is restored.
    let slept = ["dayshift/sleep-until: 2026-11-23 12:00"];
    let once = |key: &str| format!("dayshift/{key}: 2026-11-25 09:00");
    for (key, expected) in [
        ("start", &["23T12:00 start sleep-until"]),
        ("stop", &["23T12:00 start sleep-until"]),
    ] {
        let ended = monday(&[&once(key), slept[0]]);
        assert_eq!(applied(&ended), expected, "{key}");
    }
    let woken = monday(&[&once("start"), "dayshift/wake-until: 2026-11-23 12:00"]);
    assert_eq!(applied(&woken), Vec::<String>::new());
}

/// For a day without boundaries, the chart shows the next boundary that is applied, not one that an
/// override skips.
#[test]
fn a_chart_without_boundaries_shows_the_next_applied_one() {
    let chart = |lines: &[&str]| {
        let args = words("-o chart -f - --from 2026-11-28 --days 1");
        plan_of(&args, &web(lines)).out
    };
    let hours = "dayshift/hours: Mon-Fri 09:00-19:00";
    for [over, expected] in rows("
            none => The next boundary is a start on Mon 2026-11-30 09:00.
            dayshift/sleep-until: 2026-12-01 00:00 => The next boundary is a stop on Tue 2026-12-01 00:00.
            dayshift/wake-until: 2026-12-01 12:00 => The next boundary is a start on Tue 2026-12-01 12:00.
            # The end of a pause starts a workload that was stopped before it, and stops nothing.
            dayshift/pause: 2026-12-01 12:00 => The next boundary is a start on Tue 2026-12-01 12:00.
            dayshift/pause: 2026-12-01 20:00 => The next boundary is a start on Wed 2026-12-02 09:00.
            dayshift/pause: 2026-11-30 08:00 | dayshift/sleep-until: 2026-12-01 12:00 => The next boundary is a stop on Mon 2026-11-30 08:00.
            dayshift/pause: 'true' => There is no further boundary.
        ") {
        assert_contains!(
            chart(&with_overrides(hours, over)),
            format!("{expected}\n")
        );
    }
}

/// The labels of a workload that was stopped before.
fn stopped_labels(inputs: &Inputs, uid: &str) -> serde_json::Value {
    json!({
        "dayshift/state": "stopped",
        "dayshift/last": "2026-11-22T23.00.00Z",
        "dayshift/saved-replicas": "3",
        "dayshift/fingerprint": inputs.fingerprint(uid).to_string(),
    })
}

/// The UID of the first Deployment in the in-memory API.
async fn first_uid(manifest: &serde_json::Value, from: DateTime<Utc>) -> String {
    let mut simulation = Simulation::new(Clock::simulated(from), of_deployments());
    simulation.load(manifest).unwrap();
    let until = from + TimeDelta::seconds(1);
    let play = simulation.play(
        until,
        Vec::new(),
        Speed::Max,
        |_| Ok(()),
        std::future::pending(),
    );
    let played = play.await.unwrap();
    let deployments = kube::Api::<Deployment>::namespaced(played.client(), "default");
    let uid = deployments.get("web").await.unwrap().metadata.uid.unwrap();
    played.finish().await;
    uid
}

/// The changes that the controller makes to a workload that it first observes at the beginning of
/// the period, including the beginnings of overrides below others. If the schedule is stopped by
/// then, the workload was stopped before.
fn done(
    inputs: &[(Key, String)],
    read: &Inputs,
    was_stopped: bool,
    from: DateTime<Utc>,
    until: DateTime<Utc>,
) -> Vec<(DateTime<Utc>, Action)> {
    let annotations: serde_json::Map<_, _> = inputs
        .iter()
        .map(|(key, text)| (format!("dayshift/{key}"), json!(text)))
        .collect();
    let mut manifest = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "annotations": annotations},
        "spec": {
            "replicas": if was_stopped { 0 } else { 3 },
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "nginx"}]},
            },
        },
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    let mut done = Vec::new();
    runtime.block_on(async {
        if was_stopped {
            let uid = first_uid(&manifest, from).await;
            manifest["metadata"]["labels"] = stopped_labels(read, &uid);
        }
        let mut simulation = Simulation::new(Clock::simulated(from), of_deployments());
        simulation.load(&manifest).unwrap();
        let tell = |reported: &dayshift::sandbox::TimelineEvent| {
            // The sandbox reports only the first two changes without effect, and no case here has
            // more.
            let action = match reported.kind {
                EventKind::Start => Some(Action::Start),
                EventKind::Stop => Some(Action::Stop),
                EventKind::Scale => Some(Action::Scale(reported.to.get())),
                EventKind::Wake(_) if reported.at > from => Some(Action::Start),
                EventKind::Sleep(_) if reported.at > from => Some(Action::Stop),
                _ => None,
            };
            done.extend(action.map(|action| (reported.at, action)));
            Ok(())
        };
        let played = simulation.play(until, Vec::new(), Speed::Max, tell, std::future::pending());
        played.await.unwrap().finish().await;
    });
    done
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// For any overrides, the controller acts as planned and at the same instants.
    #[test]
    fn the_controller_acts_as_planned(
        rule in prop::sample::select(vec![
            vec![(Key::Hours, "09:00-19:00")], vec![(Key::Hours, "22:00-06:00")],
            vec![(Key::Hours, "Tue 09:00-12:00,13:00-19:00")],
            vec![(Key::Start, "2026-11-24 09:00")], vec![(Key::Stop, "2026-11-24 09:00")],
            vec![(Key::Start, "09:00"), (Key::Stop, "19:00; 21:00")],
            vec![(Key::Hours, "09:00-19:00"), (Key::Jitter, "1h")],
            vec![(Key::Scale, "08:00 = 5; 12:00 = 10; 19:00 = 0")],
        ]),
        // In half hours from Monday, so that ends coincide with boundaries and with each other.
        pause in prop::option::of(1_i64..120),
        wake in prop::option::of(1_i64..120),
        sleep in prop::option::of(1_i64..120),
    ) {
        let from: DateTime<Utc> = "2026-11-23T00:00:00Z".parse().unwrap();
        let until = from + TimeDelta::days(3);
        let mut inputs: Vec<(Key, String)> = rule.iter().map(|(key, text)| (*key, (*text).to_owned())).collect();
        for (key, end) in [(Key::Pause, pause), (Key::WakeUntil, wake), (Key::SleepUntil, sleep)] {
            let text = |end| (from + TimeDelta::minutes(30 * end)).format("%Y-%m-%d %H:%M").to_string();
            inputs.extend(end.map(|end| (key, text(end))));
        }
        let read = inputs.iter().fold(Inputs::default(), |read, (key, text)| read.with(*key, text));
        let object = WorkloadRef { kind: Kind::DEPLOYMENT, namespace: "default".into(), name: "web".into(), uid: "".into() };
        let period = Period::new(from, until).unwrap();
        let planner = Planner { period, context: Zone::UTC.into(), prefix: Prefix::default() };
        let plan = planner.plan(&object, &read, &[]).unwrap();
        let planned: Vec<_> = plan
            .boundaries()
            .filter(|it| it.applied)
            .map(|it| (it.at.to_utc(), it.action))
            .collect();
        let spec = plan.spec().unwrap();
        let was_stopped = spec.required_action(&object, None, from) == Some(Action::Stop);
        prop_assert_eq!(planned, done(&inputs, &read, was_stopped, from, until));
    }
}
