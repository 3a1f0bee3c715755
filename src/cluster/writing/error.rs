//! How a request to the API server fails, and what that means for the one who sent it.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use kube::core::Status;

/// Why a guarded patch was not made, as far as is known.
#[derive(Debug, thiserror::Error)]
pub enum PatchError {
    /// The object is no longer what the change was decided from: read it, decide again.
    #[error("the object has changed meanwhile")]
    Conflict,
    /// The object is not there.
    #[error("the object is gone")]
    Gone,
    /// The server does not want this patch: an admission policy, a limit.
    #[error("the API server refuses: {0}")]
    Refused(String),
    /// Nobody has let us patch this kind in this namespace.
    #[error("the API server refuses: {0}")]
    Forbidden(String),
    /// The server is not there, too busy or too slow: the same patch may be sent again.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// Why an object could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The object is not there.
    #[error("the object is gone")]
    Gone,
    /// The server does not let us.
    #[error("the API server refuses: {0}")]
    Refused(String),
    /// The server is not there, too busy or too slow.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// Why an Event was not sent.
#[derive(Debug, thiserror::Error)]
pub enum AnnounceError {
    /// The server does not want this Event; it is dropped.
    #[error("the API server refuses the Event: {0}")]
    Refused(String),
    /// The server is not there, too busy or too slow.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// No usable answer came; the same request may be sent again.
#[derive(Debug, thiserror::Error)]
#[error("{kind}: {reason}")]
pub struct Unavailable {
    /// What went wrong, in words.
    pub reason: String,
    /// How long the server asked to be left alone.
    pub retry_after: Option<Duration>,
    /// Whose trouble it is, as far as one answer can tell.
    pub kind: FailureKind,
}

impl Unavailable {
    /// No answer came within that time.
    pub fn timed_out(after: Duration) -> Self {
        Self {
            reason: format!("no answer within {} s", after.as_secs()),
            retry_after: None,
            kind: FailureKind::TimedOut,
        }
    }

    /// Whether the same request may soon succeed, for one whose [`patient`](crate::cluster::patient)
    /// client has waited already for as long as the server has asked for.
    const fn is_worth_another_try(&self) -> bool {
        self.retry_after.is_none()
    }
}

/// Whose trouble it is that no usable answer came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FailureKind {
    /// No connection or a broken one, 503, or credentials that are not accepted: the server's.
    #[error("the API server is not available")]
    Unreachable,
    /// 429: the server's, for which fewer requests at once may be few enough.
    #[error("the API server is too busy")]
    Overloaded,
    /// Any other 5xx: this request has failed, and nothing is known of others.
    #[error("the API server failed")]
    Failed,
    /// An admission webhook was asked about this request, and did not answer as it should.
    #[error("admission failed")]
    Admission,
    /// A 404 that says nothing of the object: a proxy has lost its way, or the server does not have
    /// the kind.
    #[error("the API server has nothing there")]
    NotServed,
    /// No answer within the time that a request may take.
    #[error("the API server has not answered")]
    TimedOut,
}

impl FailureKind {
    /// Whether the trouble is evidently the server's, so that nothing else can succeed now.
    pub const fn is_servers(self) -> bool {
        matches!(self, Self::Unreachable | Self::Overloaded)
    }
}

/// What a request came to: the body of a success, or the status and text of a failure.
pub(in crate::cluster) enum Answer {
    Success(Bytes),
    Failure {
        code: StatusCode,
        status: Box<Status>,
        retry_after: Option<Duration>,
    },
}

impl Answer {
    /// The body of a success; a failure as `E`, where `sort` knows the codes that matter to the
    /// one who asked.
    pub(in crate::cluster) fn body<E: From<Unavailable>>(
        self,
        sort: impl FnOnce(StatusCode, &Status) -> E,
    ) -> Result<Bytes, E> {
        match self {
            Self::Success(body) => Ok(body),
            Self::Failure {
                code,
                status,
                retry_after,
            } => match passing_kind(code, &status) {
                Some(kind) => Err(Unavailable {
                    reason: format!("{code}: {}", status.message),
                    retry_after,
                    kind,
                }
                .into()),
                None => Err(sort(code, &status)),
            },
        }
    }
}

/// Why the same request may well succeed later: a token is renewed, a server comes back. None
/// where the answer is final.
fn passing_kind(code: StatusCode, status: &Status) -> Option<FailureKind> {
    match code {
        _ if is_denied(status) => None,
        _ if code.is_server_error() && status.message.contains(WEBHOOK_FAILED) => {
            Some(FailureKind::Admission)
        }
        StatusCode::UNAUTHORIZED | StatusCode::SERVICE_UNAVAILABLE => {
            Some(FailureKind::Unreachable)
        }
        StatusCode::TOO_MANY_REQUESTS => Some(FailureKind::Overloaded),
        // The API server says everything as a Kubernetes status: this is a proxy that has lost it.
        StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT if is_foreign(status) => {
            Some(FailureKind::Unreachable)
        }
        // Nor does it say of an object that it is gone.
        StatusCode::NOT_FOUND if is_foreign(status) => Some(FailureKind::NotServed),
        StatusCode::REQUEST_TIMEOUT => Some(FailureKind::TimedOut),
        _ => code.is_server_error().then_some(FailureKind::Failed),
    }
}

/// What the API server says where it could not ask a webhook, or got no sense from it
/// (`ErrCallingWebhook` in k8s.io/apiserver).
const WEBHOOK_FAILED: &str = "failed calling webhook";

/// Whether an admission webhook or policy has denied the request. A webhook chooses the HTTP
/// status of its denial freely, so a 429, 503, 404 or 409 of one object says nothing of the server
/// or the object (`ToStatusErr` in k8s.io/apiserver).
fn is_denied(status: &Status) -> bool {
    let message = &status.message;
    message.contains("admission webhook \"") && message.contains("denied the request")
        || message.contains("AdmissionPolicy '") && message.contains("denied request")
}

/// The status for a failure whose body is not a Kubernetes status: something before the API server
/// has answered.
pub(in crate::cluster) fn foreign(message: &str, code: StatusCode) -> Status {
    Status::failure(message, code.canonical_reason().unwrap_or("Unknown"))
}

/// Whether something before the API server has answered: the server's own answers all have a code.
const fn is_foreign(status: &Status) -> bool {
    status.code == 0
}

impl PatchError {
    /// What an answer to a guarded patch means: a failed test is a 422 without causes, while a
    /// validation or an admission policy gives causes.
    pub(in crate::cluster) fn sort(code: StatusCode, status: &Status) -> Self {
        let causes = status
            .details
            .as_ref()
            .map_or(0, |details| details.causes.len());
        match code {
            _ if is_denied(status) => Self::Refused(format!("{code}: {}", status.message)),
            StatusCode::CONFLICT => Self::Conflict,
            StatusCode::UNPROCESSABLE_ENTITY if causes == 0 => Self::Conflict,
            StatusCode::NOT_FOUND => Self::Gone,
            StatusCode::FORBIDDEN if status.message.contains(MISSING_PERMISSION) => {
                Self::Forbidden(format!("{code}: {}", status.message))
            }
            _ => Self::Refused(format!("{code}: {}", status.message)),
        }
    }
}

/// What the server says where RBAC has no rule; an admission plugin says anything else with 403.
const MISSING_PERMISSION: &str = " cannot patch resource ";

impl PatchError {
    /// Whether the object, read again, may soon take the change that was meant.
    pub const fn is_worth_another_try(&self) -> bool {
        match self {
            Self::Conflict => true,
            Self::Unavailable(error) => error.is_worth_another_try(),
            Self::Gone | Self::Refused(_) | Self::Forbidden(_) => false,
        }
    }
}

impl ReadError {
    /// Whether it may soon be read.
    pub const fn is_worth_another_try(&self) -> bool {
        matches!(self, Self::Unavailable(error) if error.is_worth_another_try())
    }

    pub(in crate::cluster) fn sort(code: StatusCode, status: &Status) -> Self {
        match code {
            StatusCode::NOT_FOUND if !is_denied(status) => Self::Gone,
            _ => Self::Refused(format!("{code}: {}", status.message)),
        }
    }
}

impl AnnounceError {
    pub(in crate::cluster) fn sort(code: StatusCode, status: &Status) -> Self {
        Self::Refused(format!("{code}: {}", status.message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(code: u16, message: &str) -> Option<FailureKind> {
        let status = Status::failure(message, "").with_code(code);
        passing_kind(StatusCode::from_u16(code).unwrap(), &status)
    }

    #[test]
    fn tells_the_trouble_of_one_object_from_that_of_the_server() {
        let webhook = r#"Internal error occurred: failed calling webhook "w.example": EOF"#;
        let etcd = "Internal error occurred: etcdserver: request timed out";
        for (code, message, expected) in [
            (429, "too many requests", Some(FailureKind::Overloaded)),
            (
                503,
                "apiserver is shutting down",
                Some(FailureKind::Unreachable),
            ),
            (401, "Unauthorized", Some(FailureKind::Unreachable)),
            (500, etcd, Some(FailureKind::Failed)),
            (
                504,
                "Timeout: request did not complete",
                Some(FailureKind::Failed),
            ),
            (500, webhook, Some(FailureKind::Admission)),
            (404, "deployments.apps \"web\" not found", None),
        ] {
            assert_eq!(cause(code, message), expected, "{code} {message}");
        }
    }

    #[test]
    fn a_proxy_that_has_lost_the_server_is_no_object_s_trouble() {
        for code in [StatusCode::BAD_GATEWAY, StatusCode::GATEWAY_TIMEOUT] {
            let page = foreign("<html>502</html>", code);
            assert_eq!(passing_kind(code, &page), Some(FailureKind::Unreachable));
        }
    }

    #[test]
    fn a_page_that_is_not_found_is_no_object_that_is_gone() {
        let page = foreign("404 page not found", StatusCode::NOT_FOUND);
        let kind = passing_kind(StatusCode::NOT_FOUND, &page);
        assert_eq!(kind, Some(FailureKind::NotServed));
    }

    /// A webhook answers with the status that it likes, and says what it likes.
    #[test]
    fn a_denial_is_the_object_s_own_whatever_its_code() {
        let policy = "deployments.apps \"web\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: cannot patch resource";
        let webhook = r#"admission webhook "w.example" denied the request: cannot patch resource"#;
        for message in [policy, webhook] {
            for code in [400, 401, 403, 404, 409, 422, 429, 500, 503] {
                assert_eq!(cause(code, message), None, "{code} {message}");
                let code = StatusCode::from_u16(code).unwrap();
                let status = Status::failure(message, "").with_code(code.as_u16());
                let sorted = PatchError::sort(code, &status);
                assert!(
                    matches!(sorted, PatchError::Refused(_)),
                    "{code}: {sorted:?}"
                );
                let sorted = ReadError::sort(code, &status);
                assert!(
                    matches!(sorted, ReadError::Refused(_)),
                    "{code}: {sorted:?}"
                );
            }
        }
    }
}
