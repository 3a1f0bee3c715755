//! Flags whose value is a time, such as `--from`.

use chrono::{DateTime, Utc};
use clap::error::ErrorKind;
use dayshift_schedule::{Zone, parse_date_or_date_time};
use dayshift_text::quote;

/// The time that `--flag` names: a moment, or a date, on the clocks of `zone`.
///
/// # Errors
/// In the words of clap, where the text is neither.
pub(crate) fn time_flag(flag: &str, text: &str, zone: Zone) -> Result<DateTime<Utc>, clap::Error> {
    parse_date_or_date_time(text, zone).map_err(|error| {
        let message = format!(
            "invalid value '{}' for '--{flag} <T>': {error}\n",
            quote(text)
        );
        clap::Error::raw(ErrorKind::ValueValidation, message)
    })
}
