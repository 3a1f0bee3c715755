//! What each scaler asked the server for, was shown, and so knows of an object.

pub mod known;
pub mod namespaces;
pub mod reads;
pub mod request;
pub mod shown;
pub mod troubled;
