//! Kinds that a controller watches only if a flag names them.

use serde_json::json;

use crate::fake_server::{Cluster, Controller};
use crate::program::wait_until;
use crate::rows::words;

/// An HPA in the namespace `dev` with these hours.
fn autoscaler(cluster: &Cluster, hours: Option<&str>) {
    cluster.autoscaler("api", ("apps/v1", "Deployment", "api"));
    if let Some(hours) = hours {
        let patch = json!({"metadata": {"annotations": {"dayshift/hours": hours}}});
        let merged = cluster
            .api
            .merge("HorizontalPodAutoscaler", "dev", "api", &patch);
        merged.unwrap();
    }
}

fn annotations(cluster: &Cluster) -> usize {
    let api = cluster.api.get("HorizontalPodAutoscaler", "dev", "api");
    let annotations = api.unwrap()["metadata"]["annotations"].clone();
    annotations.as_object().map_or(0, serde_json::Map::len)
}

#[test]
fn leaves_an_unwatched_kind_unchanged_with_a_message() {
    let cluster = Cluster::new();
    autoscaler(&cluster, Some("00:00-24:00"));
    // This controller watches the other kinds.
    let _controller = Controller::on(&cluster);
    for line in [
        "wake hpa/api --for 1h",
        "sleep hpa/api --for 1h --no-wait",
        "pause hpa/api",
        "wake --all --kinds hpa --for 1h",
        "pause hpa/api --dry-run",
    ] {
        let ran = cluster.dayshift(&words(line));
        assert_eq!((ran.status, &*ran.out), (1, ""), "{line}: {ran:?}");
        let expected = "no controller has adopted it, and nothing was written: `dayshift run` watches \
                        HorizontalPodAutoscalers only with --kinds horizontalpodautoscalers";
        assert!(ran.err.contains(expected), "{line}: {ran:?}");
        assert_eq!(annotations(&cluster), 1, "{line}");
    }
}

#[test]
fn annotates_a_watched_kind() {
    let cluster = Cluster::new();
    autoscaler(&cluster, Some("00:00-24:00"));
    let _controller = Controller::with(&cluster, &["--kinds=hpa"]);
    let is_seen = || {
        let api = cluster.api.get("HorizontalPodAutoscaler", "dev", "api");
        api.unwrap()["metadata"]["labels"]["dayshift/state"].is_string()
    };
    wait_until("seen", is_seen);
    let ran = cluster.dayshift(&["pause", "hpa/api", "--timeout", "20s"]);
    assert_eq!(ran.status, 0, "{ran:?}");
}

#[test]
fn an_object_without_a_schedule_is_an_error() {
    let cluster = Cluster::new();
    autoscaler(&cluster, None);
    let ran = cluster.dayshift(&["wake", "hpa/api", "--for", "1h"]);
    ran.assert_err("it has no schedule");
    assert_eq!(annotations(&cluster), 0);
}
