//! Times with what happens at them, and the text of exact counts: `Mon-Fri 08:00 = 5; 19:00 = 0`.

use dayshift_text::number;

use super::boundary::Action;
use super::days::ties::Ties;
use super::hours::Hours;
use super::meant::propose::Form;
use super::text::diagnostic::Diagnostic;
use super::text::piece::Piece;
use super::times::Times;
use super::times::TimesItems;

const EXAMPLE: &str = "Mon-Fri 08:00 = 5; 19:00 = 0";

/// The largest count that `spec.replicas`, an int32, can hold.
const MAX_COUNT: u32 = i32::MAX as u32;

/// Times, and what happens at each of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// The local times.
    pub times: Times,
    /// What happens at each of them.
    pub action: Action,
}

/// When to start and when to stop.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ScheduleRule {
    /// Times, each with what happens at it.
    Times(Box<[Entry]>),
    /// Windows to run in.
    Hours(Hours),
}

impl ScheduleRule {
    /// Times to start at and times to stop at; one of them is enough.
    pub fn start_and_stop(start: Option<Times>, stop: Option<Times>) -> Self {
        let entry = |action| move |times| Entry { times, action };
        let start = start.map(entry(Action::Start));
        let stop = stop.map(entry(Action::Stop));
        Self::Times(start.into_iter().chain(stop).collect())
    }

    /// The only action of a schedule that has no other: only starts, or only stops.
    pub fn only_action(&self) -> Option<Action> {
        let Self::Times(entries) = self else {
            return None;
        };
        match &**entries {
            [entry] if entry.action == Action::Start || entry.action == Action::Stop => {
                Some(entry.action)
            }
            _ => None,
        }
    }

    /// The largest count that a time sets; `None` where none sets a count.
    pub fn largest_count(&self) -> Option<u32> {
        let Self::Times(entries) = self else {
            return None;
        };
        entries.iter().filter_map(|it| it.action.count()).max()
    }
}

/// Reads steps separated by `;`, each a time as in [`Times::parse`], `=` and a count. Steps to the
/// same count come as one entry, in the order in which the counts are first written.
///
/// # Errors
/// A step has no time, no `=` or no count from 0 to 2147483647, a date never comes, or two steps set
/// different counts at one time, as their texts alone show. The span is in bytes of the text.
///
/// ```
/// use dayshift_schedule::{Action, parse_scale};
///
/// let steps = parse_scale("Mon-Fri 08:00 = 5; 12:00 = 10; 0 22 * * * = 0").unwrap();
/// let actions: Vec<_> = steps.iter().map(|step| step.action).collect();
/// assert_eq!(actions, [Action::Scale(5), Action::Scale(10), Action::Scale(0)]);
/// ```
pub fn parse_scale(text: &str) -> Result<Box<[Entry]>, Diagnostic> {
    read_steps(text)
        .map_err(|error| error.read_by(|text, span| Form::Steps.meant(text, span), text))
}

fn read_steps(text: &str) -> Result<Box<[Entry]>, Diagnostic> {
    let mut steps: Vec<(u32, TimesItems)> = Vec::new();
    let mut ties = Ties::default();
    for item in Piece::items(text, EXAMPLE)? {
        let item = item?;
        let Some((times, count)) = item.split_once("=") else {
            return Err(no_count(item));
        };
        let (times, count) = (times.trim(), count.trim());
        if times.text().is_empty() || count.text().is_empty() {
            return Err(no_count(item));
        }
        // What stands before may be wrong in a way that says more.
        let mut of_item = TimesItems::default();
        of_item.add(times)?;
        let count = read_count(count)?;
        if let Some(other) = ties.add(&of_item, count) {
            return Err(times.fails(
                format!("coincides with a step that sets {other}"),
                "leave that time out of one of them, as in `Mon-Fri 12:00 = 10; Sat 12:00 = 2`",
            ));
        }
        match steps.iter_mut().find(|(known, _)| *known == count) {
            Some((_, known)) => known.append(of_item),
            None => steps.push((count, of_item)),
        }
    }
    let entry = |(count, times): (u32, TimesItems)| Entry {
        times: Times::of(times),
        action: Action::Scale(count),
    };
    Ok(steps.into_iter().map(entry).collect())
}

fn no_count(step: Piece<'_>) -> Diagnostic {
    step.fails(
        "has no count",
        "write for example `Mon-Fri 08:00 = 5`, and separate steps with `;`",
    )
}

fn read_count(word: Piece<'_>) -> Result<u32, Diagnostic> {
    number(word.text())
        .filter(|count| *count <= MAX_COUNT)
        .ok_or_else(|| {
            word.fails(
                "is not a number of replicas",
                "write a whole number, as in `Mon-Fri 08:00 = 5`",
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_count_for_each_time() {
        for (text, expected) in [
            ("08:00 = 5", vec![("08:00", 5)]),
            (
                "Mon-Fri 08:00=5;19:00=0",
                vec![("Mon-Fri 08:00", 5), ("19:00", 0)],
            ),
            (
                "Mon 08:00 = 5; Tue 09:00 = 7; Wed 10:00 = 5",
                vec![("Mon 08:00; Wed 10:00", 5), ("Tue 09:00", 7)],
            ),
            (
                "0 9 * * 1-5 = 3; 2026-12-24 18:00 = 2147483647",
                vec![("0 9 * * 1-5", 3), ("2026-12-24 18:00", 2_147_483_647)],
            ),
        ] {
            let expected: Box<[Entry]> = expected
                .into_iter()
                .map(|(times, count)| Entry {
                    times: Times::parse(times).unwrap(),
                    action: Action::Scale(count),
                })
                .collect();
            assert_eq!(parse_scale(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn points_at_what_is_wrong() {
        for (item, found, message) in [
            (
                "08:00",
                "08:00",
                "has no count; write for example `Mon-Fri 08:00 = 5`",
            ),
            ("= 5", "= 5", "has no count"),
            ("08:00 =", "08:00 =", "has no count"),
            ("08:00 = five", "five", "is not a number of replicas"),
            ("08:00 = -1", "-1", "is not a number of replicas"),
            ("08:00 = 1.5", "1.5", "is not a number of replicas"),
            (
                "08:00 = 2147483648",
                "2147483648",
                "is not a number of replicas",
            ),
            ("08:00 = 5 = 6", "5 = 6", "is not a number of replicas"),
            (
                "08:00 = 5, 12:00 = 6",
                "5, 12:00 = 6",
                "is not a number of replicas",
            ),
            ("Mon-Fry 08:00 = x", "Fry", "is not a day"),
            ("08:00-19:00 = 5", "08:00-19:00", "is a window"),
        ] {
            let text = format!("07:00 = 1; {item} ;20:00 = 0");
            let error = parse_scale(&text).unwrap_err();
            assert_eq!(&text[error.span()], found, "{item}: {error}");
            assert!(error.to_string().contains(message), "{item}: {error}");
        }
        assert_eq!(parse_scale("08:00 = 5;").unwrap_err().span(), 9..10);
    }

    #[test]
    fn two_counts_at_one_time_are_refused_where_the_texts_show_it() {
        for (first, second, refused) in [
            ("12:00", "Sat 12:00", true),
            ("Mon-Fri 12:00", "Sat 12:00", false),
            ("Mon 12:00", "Mon 11:59,12:00", true),
            ("2026-12-24 12:00", "2026-12-24 12:00", true),
            ("12:00", "2026-12-24 12:00", false),
            ("0 12 * * *", "Sat 12:00", true),
            ("0 12 * * 1-5", "Sat 12:00", false),
            ("0 12 1 * *", "12:00", true),
            ("0 12 1 * *", "Mon-Sat 12:00", false),
            ("0 12 1 * *", "0 12 * * *", true),
            ("0 12 1 * *", "0 12 * * Sat", false),
            ("0 12 1 * Sat", "0 12 * * Sat", true),
            ("0 12 1 * Mon", "0 12 1,2 3 *", true),
            ("0 12 1 1-6 *", "0 12 1 7-12 *", false),
            ("0 12 29 2 *", "0 12 29 2,4 *", true),
            ("0 12 30 2,3 *", "0 12 30 2,4 *", false),
            ("* 12 * * *", "30 12 * * *", true),
            ("0 0 12 * * *", "30 0 12 * * *", false),
            ("first Mon 12:00", "Mon 12:00", true),
            ("first Mon 12:00", "second Mon 12:00", false),
            ("first Mon,last day 12:00", "last day 12:00", true),
            ("last Fri 12:00", "0 12 * * 5", true),
            ("first day 12:00", "Mon 12:00", false),
        ] {
            for (first, second) in [(first, second), (second, first)] {
                let same = format!("{first} = 5; {second} = 5");
                assert!(parse_scale(&same).is_ok(), "{same}");
                let text = format!("{first} = 10; 03:33 = 1; {second} = 2");
                match parse_scale(&text) {
                    Ok(_) => assert!(!refused, "{text}"),
                    Err(error) => {
                        assert!(refused, "{text}: {error}");
                        assert_eq!(&text[error.span()], second, "{text}");
                        assert!(error.message().ends_with(" a step that sets 10"), "{error}");
                    }
                }
            }
        }
    }
}
