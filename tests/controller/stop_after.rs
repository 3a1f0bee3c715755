//! `stop-after`: the controller stops a workload some time after its last start.

use std::time::Duration;

use dayshift_controller::Settings;
use serde_json::json;

use crate::sandbox::{DeploymentBuilder, Sandbox, deployment, stateful_set};

/// A Deployment that is stopped 8 hours after its last start.
fn preview(name: &str) -> DeploymentBuilder {
    let web = deployment(name).replicas(3);
    web.annotation("dayshift/stop-after", "8h")
}

/// Friday, 10:00.
fn friday() -> Sandbox {
    Sandbox::of_deployments_at("2026-11-20 10:00 UTC")
}

fn next(scenario: &Sandbox, name: &str) -> Option<String> {
    scenario.label(name, "next")
}

/// Changes the pod template, as the Deployment controller records it.
fn deploy(scenario: &Sandbox, name: &str, revision: &str) {
    let key = "deployment.kubernetes.io/revision";
    let patch = json!({
        "metadata": {"annotations": {key: revision}},
        "spec": {"template": {"metadata": {"annotations": {"release": revision}}}},
    });
    let merged = scenario.api.merge("Deployment", "dev", name, &patch);
    merged.unwrap();
    scenario.settle();
}

#[test]
fn a_created_workload_is_stopped_with_one_write_for_each_change() {
    let scenario = friday();
    scenario.apply(preview("web"));
    scenario.settle();
    deploy(&scenario, "web", "1");
    assert_eq!(
        scenario.label("web", "started").unwrap(),
        "2026-11-20T10.00.00Z-1"
    );
    assert_eq!(next(&scenario, "web").unwrap(), "2026-11-20T18.00.00Z");
    assert_eq!(
        scenario.patched("web").len(),
        1,
        "the first revision is no deploy"
    );
    scenario.sleep_until("17:59");
    assert_eq!(
        (scenario.replicas("web"), scenario.patched("web").len()),
        (3, 1)
    );
    scenario.sleep_until("18:00");
    assert_eq!(
        (scenario.replicas("web"), scenario.patched("web").len()),
        (0, 2)
    );
    assert_eq!(scenario.label("web", "saved-replicas").unwrap(), "3");
    scenario.sleep_until("2026-11-27 10:00");
    assert_eq!(
        (scenario.replicas("web"), scenario.patched("web").len()),
        (0, 2)
    );
}

#[test]
fn users_and_deploys_restart_the_timer() {
    let scenario = friday();
    scenario.apply(preview("web"));
    scenario.sleep_until("12:00");
    deploy(&scenario, "web", "2");
    assert_eq!(next(&scenario, "web").unwrap(), "2026-11-20T20.00.00Z");
    scenario.sleep_until("20:00");
    assert_eq!(scenario.replicas("web"), 0);
    scenario.sleep_until("21:30");
    scenario.scale("web", 1);
    scenario.settle();
    assert_eq!(next(&scenario, "web").unwrap(), "2026-11-21T05.30.00Z");
    scenario.sleep_until("2026-11-21 05:30");
    assert_eq!(scenario.replicas("web"), 0);
}

#[test]
fn a_restarted_controller_stops_on_time_and_notices_a_start_that_it_missed() {
    let mut scenario = friday();
    scenario.apply(preview("web"));
    scenario.apply(preview("api"));
    scenario.sleep_until("12:00");
    scenario.kill_controllers();
    deploy(&scenario, "api", "2");
    scenario.sleep_until("14:00");
    scenario.start_controller(Settings::default());
    scenario.settle();
    assert_eq!(next(&scenario, "web").unwrap(), "2026-11-20T18.00.00Z");
    assert_eq!(next(&scenario, "api").unwrap(), "2026-11-20T22.00.00Z");
    scenario.sleep_until("18:00");
    assert_eq!((scenario.replicas("web"), scenario.replicas("api")), (0, 3));
    scenario.kill_controllers();
    scenario.scale("web", 2);
    scenario.sleep_until("19:00");
    scenario.start_controller(Settings::default());
    scenario.settle();
    assert_eq!(next(&scenario, "web").unwrap(), "2026-11-21T03.00.00Z");
}

#[test]
fn beside_hours_the_earlier_stop_counts_and_a_wake_extends_it() {
    let scenario = friday();
    let web = deployment("web").replicas(3).hours("09:00-19:00");
    scenario.apply(web.annotation("dayshift/stop-after", "4h"));
    scenario.sleep_until("14:00");
    assert_eq!(scenario.replicas("web"), 0);
    assert_eq!(next(&scenario, "web").unwrap(), "2026-11-20T19.00.00Z");
    scenario.annotate("web", "wake-until", Some("2026-11-20T16:00:00Z"));
    scenario.sleep_until("17:59");
    assert_eq!(scenario.replicas("web"), 3);
    scenario.sleep_until("18:00");
    assert_eq!(scenario.replicas("web"), 0, "4 hours after the wake began");
    scenario.sleep_until("2026-11-21 09:00");
    assert_eq!(scenario.replicas("web"), 3);
    scenario.sleep_until("2026-11-21 13:00");
    assert_eq!(scenario.replicas("web"), 0);
}

/// The activator wakes a preview by `wake-until`, like `dayshift wake`.
#[test]
fn a_preview_that_a_request_wakes_is_stopped_again_8_hours_later() {
    let scenario = friday();
    scenario.apply(preview("web").annotation("dayshift/wake-on-request", "30m"));
    scenario.sleep_until("19:00");
    assert_eq!(scenario.replicas("web"), 0);
    scenario.annotate("web", "wake-until", Some("2026-11-20T19:30:00Z"));
    for (at, replicas) in [
        ("19:01", 3),
        ("2026-11-21 02:59", 3),
        ("03:00", 0),
        ("20:00", 0),
    ] {
        scenario.sleep_until(at);
        assert_eq!(scenario.replicas("web"), replicas, "{at}");
    }
    scenario.annotate("web", "wake-until", Some("2026-11-21T20:30:00Z"));
    assert_eq!(scenario.replicas("web"), 3);
}

#[test]
fn a_stop_by_the_timer_is_announced() {
    let scenario = friday();
    scenario.apply(preview("web").annotation("dayshift/notice", "15m"));
    scenario.sleep_until("17:44");
    assert_eq!(scenario.events("web"), Vec::<String>::new());
    scenario.sleep_until("17:46");
    assert_eq!(scenario.events("web"), ["StopsSoon"]);
}

#[test]
fn a_stateful_set_records_its_first_revision_later_and_restarts_at_the_next() {
    let scenario = Sandbox::at("2026-11-20 10:00 UTC");
    scenario.apply(stateful_set("db").annotation("dayshift/stop-after", "8h"));
    scenario.settle();
    let roll = |revision: &str| {
        let status = json!({"updateRevision": revision});
        let set = scenario.api.set_status("StatefulSet", "dev", "db", status);
        set.unwrap();
        scenario.settle();
    };
    let label = |name: &str| {
        let object = scenario.api.get("StatefulSet", "dev", "db").unwrap();
        object["metadata"]["labels"][format!("dayshift/{name}")].clone()
    };
    assert_eq!(label("started"), "2026-11-20T10.00.00Z");
    roll("db-7d9f8c6b5");
    scenario.sleep_until("10:30");
    let first = label("started").as_str().unwrap().to_owned();
    assert!(first.starts_with("2026-11-20T10.00.00Z-"), "{first}");
    scenario.sleep_until("12:00");
    roll("db-5c4b7f9d8");
    assert_eq!(label("next"), "2026-11-20T20.00.00Z");
}

/// A controller that changes the template of one workload each minute costs a write each five
/// minutes, and delays no other stop.
#[test]
fn a_workload_that_is_deployed_each_minute_costs_few_writes_and_delays_no_other() {
    let scenario = friday();
    scenario.apply(preview("web"));
    scenario.apply(preview("api"));
    scenario.settle();
    for revision in 2..482 {
        deploy(&scenario, "web", &revision.to_string());
        scenario.pass(Duration::from_secs(60));
    }
    scenario.settle();
    assert_eq!((scenario.replicas("web"), scenario.replicas("api")), (3, 0));
    let writes = scenario.patched("web").len();
    assert!(writes <= 98, "{writes} writes in 8 hours");
}

/// GitOps that removes unknown labels fights for three writes, and the stop is on time.
#[test]
fn a_removed_label_is_restored_three_times_and_the_stop_stays_on_time() {
    let scenario = friday();
    scenario.apply(preview("web"));
    scenario.settle();
    for _ in 0..60 {
        scenario.pass(Duration::from_secs(60));
        let patch = json!({"metadata": {"labels": {"dayshift/started": null}}});
        let merged = scenario.api.merge("Deployment", "dev", "web", &patch);
        merged.unwrap();
        scenario.settle();
    }
    assert!(
        scenario.patched("web").len() <= 4,
        "{:?}",
        scenario.patched("web")
    );
    scenario.sleep_until("18:00");
    assert_eq!(scenario.replicas("web"), 0);
}

#[test]
fn a_mistake_names_object_annotation_text_and_an_example() {
    let scenario = friday();
    for (name, text, error) in [
        (
            "a",
            "0",
            "`0` is not a duration; write for example `8h`, `90m` or `48h since creation`",
        ),
        ("b", "31d", "`31d` is too long; write at most `30d`"),
        (
            "c",
            "8h since birth",
            "`since birth` is not known here; write `since creation`, or only the duration, such as `8h`",
        ),
    ] {
        let web = deployment(name).replicas(3);
        scenario.apply(web.annotation("dayshift/stop-after", text));
        scenario.settle();
        let found = scenario.error(name).unwrap();
        assert_eq!(found, format!("dayshift/stop-after: {error}"), "{text}");
        assert_eq!(scenario.events(name), ["InvalidSchedule"], "{text}");
    }
    scenario.apply(preview("web"));
    scenario.sleep_until("18:00");
    let counts = ["a", "b", "c", "web"].map(|name| scenario.replicas(name));
    assert_eq!(counts, [3, 3, 3, 0]);
}
