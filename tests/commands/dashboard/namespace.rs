//! The page of a namespace: inherited schedules, overrides with their authors, and Events.

use serde_json::json;

use super::{
    actions::{confirmed, post, token},
    browser::{Page, Served},
};
use crate::fake_server::{Cluster, Controller, refusal};
use crate::program::wait_until;

/// Two workloads in `dev`, one of which inherits its hours, and one workload in another namespace.
fn cluster() -> Cluster {
    let cluster = Cluster::new();
    let hours = Some("Mon-Fri 08:15-17:45");
    let key = "dayshift/hours";
    cluster
        .api
        .annotate_of("Namespace", "", "dev", key, hours)
        .unwrap();
    cluster.deployment("web", 2, &[]);
    cluster.deployment("api", 3, &[("hours", "00:00-24:00")]);
    cluster.api.namespace("other");
    let mut far = cluster.api.get("Deployment", "dev", "api").unwrap();
    let metadata = far["metadata"].as_object_mut().unwrap();
    metadata.retain(|key, _| key == "annotations");
    metadata.insert("namespace".into(), "other".into());
    metadata.insert("name".into(), "elsewhere".into());
    cluster.api.create(far).unwrap();
    cluster
}

fn adopted(cluster: &Cluster) -> Controller {
    let controller = Controller::on(cluster);
    for (namespace, name) in [("dev", "web"), ("dev", "api"), ("other", "elsewhere")] {
        wait_until("adopted", || {
            let object = cluster.api.get("Deployment", namespace, name).unwrap();
            object["metadata"]["labels"]["dayshift/state"].is_string()
        });
    }
    controller
}

fn rows(page: &Page) -> Vec<&str> {
    page.all("tr").map(|it| &*it.text).collect()
}

#[test]
fn a_namespace_page_shows_defaults_and_overrides_with_their_author() {
    let cluster = cluster();
    let _controller = adopted(&cluster);
    let args = ["pause", "ns/dev", "--reason", "the release"];
    assert_eq!(cluster.dayshift(&args).status, 0);
    let args = ["wake", "deploy/api", "--for", "5h", "--reason", "my demo"];
    assert_eq!(
        cluster
            .dayshift(&[&args[..], &["--no-wait"]].concat())
            .status,
        0
    );
    let served = Served::of(&cluster, &[]);
    let page = served.page("/ns/dev");
    let text = page.text();
    for part in [
        "namespace/dev",
        "The Namespace, for 1 workload: paused",
        "the release",
        "my demo",
        "dayshift pause ns/dev",
    ] {
        assert_contains!(text, part);
    }
    let given = "dayshift/hoursMon-Fri 08:15-17:45Namespace1 workload";
    assert!(rows(&page).contains(&given), "{:?}", rows(&page));
    assert_lacks!(text, "elsewhere");
    let other = served.page("/ns/other?refresh=off");
    assert_contains!(other.text(), "elsewhere");
    assert_lacks!(other.text(), "08:15");
    for path in ["/ns/gone", "/ns/", "/ns/..%2fdev", "/ns/dev/web"] {
        assert_eq!(served.get(path).status, 404, "{path}");
    }
    // The overview and the timeline count the workloads and link to the page.
    for path in ["/namespaces", "/timeline"] {
        let page = served.page(path);
        for name in ["dev", "other"] {
            let address = format!("/ns/{name}");
            let mut links = page.all("a").filter_map(|it| it.attribute("href"));
            assert!(links.any(|it| it == address), "{path}: {address}");
        }
    }
    let overview = served.page("/namespaces");
    let of = |name: &str| {
        let found = rows(&overview).into_iter().find(|it| it.starts_with(name));
        found.unwrap().to_owned()
    };
    assert_starts_with!(of("dev"), "dev2: 1 ");
    assert_contains!(of("dev"), "1 paused");
    assert_starts_with!(of("other"), "other1: 1 ");
}

#[test]
fn a_namespace_page_lists_the_values_of_its_team() {
    let cluster = cluster();
    cluster
        .api
        .serve_custom("", "v1", "configmaps", "ConfigMap");
    let data = json!({"hours": "Tue 07:10-08:20", "timezone": "Asia/Tokyo"});
    let config_map = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"namespace": "dev", "name": "dayshift"}, "data": data,
    });
    cluster.api.create(config_map).unwrap();
    let of_controller = Served::by_run_with(&cluster, "127.0.0.1:0", &["--team-defaults"]);
    for served in [of_controller, Served::of(&cluster, &[])] {
        wait_until("shown on the page", || {
            served.page("/ns/dev").text().contains("Tue 07:10-08:20")
        });
        let page = served.page("/ns/dev");
        let rows = rows(&page);
        for expected in [
            "hoursTue 07:10-08:20team, in the ConfigMap dayshift1 workload",
            "timezoneAsia/Tokyoteam, in the ConfigMap dayshift2 workloads",
        ] {
            assert!(rows.contains(&expected), "{expected}: {rows:?}");
        }
        // No workload uses the hours of the Namespace any more.
        assert_lacks!(page.text(), "08:15");
        let other = served.page("/ns/other");
        assert_lacks!(other.text(), "Asia/Tokyo");
    }
}

#[test]
fn pauses_a_whole_namespace_from_its_page() {
    let cluster = cluster();
    let _controller = adopted(&cluster);
    let served = Served::of(&cluster, &[]);
    let page = served.page("/ns/dev?refresh=off");
    let named = |name: &str| {
        let mut inputs = page.all("input");
        let found = inputs.find(|it| it.attribute("name") == Some(name));
        found.unwrap().attribute("value").unwrap().to_owned()
    };
    assert_eq!(named("namespace"), "dev");
    let token = token(&served);
    let fields = [
        ("token", &*token),
        ("do", "pause"),
        ("namespace", &*named("namespace")),
    ];
    let (preview, result) = confirmed(&served, &post(&served, "/confirm", &fields));
    assert_contains!(preview.text(), "Pause 2 workloads");
    assert_contains!(result, "namespace/dev paused: 2 of 2");
    // While a page refreshes itself, it has no form whose input could be lost.
    let live = served.get("/ns/dev");
    assert!(live.header("refresh").is_some() && !live.body.contains("method=\"post\""));
}

#[test]
fn a_namespace_page_shows_the_events_that_may_be_read() {
    let cluster = cluster();
    let _controller = adopted(&cluster);
    let args = ["sleep", "deploy/api", "--for", "5h"];
    assert_eq!(cluster.dayshift(&args).status, 0);
    let event = |name: &str, namespace: &str, reporter: &str, note: &str| {
        let event = json!({
            "apiVersion": "events.k8s.io/v1", "kind": "Event",
            "metadata": {"namespace": namespace, "name": name},
            "eventTime": "2026-11-20T10:00:00.000000Z",
            "reportingController": reporter, "reportingInstance": "it", "action": "Say",
            "type": "Normal", "reason": "Said", "note": note,
            "regarding": {
                "apiVersion": "apps/v1", "kind": "Deployment", "namespace": namespace,
                "name": "web", "uid": "1",
            },
        });
        cluster.api.create(event).unwrap();
    };
    event("one", "dev", "someone-else", "of no concern");
    event("two", "dev", "dayshift", "started days ago");
    event("three", "other", "dayshift", "in another namespace");
    let served = Served::of(&cluster, &[]);
    let begun = std::time::Instant::now();
    loop {
        let page = served.page("/ns/dev");
        let rows = rows(&page);
        let of_api = rows.iter().any(|it| it.contains("Deployment/api"));
        let of_web = rows
            .iter()
            .any(|it| it.contains("Deployment/web") && it.contains("started days ago"));
        assert!(of_web, "{rows:?}");
        assert!(!page.text().contains("of no concern"), "{rows:?}");
        assert!(!page.text().contains("in another namespace"), "{rows:?}");
        // The controller emits the Event shortly after the change.
        if of_api {
            break;
        }
        assert!(begun.elapsed().as_secs() < 30, "{rows:?}");
    }
    cluster.refuse(&["list"], "events");
    let output = format!(
        "The Events cannot be read: the API server refuses: {}",
        refusal("list", "events")
    );
    // A page shows the known Events while it reads them again.
    let is_shown = || served.page("/ns/dev").text().contains(&output);
    wait_until("Events cannot be read", is_shown);
    let page = served.page("/ns/dev");
    for part in ["Overrides", "dayshift/hours"] {
        assert_contains!(page.text(), part);
    }
}
