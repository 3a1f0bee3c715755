//! Watches of Namespace metadata, as a controller needs them, and deletions of Namespaces.

use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{DeleteParams, ListParams};
use kube::core::PartialObjectMeta;
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, ResourceExt as _};
use serde_json::{Value, json};

use kube_in_memory::Api as Server;

fn web(namespace: &str, finalizers: &[&str]) -> Value {
    json!({
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": namespace, "finalizers": finalizers},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "nginx", "image": "nginx"}]},
            },
        },
    })
}

fn phase(server: &Server, name: &str) -> Option<String> {
    let namespace = server.get("Namespace", "", name)?;
    namespace["status"]["phase"].as_str().map(str::to_owned)
}

#[tokio::test(start_paused = true)]
async fn metadata_watch_follows_annotations() {
    for streaming in [false, true] {
        let server = Server::new(chrono::Utc::now);
        server.namespace("team");
        let namespaces: Api<Namespace> = Api::all(server.client());
        let named = ListParams::default().fields("metadata.name=team");
        let listed = namespaces.list_metadata(&named).await.unwrap();
        assert_eq!(listed.items.len(), 1);

        let config = watcher::Config::default().fields("metadata.name=team");
        let config = if streaming {
            config.streaming_lists()
        } else {
            config
        };
        let metadata: Api<PartialObjectMeta<Namespace>> = Api::all(server.client());
        let mut seen = watcher(metadata, config).applied_objects().boxed();
        let mut hours = async || {
            let namespace = seen.try_next().await.unwrap().unwrap();
            let deleting = namespace.metadata.deletion_timestamp.is_some();
            (namespace.annotations().get("hours").cloned(), deleting)
        };
        assert_eq!(hours().await, (None, false));
        server
            .annotate_of("Namespace", "", "team", "hours", Some("9-17"))
            .unwrap();
        assert_eq!(hours().await, (Some("9-17".to_owned()), false));
        namespaces
            .delete("team", &DeleteParams::default())
            .await
            .unwrap();
        assert_eq!(hours().await, (Some("9-17".to_owned()), true));
    }
}

#[test]
fn deleting_a_namespace_directly_deletes_its_objects() {
    let server = Server::new(chrono::Utc::now);
    for namespace in ["team", "team-b"] {
        server.namespace(namespace);
        server.create(web(namespace, &[])).unwrap();
    }
    server.delete_of("Namespace", "", "team").unwrap();
    assert_eq!(phase(&server, "team"), None);
    assert!(server.get("Deployment", "team", "web").is_none());
    assert!(server.get("Deployment", "team-b", "web").is_some());
    assert!(server.create(web("team", &[])).is_err());

    let refused = server.delete_of("Namespace", "", "default").unwrap_err();
    assert_eq!(refused.code, 403);
    assert_eq!(
        server.delete_of("Namespace", "", "team").unwrap_err().code,
        404
    );
}

#[test]
fn namespace_is_terminating_while_it_contains_objects() {
    let server = Server::new(chrono::Utc::now);
    server.namespace("team");
    server.create(web("team", &["example.com/wait"])).unwrap();
    server.delete_of("Namespace", "", "team").unwrap();
    assert_eq!(phase(&server, "team").as_deref(), Some("Terminating"));

    let free = json!({"metadata": {"finalizers": null}});
    server.merge("Deployment", "team", "web", &free).unwrap();
    server.delete_of("Namespace", "", "team").unwrap();
    assert_eq!(phase(&server, "team"), None);
}
