//! Short texts about a workload on a page.

use super::browser::Served;
use crate::{fake_server::Cluster, status::state};

#[test]
fn folds_a_day_with_many_changes() {
    let cluster = Cluster::new();
    let often = [("start", "0-58/2 3 * * *"), ("stop", "1-59/2 3 * * *")];
    cluster.deployment("often", 2, &often);
    let served = Served::of(&cluster, &[]);
    let page = served.page("/object/dev/deploy/often");
    let text = page.text();
    assert_contains!(text, "60 changes, 03:00 to 03:59");
    assert_lacks!(text, "start 03:02");
}

#[test]
fn names_the_end_of_a_wake_as_status_does() {
    let cluster = Cluster::new();
    let woken = [("hours", "00:00-24:00"), ("wake-until", "2099-11-20 22:00")];
    cluster.deployment("woken", 2, &woken);
    let labels = [
        ("state", "woken"),
        ("last", "2026-11-20T10.00.00Z"),
        ("next", "2099-11-20T22.00.00Z"),
    ];
    state(&cluster, "woken", &labels);
    let status = cluster.dayshift(&["status"]).out;
    assert_contains!(status, "wake ends ");
    let served = Served::of(&cluster, &[]);
    for path in ["/object/dev/deploy/woken", "/timeline", "/ns/dev"] {
        let page = served.page(path);
        let text = page.text();
        assert!(
            text.contains("wake ends ") && text.contains(", runs on"),
            "{text}"
        );
    }
}
