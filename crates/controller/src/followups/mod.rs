//! The work before and after changes: stop notices, readiness after a start, reverts of a count, and
//! the Jobs of CronJobs.

pub(crate) mod jobs;
pub(crate) mod readiness;
pub(crate) mod reverts;
pub(crate) mod stops;
