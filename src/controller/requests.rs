//! Requests that are under way, and what comes of them.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use futures::future::BoxFuture;

use crate::{
    cluster::{AnnounceError, Deployment, PatchError, ReadError},
    workload::{Change, Observed},
};

use super::{index::Id, queue::Announcement};

/// A request under way.
pub(super) type Request = BoxFuture<'static, Finished>;

/// What came of a request.
pub(super) enum Finished {
    Patched(Box<Patched>),
    Read {
        id: Id,
        result: Box<Result<Deployment, ReadError>>,
    },
    Announced {
        announcement: Box<Announcement>,
        result: Result<(), AnnounceError>,
    },
    ToldTheTime(Result<(), ReadError>),
}

/// A patch that was sent.
pub(super) struct Patched {
    pub(super) id: Id,
    pub(super) observed: Arc<Observed>,
    pub(super) change: Change,
    pub(super) sent: DateTime<Utc>,
    pub(super) result: Result<Deployment, PatchError>,
}
