//! Why a watch fails.

use std::time::Duration;

use kube::Error;

use crate::cluster::connection::instrument::is_too_large;

/// Why a watch has failed. It continues by itself.
#[derive(Debug, thiserror::Error)]
#[error("the {verb} failed: {error}")]
pub struct WatchError {
    /// The verb of the request, as RBAC names it: `list` or `watch`.
    pub verb: &'static str,
    /// The failure itself.
    #[source]
    pub error: Error,
    /// The pause that the server asks for.
    pub(super) retry_after: Option<Duration>,
}

/// Why the objects of a kind cannot be watched, if the server gives the same answer until somebody
/// changes the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Absence {
    /// RBAC has no rule for it (403).
    #[error("forbidden")]
    Forbidden,
    /// The API server does not serve it (404): its CustomResourceDefinition is not installed, say.
    #[error("the API server does not have this kind")]
    NotServed,
}

impl WatchError {
    pub(super) fn new(verb: &'static str, error: Error) -> Self {
        let retry_after = match &error {
            Error::Api(status) => status.details.as_ref().map(|it| it.retry_after_seconds),
            _ => None,
        };
        Self {
            verb,
            error,
            retry_after: retry_after.map(|it| Duration::from_secs(it.into())),
        }
    }

    /// The answer to this request has no version from which a watch could continue.
    pub(super) fn no_version(verb: &'static str) -> Self {
        let why = "the answer has no metadata.resourceVersion";
        Self::new(verb, Error::Service(why.into()))
    }

    /// The reason, if only a change of the cluster can end it.
    pub fn absence(&self) -> Option<Absence> {
        match self.code()? {
            403 => Some(Absence::Forbidden),
            404 => Some(Absence::NotServed),
            _ => None,
        }
    }

    /// Whether the server no longer has the version, so that everything is listed anew (410).
    pub fn is_expired(&self) -> bool {
        self.code() == Some(410)
    }

    /// Whether the server refuses this stream: it may not know streams, or may permit only lists.
    pub(super) fn refuses_streams(&self) -> bool {
        matches!(self.code(), Some(400 | 403 | 404 | 405 | 406 | 415 | 422))
    }

    /// The status code of the answer, or of the event that has ended the watch.
    pub(super) fn code(&self) -> Option<u16> {
        match &self.error {
            Error::Api(status) => Some(status.code),
            _ => None,
        }
    }

    /// Whether the answer is too large to be read.
    pub(super) fn is_too_large(&self) -> bool {
        is_too_large(&self.error)
    }
}
