//! The newest version of every object and Namespace, and the effect of an observation.

pub(crate) mod history;
pub(crate) mod namespace;
pub(crate) mod namespaces;
mod needed;
mod observe;
pub(crate) mod slices;
#[expect(
    clippy::module_inception,
    reason = "the store itself, beside its parts"
)]
pub(crate) mod store;
mod text_budget;

pub(crate) use namespace::Shown;
pub(crate) use needed::{Progress, is_silent};
pub(crate) use observe::Seen;
