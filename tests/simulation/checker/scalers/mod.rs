//! The requests of each controller, their responses, and the resulting knowledge about each object.

pub mod known;
pub mod namespaces;
pub mod reads;
pub mod request;
pub mod shown;
pub mod troubled;
