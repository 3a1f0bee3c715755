//! Cron with both fields of days, of which either will do.

use dayshift_schedule::{Times, list_items};
use dayshift_workload::Key;

use crate::lint::{
    rule::LintRule,
    schedule::{
        schedule_finding::ScheduleFinding,
        times::{Look, without_count},
    },
};

impl Look<'_> {
    /// A day of month beside a day of week, which many take for both at once.
    pub(crate) fn either_day(&self, key: Key, found: &mut Vec<ScheduleFinding>) {
        for (span, item) in list_items(self.inputs.text(key).unwrap_or_default()) {
            let times = without_count(item);
            let Some(cron) = Times::parse(times)
                .ok()
                .and_then(|times| times.either_day_cron())
            else {
                continue;
            };
            let message = format!(
                "`{}` runs on each of its days of the month and on each of its days of the week: \
                    cron takes either",
                dayshift_text::quote(times.trim())
            );
            let help = match cron.both_days {
                Some(both) => {
                    let count = item.get(times.trim_end().len()..).unwrap_or_default();
                    format!("for the days that are both, write `{both}{count}`")
                }
                None => "for the days that are both, write them as days within the month, such as \
                    `first Mon 09:00`"
                    .to_owned(),
            };
            found.push(self.at(key, span, LintRule::EitherDay, message, help));
        }
    }
}
