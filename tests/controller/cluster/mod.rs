//! The ways to the API, without a controller.

mod authorities;
mod credentials;
mod find;
mod list_watch;
mod namespace;
