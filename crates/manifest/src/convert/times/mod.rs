//! Times of other tools, and their texts here.

pub(super) mod cron_text;
pub(super) mod desired;
pub(super) mod moments;
pub(super) mod timespan;
pub(super) mod week;
