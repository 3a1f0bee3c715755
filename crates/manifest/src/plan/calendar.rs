//! The starts, stops and excluded dates of a namespace as iCalendar (RFC 5545), for calendar programs.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Days, NaiveDate, TimeDelta, Utc};
use dayshift_schedule::Action;
use dayshift_text::counted;

use crate::dashboard::pages::Page;

/// The number of days in a calendar.
const DAYS: i64 = 60;
/// The maximum number of boundaries of a workload, and of events.
const MAX_BOUNDARIES: usize = 500;
const MAX_EVENTS: usize = 2_000;
/// The maximum number of workloads that an event names.
const MAX_NAMES: usize = 20;
/// The maximum length of a line in bytes, without its end.
const MAX_LINE: usize = 75;

impl Page<'_> {
    /// The next 60 days of a namespace.
    pub(super) fn calendar(&self, namespace: &str) -> String {
        let now = self.view.now;
        let until = now + TimeDelta::days(DAYS);
        let mut moves: BTreeMap<(DateTime<Utc>, &str), Vec<String>> = BTreeMap::new();
        let mut excluded: BTreeMap<NaiveDate, (String, BTreeSet<String>)> = BTreeMap::new();
        for row in self.view.rows_of(namespace) {
            let Some(plan) = self.plan_of(row, until) else {
                continue;
            };
            let name = row.status.object.short_name();
            let applied = plan.boundaries().take(MAX_BOUNDARIES);
            for boundary in applied.filter(|boundary| boundary.applied) {
                let (verb, text) = match (boundary.action, boundary.replicas) {
                    (Action::Start, Some(count)) => ("Start", format!("{name} to {count}")),
                    (Action::Start, None) => ("Start", name.clone()),
                    (Action::Stop, _) => ("Stop", name.clone()),
                    (Action::Scale(count), _) => ("Scale", format!("{name} to {count}")),
                };
                let key = (boundary.at.to_utc(), verb);
                moves.entry(key).or_default().push(text);
            }
            if let Some(spec) = plan.spec() {
                let except = spec.schedule.except();
                let today = now.with_timezone(&spec.schedule.zone()).date_naive();
                let dates = today.iter_days().take(usize::try_from(DAYS).unwrap_or(0));
                for date in dates.filter(|date| except.contains(*date)) {
                    let title = except.holiday(date).map(|(_, title)| title.to_owned());
                    let (known, names) = excluded.entry(date).or_default();
                    if known.is_empty() {
                        *known = title.unwrap_or_default();
                    }
                    names.insert(name.clone());
                }
            }
        }
        let mut file = Lines::default();
        let title = format!("dayshift: {namespace}");
        for (name, text) in [
            ("BEGIN", "VCALENDAR"),
            ("VERSION", "2.0"),
            ("PRODID", "-//dayshift//dashboard//EN"),
            ("X-WR-CALNAME", &*escaped(&title)),
            ("REFRESH-INTERVAL;VALUE=DURATION", "PT1H"),
        ] {
            file.line(name, text);
        }
        for ((at, verb), names) in moves.iter().take(MAX_EVENTS) {
            let summary = match &**names {
                [only] => format!("{verb} {only} ({namespace})"),
                all => format!("{verb} {} ({namespace})", counted(all.len(), "workload")),
            };
            let from = at.format("%Y%m%dT%H%M%SZ").to_string();
            file.event(now, &format!("{from}-{verb}-{namespace}"), |file| {
                file.line("DTSTART", &from);
                file.line("SUMMARY", &escaped(&summary));
                file.line("DESCRIPTION", &escaped(&some(names.iter())));
            });
        }
        for (date, (title, names)) in &excluded {
            let day = |date: NaiveDate| date.format("%Y%m%d").to_string();
            let summary = match &**title {
                "" => format!("No starts ({namespace})"),
                title => format!("No starts: {title} ({namespace})"),
            };
            file.event(
                now,
                &format!("{}-excluded-{namespace}", day(*date)),
                |file| {
                    file.line("DTSTART;VALUE=DATE", &day(*date));
                    file.line("DTEND;VALUE=DATE", &day(*date + Days::new(1)));
                    file.line("SUMMARY", &escaped(&summary));
                    file.line("DESCRIPTION", &escaped(&some(names.iter())));
                },
            );
        }
        file.line("END", "VCALENDAR");
        file.0
    }
}

/// The lines of a calendar file.
#[derive(Default)]
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

/// The first names, and the number of the others.
fn some<'n>(names: impl ExactSizeIterator<Item = &'n String>) -> String {
    let more = names.len().saturating_sub(MAX_NAMES);
    let mut shown: Vec<String> = names.take(MAX_NAMES).cloned().collect();
    if more > 0 {
        shown.push(format!("and {more} more"));
    }
    shown.join(", ")
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
