//! Errors of writes and reads, and their classification: the component that caused a failed request, and
//! whether a retry can succeed.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use kube::core::Status;

/// Why a guarded patch was not applied.
#[derive(Debug, thiserror::Error)]
pub enum PatchError {
    /// The object has changed since the decision. Read it and decide again.
    #[error("the object has changed meanwhile")]
    Conflict,
    /// The object does not exist.
    #[error("the object is gone")]
    Gone,
    /// The server rejects this patch, for example because of an admission policy or a limit.
    #[error("the API server refuses: {0}")]
    Rejected(String),
    /// The permission to patch this kind in this namespace is missing.
    #[error("the API server refuses: {0}")]
    Forbidden(String),
    /// The server is unreachable, overloaded or slow. The same patch can be sent again.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// Why an object could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The object does not exist.
    #[error("the object is gone")]
    Gone,
    /// The server rejects the request.
    #[error("the API server refuses: {0}")]
    Rejected(String),
    /// The server is unreachable, overloaded or slow.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// Why an Event was not sent.
#[derive(Debug, thiserror::Error)]
pub enum AnnounceError {
    /// The server rejects this Event. It is dropped.
    #[error("the API server refuses the Event: {0}")]
    Rejected(String),
    /// The server is unreachable, overloaded or slow.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// There was no usable response. The same request can be sent again.
#[derive(Debug, thiserror::Error)]
#[error("{kind}: {reason}")]
pub struct Unavailable {
    /// The message.
    pub reason: String,
    /// The pause that the server asks for.
    pub retry_after: Option<Duration>,
    /// The cause, if one response shows it.
    pub kind: FailureKind,
}

impl Unavailable {
    /// No response arrived within this time.
    pub fn timed_out(after: Duration) -> Self {
        Self {
            reason: format!("no response within {} s", after.as_secs()),
            retry_after: None,
            kind: FailureKind::TimedOut,
        }
    }

    /// Whether a retry might succeed soon. If the server asked for a pause,
    /// [`with_retry_after`](crate::connect::with_retry_after) has already waited.
    const fn is_retriable(&self) -> bool {
        self.retry_after.is_none()
    }
}

/// The cause of a request without a usable response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FailureKind {
    /// The server: there is no connection, it broke, the server responds with 503, or it does not accept
    /// the credentials.
    #[error("the API server is not available")]
    Unreachable,
    /// The server is overloaded (429). Fewer concurrent requests might succeed.
    #[error("the API server is too busy")]
    Overloaded,
    /// Unknown: any other 5xx. Other requests might succeed.
    #[error("the API server failed")]
    Failed,
    /// An admission webhook failed while it checked this request.
    #[error("admission failed")]
    Admission,
    /// Only the backend of this kind, behind the API server: an aggregated API or a conversion webhook.
    #[error("the API server cannot reach the backend of this kind")]
    KindBackend,
    /// Unknown: a 404 that does not name the object. A proxy might be misconfigured, or the server might
    /// not have the kind.
    #[error("the API server does not serve this path")]
    NotServed,
    /// The request: its response is larger than the limit.
    #[error("the response is too large")]
    TooLarge,
    /// Unknown: there was no response within the time limit.
    #[error("the API server has not responded")]
    TimedOut,
}

impl FailureKind {
    /// Whether the server is evidently at fault, so that no other request can succeed now.
    pub const fn is_server_failure(self) -> bool {
        matches!(self, Self::Unreachable | Self::Overloaded)
    }
}

/// The response to a request: the body of a success, or the status of a failure.
pub(crate) enum ApiResponse {
    Success(Bytes),
    Failure {
        code: StatusCode,
        status: Box<Status>,
        retry_after: Option<Duration>,
    },
}

impl ApiResponse {
    /// Whether the response is 409 Conflict. If the request was a create, an object with this name
    /// exists.
    pub(crate) const fn is_conflict(&self) -> bool {
        matches!(self, Self::Failure { code, .. } if code.as_u16() == 409)
    }

    /// Returns the body of a success, or an error. `classify` classifies the codes that a retry cannot
    /// fix.
    pub(crate) fn body<E: From<Unavailable>>(
        self,
        classify: impl FnOnce(StatusCode, &Status) -> E,
    ) -> Result<Bytes, E> {
        match self {
            Self::Success(body) => Ok(body),
            Self::Failure {
                code,
                status,
                retry_after,
            } => match transient_kind(code, &status) {
                Some(kind) => Err(Unavailable {
                    reason: format!("{code}: {}", status.message),
                    retry_after,
                    kind,
                }
                .into()),
                None => Err(classify(code, &status)),
            },
        }
    }
}

/// The cause of a failure that a retry can fix, for example an expired token or a restarting server.
/// `None` if the response is final.
fn transient_kind(code: StatusCode, status: &Status) -> Option<FailureKind> {
    match code {
        _ if is_denied(status) || is_object_too_large(status) => None,
        _ if code.is_server_error() && status.message.contains(WEBHOOK_FAILED) => {
            Some(FailureKind::Admission)
        }
        _ if code.is_server_error() && is_backend_failure(status) => Some(FailureKind::KindBackend),
        StatusCode::UNAUTHORIZED | StatusCode::SERVICE_UNAVAILABLE => {
            Some(FailureKind::Unreachable)
        }
        // The API server never redirects, so this is a proxy, for example with a login page.
        _ if code.is_redirection() => Some(FailureKind::Unreachable),
        StatusCode::TOO_MANY_REQUESTS => Some(FailureKind::Overloaded),
        // The API server itself responds with a Kubernetes status, so this is a proxy that cannot reach
        // it.
        StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT if is_from_proxy(status) => {
            Some(FailureKind::Unreachable)
        }
        // This is also a proxy, so the object might exist.
        StatusCode::NOT_FOUND if is_from_proxy(status) => Some(FailureKind::NotServed),
        StatusCode::REQUEST_TIMEOUT => Some(FailureKind::TimedOut),
        // The server no longer has the rest of a list. Reading it again can succeed.
        StatusCode::GONE => Some(FailureKind::Failed),
        _ => code.is_server_error().then_some(FailureKind::Failed),
    }
}

/// The API server's message if it could not call a webhook or could not decode its response
/// (`ErrCallingWebhook` in k8s.io/apiserver).
const WEBHOOK_FAILED: &str = "failed calling webhook";

/// Whether the backend of a kind is unreachable, and not the API server. The messages are those of
/// k8s.io/kube-aggregator (`proxyError`), its proxy (`upgradeaware` in k8s.io/apimachinery) and
/// k8s.io/apiextensions-apiserver (`webhookConverter`).
fn is_backend_failure(status: &Status) -> bool {
    let message = &status.message;
    message.contains("conversion webhook for ")
        || is_from_proxy(status)
            && (message == "service unavailable"
                || message.starts_with("error trying to reach service: "))
}

/// Whether an admission webhook or policy has denied the request. A webhook can choose any HTTP status
/// for a denial, so a 429, 503, 404 or 409 can concern neither the server nor the existence of the
/// object (`ToStatusErr` in k8s.io/apiserver).
fn is_denied(status: &Status) -> bool {
    let message = &status.message;
    message.contains("admission webhook \"") && message.contains("denied the request")
        || message.contains("AdmissionPolicy '") && message.contains("denied request")
}

/// Whether etcd does not store the patched object because of its size, which concerns only this object. The
/// API server responds with 500 (`isTooLargeError` in k8s.io/apiserver).
fn is_object_too_large(status: &Status) -> bool {
    let message = &status.message;
    message.contains("etcdserver: request is too large")
        || message.contains("trying to send message larger than max")
}

/// The status of a failure without a Kubernetes status in its body. It comes from a proxy before the API
/// server.
pub(crate) fn proxy_status(message: &str, code: StatusCode) -> Status {
    Status::failure(message, code.canonical_reason().unwrap_or("Unknown"))
}

/// Whether the response comes from a proxy: the API server's own statuses have a code.
const fn is_from_proxy(status: &Status) -> bool {
    status.code == 0
}

impl PatchError {
    /// Classifies the response to a guarded patch. A failed test is a 422 without causes, while
    /// validation and admission policies give causes.
    pub(crate) fn classify(code: StatusCode, status: &Status) -> Self {
        let causes = status
            .details
            .as_ref()
            .map_or(0, |details| details.causes.len());
        match code {
            _ if is_denied(status) => Self::Rejected(format!("{code}: {}", status.message)),
            StatusCode::CONFLICT => Self::Conflict,
            StatusCode::UNPROCESSABLE_ENTITY if causes == 0 => Self::Conflict,
            StatusCode::NOT_FOUND => Self::Gone,
            StatusCode::FORBIDDEN if status.message.contains(MISSING_PERMISSION) => {
                Self::Forbidden(format!("{code}: {}", status.message))
            }
            _ => Self::Rejected(format!("{code}: {}", status.message)),
        }
    }
}

/// The server's message if RBAC has no rule. Admission plugins send 403 with other messages.
const MISSING_PERMISSION: &str = " cannot patch resource ";

impl PatchError {
    /// Whether the change might succeed soon if the object is read again.
    pub const fn is_retriable(&self) -> bool {
        match self {
            Self::Conflict => true,
            Self::Unavailable(error) => error.is_retriable(),
            Self::Gone | Self::Rejected(_) | Self::Forbidden(_) => false,
        }
    }
}

impl ReadError {
    /// Whether a retry might succeed soon.
    pub const fn is_retriable(&self) -> bool {
        matches!(self, Self::Unavailable(error) if error.is_retriable())
    }

    pub(crate) fn classify(code: StatusCode, status: &Status) -> Self {
        match code {
            StatusCode::NOT_FOUND if !is_denied(status) => Self::Gone,
            _ => Self::Rejected(format!("{code}: {}", status.message)),
        }
    }
}

impl AnnounceError {
    pub(crate) fn classify(code: StatusCode, status: &Status) -> Self {
        Self::Rejected(format!("{code}: {}", status.message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(code: u16, message: &str) -> Option<FailureKind> {
        let status = Status::failure(message, "").with_code(code);
        transient_kind(StatusCode::from_u16(code).unwrap(), &status)
    }

    #[test]
    fn failures_of_one_object_are_distinguished_from_those_of_the_server() {
        let webhook = r#"Internal error occurred: failed calling webhook "w.example": EOF"#;
        let conversion = r#"conversion webhook for sky.example.com/v1, Kind=Glider failed: Post "https://w": EOF"#;
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
                410,
                "The provided continue parameter is too old",
                Some(FailureKind::Failed),
            ),
            (408, "request timed out", Some(FailureKind::TimedOut)),
            (
                504,
                "Timeout: request did not complete",
                Some(FailureKind::Failed),
            ),
            (500, webhook, Some(FailureKind::Admission)),
            (500, conversion, Some(FailureKind::KindBackend)),
            (404, "deployments.apps \"web\" not found", None),
            (500, "etcdserver: request is too large", None),
        ] {
            assert_eq!(cause(code, message), expected, "{code} {message}");
        }
    }

    #[test]
    fn a_proxy_error_is_a_failure_of_the_server() {
        for code in [301, 302, 303, 307, 308, 502, 504] {
            let code = StatusCode::from_u16(code).unwrap();
            let page = proxy_status("<html>a page</html>", code);
            let kind = transient_kind(code, &page);
            assert_eq!(kind, Some(FailureKind::Unreachable), "{code}");
        }
    }

    #[test]
    fn an_unreachable_aggregated_api_is_not_a_failure_of_the_server() {
        let code = StatusCode::SERVICE_UNAVAILABLE;
        for (page, expected) in [
            ("service unavailable", FailureKind::KindBackend),
            (
                "error trying to reach service: dial tcp 10.0.0.1:443: connect: connection refused",
                FailureKind::KindBackend,
            ),
            ("<h1>503 Service Unavailable</h1>", FailureKind::Unreachable),
            ("no healthy upstream", FailureKind::Unreachable),
        ] {
            assert_eq!(
                transient_kind(code, &proxy_status(page, code)),
                Some(expected),
                "{page}"
            );
        }
    }

    #[test]
    fn a_404_page_of_a_proxy_does_not_mean_that_the_object_is_gone() {
        let page = proxy_status("404 page not found", StatusCode::NOT_FOUND);
        let kind = transient_kind(StatusCode::NOT_FOUND, &page);
        assert_eq!(kind, Some(FailureKind::NotServed));
    }

    /// A webhook can choose any status and message.
    #[test]
    fn an_admission_denial_is_recognized_with_any_status_code() {
        let policy = "deployments.apps \"web\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: cannot patch resource";
        let webhook = r#"admission webhook "w.example" denied the request: cannot patch resource"#;
        for message in [policy, webhook] {
            for code in [400, 401, 403, 404, 409, 422, 429, 500, 503] {
                assert_eq!(cause(code, message), None, "{code} {message}");
                let code = StatusCode::from_u16(code).unwrap();
                let status = Status::failure(message, "").with_code(code.as_u16());
                let classified = PatchError::classify(code, &status);
                assert!(
                    matches!(classified, PatchError::Rejected(_)),
                    "{code}: {classified:?}"
                );
                let classified = ReadError::classify(code, &status);
                assert!(
                    matches!(classified, ReadError::Rejected(_)),
                    "{code}: {classified:?}"
                );
            }
        }
    }
}
