//! Warnings about what comes at the same time, or almost.

use chrono::{NaiveDateTime, NaiveTime, TimeDelta};
use dayshift_schedule::{Action, Direction, Schedule, Times, list_items};
use dayshift_workload::{Key, ScheduleSpec};

use crate::lint::{
    rule::LintRule,
    schedule::{
        examples::right_line,
        schedule_finding::ScheduleFinding,
        times::{Look, just_before, shown, without_count},
    },
};

impl Look<'_> {
    /// A start and a stop, or two counts, at the same time.
    pub(crate) fn ties(&self, schedule: &Schedule, found: &mut Vec<ScheduleFinding>) {
        let Some((at, actions)) = self.first_tie(schedule) else {
            return;
        };
        let zone = self.zone;
        let (key, rule, message) = match *actions {
            [Action::Scale(wins), Action::Scale(loses), ..] => (
                Key::Scale,
                LintRule::TwoCounts,
                format!(
                    "two steps set {wins} and {loses} at {} in {zone}; the larger count wins",
                    shown(at)
                ),
            ),
            _ => (
                Key::Stop,
                LintRule::SameInstant,
                format!(
                    "start and stop are both at {} in {zone}; the start wins, and this stop does nothing",
                    shown(at)
                ),
            ),
        };
        let right = right_line(self.prefix, key);
        let help = format!("write another time, such as {right}");
        let span = self.item_at(key, at, actions.get(1).and_then(|it| it.count()));
        found.push(self.at(key, span, rule, message, help));
    }

    /// The first tie on a day that is like others.
    fn first_tie(&self, schedule: &Schedule) -> Option<(NaiveDateTime, Vec<Action>)> {
        let mut after = self.span.from;
        loop {
            let (at, actions) = schedule.next_tie(after, self.span.until)?;
            if schedule.treated().day_of_week(at.date()).is_none() {
                return Some((at, actions));
            }
            let tomorrow = at.date().succ_opt()?.and_time(NaiveTime::MIN);
            after = self
                .zone
                .instant(just_before(tomorrow))
                .max(after + TimeDelta::seconds(1));
        }
    }

    /// Where the item stands that has a time, and a count where there is one.
    fn item_at(&self, key: Key, at: NaiveDateTime, count: Option<u32>) -> std::ops::Range<usize> {
        let mut items = list_items(self.inputs.text(key).unwrap_or_default());
        let item = items.find(|(_, item)| {
            let times = without_count(item);
            let is_step = || {
                let text = item.get(times.len() + 1..).unwrap_or_default();
                text.trim().parse().ok() == count
            };
            let is_at = |times: Times| times.next_local(just_before(at)) == Some(at);
            Times::parse(times).is_ok_and(is_at) && (count.is_none() || is_step())
        });
        item.map_or(0..0, |(span, _)| span)
    }

    pub(crate) fn jitter_beyond_window(
        &self,
        spec: &ScheduleSpec,
        found: &mut Vec<ScheduleFinding>,
    ) {
        if spec.jitter.is_zero() {
            return;
        }
        let (schedule, none) = (&spec.schedule, TimeDelta::zero());
        let next = |direction, after| {
            let next = schedule.next_boundary(direction, after, none)?;
            (next.at < self.span.until).then_some(next.at)
        };
        let mut after = self.span.from;
        // From one stop that follows a start to the next.
        while let Some(stop) =
            next(Direction::Up, after).and_then(|start| next(Direction::Down, start))
        {
            let start = schedule.latest_at(stop - TimeDelta::seconds(1), none);
            if let Some(start) = start.filter(|it| stop - it.at < spec.jitter) {
                let message = format!(
                    "this is longer than the time from the start at {} to its stop at {}: that start may come only just before its stop",
                    shown(self.local(start.at)),
                    shown(self.local(stop))
                );
                let right = right_line(self.prefix, Key::Jitter);
                found.push(ScheduleFinding::on(
                    Key::Jitter,
                    self.inputs,
                    LintRule::JitterBeyondWindow,
                    message,
                    format!("write a shorter one, such as {right}"),
                ));
                return;
            }
            after = stop;
        }
    }
}
