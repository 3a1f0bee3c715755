//! Namespaces, down to their metadata.

use futures::Stream;
use k8s_openapi::api::core::v1::Namespace;
use kube::{
    Api, Client, ResourceExt as _,
    core::PartialObjectMeta,
    runtime::watcher::{self, Error, Event},
};

use crate::cluster::reading::list_watch::list_watch;
use crate::cluster::workload::Version;
use crate::workload::{Annotations, Prefix};

/// A Namespace as a watch shows it: its metadata alone, which is all that the server sends.
pub type NamespaceMeta = PartialObjectMeta<Namespace>;

/// Where the API server has Namespaces.
pub const NAMESPACES_PATH: &str = "/api/v1/namespaces";

/// What dayshift sees in a Namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedNamespace {
    /// Its name.
    pub name: Box<str>,
    /// Its UID.
    pub uid: Box<str>,
    /// Which state of it this is.
    pub version: Version,
    /// Its annotations under the prefix: the defaults of the objects in it.
    pub annotations: Annotations,
    /// Whether it is on its way out (`deletionTimestamp` is set).
    pub deleting: bool,
}

impl ObservedNamespace {
    /// What there is to see.
    pub fn of(namespace: &NamespaceMeta, prefix: &Prefix) -> Self {
        let texts = namespace.annotations().iter();
        let texts = texts.map(|(key, text)| (&**key, &**text));
        Self {
            name: namespace.name_any().into(),
            uid: namespace.uid().unwrap_or_default().into(),
            version: Version::parse(&namespace.resource_version().unwrap_or_default()),
            annotations: Annotations::under(prefix, texts),
            deleting: namespace.metadata.deletion_timestamp.is_some(),
        }
    }
}

/// Every Namespace, and each change from then on, as [`list_watch`] tells of workloads.
pub fn watch_namespaces(
    client: Client,
    config: watcher::Config,
) -> impl Stream<Item = Result<Event<NamespaceMeta>, Error>> + Send {
    list_watch(Api::all(client), config)
}
