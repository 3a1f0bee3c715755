//! Namespaces, down to their metadata.

use k8s_openapi::api::core::v1::Namespace;
use kube::{ResourceExt as _, core::PartialObjectMeta};

use crate::cluster::workload::Version;
use crate::workload::{Annotations, Prefix};

/// A Namespace as a watch shows it: its metadata alone, which is all that the server sends.
pub type NamespaceMeta = PartialObjectMeta<Namespace>;

/// Where the API server has Namespaces.
pub(in crate::cluster) const NAMESPACES_PATH: &str = "/api/v1/namespaces";

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
