//! What the API server does not have, or does not let us see.

use kube::runtime::watcher;

/// Why the objects of a kind cannot be watched, where that is not a failure: the server gives the
/// same answer until somebody changes the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Absence {
    /// RBAC has no rule for it (403).
    #[error("forbidden")]
    Forbidden,
    /// The API server does not serve it (404): its CustomResourceDefinition is not installed, say.
    #[error("the API server does not have this kind")]
    NotServed,
}

impl Absence {
    /// Why a watch has failed, if it is for one of these reasons.
    pub fn of(error: &watcher::Error) -> Option<Self> {
        let code = match error {
            watcher::Error::InitialListFailed(kube::Error::Api(status))
            | watcher::Error::WatchStartFailed(kube::Error::Api(status))
            | watcher::Error::WatchFailed(kube::Error::Api(status))
            | watcher::Error::WatchError(status) => status.code,
            _ => return None,
        };
        match code {
            403 => Some(Self::Forbidden),
            404 => Some(Self::NotServed),
            _ => None,
        }
    }
}
