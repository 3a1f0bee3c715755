//! Conversions of other tools' schedules, compared by their effect. An oracle of each tool's documented rules
//! checks every minute of some weeks, including clock changes, and the result of `dayshift plan` must be the
//! same. The oracles share no code with the library. `docs/guides/migrate.md` lists each intended difference,
//! and a test covers it.
#![allow(clippy::unwrap_used, clippy::panic)]

mod clocks;
mod converted;
mod cron_hpa;
mod cron_oracle;
mod differences;
mod directories;
mod downscaler;
mod edits;
mod forced;
mod hostile;
mod keda;
mod kube_green;
mod loose_annotations;
mod prefix;
mod switches;
mod texts;
