//! The pages of a running controller, and who looks at them.

mod guarded_api;
mod login;
mod pages;
mod users;
