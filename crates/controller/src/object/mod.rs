//! One object: its observed state, and the work in progress for it.

#[expect(
    clippy::module_inception,
    reason = "the object itself, beside its parts"
)]
pub(crate) mod object;
pub(crate) mod parse_cache;
pub(crate) mod rare;
pub(crate) mod start;
pub(crate) mod work;
