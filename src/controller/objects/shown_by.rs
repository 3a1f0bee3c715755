//! How a watch comes to show something.

use crate::controller::ids::WatchId;

/// Which watch shows an object, and whether in a list of what there is or because it has changed.
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

    /// Whether something newer may be known: of a change. A list counts, whatever was known before it
    /// was asked for.
    pub(in crate::controller) const fn may_be_late(self) -> bool {
        !self.is_list
    }
}
