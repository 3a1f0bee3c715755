//! The Jobs of CronJobs that ask for it: suspended after a stop, resumed after a start.

pub(super) mod cron_jobs;
pub(super) mod metrics;
pub(super) mod pass;
mod results;
