//! Failures of requests to the API server, and what they mean for the sender.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use kube::core::Status;

/// Why a guarded patch was not made, as far as is known.
#[derive(Debug, thiserror::Error)]
pub enum PatchError {
    /// The object has changed since the decision: read it, decide again.
    #[error("the object has changed meanwhile")]
    Conflict,
    /// The object does not exist.
    #[error("the object is gone")]
    Gone,
    /// The server refuses this patch: an admission policy, a limit.
    #[error("the API server refuses: {0}")]
    Refused(String),
    /// The permission to patch this kind in this namespace is missing.
    #[error("the API server refuses: {0}")]
    Forbidden(String),
    /// The server is away, too busy or too slow: the same patch may be sent again.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// Why an object could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The object does not exist.
    #[error("the object is gone")]
    Gone,
    /// The server does not permit it.
    #[error("the API server refuses: {0}")]
    Refused(String),
    /// The server is away, too busy or too slow.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// Why an Event was not sent.
#[derive(Debug, thiserror::Error)]
pub enum AnnounceError {
    /// The server refuses this Event; it is dropped.
    #[error("the API server refuses the Event: {0}")]
    Refused(String),
    /// The server is away, too busy or too slow.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// No usable answer came; the same request may be sent again.
#[derive(Debug, thiserror::Error)]
#[error("{kind}: {reason}")]
pub struct Unavailable {
    /// The failure in words.
    pub reason: String,
    /// The pause that the server asks for.
    pub retry_after: Option<Duration>,
    /// Whose fault it is, as far as one answer shows.
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

    /// Whether a retry may soon succeed, if a [`patient`](crate::cluster::patient) client has
    /// already waited for as long as the server asked.
    const fn is_worth_another_try(&self) -> bool {
        self.retry_after.is_none()
    }
}

/// Whose fault it is that no usable answer came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FailureKind {
    /// The server's: no connection or a broken one, 503, or credentials that it does not accept.
    #[error("the API server is not available")]
    Unreachable,
    /// The server's: 429, for which fewer requests at once may be few enough.
    #[error("the API server is too busy")]
    Overloaded,
    /// Unknown: any other 5xx. This request has failed; others may succeed.
    #[error("the API server failed")]
    Failed,
    /// An admission webhook's: it was asked about this request, and failed.
    #[error("admission failed")]
    Admission,
    /// That of what serves this kind alone, behind the API server: the server of an aggregated API, or
    /// a conversion webhook.
    #[error("the API server cannot reach what serves this kind")]
    KindAway,
    /// Unknown: a 404 that does not name the object. A proxy may be misconfigured, or the server
    /// may not have the kind.
    #[error("the API server has nothing there")]
    NotServed,
    /// The request's: its answer is larger than what is read.
    #[error("the answer is too large")]
    TooLarge,
    /// Unknown: no answer within the time limit of a request.
    #[error("the API server has not answered")]
    TimedOut,
}

impl FailureKind {
    /// Whether the server is evidently at fault, so that no other request can succeed now.
    pub const fn is_servers(self) -> bool {
        matches!(self, Self::Unreachable | Self::Overloaded)
    }
}

/// The result of a request: the body of a success, or the status and text of a failure.
pub(crate) enum Answer {
    Success(Bytes),
    Failure {
        code: StatusCode,
        status: Box<Status>,
        retry_after: Option<Duration>,
    },
}

impl Answer {
    /// Whether the server says 409 Conflict: of a create, that an object of that name is there.
    pub(crate) const fn is_conflict(&self) -> bool {
        matches!(self, Self::Failure { code, .. } if code.as_u16() == 409)
    }

    /// The body of a success; a failure as `E`, if `sort` recognizes the code.
    pub(crate) fn body<E: From<Unavailable>>(
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

/// Why a retry may well succeed later: a token is renewed, a server comes back. `None` if the
/// answer is final.
fn passing_kind(code: StatusCode, status: &Status) -> Option<FailureKind> {
    match code {
        _ if is_denied(status) => None,
        _ if code.is_server_error() && status.message.contains(WEBHOOK_FAILED) => {
            Some(FailureKind::Admission)
        }
        _ if code.is_server_error() && is_kind_away(status) => Some(FailureKind::KindAway),
        StatusCode::UNAUTHORIZED | StatusCode::SERVICE_UNAVAILABLE => {
            Some(FailureKind::Unreachable)
        }
        // The API server redirects nobody: this is a proxy, to its login page, say.
        _ if code.is_redirection() => Some(FailureKind::Unreachable),
        StatusCode::TOO_MANY_REQUESTS => Some(FailureKind::Overloaded),
        // The API server says everything as a Kubernetes status: this proxy has lost the API
        // server.
        StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT if is_foreign(status) => {
            Some(FailureKind::Unreachable)
        }
        // Nor does such an answer mean that an object is gone.
        StatusCode::NOT_FOUND if is_foreign(status) => Some(FailureKind::NotServed),
        StatusCode::REQUEST_TIMEOUT => Some(FailureKind::TimedOut),
        _ => code.is_server_error().then_some(FailureKind::Failed),
    }
}

/// The API server's message when it could not ask a webhook, or could not read its answer
/// (`ErrCallingWebhook` in k8s.io/apiserver).
const WEBHOOK_FAILED: &str = "failed calling webhook";

/// Whether what serves a kind is away, and not the API server: the messages are those of
/// k8s.io/kube-aggregator (`proxyError`), of its proxy (k8s.io/apimachinery, `upgradeaware`), and of
/// k8s.io/apiextensions-apiserver (`webhookConverter`).
fn is_kind_away(status: &Status) -> bool {
    let message = &status.message;
    message.contains("conversion webhook for ")
        || is_foreign(status)
            && (message == "service unavailable"
                || message.starts_with("error trying to reach service: "))
}

/// Whether an admission webhook or policy has denied the request. A webhook chooses the HTTP
/// status of its denial freely, so a 429, 503, 404 or 409 of one object says nothing of the server
/// or the object (`ToStatusErr` in k8s.io/apiserver).
fn is_denied(status: &Status) -> bool {
    let message = &status.message;
    message.contains("admission webhook \"") && message.contains("denied the request")
        || message.contains("AdmissionPolicy '") && message.contains("denied request")
}

/// The status of a failure whose body is not a Kubernetes status, so that a proxy before the API
/// server has answered.
pub(crate) fn foreign(message: &str, code: StatusCode) -> Status {
    Status::failure(message, code.canonical_reason().unwrap_or("Unknown"))
}

/// Whether a proxy before the API server has answered: the server's own answers all have a code.
const fn is_foreign(status: &Status) -> bool {
    status.code == 0
}

impl PatchError {
    /// The meaning of an answer to a guarded patch: a failed test is a 422 without causes, while a
    /// validation or an admission policy gives causes.
    pub(crate) fn sort(code: StatusCode, status: &Status) -> Self {
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

/// The server's message when RBAC has no rule; an admission plugin sends 403 with any other text.
const MISSING_PERMISSION: &str = " cannot patch resource ";

impl PatchError {
    /// Whether the object, read again, may soon take the intended change.
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

    pub(crate) fn sort(code: StatusCode, status: &Status) -> Self {
        match code {
            StatusCode::NOT_FOUND if !is_denied(status) => Self::Gone,
            _ => Self::Refused(format!("{code}: {}", status.message)),
        }
    }
}

impl AnnounceError {
    pub(crate) fn sort(code: StatusCode, status: &Status) -> Self {
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
            (408, "request timed out", Some(FailureKind::TimedOut)),
            (
                504,
                "Timeout: request did not complete",
                Some(FailureKind::Failed),
            ),
            (500, webhook, Some(FailureKind::Admission)),
            (500, conversion, Some(FailureKind::KindAway)),
            (404, "deployments.apps \"web\" not found", None),
        ] {
            assert_eq!(cause(code, message), expected, "{code} {message}");
        }
    }

    #[test]
    fn a_proxy_that_has_lost_the_server_is_no_object_s_trouble() {
        for code in [301, 302, 303, 307, 308, 502, 504] {
            let code = StatusCode::from_u16(code).unwrap();
            let page = foreign("<html>a page</html>", code);
            let kind = passing_kind(code, &page);
            assert_eq!(kind, Some(FailureKind::Unreachable), "{code}");
        }
    }

    #[test]
    fn an_aggregated_api_that_is_away_is_no_trouble_of_the_server() {
        let code = StatusCode::SERVICE_UNAVAILABLE;
        for (page, expected) in [
            ("service unavailable", FailureKind::KindAway),
            (
                "error trying to reach service: dial tcp 10.0.0.1:443: connect: connection refused",
                FailureKind::KindAway,
            ),
            ("<h1>503 Service Unavailable</h1>", FailureKind::Unreachable),
            ("no healthy upstream", FailureKind::Unreachable),
        ] {
            assert_eq!(
                passing_kind(code, &foreign(page, code)),
                Some(expected),
                "{page}"
            );
        }
    }

    #[test]
    fn a_page_that_is_not_found_is_no_object_that_is_gone() {
        let page = foreign("404 page not found", StatusCode::NOT_FOUND);
        let kind = passing_kind(StatusCode::NOT_FOUND, &page);
        assert_eq!(kind, Some(FailureKind::NotServed));
    }

    /// A webhook chooses its status and its message freely.
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
