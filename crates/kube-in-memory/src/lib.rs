//! A Kubernetes API in memory for tests of [`kube`] clients, without sockets, clusters or threads.
//!
//! A [`kube::Client`] from [`Api::client`] gets the responses of kube-apiserver 1.36, including the causes of
//! a 422. Recorded responses of a real server confirm them. Controllers run against it unchanged.
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
//! // The next patch takes effect, but its response is lost.
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
//! # Features
//! - Read and change the cluster directly: [`Api::create`], [`Api::apply`], [`Api::get`], [`Api::scale`],
//!   [`Api::changes`].
//! - Inject faults: [`Api::on_request`] and [`Api::fail_next`] take a [`Fault`], for example an error response,
//!   a lost connection before or after the request took effect, or a delay. [`Api::close_watches`] and
//!   [`Api::compact`] have the effect of a server restart and of etcd compaction.
//! - Deny or change writes like admission policies: [`Api::on_admission`], [`Api::on_mutation`].
//! - Inspect the requests and response codes of each client: [`Api::requests`].
//! - Control time. The server's clock is the function passed to [`Api::new`]. Delays and watch deadlines use
//!   tokio's clock, so they work with `tokio::time::pause`.
//!
//! The README lists the supported requests and the differences from a real server.

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
