//! Right lines for what somebody has written: their own text where it can be kept.

use std::ops::Range;

use crate::lint::schedule::examples::{right_line, right_text};
use crate::workload::{Inputs, Key, ParseContext, ParsedInputs, Prefix, read};

/// The line that was meant: `text` where that is right for the key, else an example.
pub(in crate::lint) fn own_line(prefix: &Prefix, key: Key, text: &str) -> String {
    if is_right(key, text) {
        format!("{}: \"{text}\"", prefix.annotation(key))
    } else {
        right_line(prefix, key)
    }
}

/// The line that was meant by a text of which these bytes are at fault; `meant` is the word that may
/// have been meant by them.
pub(in crate::lint) fn repaired_line(
    prefix: &Prefix,
    key: Key,
    text: &str,
    fault: &Range<usize>,
    meant: Option<&str>,
) -> Option<String> {
    let found = text.get(fault.clone())?;
    let (before, after) = (text.get(..fault.start)?, text.get(fault.end..)?);
    let meant = meant.map(str::to_owned);
    let day = || {
        let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
        let alike = |day: &&str| {
            let both = day.bytes().zip(found.bytes());
            both.take(2)
                .all(|(one, other)| one.eq_ignore_ascii_case(&other))
        };
        days.into_iter().find(alike).map(str::to_owned)
    };
    let words = [meant, day()].into_iter().flatten();
    let texts = words.map(|word| format!("{before}{word}{after}"));
    let mut texts = texts.chain([with_minutes(text)]);
    let text = texts.find(|text| is_right(key, text))?;
    Some(format!("{}: \"{text}\"", prefix.annotation(key)))
}

/// The text with `9-17` as `09:00-17:00`.
fn with_minutes(text: &str) -> String {
    let hour = |text: &str| text.parse::<u8>().ok().filter(|hour| *hour <= 24);
    let window = |word: &str| {
        let (from, until) = word.split_once('-')?;
        Some(format!("{:02}:00-{:02}:00", hour(from)?, hour(until)?))
    };
    let separators = [' ', ';', ','];
    let words = text.split_inclusive(separators).map(|word| {
        let bare = word.trim_end_matches(separators);
        let rest = word.get(bare.len()..).unwrap_or_default();
        window(bare).unwrap_or_else(|| bare.to_owned()) + rest
    });
    words.collect()
}

/// Whether a text is right for a key, on an object with a schedule.
fn is_right(key: Key, text: &str) -> bool {
    if text.trim().is_empty() || text.contains(['"', '\\']) {
        return false;
    }
    let inputs = if Key::SCHEDULE.contains(&key) {
        Inputs::default()
    } else {
        Inputs::default().with(Key::Hours, right_text(Key::Hours))
    };
    let read = read(&inputs.with(key, text), &ParseContext::default());
    matches!(read, ParsedInputs::Scheduled(_))
}
