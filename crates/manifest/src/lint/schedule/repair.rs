//! Right lines for what somebody has written: their own text where it can be kept.

use dayshift_schedule::{Calendars, Proposal};
use dayshift_workload::{Inputs, Key, ParseContext, ParsedInputs, Prefix, Problem, read};

use crate::lint::schedule::examples::right_text;

/// The line that was meant: `text` where that is right for the key or can be put right, else the key
/// with an example that is called one. Nobody's schedule is made up.
pub(crate) fn own_line(prefix: &Prefix, key: Key, text: &str) -> String {
    let name = prefix.annotation(key);
    if is_right(key, text) {
        return format!("{name}: \"{text}\"");
    }
    let meant = problem(key, text).and_then(|it| it.diagnostic.proposal());
    let lines = meant.and_then(|meant| repaired_lines(prefix, key, text, &meant));
    let right = right_text(key);
    lines.unwrap_or_else(|| format!("{name} with a valid text, for example \"{right}\""))
}

/// The line or lines that were meant by a text that is refused, where all of it can be put right.
pub(crate) fn repaired_lines(
    prefix: &Prefix,
    key: Key,
    text: &str,
    meant: &Proposal,
) -> Option<String> {
    let line = |key, text: &str| format!("{}: \"{text}\"", prefix.annotation(key));
    match meant {
        Proposal::Hours(hours) => Some(format!(
            "{} in place of {}",
            line(Key::Hours, hours),
            prefix.annotation(key)
        )),
        Proposal::StartAndStop { start, stop } => Some(format!(
            "{} and {} in place of {}",
            line(Key::Start, start),
            line(Key::Stop, stop),
            prefix.annotation(key)
        )),
        Proposal::InZone { times, timezone } => {
            let (times, zone) = (line(key, times), line(Key::Timezone, timezone));
            Some(format!("{times} and {zone}"))
        }
        Proposal::Replace { .. } => {
            let mut text = meant.apply_to(text)?;
            // A text may be wrong in several places, of which the reader tells one at a time.
            for _ in 0..MAX_REPAIRS {
                if is_right(key, &text) {
                    return Some(line(key, &text));
                }
                text = problem(key, &text)?
                    .diagnostic
                    .proposal()?
                    .apply_to(&text)?;
            }
            None
        }
    }
}

/// How many places of one text are put right.
const MAX_REPAIRS: usize = 20;

/// Whether a text is right for a key, on an object with a schedule.
fn is_right(key: Key, text: &str) -> bool {
    !text.trim().is_empty()
        && !text.contains(['"', '\\'])
        && !matches!(read_alone(key, text), ParsedInputs::Invalid(_))
}

/// What is wrong with the text of a key, on an object with a schedule.
fn problem(key: Key, text: &str) -> Option<Problem> {
    let ParsedInputs::Invalid(refusal) = read_alone(key, text) else {
        return None;
    };
    let mut problems = refusal.problems().iter();
    problems.find(|it| &*it.annotation == key.name()).cloned()
}

fn read_alone(key: Key, text: &str) -> ParsedInputs {
    let inputs = if Key::SCHEDULE.contains(&key) {
        Inputs::default()
    } else {
        Inputs::default().with(Key::Hours, right_text(Key::Hours))
    };
    let context = ParseContext {
        // What those are called is not known here.
        calendars: Calendars::default().accepting_any(),
        ..ParseContext::default()
    };
    read(&inputs.with(key, text), &context)
}
