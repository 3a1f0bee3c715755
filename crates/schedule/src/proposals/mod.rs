//! Proposals for rejected text: a second, loose parser that finds the intended valid text.
//!
//! The parsers of the annotations are strict. These modules read the same text as people and other
//! tools write it, for example `9:00 AM - 5:00 PM`, `Mon/Wed/Fri`, `12/24/2026` or AWS cron. If
//! text is ambiguous, there is no proposal. This is the top layer of the crate: it uses all
//! parsers to check its proposals.

mod cron;
mod dates;
mod propose;
mod week;

/// A loose reading of one item, not yet checked with the strict parsers.
pub(crate) enum Guess {
    Text(String),
    Hours(String),
    StartAndStop { start: String, stop: String },
    InZone { times: String, timezone: String },
}
