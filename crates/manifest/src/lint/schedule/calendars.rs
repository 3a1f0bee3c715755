//! Warnings about the calendars that dates name.

use dayshift_schedule::{Calendar, Schedule, list_items};
use dayshift_workload::Key;

use crate::lint::{
    rule::LintRule,
    schedule::{schedule_finding::ScheduleFinding, times::Look},
};

impl Look<'_> {
    /// Calendars that end soon, or of which part does not count.
    pub(crate) fn calendars(&self, schedule: &Schedule, found: &mut Vec<ScheduleFinding>) {
        let soon = self.local(self.span.from + Calendar::ENDS_SOON).date();
        let excepted = schedule.except().calendars().map(|it| (Key::Except, it));
        let treated = schedule.treated().calendars().map(|it| (Key::TreatAs, it));
        for (key, (name, calendar)) in excepted.chain(treated) {
            let text = self.inputs.text(key).unwrap_or_default();
            let (nothing, days) = if key == Key::Except {
                ("nothing is excepted", "only whole days are excepted")
            } else {
                ("no date counts as another day", "only whole days count")
            };
            let mut items = list_items(text);
            let item = items.find(|(_, item)| {
                let named = item.split_once(':');
                named.is_some_and(|(_, it)| {
                    it.split('=').next().map(str::trim) == Some(name.as_str())
                })
            });
            let mut warn = |rule, message, help| {
                let whole = ScheduleFinding::on(key, self.inputs, rule, message, help);
                found.push(match &item {
                    Some((span, _)) => whole.at(span.clone()),
                    None => whole,
                });
            };
            if let Some(last) = calendar.ends_on().filter(|last| *last <= soon) {
                warn(
                    LintRule::CalendarEnds,
                    format!("the last date of the calendar `{name}` is {last}; after it {nothing}"),
                    "give a newer file with --calendar, here and to the scaler".to_owned(),
                );
            }
            let timed = calendar.timed_events();
            if timed > 0 {
                let are = if timed == 1 { "event is" } else { "events are" };
                warn(
                    LintRule::CalendarTimes,
                    format!("{timed} {are} at a time of day in the calendar `{name}`: {days}"),
                    "write them as events of whole days, such as DTSTART;VALUE=DATE:20261225, or remove them".to_owned(),
                );
            }
        }
    }
}
