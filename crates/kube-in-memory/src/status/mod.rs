//! Refusals: the `Status` object, and a cause for each field at fault.

mod cause;
mod media;
mod refusal;

pub use cause::Cause;
pub use refusal::{Details, Status};
