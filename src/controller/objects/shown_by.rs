//! How a watch shows an object.

use crate::controller::ids::WatchId;

/// Which watch shows an object, and whether in a list or as a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::controller) struct ShownBy {
    pub(in crate::controller) watch: WatchId,
    is_list: bool,
}

impl ShownBy {
    /// In the list with which a watch begins.
    pub(in crate::controller) const fn list_of(watch: WatchId) -> Self {
        let is_list = true;
        Self { watch, is_list }
    }

    /// Because it has changed.
    pub(in crate::controller) const fn change_of(watch: WatchId) -> Self {
        let is_list = false;
        Self { watch, is_list }
    }

    /// Whether something newer may be known: true for a change. A list counts, whatever was known
    /// before it was requested.
    pub(in crate::controller) const fn may_be_late(self) -> bool {
        !self.is_list
    }
}
