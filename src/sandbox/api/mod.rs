//! The API: routes, a store with resourceVersions, lists, watches and guarded patches.

mod admin;
mod cause;
mod changes;
mod continuation;
mod deployment;
mod event;
mod go_json_text;
mod json_patch;
mod label_selector;
mod list;
mod metadata;
mod names;
mod namespace;
mod notifier;
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
