//! A Kubernetes API in memory.

mod admin;
mod api;
mod changes;
mod fault;
mod http;
mod objects;
mod read;
mod request;
mod request_log;
mod server;
mod status;
mod store;
mod write;

pub use api::Api;
pub use changes::{Changes, StoredChange};
pub use fault::Fault;
pub use request_log::RequestLine;
pub use server::Admission;
pub use status::{Cause, Details, Status};
