//! The API: routes, a store with resourceVersions, lists, watches and guarded patches.

mod bell;
mod cause;
mod changes;
mod continuation;
mod deployment;
mod direct;
mod event;
mod json_patch;
mod label_selector;
mod list;
mod literal;
mod metadata;
mod names;
mod namespace;
mod ownership;
mod patch;
mod request;
mod requests;
mod requirement;
mod resource;
mod resources;
mod selectors;
mod server;
mod service;
mod status;
mod store;
mod watch;
mod write;

pub use cause::Cause;
pub use changes::{Changes, StoredChange};
pub use requests::{Fault, RequestLine};
pub use server::{Admission, Api};
pub use status::{Details, Status};
