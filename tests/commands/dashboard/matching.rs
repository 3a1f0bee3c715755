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
    cluster.wait_until_seen(&["web-69", "api"]);
    let served = Served::of(&cluster, &[]);
    let timeline = served.page("/timeline?q=web-&page=2");
    assert_contains!(
        timeline.text(),
        "all 60 workloads that match, on all 2 pages"
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
        assert_contains!(text, part);
    }
    assert_lacks!(text, "dev/api");
    // Workloads with the same change share a row, behind which all their names are.
    assert_eq!(preview.all("tr").count(), 2, "{text}");
    assert!(preview.all("summary").any(|it| it.text == "60 workloads"));
    for number in 10..70 {
        assert_contains!(text, format!("dev/web-{number}"), "{number}");
    }
    let cancel = preview.all("a").find(|it| it.text == "Cancel").unwrap();
    assert_eq!(cancel.attribute("href"), Some("/timeline?q=web-"));
    let (_, result) = confirmed(&served, &asked);
    assert_contains!(result, "Undo: follow the schedule again");
    assert_contains!(result, "60 workloads changed");
    assert!(cluster.annotation("web-69", "sleep-until").is_some());
    assert_eq!(cluster.annotation("api", "sleep-until"), None);
}

/// The API server resolves the filters by labels, and an action keeps them.
#[test]
fn filters_by_label_and_team_select_workloads_and_are_kept() {
    let cluster = Cluster::new();
    let labels = serde_json::json!({"metadata": {"labels": {"team": "payments"}}});
    cluster.api.merge("Namespace", "", "dev", &labels).unwrap();
    cluster.api.namespace("other");
    for name in ["web", "api"] {
        cluster.deployment(name, 2, &[("hours", "00:00-24:00")]);
        let mut copy = cluster.api.get("Deployment", "dev", name).unwrap();
        let metadata = copy["metadata"].as_object_mut().unwrap();
        metadata.retain(|key, _| ["name", "labels", "annotations"].contains(&&**key));
        metadata.insert("namespace".into(), "other".into());
        cluster.api.create(copy).unwrap();
    }
    let served = Served::of(&cluster, &[]);
    let names = |query: &str| {
        let page = served.page(&format!("/timeline?{query}"));
        let links = page.all("a").filter_map(|it| it.attribute("href"));
        let objects = links.filter_map(|to| to.strip_prefix("/object/"));
        // Each link also contains the way back to this list.
        let objects = objects.map(|to| to.split_once('?').map_or(to, |(object, _)| object));
        objects.map(str::to_owned).collect::<Vec<_>>()
    };
    let web = ["dev/deploy/web", "other/deploy/web"];
    assert_eq!(names("label=app%3Dweb"), web);
    assert_eq!(
        names("team=team%3Dpayments"),
        ["dev/deploy/api", "dev/deploy/web"]
    );
    assert_eq!(
        names("label=app%3Dweb&team=team%3Dpayments"),
        ["dev/deploy/web"]
    );
    assert_eq!(
        names("label=app+in+(web,none)&namespace=other"),
        ["other/deploy/web"]
    );
    let wrong = served.page("/timeline?label=app%3D%3D%3Dx");
    assert!(
        wrong
            .all("p")
            .any(|it| it.attribute("role") == Some("alert"))
    );
    assert!(names("label=app%3D%3D%3Dx").is_empty());

    // Sorting, the form and its result keep both filters.
    let query = "label=app%3Dweb&team=team%3Dpayments";
    let timeline = served.page(&format!("/timeline?{query}"));
    let sort = timeline.all("a").find(|it| it.text == "Next").unwrap();
    assert_contains!(sort.attribute("href").unwrap(), query);
    let token = token(&served);
    let fields = [
        ("token", &*token),
        ("do", "pause"),
        ("match", "label=app%3Dweb"),
    ];
    let asked = post(&served, &format!("/confirm?{query}"), &fields);
    let preview = Page::read(&asked.body);
    assert_contains!(preview.text(), "Pause 2 workloads");
    assert_lacks!(preview.text(), "api");
    let cancel = preview.all("a").find(|it| it.text == "Cancel").unwrap();
    let kept = format!("/timeline?{query}");
    assert_eq!(cancel.attribute("href"), Some(&*kept));
    let (_, result) = confirmed(&served, &asked);
    assert_contains!(result, "deployment.apps/web");
}
