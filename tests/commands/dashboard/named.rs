//! Named schedules on the timeline, and the way back to a filtered timeline.

use super::browser::{Page, Served};
use crate::fake_server::Cluster;

fn cluster() -> Cluster {
    let cluster = Cluster::new();
    for (name, schedule) in [
        ("web", "office-berlin"),
        ("api", "office-tokyo"),
        ("db", "office-tokyo"),
    ] {
        cluster.deployment(name, 1, &[("schedule", schedule)]);
    }
    cluster.deployment("plain", 1, &[("hours", "00:00-24:00")]);
    cluster
}

/// The names of the workloads in the rows of the timeline.
fn names(page: &Page) -> Vec<String> {
    let links = page.all("a").filter(|it| {
        let href = it.attribute("href").unwrap_or_default();
        href.starts_with("/object/")
    });
    links.map(|it| it.text.clone()).collect()
}

fn link(page: &Page, text: &str) -> String {
    let found = page.all("a").find(|it| it.text == text);
    let found = found.unwrap_or_else(|| panic!("no {text}: {}", page.text()));
    found.attribute("href").unwrap().to_owned()
}

#[test]
fn the_timeline_shows_named_schedules_and_filters_by_them() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    let page = served.page("/timeline");
    assert_eq!(names(&page), ["api", "db", "plain", "web"]);
    let offered: Vec<_> = page
        .all("option")
        .filter_map(|it| it.attribute("value"))
        .filter(|it| it.starts_with("office"))
        .collect();
    assert_eq!(offered, ["office-berlin", "office-tokyo"]);
    let tokyo = link(&page, "office-tokyo");
    assert_eq!(tokyo, "/timeline?schedule=office-tokyo");
    let page = served.page(&tokyo);
    assert_eq!(names(&page), ["api", "db"]);
    assert_contains!(page.text(), "2 workloads of 4");
    assert!(names(&served.page("/timeline?schedule=night")).is_empty());
    let page = served.page("/object/dev/deploy/web");
    assert_eq!(
        link(&page, "office-berlin"),
        "/timeline?schedule=office-berlin"
    );

    // Without named schedules there is no column for them.
    let others = Cluster::new();
    others.deployment("plain", 1, &[("hours", "00:00-24:00")]);
    let page = Served::of(&others, &[]).page("/timeline");
    assert_lacks!(page.text(), "Named schedule");
    assert!(page.all("th").all(|it| it.text != "Schedule"));
}

#[test]
fn a_workload_links_back_to_the_filtered_timeline() {
    let cluster = cluster();
    let served = Served::of(&cluster, &[]);
    let back = "← Back to the filtered timeline";
    let list = "/timeline?schedule=office-tokyo&sort=next";
    for theme in ["", "&theme=dark"] {
        let list = format!("{list}{theme}");
        let object = link(&served.page(&list), "dev/api");
        let page = served.page(&object);
        let query = link(&page, back).split_once('?').unwrap().1.to_owned();
        let mut found: Vec<_> = query.split('&').collect();
        let mut expected: Vec<_> = list.split_once('?').unwrap().1.split('&').collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{object}");
        // The page keeps the link when it stops reloading.
        let still = link(&page, "Wake, sleep, pause, resume, sync or restore");
        let still = served.page(still.split('#').next().unwrap());
        assert_contains!(link(&still, back), "schedule=office-tokyo");
    }
    // From the whole timeline, there is nothing to go back to.
    let object = link(&served.page("/timeline"), "api");
    assert_eq!(object, "/object/dev/deploy/api");
    // A forged address leads to no other page. The reader of pages rejects foreign links.
    for forged in [
        "//evil.example/",
        "https://evil.example",
        "javascript:alert(1)",
        "?back=%3Fback%3Dx&q=web",
        "%00&page=9999999999999999999",
    ] {
        let mut query = form_urlencoded::Serializer::new(String::new());
        let query = query.append_pair("back", forged).finish();
        let page = served.page(&format!("/object/dev/deploy/api?{query}"));
        let to = link(&page, back);
        assert!(to == "/timeline" || to.starts_with("/timeline?"), "{to}");
        assert!(!to.contains("evil") && !to.contains("alert"), "{to}");
    }
    let long = "x".repeat(100_000);
    let answer = served.get(&format!("/object/dev/deploy/api?back={}", &long[..8_000]));
    assert_eq!(answer.status, 200);
    assert!(answer.body.len() < 200_000, "{}", answer.body.len());
}
