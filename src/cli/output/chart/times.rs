//! The times of a day's boundaries, in few words.

use chrono::DateTime;
use chrono_tz::Tz;

use crate::{cli::output::style::Style, cli::output::time_format::time_of_day, schedule::Action};

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
    items: Vec<String>,
    /// How many there are, those included that are not kept.
    count: usize,
    /// A start that may have its stop still to come.
    open: Option<String>,
}

impl Times {
    pub(super) fn new(only: Option<Action>, style: Style) -> Self {
        Self {
            dash: style.either("–", "-"),
            only,
            items: Vec::new(),
            count: 0,
            open: None,
        }
    }

    pub(super) fn add(&mut self, action: Action, time: &str, applied: bool) {
        let dash = self.dash;
        match action {
            _ if self.only.is_some() && applied => self.push(time.to_owned()),
            _ if self.only.is_some() => self.push(format!("({time})")),
            Action::Scale(count) if applied => self.push(format!("{time}={count}")),
            Action::Scale(count) => self.push(format!("({time}={count})")),
            Action::Start => {
                self.close();
                if applied {
                    self.open = Some(time.to_owned());
                } else {
                    self.push(format!("({time}{dash})"));
                }
            }
            Action::Stop if !applied => {
                self.close();
                self.push(format!("({dash}{time})"));
            }
            Action::Stop => {
                let start = self.open.take().unwrap_or_default();
                self.push(format!("{start}{dash}{time}"));
            }
        }
    }

    /// A start whose stop does not come on this day.
    pub(super) fn close(&mut self) {
        if let Some(start) = self.open.take() {
            self.push(format!("{start}{}", self.dash));
        }
    }

    /// What fits into so many columns, and how many more there are.
    pub(super) fn within(&self, room: usize) -> String {
        let kind = self.only.map(|only| format!("{only} ")).unwrap_or_default();
        for shown in (0..=self.items.len()).rev() {
            let times = self.items.get(..shown).unwrap_or_default().join(" ");
            let text = match (shown, self.count - shown) {
                (_, 0) if shown == 0 => return String::new(),
                (_, 0) => format!("{kind}{times}"),
                (0, more) => format!(
                    "{kind}{more}{}",
                    if self.only.is_some() { "" } else { " times" }
                ),
                (_, more) => format!("{kind}{times} +{more}"),
            };
            if text.chars().count() <= room {
                return text;
            }
        }
        String::new()
    }

    fn push(&mut self, item: String) {
        self.count += 1;
        if self.items.len() < KEPT {
            self.items.push(item);
        }
    }
}

/// `09:00`, and `09:00:30` where there are seconds.
pub(super) fn clock(at: &DateTime<Tz>) -> String {
    at.format(time_of_day(at)).to_string()
}
