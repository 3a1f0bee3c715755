//! Which object.

use std::{fmt, sync::Arc};

use super::kind::Kind;

/// Which object: a workload by kind, namespace and name, and which of that name by UID.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WorkloadRef {
    /// The kind.
    pub kind: Kind,
    /// The namespace.
    pub namespace: Arc<str>,
    /// The name.
    pub name: Arc<str>,
    /// The UID, which a deleted and newly made object does not keep.
    pub uid: Arc<str>,
}

impl WorkloadRef {
    /// `deploy/web -n dev`, as commands name it.
    pub fn argument(&self) -> String {
        let kind = self.kind.short_name();
        format!("{kind}/{} -n {}", self.name, self.namespace)
    }
}

/// `dev/web`.
impl fmt::Display for WorkloadRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}
