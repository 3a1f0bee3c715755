//! Others that set the same counts, the real programs: how one lives with them, and that each is
//! named when it puts back what dayshift has set.

mod coexistence;
mod reverts;

use crate::support::Story;

/// All of them.
pub(crate) fn stories() -> Vec<Story> {
    [coexistence::stories(), reverts::stories()].concat()
}
