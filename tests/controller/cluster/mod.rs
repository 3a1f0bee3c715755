//! Requests to the API without a controller.

mod authorities;
mod connections;
mod credentials;
mod events;
mod find;
mod live_view;
mod namespace;
mod reflector;
