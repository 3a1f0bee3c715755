//! The starts, stops and excluded dates of workloads as iCalendar (RFC 5545), for calendar programs.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Days, NaiveDate, Utc};
use dayshift_schedule::Action;
use dayshift_text::counted;

use super::{Period, WorkloadPlan};

/// The maximum number of boundaries of a workload, and of events.
const MAX_BOUNDARIES: usize = 500;
const MAX_EVENTS: usize = 2_000;
/// The maximum number of workloads that an event names. Further ones are left out if the names have this many bytes.
const MAX_NAMES: usize = 20;
const MAX_NAME_BYTES: usize = 1_000;
/// The maximum number of days on which excluded dates are listed.
const MAX_DAYS: usize = 3_660;
/// The maximum length of a line in bytes, without its end.
const MAX_LINE: usize = 75;

/// A calendar of the plans of some workloads.
#[derive(Debug)]
pub struct PlanCalendar {
    period: Period,
    /// The texts of boundaries by time, verb and namespace: the first [`MAX_EVENTS`].
    moves: BTreeMap<(DateTime<Utc>, &'static str, String), Moves>,
    excluded: BTreeMap<(NaiveDate, String), ExcludedDate>,
}

/// The boundaries of one event. A namespace can have a million boundaries, so only the named ones are kept.
#[derive(Debug, Default)]
struct Moves {
    first: Vec<String>,
    all: usize,
}

/// An excluded date, and the workloads for which it is excluded.
#[derive(Debug, Default)]
struct ExcludedDate {
    title: String,
    first: BTreeSet<String>,
    all: usize,
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

    /// Adds the applied boundaries and the excluded dates of a workload. Returns the number of boundaries.
    pub fn add(&mut self, plan: &WorkloadPlan) -> usize {
        let (namespace, name) = (plan.namespace(), plan.short_name());
        let mut count = 0;
        for boundary in plan.boundaries().take(MAX_BOUNDARIES) {
            count += 1;
            if !boundary.applied {
                continue;
            }
            let (verb, text) = match (boundary.action, boundary.replicas) {
                (Action::Start, Some(count)) => ("Start", format!("{name} to {count}")),
                (Action::Start, None) => ("Start", name.to_owned()),
                (Action::Stop, _) => ("Stop", name.to_owned()),
                (Action::Scale(count), _) => ("Scale", format!("{name} to {count}")),
            };
            let key = (boundary.at.to_utc(), verb, namespace.to_owned());
            let moves = self.moves.entry(key).or_default();
            moves.all += 1;
            let bytes: usize = moves.first.iter().map(String::len).sum();
            if moves.first.len() < MAX_NAMES && bytes < MAX_NAME_BYTES {
                moves.first.push(text);
            }
            if self.moves.len() > MAX_EVENTS {
                self.moves.pop_last();
            }
        }
        let Some(spec) = plan.spec() else {
            return count;
        };
        let (except, zone) = (spec.schedule.except(), spec.schedule.zone());
        let day = |at: DateTime<Utc>| at.with_timezone(&zone).date_naive();
        let last = day(self.period.until());
        let dates = day(self.period.from()).iter_days().take(MAX_DAYS);
        let dates = dates.take_while(|date| *date <= last);
        for date in dates.filter(|date| except.contains(*date)) {
            let title = except.holiday(date).map(|(_, title)| title.to_owned());
            let key = (date, namespace.to_owned());
            let excluded = self.excluded.entry(key).or_default();
            if excluded.title.is_empty() {
                excluded.title = title.unwrap_or_default();
            }
            excluded.all += 1;
            excluded.first.insert(name.to_owned());
            if excluded.first.len() > MAX_NAMES {
                excluded.first.pop_last();
            }
        }
        count
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
        for ((at, verb, namespace), Moves { first, all }) in &self.moves {
            let summary = match &**first {
                [only] => format!("{verb} {only} ({namespace})"),
                _ => format!("{verb} {} ({namespace})", counted(*all, "workload")),
            };
            let from = at.format("%Y%m%dT%H%M%SZ").to_string();
            file.event(now, &format!("{from}-{verb}-{namespace}"), |file| {
                file.line("DTSTART", &from);
                file.line("SUMMARY", &escaped(&summary));
                file.line("DESCRIPTION", &escaped(&names(first.iter(), *all)));
            });
        }
        for ((date, namespace), excluded) in self.excluded.iter().take(MAX_EVENTS) {
            let day = |date: NaiveDate| date.format("%Y%m%d").to_string();
            let summary = match &*excluded.title {
                "" => format!("No starts ({namespace})"),
                title => format!("No starts: {title} ({namespace})"),
            };
            let id = format!("{}-excluded-{namespace}", day(*date));
            file.event(now, &id, |file| {
                file.line("DTSTART;VALUE=DATE", &day(*date));
                file.line("DTEND;VALUE=DATE", &day(*date + Days::new(1)));
                file.line("SUMMARY", &escaped(&summary));
                let names = names(excluded.first.iter(), excluded.all);
                file.line("DESCRIPTION", &escaped(&names));
            });
        }
        file.line("END", "VCALENDAR");
        file.0
    }
}

/// The first names, and the number of the others.
fn names<'n>(first: impl Iterator<Item = &'n String>, all: usize) -> String {
    let first: Vec<_> = first.map(String::as_str).collect();
    let shown = first.join(", ");
    match all - first.len() {
        0 => shown,
        more => format!("{shown} and {more} more"),
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
    use chrono::TimeDelta;
    use dayshift_schedule::Zone;
    use dayshift_workload::{Inputs, Key, Kind, Prefix, WorkloadRef};

    use super::*;
    use crate::plan::Planner;

    /// A user can schedule thousands of workloads by the second, and the dashboard can be in the process of the
    /// controller.
    #[test]
    fn million_boundaries_and_names_are_not_kept() {
        let from: DateTime<Utc> = "2026-11-20T18:00:00Z".parse().unwrap();
        let period = Period::new(from, from + TimeDelta::days(60)).unwrap();
        let planner = Planner {
            period,
            context: Zone::UTC.into(),
            prefix: Prefix::default(),
        };
        let mut calendar = PlanCalendar::new(period);
        for number in (0..200).rev() {
            let object = WorkloadRef {
                kind: Kind::DEPLOYMENT,
                namespace: "dev".into(),
                name: format!("web-{number:03}").into(),
                uid: "".into(),
            };
            let hour = number % 24;
            let inputs = Inputs::default()
                .with(Key::Start, &format!("0-58/2 * {hour} * * *"))
                .with(Key::Stop, &format!("1-59/2 * {hour} * * *"))
                .with(Key::Except, "2026-12-24");
            calendar.add(&planner.plan(&object, &inputs, &[]).unwrap());
        }
        assert_eq!(calendar.moves.len(), MAX_EVENTS);
        let first = calendar.moves.values().map(|moves| moves.first.len());
        assert!(first.max() <= Some(MAX_NAMES));
        let [excluded] = &*calendar.excluded.values().collect::<Vec<_>>() else {
            panic!("{:?}", calendar.excluded)
        };
        assert_eq!((excluded.first.len(), excluded.all), (MAX_NAMES, 200));
        let file = calendar.file("dev", from);
        let file = file.replace("\r\n ", "");
        assert!(
            file.contains("SUMMARY:Start 8 workloads (dev)"),
            "{file:.1000}"
        );
        assert!(file.contains("web-019 and 180 more"), "{file:.1000}");
        assert!(file.contains("DTSTART:20261120T180000Z"), "{file:.1000}");
    }

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
