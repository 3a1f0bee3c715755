//! The stop of a timer in `dayshift status`, and in `dayshift plan` of a cluster.

use serde_json::json;

use super::state;
use crate::fake_server::Cluster;

/// Two workloads at 10:20 that were started at 10:20 of the same day.
fn cluster() -> Cluster {
    let now = "2026-11-20T15:20:00Z".parse().unwrap();
    let cluster = Cluster::at(move || now);
    for (name, text) in [("web", "8h"), ("fixed", "8h since creation")] {
        cluster.deployment(name, 3, &[("stop-after", text)]);
        state(
            &cluster,
            name,
            &[
                ("state", "adopted"),
                ("last", "2026-11-20T10.20.00Z"),
                ("next", "2026-11-20T18.20.00Z"),
                ("started", "2026-11-20T10.20.00Z-1"),
            ],
        );
    }
    cluster
}

#[test]
fn status_shows_the_stop_and_whether_use_delays_it() {
    let cluster = cluster();
    let ran = cluster.dayshift(&["status"]);
    let line = |name: &str| {
        let mut lines = ran.out.lines();
        lines.find(|line| line.contains(name)).unwrap().to_owned()
    };
    let web = line("web");
    assert_contains!(web, "stop 18:20");
    assert_contains!(web, "unless it is used again");
    let fixed = line("fixed");
    assert!(
        fixed.contains("stop 18:20") && !fixed.contains("unless"),
        "{fixed}"
    );
    assert_eq!((ran.status, &*ran.err), (0, ""));
    cluster.deployment("hours", 3, &[("hours", "00:00-24:00")]);
    let of = |name: &str| {
        let json = cluster.dayshift(&["status", name, "-o", "json"]).json();
        json["workloads"][0].clone()
    };
    let started = "2026-11-20T10:20:00+00:00";
    assert_eq!(of("web")["nextAction"], "stop");
    for (name, since) in [("web", "start"), ("fixed", "creation")] {
        let expected = json!({"seconds": 28_800, "since": since, "started": started});
        assert_eq!(of(name)["stopAfter"], expected, "{name}");
    }
    assert_eq!(of("hours")["stopAfter"], json!(null));
}

#[test]
fn a_plan_of_the_cluster_shows_the_stop_of_a_running_timer() {
    let from = ["--from", "2026-11-20T15:20:00Z", "--days", "1"];
    let plan = ["plan", "deploy/web", "-n", "dev", "-o", "json"];
    let plan = cluster().dayshift(&[&plan[..], &from].concat());
    let boundaries = plan.boundaries();
    assert_eq!(boundaries, ["2026-11-20T18:20:00+00:00 stop 0"]);
}
