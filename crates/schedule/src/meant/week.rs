//! Days and times of the week, as people write them: `9am to 5pm on Mon/Wed/Fri`.

use super::propose::Guess;
use super::segments::{Clock, END_OF_DAY, Part, Segment, segments};
use super::weekdays::Weekdays;

/// What was meant among times.
pub(super) fn times(text: &str) -> Option<Guess> {
    let segments = segments(text)?;
    let mut parts = segments.iter().flat_map(|it| &it.parts);
    if let [only] = &*segments
        && let [Part::Across(..)] = &*only.parts
    {
        return across(only);
    }
    if parts.clone().all(|part| matches!(part, Part::Window(..))) {
        return Some(Guess::Hours(windows(&segments)?));
    }
    if !parts.all(|part| matches!(part, Part::At(_))) {
        return None;
    }
    let items: Option<Vec<_>> = segments.iter().map(Segment::as_times).collect();
    Some(Guess::Text(items?.join("; ")))
}

/// What was meant among hours.
pub(super) fn hours(text: &str) -> Option<Guess> {
    let segments = segments(text)?;
    match &*segments {
        [only] if matches!(*only.parts, [Part::Across(..)]) => across(only),
        _ => Some(Guess::Text(windows(&segments)?)),
    }
}

fn windows(segments: &[Segment]) -> Option<String> {
    let items: Option<Vec<_>> = segments.iter().map(Segment::as_windows).collect();
    Some(items?.join("; "))
}

fn across(segment: &Segment) -> Option<Guess> {
    let [Part::Across(from, last, to)] = &*segment.parts else {
        return None;
    };
    let first = segment.days.as_ref()?.only()?;
    // On one day it is a window of that day, or all of a week.
    (last.only()? != first).then_some(())?;
    let at = |days: &Weekdays, clock: Clock| {
        (!clock.is_midnight && !clock.is_bare && clock.second == 0)
            .then(|| time_on(Some(days), clock))
            .flatten()
    };
    Some(Guess::StartAndStop {
        start: at(segment.days.as_ref()?, *from)?,
        stop: at(last, *to)?,
    })
}

impl Segment {
    fn as_times(&self) -> Option<String> {
        let mut items = Vec::new();
        let mut plain = Vec::new();
        for part in &self.parts {
            let Part::At(clock) = part else { return None };
            if clock.is_midnight && self.days.is_some() || clock.is_bare && self.parts.len() > 1 {
                return None; // Of which end of the day? And are these times at all?
            }
            if clock.second > 0 {
                let days = match &self.days {
                    Some(days) => days.listed()?,
                    None => "*".to_owned(),
                };
                let (hour, minute) = (clock.minute / 60, clock.minute % 60);
                items.push(format!("{} {minute} {hour} * * {days}", clock.second));
            } else if clock.minute == END_OF_DAY {
                items.push(time_on(self.days.as_ref(), *clock)?);
            } else {
                plain.push(clock.text());
            }
        }
        if !plain.is_empty() {
            items.insert(
                0,
                format!("{}{}", prefix(self.days.as_ref()), plain.join(",")),
            );
        }
        Some(items.join("; "))
    }

    fn as_windows(&self) -> Option<String> {
        let mut windows = Vec::new();
        let mut is_next_day = false;
        for part in &self.parts {
            let Part::Window(from, to) = part else {
                return None;
            };
            if from.second + to.second > 0 || from.is_midnight && self.days.is_some() {
                return None;
            }
            // `9-5` ends in the afternoon for some, and in the night for others.
            let is_unclear =
                |clock: &Clock| !clock.is_half_day && (60..=12 * 60 + 59).contains(&clock.minute);
            if from.is_half_day != to.is_half_day
                && !from.is_midnight
                && !to.is_midnight
                && (is_unclear(from) || is_unclear(to))
                || (from.is_bare || to.is_bare)
                    && to.minute <= from.minute
                    && is_unclear(from)
                    && is_unclear(to)
            {
                return None;
            }
            is_next_day |= from.minute == END_OF_DAY;
            let from = if from.minute == END_OF_DAY {
                Clock { minute: 0, ..*from }
            } else {
                *from
            };
            let to = if to.is_midnight {
                Clock {
                    minute: END_OF_DAY,
                    ..*to
                }
            } else {
                *to
            };
            windows.push(format!("{}-{}", from.text(), to.text()));
        }
        // A window from 24:00 is one of the next day, which those beside it are not.
        if is_next_day && windows.len() > 1 {
            return None;
        }
        let days = match &self.days {
            Some(days) if is_next_day => Some(days.next()?),
            days => days.clone(),
        };
        Some(format!("{}{}", prefix(days.as_ref()), windows.join(",")))
    }
}

fn prefix(days: Option<&Weekdays>) -> String {
    days.map(|days| format!("{days} ")).unwrap_or_default()
}

/// A time on days; 24:00 is on the next ones.
fn time_on(days: Option<&Weekdays>, clock: Clock) -> Option<String> {
    if clock.minute < END_OF_DAY {
        return Some(format!("{}{}", prefix(days), clock.text()));
    }
    Some(match days {
        Some(days) => format!("{}00:00", prefix(Some(&days.next()?))),
        None => "00:00".to_owned(),
    })
}
