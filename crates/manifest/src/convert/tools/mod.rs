//! Tools whose schedules are objects of their own.

pub(super) mod cron_hpa;
pub(super) mod keda;
pub(super) mod request;
pub(super) mod sleep_info;
mod sleep_patches;
mod sleep_refs;
pub(super) mod sleep_secret;
