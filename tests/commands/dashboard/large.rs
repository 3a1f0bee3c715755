//! Many workloads, and schedules with a boundary each second.

use super::browser::Served;
use crate::fake_server::Cluster;

const MAX_BYTES: usize = 1_000_000;

#[test]
fn pages_through_ten_thousand_workloads() {
    let cluster = Cluster::new();
    for at in 0..10_000 {
        let hours = [
            "Mon-Fri 08:00-18:00; Sat 09:00-12:00",
            "00:00-01:00; 02:00-03:00",
        ];
        cluster.deployment(&format!("web-{at:05}"), 3, &[("hours", hours[at % 2])]);
    }
    let served = Served::of(&cluster, &[]);
    let overview = served.get("/");
    let text = "<dt>Workloads</dt><dd>10000</dd>";
    assert!(overview.body.contains(text), "{}", overview.body);
    assert!(
        overview.body.len() < MAX_BYTES / 10,
        "{}",
        overview.body.len()
    );
    let mut names = Vec::new();
    for page in ["", "?page=2", "?page=200"] {
        let answer = served.get(&format!("/timeline{page}"));
        assert!(answer.body.len() < MAX_BYTES, "{}", answer.body.len());
        let page = super::browser::Page::read(&answer.body);
        assert!(
            page.text().contains("10000 workloads, page"),
            "{}",
            page.text()
        );
        let rows = page.all("a").filter(|it| it.text.starts_with("web-"));
        names.push(rows.map(|it| it.text.clone()).collect::<Vec<_>>());
    }
    let expected = |from: usize| (from..from + 50).map(|at| format!("web-{at:05}"));
    for (found, from) in names.iter().zip([0, 50, 9_950]) {
        assert_eq!(*found, expected(from).collect::<Vec<_>>());
    }
    // One checkbox selects the matching workloads on all pages.
    let output = "all 10000 workloads that match, on all 200 pages";
    assert!(served.page("/timeline?page=2").text().contains(output));
    assert!(
        !served
            .page("/timeline?q=0123")
            .text()
            .contains("that match, on all")
    );
    let beyond = served.page("/timeline?page=18446744073709551615");
    assert!(beyond.text().contains("page 200 of 200"));
    let found = served.page("/timeline?q=WEB-0123");
    assert!(
        found.text().contains("10 workloads of 10000"),
        "{}",
        found.text()
    );
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
