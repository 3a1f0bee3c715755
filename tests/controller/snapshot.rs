//! The snapshot of every object, and the totals.

use std::sync::Arc;

use dayshift_controller::{ObjectSnapshot, Settings, WorkStatus};
use dayshift_manifest::plan::{Period, Planner};
use dayshift_schedule::{Action, Zone};
use dayshift_workload::{Key, Kind, Override, ParsedInputs, Phase, Prefix, Readiness, Replicas};
use kube_in_memory::{Fault, Status};
use serde_json::json;

use crate::sandbox::{Sandbox, cron_job, deployment, stateful_set};

const OFFICE: &str = "Mon-Fri 09:00-19:00";

fn find<'a>(objects: &'a [Arc<ObjectSnapshot>], name: &str) -> &'a ObjectSnapshot {
    objects.iter().find(|it| &*it.object.name == name).unwrap()
}

#[test]
fn snapshot_contains_ready_counts_without_requests() {
    let scenario = Sandbox::at("2026-11-20 18:00 Asia/Tokyo");
    scenario.apply(deployment("web").replicas(3).hours(OFFICE));
    scenario.apply(deployment("free"));
    for name in ["web", "free"] {
        scenario.scale(name, 4); // the second generation of its spec
    }
    scenario.sleep_until("18:10");
    let ready = || find(&scenario.snapshot().objects, "web").readiness;
    assert_eq!(ready(), Readiness::Unknown);
    let before = scenario.api.requests().len();
    for (observed, ready_replicas) in [(2, 0), (2, 2), (2, 3), (1, 3), (2, 1), (2, 7)] {
        for name in ["web", "free"] {
            let status = json!({"observedGeneration": observed, "readyReplicas": ready_replicas});
            let set = scenario.api.set_status("Deployment", "dev", name, status);
            set.unwrap();
        }
        scenario.settle();
        let is_current = observed >= 2;
        let expected = Readiness::Replicas {
            ready: Replicas::new(ready_replicas),
            is_current,
        };
        assert_eq!(ready(), expected);
    }
    assert_eq!(scenario.api.requests().len(), before);
}

#[test]
fn snapshot_contains_the_state_of_every_object() {
    let scenario = Sandbox::at("2026-11-20 18:00 Asia/Tokyo");
    scenario.apply(deployment("plain"));
    for name in ["web", "night", "stuck"] {
        let office = deployment(name).replicas(3).hours(OFFICE);
        scenario.apply(office.annotation("dayshift/timezone", "Asia/Tokyo"));
    }
    scenario.apply(deployment("bad").stop("Mon-Fry 19:00"));
    scenario.apply(stateful_set("db").replicas(2).stop("23:00"));
    scenario.annotate("night", "wake-until", Some("2026-11-20 21:00"));
    scenario.api.on_admission(|write| {
        let refusal = || Status::forbidden("apps", "deployments", "stuck", "not this one");
        (write.name == "stuck").then(refusal)
    });
    scenario.sleep_until("19:30");

    let snapshot = scenario.snapshot();
    assert_eq!(snapshot.at, scenario.utc("2026-11-20 19:30:00") + SETTLED);
    let names: Vec<_> = snapshot.objects.iter().map(|it| &*it.object.name).collect();
    assert_eq!(names, ["bad", "night", "stuck", "web", "db"]);
    let monday = scenario.utc("2026-11-23 09:00");

    let web = find(&snapshot.objects, "web");
    assert_eq!(
        (web.object.kind.clone(), web.replicas.get()),
        (Kind::DEPLOYMENT, 0)
    );
    assert_eq!(web.state.phase, Some(Phase::Stopped));
    assert_eq!(web.state.saved.map(Replicas::get), Some(3));
    assert_eq!(web.inputs.text(Key::Hours), Some(OFFICE));
    let spec = web.parsed.spec().unwrap();
    let next = spec.next_after(&web.object, web.state.started, snapshot.at);
    let next = next.unwrap();
    assert_eq!((next.at, next.action), (monday, Action::Start));
    assert_eq!((web.work, web.failures), (WorkStatus::Idle, 0));
    assert_eq!(spec.overrides.at(snapshot.at), None);

    let night = find(&snapshot.objects, "night");
    assert_eq!(
        (night.replicas.get(), night.state.phase),
        (3, Some(Phase::Woken))
    );
    let until = scenario.utc("2026-11-20 21:00");
    let held = night.parsed.spec().unwrap().overrides.at(snapshot.at);
    assert_eq!(held, Some(Override::Wake(until)));

    let stuck = find(&snapshot.objects, "stuck");
    assert_eq!(
        (stuck.replicas.get(), stuck.work),
        (3, WorkStatus::BackingOff)
    );
    assert!(stuck.failures > 1, "{}", stuck.failures);

    let bad = find(&snapshot.objects, "bad");
    let ParsedInputs::Invalid(error) = &*bad.parsed else {
        panic!("{:?}", bad.parsed);
    };
    let error = error.to_string();
    assert!(error.contains("`Fry` is not a day"), "{error}");

    let db = find(&snapshot.objects, "db");
    assert_eq!(
        (db.object.kind.clone(), db.state.phase),
        (Kind::STATEFUL_SET, Some(Phase::Adopted))
    );
}

/// The sandbox lets 50 ms pass for immediate work.
const SETTLED: chrono::TimeDelta = chrono::TimeDelta::milliseconds(50);

#[test]
fn snapshot_contains_the_reason_for_waiting() {
    let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
    for name in ["asks", "waits"] {
        scenario.apply(deployment(name).replicas(3).stop("19:00"));
    }
    scenario.apply(stateful_set("hangs").replicas(3).stop("19:00"));
    let why = r#"User "x" cannot patch resource "deployments" in API group "apps""#;
    let forbidden = Status::forbidden("apps", "deployments", "asks", why);
    scenario
        .api
        .on_request(move |line| match (line.verb, line.resource.as_str()) {
            ("patch", "deployments") => Some(Fault::Answer(forbidden.clone())),
            ("patch", _) => Some(Fault::Hang),
            _ => None,
        });
    scenario.start_controller(Settings::default());
    let objects = scenario.snapshot().objects;
    let work: Vec<_> = objects.iter().map(|it| it.work).collect();
    let permission = WorkStatus::WaitingForPermission;
    assert_eq!(work, [permission, permission, WorkStatus::InFlight]);
    scenario.kill_controllers();
    assert!(
        scenario.has_no_snapshot(),
        "no controller publishes a snapshot"
    );
}

#[test]
fn reading_a_snapshot_changes_nothing() {
    let asked = Sandbox::at("2026-11-20 18:00 UTC");
    let silent = Sandbox::at("2026-11-20 18:00 UTC");
    for scenario in [&asked, &silent] {
        scenario.apply(deployment("web").replicas(3).stop("19:00"));
    }
    for minute in 1..60 {
        for scenario in [&asked, &silent] {
            scenario.sleep_until(&format!("18:{minute:02}"));
        }
        assert_eq!(asked.snapshot().objects.len(), 1);
    }
    for scenario in [&asked, &silent] {
        scenario.sleep_until("19:30");
    }
    assert_eq!(asked.patched("web"), silent.patched("web"));
    assert_eq!(asked.api.requests().len(), silent.api.requests().len());
}

/// The sample of a metric without labels; 0 if it is missing.
fn metric(scenario: &Sandbox, name: &str) -> f64 {
    let metrics = scenario.metrics();
    let sample = metrics.lines().find_map(|line| line.strip_prefix(name));
    sample.map_or(0.0, |it| it.trim().parse().unwrap())
}

fn saved_hours(scenario: &Sandbox) -> f64 {
    metric(scenario, "dayshift_saved_replica_seconds_total ") / 3600.0
}

fn held_down(scenario: &Sandbox) -> f64 {
    metric(scenario, "dayshift_stopped_replicas ")
}

/// The objects are counted once a second.
fn is_about(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 0.02
}

#[test]
fn savings_of_a_week_match_an_independent_calendar() {
    let scenario = Sandbox::at("2026-11-20 18:00 Asia/Tokyo");
    let tokyo = |name: &str| deployment(name).annotation("dayshift/timezone", "Asia/Tokyo");
    scenario.apply(tokyo("web").replicas(3).hours(OFFICE));
    scenario.apply(
        tokyo("exact")
            .replicas(5)
            .hours(OFFICE)
            .annotation("dayshift/replicas", "2"),
    );
    scenario.apply(
        tokyo("few")
            .replicas(4)
            .hours(OFFICE)
            .annotation("dayshift/stop-replicas", "1"),
    );
    scenario.apply(cron_job("report").hours(OFFICE));
    scenario.apply(deployment("plain").replicas(9));
    scenario.sleep_until("18:59");
    assert!(is_about(saved_hours(&scenario), 0.0) && is_about(held_down(&scenario), 0.0));
    scenario.sleep_until("19:01");
    // 3 of `web`, 2 of `exact` (its exact count, not the manual one), and 3 of `few`.
    assert!(
        is_about(held_down(&scenario), 8.0),
        "{}",
        scenario.metrics()
    );

    // From Friday to Friday, 50 of 168 hours run.
    scenario.sleep_until("2026-11-27 19:00:02");
    let hours = 168.0 - 50.0;
    let found = saved_hours(&scenario);
    assert!(is_about(found, 8.0 * hours), "{found}");
}

#[test]
fn manual_changes_are_not_counted_as_savings() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours(OFFICE));
    scenario.sleep_until("20:00");
    assert!(is_about(saved_hours(&scenario), 3.0));
    scenario.scale("web", 1); // two hours with two stopped replicas
    scenario.sleep_until("22:00");
    assert!(is_about(saved_hours(&scenario), 3.0 + 4.0));
    scenario.annotate("web", "wake-until", Some("2026-11-21 00:00"));
    scenario.sleep_until("2026-11-21 00:00");
    assert!(
        is_about(saved_hours(&scenario), 7.0),
        "nothing is saved while it is awake"
    );
    scenario.sleep_until("02:00");
    assert!(is_about(saved_hours(&scenario), 7.0 + 6.0));

    // An invalid edit leaves it stopped.
    scenario.annotate("web", "hours", Some("Mon-Fry 09:00-19:00"));
    scenario.sleep_until("03:00");
    assert!(is_about(saved_hours(&scenario), 13.0 + 3.0));

    // A pause suspends the schedule.
    scenario.annotate("web", "hours", Some(OFFICE));
    scenario.annotate("web", "pause", Some("true"));
    scenario.settle();
    let before = saved_hours(&scenario);
    scenario.sleep_until("05:00");
    assert!(is_about(saved_hours(&scenario), before));
    assert!(is_about(held_down(&scenario), 0.0));
}

#[test]
fn scale_steps_save_up_to_the_largest_count() {
    let scenario = Sandbox::at("2026-11-20 07:00 UTC");
    let steps = "08:00 = 5; 12:00 = 10; 19:00 = 0";
    scenario.apply(
        deployment("web")
            .replicas(1)
            .annotation("dayshift/scale", steps),
    );
    scenario.sleep_until("2026-11-20 08:00:01");
    assert!(
        is_about(saved_hours(&scenario), 0.0),
        "before the first boundary nothing is saved"
    );
    scenario.sleep_until("2026-11-21 08:00:01");
    let found = saved_hours(&scenario);
    // Four hours with 5 of 10, seven with all, thirteen with none.
    assert!(is_about(found, 4.0 * 5.0 + 13.0 * 10.0), "{found}");
}

/// The expected values were computed manually; the controller's own counters show the same
/// afterwards.
#[test]
fn plan_predicts_the_savings() {
    let office = ("hours", OFFICE);
    for (count, annotations, expected) in [
        (3, vec![office], 118.0 * 3.0),
        (3, vec![office, ("stop-replicas", "1")], 118.0 * 2.0),
        (9, vec![office, ("replicas", "2")], 118.0 * 2.0),
        (1, vec![office, ("stop-replicas", "4")], 0.0),
        (0, vec![office], 118.0),
        (
            3,
            vec![office, ("except", "2026-11-23; 2026-11-28")],
            128.0 * 3.0,
        ),
        (
            3,
            vec![office, ("wake-until", "2026-11-21 00:00")],
            104.0 * 3.0,
        ),
        (
            3,
            vec![office, ("sleep-until", "2026-11-23 12:00")],
            (118.0 + 10.0 + 3.0) * 3.0,
        ),
        (
            3,
            vec![office, ("pause", "2026-11-21 00:00")],
            (118.0 - 9.0 - 5.0 - 57.0) * 3.0,
        ),
        (
            1,
            vec![("scale", "08:00 = 5; 12:00 = 10; 19:00 = 0")],
            7.0 * (4.0 * 5.0 + 13.0 * 10.0),
        ),
        (
            2,
            vec![("start", "Mon 08:00"), ("stop", "Fri 20:00")],
            60.0 * 2.0,
        ),
    ] {
        let scenario = Sandbox::of_deployments_at("2026-11-19 00:00 UTC");
        // Overrides are added on Friday.
        let (overrides, schedule): (Vec<_>, Vec<_>) = annotations
            .iter()
            .partition(|(key, _)| key.ends_with("-until") || *key == "pause");
        let web = deployment("web").replicas(count);
        let web = schedule.iter().fold(web, |web, (key, text)| {
            web.annotation(&format!("dayshift/{key}"), *text)
        });
        scenario.apply(web);
        scenario.sleep_until("2026-11-20 00:00:00");
        for (key, text) in &overrides {
            scenario.annotate("web", key, Some(text));
        }
        scenario.settle();
        let before = saved_hours(&scenario);
        let seen = (scenario.now(), scenario.snapshot().objects[0].observed());
        scenario.sleep_until("2026-11-27 00:00:00");
        let found = saved_hours(&scenario) - before;
        assert!(
            (found - expected).abs() < 0.1,
            "{annotations:?}: {found} of {expected}"
        );

        let planner = Planner {
            period: Period::new(seen.0, scenario.utc("2026-11-27 00:00:00")).unwrap(),
            context: Zone::UTC.into(),
            prefix: Prefix::default(),
        };
        let plan = planner.plan_live(&seen.1).unwrap();
        let planned = plan.saved().unwrap().replica_hours;
        assert!(
            (planned - expected).abs() < 0.01,
            "{annotations:?}: {planned} of {expected}"
        );
    }
}

#[test]
fn exports_a_series_per_workload_if_enabled() {
    for is_asked in [false, true] {
        let mut scenario = Sandbox::empty_at("2026-11-20 18:00 UTC");
        scenario.start_with(|settings| settings.per_workload_metrics = is_asked);
        scenario.apply(deployment("plain"));
        for name in ["web", "raised"] {
            scenario.apply(deployment(name).replicas(3).hours(OFFICE));
        }
        scenario.apply(stateful_set("db").replicas(2).stop("23:00"));
        let least = deployment("misspelt").replicas(3).hours(OFFICE);
        scenario.apply(least.annotation("dayshift/stop-replicas", "1"));
        scenario.sleep_until("19:30");
        scenario.scale("raised", 1);
        scenario.annotate("misspelt", "hours", Some("whenever"));
        scenario.sleep_until("19:31");
        let metrics = scenario.metrics();
        let mut series: Vec<_> = metrics
            .lines()
            .filter(|line| line.starts_with("dayshift_stopped{"))
            .collect();
        series.sort_unstable();
        let expected = [
            r#"dayshift_stopped{kind="Deployment",namespace="dev",name="misspelt"} 1"#,
            r#"dayshift_stopped{kind="Deployment",namespace="dev",name="raised"} 0"#,
            r#"dayshift_stopped{kind="Deployment",namespace="dev",name="web"} 1"#,
            r#"dayshift_stopped{kind="StatefulSet",namespace="dev",name="db"} 0"#,
        ];
        assert_eq!(series, if is_asked { &expected[..] } else { &[] });
        scenario.api.delete("dev", "web").unwrap();
        scenario.sleep_until("19:32");
        assert!(!scenario.metrics().contains("name=\"web\""));
    }
}
