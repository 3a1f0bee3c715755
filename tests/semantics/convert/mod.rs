//! Conversions of other tools' schedules, judged by meaning: an oracle of each tool's documented
//! rules looks at every minute of some weeks, clock changes included, and what `dayshift plan` says
//! of the conversion has to be the same. It shares no code with the library. Where the two differ
//! on purpose, `docs/guides/migrate.md` lists it, and a test of its own is here.
#![allow(clippy::unwrap_used, clippy::panic)]

mod by_hand;
mod clocks;
mod converted;
mod cron_hpa;
mod cron_oracle;
mod differences;
mod downscaler;
mod edits;
mod folders;
mod forced;
mod hostile;
mod keda;
mod kube_green;
mod prefix;
mod switches;
mod texts;
mod volumes;
