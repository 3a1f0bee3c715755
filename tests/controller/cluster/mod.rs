//! The ways to the API, without a controller.

mod credentials;
mod find;
mod list_watch;
mod namespace;
