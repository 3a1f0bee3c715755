//! The requests of each controller, the responses, and the resulting knowledge of an object.

pub mod known;
pub mod namespaces;
pub mod reads;
pub mod request;
pub mod shown;
pub mod troubled;
