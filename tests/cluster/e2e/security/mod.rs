//! The permissions of the shipped RBAC, the reason for each of them, and the abilities of
//! attackers.

pub(super) mod access;
pub(super) mod connecting;
pub(super) mod hostile;
pub(super) mod limits;
pub(super) mod login;
mod login_provider;
mod login_proxy;
mod oauth2_proxy;
pub(super) mod odd_objects;
pub(super) mod permissions;
pub(super) mod reading;
pub(super) mod user_roles;
