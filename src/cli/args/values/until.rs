//! `--for 2h` and `--until 22:00`, and `--reason`.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_operations::{Until, UntilError, parse_length};
use dayshift_text::cut_chars;
use dayshift_workload::MAX_REASON;

/// How long an override lasts, and why.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Until when")]
pub(crate) struct UntilArgs {
    /// How long, from now on, such as 2h or 90m
    #[arg(
        long = "for",
        value_name = "TIME",
        value_parser = parse_length,
        conflicts_with = "until",
        allow_hyphen_values = true, // `-1h` is told what to write
    )]
    length: Option<TimeDelta>,

    /// Until when: 22:00, or "Mon 09:00", is the next one in the workload's own zone; also
    /// "2026-12-24 18:00", or RFC 3339
    #[arg(long, value_name = "T")]
    until: Option<String>,

    /// Why, for those who see it in status and Events
    #[arg(long, value_name = "TEXT", value_parser = parse_reason)]
    pub(crate) reason: Option<String>,
}

impl UntilArgs {
    /// The end; `None` where neither flag is given.
    ///
    /// # Errors
    /// The text is not a date and time, or is in the past in every zone.
    pub(crate) fn until(&self, now: DateTime<Utc>) -> Result<Option<Until>, UntilError> {
        if let Some(length) = self.length {
            return Ok(Some(Until::At(now + length)));
        }
        let Some(text) = &self.until else {
            return Ok(None);
        };
        Until::local(text.clone(), now).map(Some)
    }
}

fn parse_reason(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("is empty; write for example \"migration of the database\"".to_owned());
    }
    if cut_chars(text, MAX_REASON) != text {
        return Err(format!("is longer than {MAX_REASON} characters"));
    }
    Ok(text.to_owned())
}
