//! Actions on all workloads that match a filter, with their counts before and after.

use super::{
    actions::{confirmed, post, token},
    browser::{Page, Served},
};
use crate::fake_server::{Cluster, Controller};

/// Sixty workloads, which are two pages of the timeline, and one that does not match.
fn cluster() -> Cluster {
    let cluster = Cluster::new();
    for at in 10..70 {
        cluster.deployment(&format!("web-{at}"), 3, &[("hours", "00:00-24:00")]);
    }
    cluster.deployment("api", 2, &[("hours", "00:00-24:00")]);
    cluster
}

fn value(page: &Page, name: &str) -> String {
    let mut inputs = page.all("input");
    let found = inputs.find(|it| it.attribute("name") == Some(name));
    found.unwrap().attribute("value").unwrap().to_owned()
}

#[test]
fn an_action_reaches_all_matching_workloads_on_all_pages_and_no_others() {
    let cluster = cluster();
    let _controller = Controller::on(&cluster);
    let is_adopted = |name: &str| {
        let object = cluster.api.get("Deployment", "dev", name).unwrap();
        object["metadata"]["labels"]["dayshift/state"].is_string()
    };
    while !(is_adopted("web-69") && is_adopted("api")) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let served = Served::of(&cluster, &[]);
    let timeline = served.page("/timeline?q=web-&page=2");
    assert!(
        timeline
            .text()
            .contains("all 60 workloads that match, on all 2 pages")
    );
    let (token, matching) = (token(&served), value(&timeline, "match"));
    assert_eq!(matching, "q=web-");
    let fields = [
        ("token", &*token),
        ("do", "sleep"),
        ("for", "2h"),
        ("match", &*matching),
    ];
    let asked = post(&served, "/confirm?q=web-", &fields);
    let preview = Page::read(&asked.body);
    let text = preview.text();
    for part in [
        "60 workloads will change.",
        "Stops 180 replicas",
        "3 → 0",
        "Put to sleep 60 workloads",
        "Cancel",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("dev/api"), "{text}");
    let cancel = preview.all("a").find(|it| it.text == "Cancel").unwrap();
    assert_eq!(cancel.attribute("href"), Some("/timeline?q=web-"));
    let (_, result) = confirmed(&served, &asked);
    assert!(
        result.contains("Undo: follow the schedule again"),
        "{result}"
    );
    assert!(result.contains(" of 60 ready"), "{result}");
    assert!(cluster.annotation("web-69", "sleep-until").is_some());
    assert_eq!(cluster.annotation("api", "sleep-until"), None);
}
