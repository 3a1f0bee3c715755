//! What follows a change: does the object become ready, is its count reverted, do its Jobs follow,
//! and is its next stop near.

pub(crate) mod jobs;
pub(crate) mod jobs_report;
pub(crate) mod readiness;
pub(crate) mod reverts;
pub(crate) mod stops;
