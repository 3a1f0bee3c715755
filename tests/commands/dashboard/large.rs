//! Many workloads, and schedules with a boundary in each second.

use super::browser::Served;
use crate::fake_server::Cluster;

const MAX_BYTES: usize = 1_000_000;

#[test]
fn pages_of_two_thousand_workloads_are_small_and_in_order() {
    let cluster = Cluster::new();
    for at in 0..2_000 {
        let hours = format!("Mon-Fri {:02}:{:02}-19:00", 6 + at % 4, at / 4 % 60);
        let named = format!("office-{}", at % 400);
        let texts = [("hours", &*hours), ("schedule", &*named)];
        cluster.deployment(&format!("web-{at:04}"), 3, &texts);
    }
    let served = Served::of(&cluster, &[]);
    for path in [
        "/",
        "/timeline",
        "/timeline?q=web&sort=next&state=needs-attention",
        "/namespaces",
        "/ns/dev",
        "/ns/dev/what-if",
        "/ns/dev/what-if?hours=Mon-Fri+09:00-17:00",
        "/object/dev/deploy/web-0000",
        "/object/dev/deploy/web-0000/schedule",
    ] {
        let answer = served.get(path);
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.body.len() < 300_000, "{path}: {}", answer.body.len());
    }
    assert_contains!(served.get("/").body, "<dt>Workloads</dt><dd>2000</dd>");
    for (number, from) in [(1, 0), (2, 50), (40, 1_950)] {
        let page = served.page(&format!("/timeline?page={number}"));
        assert_contains!(page.text(), "2000 workloads, page");
        // One checkbox selects the matching workloads on all pages.
        assert_contains!(
            page.text(),
            "all 2000 workloads that match, on all 40 pages"
        );
        let rows = page.all("a").filter(|it| it.text.starts_with("web-"));
        let found: Vec<_> = rows.map(|it| it.text.clone()).collect();
        let expected = (from..from + 50).map(|at| format!("web-{at:04}"));
        assert_eq!(found, expected.collect::<Vec<_>>());
    }
    let beyond = served.page("/timeline?page=18446744073709551615");
    assert_contains!(beyond.text(), "page 40 of 40");
    let found = served.page("/timeline?q=WEB-012");
    assert_contains!(found.text(), "10 workloads of 2000");
    assert_lacks!(found.text(), "that match, on all");
}

#[test]
fn folds_schedules_that_change_each_second() {
    let cluster = Cluster::new();
    for at in 0..50 {
        let texts = [("start", "*/2 * * * * *"), ("stop", "1-59/2 * * * * *")];
        cluster.deployment(&format!("web-{at}"), 3, &texts);
    }
    let served = Served::of(&cluster, &[]);
    for path in [
        "/timeline",
        "/object/dev/deploy/web-7",
        "/timeline?from=2027-01-01",
    ] {
        let answer = served.get(path);
        assert!(
            answer.body.len() < MAX_BYTES,
            "{path}: {}",
            answer.body.len()
        );
        assert!(answer.body.contains("changes often"), "{path}");
    }
}
