//! Warnings about dates that count as another day of the week.

use chrono::TimeDelta;

use crate::lint::rule::LintRule;
use crate::lint::schedule::schedule_finding::ScheduleFinding;
use crate::lint::schedule::times::{Look, MOST_STEPS};
use crate::{
    schedule::{Boundary, Schedule},
    workload::Key,
};

impl Look<'_> {
    /// Dates that are over, or on which the schedule does what it does without them.
    pub(in crate::lint) fn treated(&self, schedule: &Schedule, found: &mut Vec<ScheduleFinding>) {
        let Some(last) = schedule.treated().last() else {
            return;
        };
        let (rule, message, help) = if last < self.local(self.span.from).date() {
            (
                LintRule::PastDate,
                "all of these dates are in the past".to_owned(),
                "remove them, or write future dates".to_owned(),
            )
        } else if last < self.local(self.span.until).date() && self.is_same_without(schedule) {
            (
                LintRule::UnchangedDates,
                "on these dates the schedule does what it does without this annotation".to_owned(),
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

    fn is_same_without(&self, schedule: &Schedule) -> bool {
        let (rule, except) = (schedule.rule().clone(), schedule.except().clone());
        let without = Schedule::new(rule, except, schedule.zone());
        let all = |schedule: &Schedule| -> Vec<Boundary> {
            let (from, until) = (self.span.from, self.span.until);
            let all = schedule.boundaries(from, until, TimeDelta::zero());
            all.take(MOST_STEPS).collect()
        };
        let with = all(schedule);
        with.len() < MOST_STEPS && with == all(&without)
    }
}
