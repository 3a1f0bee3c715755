//! Custom kinds in discovery and in writes, and kinds that are no longer served.

use futures::StreamExt as _;
use k8s_openapi::api::batch::v1::CronJob;
use kube::api::{ApiResource, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::{GroupVersion, GroupVersionKind};
use kube::discovery::{Scope, oneshot};
use kube::{Api, Client, Error};
use kube_in_memory::Api as Server;
use serde_json::json;

fn server() -> Server {
    let server = Server::new(chrono::Utc::now);
    server.serve_custom("argoproj.io", "v1alpha1", "rollouts", "Rollout");
    server
}

async fn rollouts(client: &Client) -> Result<ApiResource, Error> {
    let kind = GroupVersionKind::gvk("argoproj.io", "v1alpha1", "Rollout");
    let (resource, capabilities) = oneshot::pinned_kind(client, &kind).await?;
    assert_eq!(capabilities.scope, Scope::Namespaced);
    Ok(resource)
}

fn code(error: &Error) -> Option<u16> {
    match error {
        Error::Api(status) => Some(status.code),
        _ => None,
    }
}

#[tokio::test]
async fn kube_discovers_a_custom_kind_and_scales_it() {
    let server = server();
    let client = server.client();
    let resource = rollouts(&client).await.unwrap();
    assert_eq!(resource.plural, "rollouts");
    let group = oneshot::group(&client, "argoproj.io").await.unwrap();
    assert_eq!(group.preferred_version(), Some("v1alpha1"));
    let apps = oneshot::pinned_group(&client, &GroupVersion::gv("apps", "v1")).await;
    assert_eq!(apps.unwrap().resources_by_stability().len(), 2);

    let objects: Api<DynamicObject> = Api::namespaced_with(client, "default", &resource);
    let web = DynamicObject::new("web", &resource).data(json!({"spec": {"replicas": 3}}));
    objects.create(&PostParams::default(), &web).await.unwrap();
    let none = Patch::Merge(json!({"spec": {"replicas": 0}}));
    let patched = objects.patch("web", &PatchParams::default(), &none).await;
    assert_eq!(patched.unwrap().data["spec"]["replicas"], 0);

    server.scale_of("Rollout", "default", "web", 2).unwrap();
    let web = server.get("Rollout", "default", "web").unwrap();
    assert_eq!(web["spec"]["replicas"], 2);
    let managers = web["metadata"]["managedFields"].as_array().unwrap();
    assert!(managers.iter().any(|entry| entry["subresource"] == "scale"));
}

#[tokio::test]
async fn withdrawn_kind_is_not_found_until_it_is_served_again() {
    let server = server();
    let client = server.client();
    let resource = rollouts(&client).await.unwrap();
    let objects: Api<DynamicObject> = Api::namespaced_with(client.clone(), "default", &resource);
    let web = json!({"kind": "Rollout", "metadata": {"name": "web"}});
    server.create(web.clone()).unwrap();
    let watched = objects.watch(&kube::api::WatchParams::default(), "1").await;
    let mut watched = watched.unwrap().boxed();
    assert!(watched.next().await.is_some());

    server.withdraw("Rollout");
    assert!(watched.next().await.is_none(), "the watch has ended");
    let listed = objects.list(&ListParams::default()).await.unwrap_err();
    assert_eq!(code(&listed), Some(404));
    assert!(rollouts(&client).await.is_err());
    assert!(server.get("Rollout", "default", "web").is_none());
    assert_eq!(server.create(web).unwrap_err().code, 400);

    server.serve_again("Rollout");
    let listed = objects.list(&ListParams::default()).await.unwrap();
    assert_eq!(listed.items.len(), 1);
}

#[tokio::test]
async fn kind_served_in_another_version_keeps_its_objects() {
    let server = server();
    let client = server.client();
    let resource = rollouts(&client).await.unwrap();
    let before: Api<DynamicObject> = Api::namespaced_with(client.clone(), "default", &resource);
    let web = json!({"kind": "Rollout", "metadata": {"name": "web"}, "spec": {"replicas": 3}});
    server.create(web).unwrap();
    let made = before.get("web").await.unwrap();

    server.serve_in("Rollout", "v1beta1").unwrap();
    let gone = before.get("web").await.unwrap_err();
    assert_eq!(code(&gone), Some(404));
    assert!(rollouts(&client).await.is_err());
    let kind = GroupVersionKind::gvk("argoproj.io", "v1beta1", "Rollout");
    let (resource, _) = oneshot::pinned_kind(&client, &kind).await.unwrap();
    let after: Api<DynamicObject> = Api::namespaced_with(client, "default", &resource);
    let moved = after.get("web").await.unwrap();
    assert_eq!(moved.types.unwrap().api_version, "argoproj.io/v1beta1");
    assert_eq!((moved.metadata, moved.data), (made.metadata, made.data));
    assert_eq!(server.serve_in("Nothing", "v1").unwrap_err().code, 400);
}

#[tokio::test]
async fn built_in_kind_can_be_withdrawn() {
    let server = server();
    let jobs: Api<CronJob> = Api::default_namespaced(server.client());
    for (served, expected) in [(true, None), (false, Some(404)), (true, None)] {
        if served {
            server.serve_again("CronJob");
        } else {
            server.withdraw("CronJob");
        }
        let listed = jobs.list(&ListParams::default()).await;
        assert_eq!(listed.err().as_ref().and_then(code), expected);
    }
}

#[tokio::test]
async fn custom_kind_is_not_served_by_another_server() {
    let (with, without) = (server(), Server::new(chrono::Utc::now));
    assert!(rollouts(&with.client()).await.is_ok());
    assert!(rollouts(&without.client()).await.is_err());
    assert!(without.list("Rollout").is_empty());
}
