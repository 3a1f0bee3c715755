//! Whether a due start may go now, must wait for its dependencies, or for a start slot.

mod dependencies;
#[expect(clippy::module_inception, reason = "the gate itself, beside its parts")]
pub(crate) mod gate;
mod notices;
mod slots;
