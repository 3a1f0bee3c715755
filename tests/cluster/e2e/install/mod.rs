//! The Helm chart, with the real Helms.

mod manifests;
mod releases;
mod rendered;
mod values;

use crate::support::Story;

pub(crate) fn stories() -> Vec<Story> {
    [releases::stories(), manifests::stories(), values::stories()].concat()
}
