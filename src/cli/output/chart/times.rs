//! The times of a day's boundaries, in few words.

use chrono::DateTime;
use dayshift_operations::status::time_of_day;
use dayshift_schedule::{Action, Zone};

use crate::cli::output::style::Style;

/// More than fit on any screen.
const KEPT: usize = 24;

/// The boundaries of a day: `09:00–12:00 13:00–17:00`, or `start 09:00 10:00` where only one kind
/// is given. One without its other half on the same day is `22:00–` or `–06:00`, one that an
/// override keeps from being applied stands in brackets.
#[derive(Debug)]
pub(super) struct Times {
    dash: &'static str,
    /// The only kind there is.
    only: Option<Action>,
    items: Vec<Item>,
    /// How many there are, those included that are not kept.
    count: usize,
    /// How many of them are not applied.
    skipped: usize,
    /// A start that may have its stop still to come.
    open: Option<String>,
}

/// A time as it is written, and whether it is applied.
#[derive(Debug)]
struct Item {
    action: Action,
    text: String,
    applied: bool,
}

impl Times {
    pub(super) fn new(only: Option<Action>, style: Style) -> Self {
        Self {
            dash: style.either("–", "-"),
            only,
            items: Vec::new(),
            count: 0,
            skipped: 0,
            open: None,
        }
    }

    pub(super) fn add(&mut self, action: Action, time: &str, applied: bool) {
        let dash = self.dash;
        match action {
            _ if self.only.is_some() && applied => self.push(action, time.to_owned(), true),
            _ if self.only.is_some() => self.push(action, format!("({time})"), false),
            Action::Scale(count) => {
                let text = format!("{time}={count}");
                let text = if applied { text } else { format!("({text})") };
                self.push(action, text, applied);
            }
            Action::Start => {
                self.close();
                if applied {
                    self.open = Some(time.to_owned());
                } else {
                    self.push(action, format!("({time}{dash})"), false);
                }
            }
            Action::Stop if !applied => {
                self.close();
                self.push(action, format!("({dash}{time})"), false);
            }
            Action::Stop => {
                let start = self.open.take().unwrap_or_default();
                self.push(action, format!("{start}{dash}{time}"), true);
            }
        }
    }

    /// A start whose stop does not come on this day.
    pub(super) fn close(&mut self) {
        if let Some(start) = self.open.take() {
            self.push(Action::Start, format!("{start}{}", self.dash), true);
        }
    }

    /// What fits into so many columns, and how many more there are: those that are skipped go
    /// first.
    pub(super) fn within(&self, room: usize) -> String {
        // The end of an override may be of the kind that the schedule does not have.
        let is_only = |it: &Item| self.only.is_none_or(|only| only == it.action);
        let only = self.only.filter(|_| self.items.iter().all(is_only));
        let kind = only.map(|only| format!("{only} ")).unwrap_or_default();
        let fits = |text: &String| text.chars().count() <= room;
        let is_mixed = self.only.is_some() && only.is_none();
        let text = |it: &Item| {
            if is_mixed {
                format!("{} {}", it.action, it.text)
            } else {
                it.text.clone()
            }
        };
        let all: Vec<_> = self.items.iter().map(text).collect();
        let applied = self.items.iter().filter(|it| it.applied);
        let applied: Vec<_> = applied.map(text).collect();
        if self.count == 0 {
            return String::new();
        }
        let whole = format!("{kind}{}", all.join(" "));
        if self.count == all.len() && fits(&whole) {
            return whole;
        }
        let without_skipped = format!("{kind}{} ({} skipped)", applied.join(" "), self.skipped);
        let is_complete = applied.len() + self.skipped == self.count;
        if self.skipped > 0 && !applied.is_empty() && is_complete && fits(&without_skipped) {
            return without_skipped;
        }
        for shown in (0..=all.len()).rev() {
            let times = all.get(..shown).unwrap_or_default().join(" ");
            let more = self.count - shown;
            let text = match shown {
                0 if only.is_some() => format!("{kind}{more}"),
                0 => format!("{more} times"),
                _ => format!("{kind}{times} +{more}"),
            };
            if fits(&text) {
                return text;
            }
        }
        String::new()
    }

    fn push(&mut self, action: Action, text: String, applied: bool) {
        self.count += 1;
        self.skipped += usize::from(!applied);
        if self.items.len() < KEPT {
            self.items.push(Item {
                action,
                text,
                applied,
            });
        }
    }
}

/// `09:00`, and `09:00:30` where there are seconds.
pub(super) fn clock(at: &DateTime<Zone>) -> String {
    at.format(time_of_day(at)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_skipped_gives_way_first() {
        let mut day = Times::new(None, Style::default());
        day.add(Action::Start, "09:00", false);
        day.add(Action::Stop, "19:00", false);
        day.add(Action::Stop, "22:00", true);
        for (room, expected) in [
            (40, "(09:00-) (-19:00) -22:00"),
            (23, "-22:00 (2 skipped)"),
            (12, "(09:00-) +2"),
            (8, "3 times"),
        ] {
            assert_eq!(day.within(room), expected, "{room}");
        }
    }

    #[test]
    fn an_override_may_end_in_what_the_schedule_does_not_have() {
        let mut day = Times::new(Some(Action::Stop), Style::default());
        day.add(Action::Stop, "19:00", true);
        assert_eq!(day.within(40), "stop 19:00");
        day.add(Action::Start, "22:00", true);
        assert_eq!(day.within(40), "stop 19:00 start 22:00");
    }
}
