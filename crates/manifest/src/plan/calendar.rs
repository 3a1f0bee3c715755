//! The starts, stops and excluded dates of workloads as iCalendar (RFC 5545), for calendar programs.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Days, NaiveDate, Utc};
use dayshift_schedule::Action;
use dayshift_text::{counted, first_names};

use super::{Period, WorkloadPlan};

/// The maximum number of boundaries of a workload, and of events.
const MAX_BOUNDARIES: usize = 500;
const MAX_EVENTS: usize = 2_000;
/// The maximum number of workloads that an event names.
const MAX_NAMES: usize = 20;
/// The maximum number of days on which excluded dates are listed.
const MAX_DAYS: usize = 3_660;
/// The maximum length of a line in bytes, without its end.
const MAX_LINE: usize = 75;

/// A calendar of the plans of some workloads.
#[derive(Debug)]
pub struct PlanCalendar {
    period: Period,
    /// The texts of boundaries by time, verb and namespace.
    moves: BTreeMap<(DateTime<Utc>, &'static str, String), Vec<String>>,
    /// The name of each excluded date, and the workloads for which it is excluded.
    excluded: BTreeMap<(NaiveDate, String), (String, BTreeSet<String>)>,
}

impl PlanCalendar {
    /// An empty calendar of a period.
    pub const fn new(period: Period) -> Self {
        Self {
            period,
            moves: BTreeMap::new(),
            excluded: BTreeMap::new(),
        }
    }

    /// Adds the applied boundaries and the excluded dates of a workload.
    pub fn add(&mut self, plan: &WorkloadPlan) {
        let (namespace, name) = (plan.namespace(), plan.short_name());
        let boundaries = plan.boundaries().take(MAX_BOUNDARIES);
        for boundary in boundaries.filter(|boundary| boundary.applied) {
            let (verb, text) = match (boundary.action, boundary.replicas) {
                (Action::Start, Some(count)) => ("Start", format!("{name} to {count}")),
                (Action::Start, None) => ("Start", name.to_owned()),
                (Action::Stop, _) => ("Stop", name.to_owned()),
                (Action::Scale(count), _) => ("Scale", format!("{name} to {count}")),
            };
            let key = (boundary.at.to_utc(), verb, namespace.to_owned());
            self.moves.entry(key).or_default().push(text);
        }
        let Some(spec) = plan.spec() else { return };
        let (except, zone) = (spec.schedule.except(), spec.schedule.zone());
        let day = |at: DateTime<Utc>| at.with_timezone(&zone).date_naive();
        let last = day(self.period.until());
        let dates = day(self.period.from()).iter_days().take(MAX_DAYS);
        let dates = dates.take_while(|date| *date <= last);
        for date in dates.filter(|date| except.contains(*date)) {
            let title = except.holiday(date).map(|(_, title)| title.to_owned());
            let key = (date, namespace.to_owned());
            let (known, names) = self.excluded.entry(key).or_default();
            if known.is_empty() {
                *known = title.unwrap_or_default();
            }
            names.insert(name.to_owned());
        }
    }

    /// The file, with this title and the time at which it was made.
    pub fn file(&self, title: &str, now: DateTime<Utc>) -> String {
        let mut file = Lines::default();
        for (name, text) in [
            ("BEGIN", "VCALENDAR"),
            ("VERSION", "2.0"),
            ("PRODID", "-//dayshift//EN"),
            ("X-WR-CALNAME", &*escaped(title)),
            ("REFRESH-INTERVAL;VALUE=DURATION", "PT1H"),
        ] {
            file.line(name, text);
        }
        for ((at, verb, namespace), names) in self.moves.iter().take(MAX_EVENTS) {
            let summary = match &**names {
                [only] => format!("{verb} {only} ({namespace})"),
                all => format!("{verb} {} ({namespace})", counted(all.len(), "workload")),
            };
            let from = at.format("%Y%m%dT%H%M%SZ").to_string();
            file.event(now, &format!("{from}-{verb}-{namespace}"), |file| {
                file.line("DTSTART", &from);
                file.line("SUMMARY", &escaped(&summary));
                file.line(
                    "DESCRIPTION",
                    &escaped(&first_names(names.iter(), MAX_NAMES)),
                );
            });
        }
        for ((date, namespace), (title, names)) in self.excluded.iter().take(MAX_EVENTS) {
            let day = |date: NaiveDate| date.format("%Y%m%d").to_string();
            let summary = match &**title {
                "" => format!("No starts ({namespace})"),
                title => format!("No starts: {title} ({namespace})"),
            };
            let id = format!("{}-excluded-{namespace}", day(*date));
            file.event(now, &id, |file| {
                file.line("DTSTART;VALUE=DATE", &day(*date));
                file.line("DTEND;VALUE=DATE", &day(*date + Days::new(1)));
                file.line("SUMMARY", &escaped(&summary));
                file.line(
                    "DESCRIPTION",
                    &escaped(&first_names(names.iter(), MAX_NAMES)),
                );
            });
        }
        file.line("END", "VCALENDAR");
        file.0
    }
}

/// The lines of a calendar file.
#[derive(Debug, Default)]
struct Lines(String);

impl Lines {
    /// Adds a line, folded where it is too long.
    fn line(&mut self, name: &str, value: &str) {
        let mut length = 0;
        for letter in name.chars().chain([':']).chain(value.chars()) {
            if length + letter.len_utf8() > MAX_LINE {
                self.0.push_str("\r\n ");
                length = 1;
            }
            self.0.push(letter);
            length += letter.len_utf8();
        }
        self.0.push_str("\r\n");
    }

    fn event(&mut self, now: DateTime<Utc>, id: &str, fields: impl FnOnce(&mut Self)) {
        self.line("BEGIN", "VEVENT");
        self.line("UID", &escaped(&format!("{id}@dayshift")));
        self.line("DTSTAMP", &now.format("%Y%m%dT%H%M%SZ").to_string());
        fields(self);
        self.line("TRANSP", "TRANSPARENT");
        self.line("END", "VEVENT");
    }
}

/// A text value: line breaks and separators are escaped, and other control characters are left out.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' | ';' | ',' => escaped.extend(['\\', letter]),
            '\n' => escaped.push_str("\\n"),
            control if control.is_control() => {}
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_add_lines_or_values() {
        let hostile = "a;b,c\\\r\nEND:VEVENT\u{7}";
        assert_eq!(escaped(hostile), r"a\;b\,c\\\nEND:VEVENT");
    }

    #[test]
    fn long_lines_are_folded_between_letters() {
        let mut file = Lines::default();
        file.line("SUMMARY", &"é".repeat(80));
        let lines: Vec<_> = file.0.split_terminator("\r\n").collect();
        assert!(lines.len() > 1 && lines.iter().all(|line| line.len() <= MAX_LINE));
        assert!(lines.iter().skip(1).all(|line| line.starts_with(' ')));
        assert_eq!(
            file.0.replace("\r\n ", ""),
            format!("SUMMARY:{}\r\n", "é".repeat(80))
        );
    }
}
