//! Warnings about the calendars that excepted dates name.

use crate::lint::rule::LintRule;
use crate::lint::schedule::{schedule_finding::ScheduleFinding, times::Look};
use crate::{
    schedule::{Calendar, ExceptedDates, list_items},
    workload::Key,
};

impl Look<'_> {
    /// Calendars that end soon, or of which part does not count.
    pub(in crate::lint) fn calendars(
        &self,
        except: &ExceptedDates,
        found: &mut Vec<ScheduleFinding>,
    ) {
        let soon = self.local(self.span.from + Calendar::ENDS_SOON).date();
        for (name, calendar) in except.calendars() {
            let text = self.inputs.text(Key::Except).unwrap_or_default();
            let mut items = list_items(text);
            let item = items.find(|(_, item)| {
                let named = item.split_once(':');
                named.is_some_and(|(_, it)| it.trim() == name.as_str())
            });
            let mut warn = |rule, message, help| {
                let whole = ScheduleFinding::on(Key::Except, self.inputs, rule, message, help);
                found.push(match &item {
                    Some((span, _)) => whole.at(span.clone()),
                    None => whole,
                });
            };
            if let Some(last) = calendar.ends_on().filter(|last| *last <= soon) {
                warn(
                    LintRule::CalendarEnds,
                    format!(
                        "the last date of the calendar `{name}` is {last}; after it nothing is excepted"
                    ),
                    "give a newer file with --calendar, here and to the scaler".to_owned(),
                );
            }
            let timed = calendar.timed_events();
            if timed > 0 {
                let are = if timed == 1 { "event is" } else { "events are" };
                warn(
                    LintRule::CalendarTimes,
                    format!("{timed} {are} at a time of day in the calendar `{name}`: only whole days are excepted"),
                    "write them as events of whole days, such as DTSTART;VALUE=DATE:20261225, or remove them".to_owned(),
                );
            }
        }
    }
}
