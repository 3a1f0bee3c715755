//! Workloads that start if an edited Namespace schedule now wants them to run.

use serde_json::json;

use super::{annotate, office, patches};
use crate::sandbox::{Sandbox, deployment};

/// The number of workloads that are stopped against their schedule, by the metric.
fn against_schedule(story: &Sandbox) -> String {
    let metrics = story.metrics();
    let name = "dayshift_workloads_stopped_against_schedule ";
    let count = metrics.lines().find_map(|line| line.strip_prefix(name));
    count.unwrap_or("absent").to_owned()
}

#[test]
fn namespace_edit_restarts_only_workloads_that_dayshift_stopped() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    let names: Vec<_> = (0..300).map(|at| format!("web-{at}")).collect();
    for name in &names {
        story.apply(deployment(name).replicas(3));
    }
    story.apply(deployment("off").replicas(0));
    story.apply(deployment("own").replicas(2).hours("Mon-Fri 09:00-19:00"));
    annotate(&story, "dev", &office());
    story.sleep_until("2026-11-21 08:30");
    assert!(names.iter().all(|name| story.replicas(name) == 0));
    let before = patches(&story);
    annotate(&story, "dev", &[("hours", Some("Mon-Sat 08:00-19:00"))]);
    story.sleep_until("2026-11-21 08:31");
    assert!(names.iter().all(|name| story.replicas(name) == 3));
    assert_eq!((story.replicas("off"), story.replicas("own")), (0, 0));
    assert_eq!(
        patches(&story) - before,
        301,
        "one each, and none for its own"
    );
    let told = story.events("web-7");
    assert_eq!(told.last().map(String::as_str), Some("ScheduleChanged"));
    assert_eq!(against_schedule(&story), "0");
    story.sleep_until("2026-11-21 19:01");
    assert!(names.iter().all(|name| story.replicas(name) == 0));
}

#[test]
fn counts_a_stopped_copy_until_it_starts() {
    let story = Sandbox::at("2026-11-20 18:00 UTC");
    story.apply(deployment("web").replicas(3).hours("Mon-Fri 09:00-19:00"));
    story.sleep_until("2026-11-23 08:00");
    let mut dump = story.object("web");
    story.sleep_until("2026-11-23 10:00");
    assert_eq!(
        (story.replicas("web"), against_schedule(&story)),
        (3, "0".into())
    );
    dump["metadata"] = json!({
        "name": "copy", "namespace": "dev",
        "labels": dump["metadata"]["labels"],
        "annotations": dump["metadata"]["annotations"],
    });
    story.api.create(dump).unwrap();
    story.sleep_until("2026-11-23 10:01");
    assert_eq!(story.replicas("copy"), 0);
    assert_eq!(against_schedule(&story), "1");
    story.scale("copy", 3);
    story.sleep_until("2026-11-23 10:02");
    assert_eq!(against_schedule(&story), "0");
    story.scale("copy", 0);
    story.sleep_until("2026-11-23 20:00");
    assert_eq!(
        against_schedule(&story),
        "0",
        "it is stopped as it should be"
    );
    story.sleep_until("2026-11-24 09:01");
    assert_eq!(story.replicas("copy"), 3);
}
