//! Proposals for rejected text: a loose second reading that finds the intended valid text.
//!
//! The parsers are strict. These modules read the same text as other tools and people write it:
//! `9:00 AM - 5:00 PM`, `Mon/Wed/Fri`, `12/24/2026`, AWS cron. Ambiguous text gets no proposal.

mod cron;
mod dates;
mod propose;
mod week;

/// What a loose reading of one item, or of a whole text, takes it for.
pub(crate) enum Guess {
    Text(String),
    Hours(String),
    StartAndStop { start: String, stop: String },
    InZone { times: String, timezone: String },
}
