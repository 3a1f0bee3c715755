//! The ways to the API, without a controller.

mod authorities;
mod connections;
mod credentials;
mod find;
mod namespace;
mod reflector;
