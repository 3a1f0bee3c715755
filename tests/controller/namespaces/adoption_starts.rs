//! Workloads that start because the edited Namespace schedule requires them to run.

use serde_json::json;

use super::{annotate, office, patches};
use crate::sandbox::{Sandbox, deployment};

/// The number of workloads that are stopped against their schedule, by the metric.
fn against_schedule(scenario: &Sandbox) -> String {
    let metrics = scenario.metrics();
    let name = "dayshift_workloads_stopped_against_schedule ";
    let count = metrics.lines().find_map(|line| line.strip_prefix(name));
    count.unwrap_or("absent").to_owned()
}

#[test]
fn namespace_edit_restarts_only_workloads_that_dayshift_stopped() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    let names: Vec<_> = (0..300).map(|at| format!("web-{at}")).collect();
    for name in &names {
        scenario.apply(deployment(name).replicas(3));
    }
    scenario.apply(deployment("off").replicas(0));
    scenario.apply(deployment("own").replicas(2).hours("Mon-Fri 09:00-19:00"));
    annotate(&scenario, "dev", &office());
    scenario.sleep_until("2026-11-21 08:30");
    assert!(names.iter().all(|name| scenario.replicas(name) == 0));
    let before = patches(&scenario);
    annotate(&scenario, "dev", &[("hours", Some("Mon-Sat 08:00-19:00"))]);
    scenario.sleep_until("2026-11-21 08:31");
    assert!(names.iter().all(|name| scenario.replicas(name) == 3));
    assert_eq!((scenario.replicas("off"), scenario.replicas("own")), (0, 0));
    assert_eq!(
        patches(&scenario) - before,
        301,
        "300 starts and one adoption, and none for `own`, which has its own schedule"
    );
    let reported = scenario.events("web-7");
    assert_eq!(reported.last().map(String::as_str), Some("ScheduleChanged"));
    assert_eq!(against_schedule(&scenario), "0");
    scenario.sleep_until("2026-11-21 19:01");
    assert!(names.iter().all(|name| scenario.replicas(name) == 0));
}

#[test]
fn metric_counts_a_stopped_copy_until_it_starts() {
    let scenario = Sandbox::at("2026-11-20 18:00 UTC");
    scenario.apply(deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00"));
    scenario.sleep_until("2026-11-23 08:00");
    let mut dump = scenario.object("web");
    scenario.sleep_until("2026-11-23 10:00");
    assert_eq!(
        (scenario.replicas("web"), against_schedule(&scenario)),
        (3, "0".into())
    );
    dump["metadata"] = json!({
        "name": "copy", "namespace": "dev",
        "labels": dump["metadata"]["labels"],
        "annotations": dump["metadata"]["annotations"],
    });
    scenario.api.create(dump).unwrap();
    scenario.sleep_until("2026-11-23 10:01");
    assert_eq!(scenario.replicas("copy"), 0);
    assert_eq!(against_schedule(&scenario), "1");
    scenario.scale("copy", 3);
    scenario.sleep_until("2026-11-23 10:02");
    assert_eq!(against_schedule(&scenario), "0");
    scenario.scale("copy", 0);
    scenario.sleep_until("2026-11-23 20:00");
    assert_eq!(
        against_schedule(&scenario),
        "0",
        "its schedule requires it to be stopped"
    );
    scenario.sleep_until("2026-11-24 09:01");
    assert_eq!(scenario.replicas("copy"), 3);
}
