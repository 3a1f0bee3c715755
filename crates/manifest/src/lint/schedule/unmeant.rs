//! What is legal and surely not meant: windows of a minute, and zones of a fixed offset.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::{Boundary, Schedule};
use dayshift_text::quote;
use dayshift_workload::Key;

use crate::lint::{
    rule::LintRule,
    schedule::{
        schedule_finding::ScheduleFinding,
        times::{Look, MAX_STEPS, shown},
    },
};

impl Look<'_> {
    /// A start and a stop a minute apart: `00:00-23:59` ends a minute before the day does.
    pub(crate) fn one_minute(&self, schedule: &Schedule, found: &mut Vec<ScheduleFinding>) {
        let has = |key: &Key| self.inputs.text(*key).is_some();
        let Some(key) = [Key::Hours, Key::Stop].into_iter().find(has) else {
            return;
        };
        // Each minute is a finding of its own.
        if found.iter().any(|it| it.rule == LintRule::TooOften) {
            return;
        }
        let all = schedule.boundaries(self.span.from, self.span.until, TimeDelta::zero());
        let mut before: Option<Boundary> = None;
        for boundary in all.take(MAX_STEPS) {
            let last = before.replace(boundary);
            let Some(last) = last.filter(|it| boundary.at - it.at == TimeDelta::minutes(1)) else {
                continue;
            };
            let (last_up, up) = (last.action.is_up(), boundary.action.is_up());
            if last_up == up {
                continue;
            }
            let what = if last_up { "it runs" } else { "it is stopped" };
            let message = format!(
                "{what} for one minute, from {} on",
                shown(self.local(last.at))
            );
            let is_midnight = self.is_midnight(boundary.at);
            let help = if is_midnight {
                "write 24:00 where the end of the day is meant"
            } else {
                "write times that are further apart, or leave both out"
            };
            let span = 0..self.inputs.text(key).map_or(0, str::len);
            found.push(self.at(key, span, LintRule::OneMinute, message, help.to_owned()));
            return;
        }
    }

    fn is_midnight(&self, at: DateTime<Utc>) -> bool {
        self.local(at).format("%H:%M").to_string() == "00:00"
    }

    /// `Etc/GMT+3`, which is UTC-3, and `EST`, which knows no summer.
    pub(crate) fn fixed_offset(&self, found: &mut Vec<ScheduleFinding>) {
        let name = self.zone.name();
        let written = self.inputs.text(Key::Timezone).unwrap_or_default();
        let (message, help) = match name.strip_prefix("Etc/GMT") {
            Some(offset) if !matches!(offset, "" | "0" | "+0" | "-0") => {
                let turned = match offset.split_at(1) {
                    ("+", hours) => format!("-{hours}"),
                    (_, hours) => format!("+{hours}"),
                };
                (
                    format!(
                        "`{}` is UTC{turned} all year: the sign of an Etc/GMT zone is inverted",
                        quote(written)
                    ),
                    format!(
                        "write the zone of a place, such as Europe/Berlin, or Etc/GMT{turned} if you mean UTC{offset}"
                    ),
                )
            }
            _ => {
                let Some((_, offset, place)) = FIXED.iter().find(|it| it.0 == name) else {
                    return;
                };
                (
                    format!(
                        "`{}` is UTC{offset} all year: its clocks never change",
                        quote(written)
                    ),
                    format!("write the zone of a place, such as {place}"),
                )
            }
        };
        let span = 0..written.len();
        found.push(self.at(Key::Timezone, span, LintRule::FixedOffset, message, help));
    }
}

/// Abbreviations that are zones without a summer, with their offset and a place that has one.
const FIXED: [(&str, &str, &str); 3] = [
    ("EST", "-5", "America/New_York"),
    ("MST", "-7", "America/Denver"),
    ("HST", "-10", "Pacific/Honolulu"),
];
