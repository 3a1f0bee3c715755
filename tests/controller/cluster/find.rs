#![allow(clippy::unwrap_used)]

use std::time::Duration;

use dayshift_cluster::{
    Query, Workload,
    clock::Clock,
    read::{FindError, MissingWorkload, NamespaceDefaults, find},
};
use dayshift_operations::{LiveView, status::Unreadable};
use dayshift_workload::{Kind, Prefix};
use kube_in_memory::{Api, Fault, Status};
use serde_json::json;

fn cluster<'a>(deployments: impl IntoIterator<Item = (&'a str, &'a str)>) -> Api {
    let api = Api::new(chrono::Utc::now);
    for (namespace, name) in deployments {
        api.namespace(namespace);
        let labels = json!({"app": name});
        api.create(json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"namespace": namespace, "name": name, "labels": labels},
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {"containers": [{"name": "nginx", "image": "nginx"}]},
                },
            },
        }))
        .unwrap();
    }
    api
}

fn all(namespace: Option<&str>, selector: Option<&str>) -> Query {
    let namespaces: Vec<_> = namespace.map(str::to_owned).into_iter().collect();
    Query::all(
        &[Kind::DEPLOYMENT],
        &namespaces,
        selector.map(str::to_owned),
    )
}

fn named(namespace: &str, names: &[&str]) -> Query {
    let names = names.iter();
    let names = names.map(|name| (Kind::DEPLOYMENT, (*name).to_owned()));
    Query::named(namespace, names)
}

async fn names(api: &Api, query: Query) -> Vec<String> {
    let (found, _) = find::<Workload>(&api.client(), &query).await.unwrap();
    found
        .iter()
        .map(|(_, it)| format!("{}/{}", it.namespace(), it.name()))
        .collect()
}

#[tokio::test]
async fn finds_workloads_by_namespace_label_and_name() {
    let api = cluster([("dev", "web"), ("dev", "api"), ("test", "web")]);
    for (query, expected) in [
        (all(None, None), &["dev/api", "dev/web", "test/web"][..]),
        (all(Some("dev"), None), &["dev/api", "dev/web"]),
        (all(None, Some("app=web")), &["dev/web", "test/web"]),
        (all(Some("dev"), Some("app=web")), &["dev/web"]),
        (all(Some("prod"), None), &[]),
        (named("dev", &["web", "api"]), &["dev/web", "dev/api"]),
    ] {
        assert_eq!(names(&api, query.clone()).await, expected, "{query:?}");
    }
}

#[tokio::test]
async fn a_missing_name_does_not_hide_the_others() {
    let api = cluster([("dev", "web")]);
    let query = named("dev", &["nope", "web"]);
    let defaults = NamespaceDefaults::default();
    let live = LiveView::read(&api.client(), query, &Prefix::default(), defaults).await;
    let live = live.unwrap();
    assert_eq!(live.workloads().count(), 1);
    let nope = MissingWorkload {
        kind: Kind::DEPLOYMENT,
        namespace: "dev".to_owned(),
        name: "nope".to_owned(),
    };
    assert_eq!(
        nope.to_string(),
        "deployment.apps/nope is not in namespace dev"
    );
    assert_eq!(live.missing(), [nope]);
}

#[tokio::test]
async fn reads_a_list_by_pages_and_restarts_it_after_it_expires() {
    let everyone: Vec<_> = (0..250).map(|n| format!("web-{n:03}")).collect();
    let api = cluster(everyone.iter().map(|name| ("dev", &**name)));
    api.forget_requests();
    assert_eq!(names(&api, all(None, None)).await.len(), 250);
    assert_eq!(api.requests().len(), 3);

    api.fail_next(
        |line| line.query.contains("continue="),
        Fault::Answer(Status::new(410, "Expired", "the continue token is too old")),
    );
    let found = names(&api, all(None, None)).await;
    assert_eq!(found.len(), 250);
    assert!(found.is_sorted());
}

#[tokio::test]
async fn failure_names_the_resource_and_the_namespace() {
    let api = cluster([("dev", "web")]);
    for (status, query, expected) in [
        (
            Status::new(403, "Forbidden", "no"),
            all(None, None),
            FindError::Forbidden {
                kind: Kind::DEPLOYMENT,
                verb: "list",
                place: "all namespaces".to_owned(),
                message: "no".to_owned(),
            },
        ),
        (
            Status::new(403, "Forbidden", "no"),
            named("dev", &["web"]),
            FindError::Forbidden {
                kind: Kind::DEPLOYMENT,
                verb: "get",
                place: "namespace dev".to_owned(),
                message: "no".to_owned(),
            },
        ),
        (
            Status::new(401, "Unauthorized", "who?"),
            all(None, None),
            FindError::Unauthorized("who?".to_owned()),
        ),
        (
            Status::new(503, "ServiceUnavailable", "later"),
            all(None, None),
            FindError::Unavailable("503 Service Unavailable: later".to_owned()),
        ),
    ] {
        api.fail_next(|_| true, Fault::Answer(status));
        let failed = find::<Workload>(&api.client(), &query).await.unwrap_err();
        assert_eq!(failed, expected);
    }
}

/// A user who creates thousands of them can make a list slow.
#[tokio::test(start_paused = true)]
async fn lists_that_take_longer_than_five_seconds_are_reported() {
    let api = cluster([("dev", "web")]);
    let wakes = Some("10m");
    api.annotate("dev", "web", "dayshift/wake-on-request", wakes)
        .unwrap();
    for (resource, seconds, expected) in [
        ("services", 4, None),
        (
            "services",
            6,
            Some(
                "Services cannot be listed, so it is not known which of them wake a workload on request: \
                 the list takes longer than 5 s",
            ),
        ),
        (
            "horizontalpodautoscalers",
            6,
            Some(
                "HorizontalPodAutoscalers cannot be listed, so one that has not set a count yet is not \
                 shown: the list takes longer than 5 s",
            ),
        ),
    ] {
        api.on_request(move |line| {
            let is_slow = line.resource.ends_with(resource);
            is_slow.then_some(Fault::Delay(Duration::from_secs(seconds)))
        });
        let defaults = NamespaceDefaults::default();
        let query = all(None, None);
        let live = LiveView::read(&api.client(), query, &Prefix::default(), defaults).await;
        let mut live = live.unwrap();
        let clock = Clock::simulated(chrono::DateTime::UNIX_EPOCH);
        live.explain(&api.client(), &clock).await;
        let notes: Vec<_> = Unreadable::list(&live)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(notes, Vec::from_iter(expected), "{resource} {seconds} s");
    }
}
