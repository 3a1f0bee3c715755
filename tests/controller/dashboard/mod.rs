//! The pages of a running controller and their users.

mod guarded_api;
mod login;
mod pages;
mod users;
