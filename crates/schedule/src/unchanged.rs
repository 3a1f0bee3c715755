//! Whether dates that count as another day of the week change what a schedule does.

use chrono::NaiveDate;

use super::days::dates::Dates;
use super::days::treated::TreatedDates;
use super::entry::ScheduleRule;
use super::schedule::Schedule;
use super::zone::local::day_number;

impl Schedule {
    /// Whether it does anything else on the [treated dates](Self::treating) in `[from, until)` than it
    /// would without them, by local time. The dates are compared one by one, so that it does not
    /// matter how often something happens on them.
    pub fn is_changed_by_treated(&self, from: NaiveDate, until: NaiveDate) -> bool {
        let dates = self.dates();
        let untreated = TreatedDates::default();
        let others = Dates {
            treated: &untreated,
            ..dates
        };
        let (from, until) = (day_number(from), day_number(until));
        let spans = self.treated().iter().flat_map(|(_, days)| days.iter());
        let mut days = spans.flat_map(|(first, last)| first.max(from)..=last.min(until - 1));
        days.any(|day| match self.rule() {
            ScheduleRule::Times(entries) => !self.search(entries).is_same_on(day, others),
            ScheduleRule::Hours(hours) => !hours.is_same_on(day, dates, others),
        })
    }
}
