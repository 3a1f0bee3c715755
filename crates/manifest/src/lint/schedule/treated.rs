//! Warnings about dates that count as another day of the week.

use dayshift_schedule::Schedule;
use dayshift_workload::Key;

use crate::lint::{
    rule::LintRule,
    schedule::{schedule_finding::ScheduleFinding, times::Look},
};

impl Look<'_> {
    /// Dates that are over, or on which the schedule does what it does without them.
    pub(crate) fn treated(&self, schedule: &Schedule, found: &mut Vec<ScheduleFinding>) {
        let Some(last) = schedule.treated().last() else {
            return;
        };
        let [today, until] = [self.span.from, self.span.until].map(|at| self.local(at).date());
        let (rule, message, help) = if last < today {
            (
                LintRule::PastDate,
                "all of these dates are in the past".to_owned(),
                "remove them, or write future dates".to_owned(),
            )
        } else if last < until && !schedule.is_affected_by_treated_dates(today, until) {
            (
                LintRule::UnchangedDates,
                "on these dates the schedule does the same without this annotation".to_owned(),
                "remove it, or write another day of the week; days of the month and days within the month stay those of the calendar".to_owned(),
            )
        } else {
            return;
        };
        found.push(ScheduleFinding::on(
            Key::TreatAs,
            self.inputs,
            rule,
            message,
            help,
        ));
    }
}
