//! Namespaces, down to their metadata.

use dayshift_workload::{Annotations, Prefix};
use k8s_openapi::api::core::v1::Namespace;
use kube::{ResourceExt as _, core::PartialObjectMeta};

use crate::cluster::workload::Version;

/// A Namespace as a watch shows it: its metadata alone, which is all that the server sends.
pub type NamespaceMeta = PartialObjectMeta<Namespace>;

/// The path of Namespaces at the API server.
pub(crate) const NAMESPACES_PATH: &str = "/api/v1/namespaces";

/// The part of a Namespace that dayshift reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedNamespace {
    /// Its name.
    pub name: Box<str>,
    /// Its UID.
    pub uid: Box<str>,
    /// Its version.
    pub version: Version,
    /// Its annotations under the prefix: the defaults of the objects in it.
    pub annotations: Annotations,
    /// Whether it is being deleted (`deletionTimestamp` is set).
    pub deleting: bool,
}

impl ObservedNamespace {
    /// The part that dayshift reads.
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
