//! Schedules compared with naive models: minute by minute through clock changes, with random
//! rules, and with hostile text. These tests link no Kubernetes client.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod calendars;
mod clock_changes;
mod cron;
mod hostile;
mod model;
mod month;
mod next_boundary;
mod properties;
mod proposals;
mod texts;
mod treated;
mod tzdata;
#[path = "../../../../tests/support/zone_file.rs"]
mod zone_file;
mod zones;
