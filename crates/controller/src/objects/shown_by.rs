//! How a watch shows an object.

use crate::ids::WatchId;

/// Which watch shows an object, and whether in a list or as a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShownBy {
    pub(crate) watch: WatchId,
    is_list: bool,
}

impl ShownBy {
    /// In the list with which a watch begins.
    pub(crate) const fn list_of(watch: WatchId) -> Self {
        let is_list = true;
        Self { watch, is_list }
    }

    /// Because it has changed.
    pub(crate) const fn change_of(watch: WatchId) -> Self {
        let is_list = false;
        Self { watch, is_list }
    }

    /// Whether something newer may be known: true for a change. A list counts, whatever was known
    /// before it was requested.
    pub(crate) const fn may_be_late(self) -> bool {
        !self.is_list
    }
}
