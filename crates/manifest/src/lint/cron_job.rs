//! CronJobs that are suspended at each of their times.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::{Action, Schedule, Times, Zone};
use dayshift_text::quote;
use dayshift_workload::{Inputs, ParsedInputs, read};

use super::{object::Object, rule::LintRule};
use crate::{
    lint::schedule::times::{MAX_STEPS, Span, just_before},
    manifest::CronTimes,
};

impl Object<'_> {
    /// A CronJob none of whose times fall into its running hours.
    pub(super) fn report_never_runs(&mut self, cron: &CronTimes) {
        let message = format!(
            "none of the times `{}` fall into its running hours: this CronJob never runs",
            quote(&cron.text)
        );
        let help = "write hours that contain one of its times, or change spec.schedule";
        let place = cron.place.clone();
        self.findings
            .push(self.at(LintRule::NeverRuns, place, message, help.to_owned()));
    }
}

/// Whether none of the times of a CronJob falls into its running hours, as far as anybody can tell.
pub(super) fn is_never_within(cron: &CronTimes, inputs: &Inputs, span: &Span) -> bool {
    let ParsedInputs::Scheduled(spec) = read(inputs, &span.context) else {
        return false;
    };
    is_ever_within(cron, &spec.schedule, span) == Some(false)
}

/// Whether one of the times falls into what the schedule calls running; `None` where nobody can tell.
fn is_ever_within(cron: &CronTimes, schedule: &Schedule, span: &Span) -> Option<bool> {
    let times = Times::parse(&cron.text).ok()?;
    // Without a zone it is the one of the controller manager, which is UTC nearly everywhere.
    let zone = cron
        .zone
        .as_deref()
        .map_or(Some(Zone::UTC), |it| Zone::parse(it).ok())?;
    let is_within = |from: DateTime<Utc>, until: DateTime<Utc>| {
        let local = from.with_timezone(&zone).naive_local();
        let next = times.next_local(just_before(local));
        next.is_some_and(|it| zone.instant(it) < until)
    };
    let boundaries = schedule.boundaries(span.from, span.until, TimeDelta::zero());
    let said = schedule.action_at(span.from, TimeDelta::zero());
    let mut up_since = said.is_none_or(Action::is_up).then_some(span.from);
    for (steps, boundary) in boundaries.enumerate() {
        if steps == MAX_STEPS {
            return None;
        }
        if up_since.is_some_and(|from| is_within(from, boundary.at)) {
            return Some(true);
        }
        up_since = boundary.action.is_up().then_some(boundary.at);
    }
    Some(up_since.is_some_and(|from| is_within(from, span.until)))
}
