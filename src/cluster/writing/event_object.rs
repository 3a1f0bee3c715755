//! The object of an Event.

use std::{fmt, sync::Arc};

use crate::cluster::reading::namespace::ObservedNamespace;
use crate::workload::WorkloadRef;

/// The object of an Event: a workload, or a Namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventObject {
    /// `apps/v1`
    pub api_version: &'static str,
    /// `Deployment`
    pub kind: &'static str,
    /// The namespace of the Event: for a Namespace, itself, so that its users can see the Event.
    pub namespace: Arc<str>,
    /// The name.
    pub name: Arc<str>,
    /// The UID.
    pub uid: Arc<str>,
}

impl From<&WorkloadRef> for EventObject {
    fn from(object: &WorkloadRef) -> Self {
        Self {
            api_version: object.kind.api_version(),
            kind: object.kind.name(),
            namespace: object.namespace.clone(),
            name: object.name.clone(),
            uid: object.uid.clone(),
        }
    }
}

impl From<&ObservedNamespace> for EventObject {
    fn from(namespace: &ObservedNamespace) -> Self {
        let name: Arc<str> = (&*namespace.name).into();
        Self {
            api_version: "v1",
            kind: "Namespace",
            namespace: name.clone(),
            name,
            uid: (&*namespace.uid).into(),
        }
    }
}

/// `dev/web`.
impl fmt::Display for EventObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}
