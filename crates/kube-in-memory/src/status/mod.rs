//! Refusals: the `Status` object.

mod media;
mod refusal;

pub use refusal::{Details, Status};
