//! A Kubernetes API in memory, for the tests of [`kube`] clients: no socket, no cluster, no threads.
//!
//! A [`kube::Client`] made by [`Api::client`] speaks HTTP to it and gets the answers that
//! kube-apiserver 1.36 gives, down to the causes of a 422: they are compared with recorded answers of
//! a real one. Controllers run against it unchanged.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! use k8s_openapi::api::apps::v1::Deployment;
//! use kube::api::{ListParams, Patch, PatchParams, PostParams};
//! use kube_in_memory::{Api, Fault, Status};
//! use serde_json::json;
//!
//! let server = Api::new(chrono::Utc::now);
//! let deployments: kube::Api<Deployment> = kube::Api::namespaced(server.client(), "default");
//!
//! let web: Deployment = serde_json::from_value(json!({
//!     "metadata": {"name": "web"},
//!     "spec": {
//!         "selector": {"matchLabels": {"app": "web"}},
//!         "template": {
//!             "metadata": {"labels": {"app": "web"}},
//!             "spec": {"containers": [{"name": "nginx", "image": "nginx"}]},
//!         },
//!     },
//! }))?;
//! deployments.create(&PostParams::default(), &web).await?;
//! assert_eq!(deployments.list(&ListParams::default()).await?.items.len(), 1);
//!
//! let three = Patch::Merge(json!({"spec": {"replicas": 3}}));
//! deployments.patch("web", &PatchParams::default(), &three).await?;
//! assert_eq!(server.replicas("default", "web"), Some(3));
//!
//! // The next patch takes effect, but its answer is lost.
//! server.fail_next(|line| line.verb == "patch", Fault::DropAfter);
//! let none = Patch::Merge(json!({"spec": {"replicas": 0}}));
//! assert!(deployments.patch("web", &PatchParams::default(), &none).await.is_err());
//! assert_eq!(server.replicas("default", "web"), Some(0));
//!
//! let verbs: Vec<_> = server.requests().into_iter().map(|line| line.verb).collect();
//! assert_eq!(verbs, ["create", "list", "patch", "patch"]);
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! # Ok::<_, std::io::Error>(())
//! ```
//!
//! # What a test can do
//! - Look into the cluster and change it directly: [`Api::create`], [`Api::apply`], [`Api::get`],
//!   [`Api::scale`], [`Api::changes`].
//! - Make requests fail: [`Api::on_request`] and [`Api::fail_next`] take a [`Fault`], an answer of
//!   one's own, a lost connection before or after the request took effect, silence or a delay.
//!   [`Api::close_watches`] and [`Api::compact`] do to watches what a restart and etcd do.
//! - Refuse or change writes as admission policies do: [`Api::on_admission`], [`Api::on_mutation`].
//! - Read who asked for what, and how it was answered: [`Api::requests`].
//! - Let time stand still. The server's clock is the function given to [`Api::new`]; delays and the
//!   deadlines of watches use tokio's clock, so they work with `tokio::time::pause`.
//!
//! What is answered, what is not and how it differs from a real server is in the README.

mod admin;
mod api;
mod cause;
mod http;
mod list_options;
mod objects;
mod ownership;
mod patch;
mod read;
mod route;
mod selectors;
mod server;
mod status;
mod store;
mod write;

pub use api::{Api, Changes, StoredChange};
pub use cause::Cause;
pub use ownership::Writer;
pub use server::{Admission, Fault, RequestLine};
pub use status::{Details, Status};
