//! Events of a watch.

use crate::cluster::watching::error::WatchError;
use crate::cluster::workload::Version;

/// An event of a watch.
#[derive(Debug)]
pub enum ReflectorEvent<D> {
    /// The API server has granted the watch.
    Opened {
        /// The version from which it continues, if that is earlier than usual: it was broken, or
        /// the server was away, and may have come back with an older history. A watch that begins
        /// at a version still to come shows nothing, not even bookmarks, and no error
        /// (k8s.io/apiserver's cacher).
        early: Option<Version>,
    },
    /// A list begins. Objects that it does not show until `Done` are gone.
    Init,
    /// An object of the list.
    InitApply(D),
    /// The list is complete.
    Done,
    /// An object that is new, or has changed.
    Apply(D),
    /// An object that was deleted, or is out of scope now.
    Delete(D),
    /// The watch is broken. It is tried again after a growing pause.
    Failed(WatchError),
}
