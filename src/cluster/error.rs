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
    /// Nobody has let us patch Deployments in this namespace.
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

/// No usable answer came.
#[derive(Debug, thiserror::Error)]
#[error("the API server is not available: {reason}")]
pub struct Unavailable {
    /// What went wrong, in words.
    pub reason: String,
    /// How long the server asked to be left alone.
    pub retry_after: Option<Duration>,
    /// It has too much to do: fewer requests at once may be answered.
    pub is_overload: bool,
}

/// What a request came to: the body of a success, or the status and text of a failure.
pub(super) enum Answer {
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
    pub(super) fn body<E: From<Unavailable>>(
        self,
        sort: impl FnOnce(StatusCode, &Status) -> E,
    ) -> Result<Bytes, E> {
        match self {
            Self::Success(body) => Ok(body),
            Self::Failure {
                code,
                status,
                retry_after,
            } if is_passing(code) => {
                let reason = format!("{code}: {}", status.message);
                Err(Unavailable {
                    reason,
                    retry_after,
                    is_overload: code == StatusCode::TOO_MANY_REQUESTS,
                }
                .into())
            }
            Self::Failure { code, status, .. } => Err(sort(code, &status)),
        }
    }
}

/// Whether the same request may well succeed later: a token is renewed, a server comes back.
fn is_passing(code: StatusCode) -> bool {
    code.is_server_error()
        || matches!(
            code,
            StatusCode::UNAUTHORIZED | StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS
        )
}

impl PatchError {
    /// The outcome as a label of metrics.
    pub const fn category(&self) -> &'static str {
        match self {
            Self::Conflict => "conflict",
            Self::Gone => "gone",
            Self::Refused(_) | Self::Forbidden(_) => "refused",
            Self::Unavailable(_) => "unavailable",
        }
    }

    /// What an answer to a guarded patch means: a failed test is a 422 without causes, while a
    /// validation or an admission policy gives causes.
    pub(super) fn sort(code: StatusCode, status: &Status) -> Self {
        let causes = status
            .details
            .as_ref()
            .map_or(0, |details| details.causes.len());
        match code {
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
    /// Whether the object, read again, may take the change that was meant.
    pub const fn is_worth_another_try(&self) -> bool {
        matches!(self, Self::Conflict | Self::Unavailable(_))
    }
}

impl ReadError {
    pub(super) fn sort(code: StatusCode, status: &Status) -> Self {
        match code {
            StatusCode::NOT_FOUND => Self::Gone,
            _ => Self::Refused(format!("{code}: {}", status.message)),
        }
    }
}

impl AnnounceError {
    pub(super) fn sort(code: StatusCode, status: &Status) -> Self {
        Self::Refused(format!("{code}: {}", status.message))
    }
}
