//! What a watch tells.

use crate::cluster::watching::error::WatchError;
use crate::cluster::workload::Version;

/// What a watch tells.
#[derive(Debug)]
pub enum ReflectorEvent<D> {
    /// The API server has granted the watch.
    Opened {
        /// From which version it goes on, where that is sooner than it should: it was broken, or the
        /// server was away, and may have come back with an older history. A watch that begins at a
        /// version which is still to come shows nothing, bookmarks included, and is no error
        /// (k8s.io/apiserver's cacher).
        early: Option<Version>,
    },
    /// What there is follows. What was told before and is not told again by `Done` is gone.
    Init,
    /// One of what there is.
    InitApply(D),
    /// All that there is has been told.
    Done,
    /// One that is new, or has changed.
    Apply(D),
    /// One that was deleted, or is no longer among what is asked for.
    Delete(D),
    /// The watch is broken. It is tried again after a pause, which grows.
    Failed(WatchError),
}
