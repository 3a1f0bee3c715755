//! The output of `dayshift sandbox`: a line for each event, and a summary table.

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use dayshift_operations::status::{span, time_of_day};
use dayshift_schedule::{Boundary, Zone};
use dayshift_text::counted;
use dayshift_workload::savings::{Bill, Price, Saved};

use crate::{
    cli::output::terminal::{Paint, Style},
    sandbox::{EventKind, MAX_IDLE, Requests, Speed, Summary, TimelineEvent, Usage},
};

/// Formats events and the summary in columns.
#[derive(Clone, Copy, Debug)]
pub struct SandboxPage {
    style: Style,
    /// One zone for all times, so that their order is visible.
    zone: Zone,
    /// The width of the column of names.
    names: usize,
}

/// Longer names move the rest of their line to the right.
const MAX_NAME: usize = 40;

impl SandboxPage {
    /// A page for these names, with times in `zone`.
    pub fn new<'a>(style: Style, zone: Zone, names: impl IntoIterator<Item = &'a str>) -> Self {
        let widest = names.into_iter().map(|name| name.chars().count()).max();
        Self {
            style,
            zone,
            names: widest.unwrap_or_default().min(MAX_NAME),
        }
    }

    /// The title, with the flag that changes the speed.
    pub fn title(
        &self,
        workloads: usize,
        (from, until): (DateTime<Utc>, DateTime<Utc>),
        speed: Speed,
    ) -> String {
        let speed = match speed {
            Speed::Max => String::new(),
            Speed::DAY_A_SECOND => "; a day takes a second (--speed max: all at once)".to_owned(),
            Speed::Times(times) => format!("; {times} times as fast as real time"),
        };
        let first = format!(
            "{} on a Kubernetes API in memory; no cluster is touched.\n",
            counted(workloads, "workload")
        );
        let second = format!(
            "{} from {}{speed}; all times are {}.",
            span(until - from),
            self.moment(from),
            self.zone
        );
        format!("{first}{}\n\n", self.paint(Paint::Faint, &second))
    }

    /// A line for an event, without a newline:
    /// `Mon 2026-11-23 09:00:00 JST   start   default/web   0 → 3    next stop 19:00`.
    pub fn line(&self, event: &TimelineEvent) -> String {
        let time = self.moment(event.at);
        let (verb, paint) = verb(&event.kind);
        let verb = self.paint(paint, &format!("{verb:<7}"));
        let object = event.object.full_name();
        let counts = self.counts(event);
        let note = self.paint(Paint::Faint, &self.note(event));
        let line = format!(
            "{time:<29} {verb} {object:<names$}  {counts}   {note}",
            names = self.names
        );
        line.trim_end().to_owned()
    }

    /// For example `0 → 3`, or one count if it did not change, in nine columns. For an on/off
    /// field, its new state.
    fn counts(&self, event: &TimelineEvent) -> String {
        let (from, to) = (event.from, event.to);
        let counts = event.object.kind.counts();
        if counts.is_switch() {
            let shown = format!("{:>9}", counts.short_text(to));
            return if from == to {
                shown
            } else {
                self.paint(if to > from { Paint::Green } else { Paint::Blue }, &shown)
            };
        }
        let arrow = self.style.either("→", "->");
        if from == to {
            let space = " ".repeat(arrow.chars().count());
            return format!("{:>3} {space} {to:<3}", "");
        }
        let counts = format!("{from:>3} {arrow} {to:<3}");
        self.paint(if to > from { Paint::Green } else { Paint::Blue }, &counts)
    }

    pub(crate) fn paint(&self, paint: Paint, text: &str) -> String {
        self.style.paint(paint, text)
    }
}

const fn verb(kind: &EventKind) -> (&'static str, Paint) {
    match kind {
        EventKind::Start => ("start", Paint::Green),
        EventKind::Stop => ("stop", Paint::Blue),
        EventKind::Scale => ("scale", Paint::Yellow),
        EventKind::Wake(_) => ("wake", Paint::Green),
        EventKind::Sleep(_) => ("sleep", Paint::Blue),
        EventKind::Pause(_) => ("pause", Paint::Yellow),
        EventKind::Enforce => ("enforce", Paint::Blue),
        EventKind::Adopt => ("adopt", Paint::Faint),
        EventKind::Ignore => ("ignore", Paint::Faint),
        EventKind::Reject(_) => ("reject", Paint::Red),
        EventKind::Resume => ("resume", Paint::Green),
        EventKind::Leave => ("leave", Paint::Faint),
        EventKind::UserAction(_) => ("manual", Paint::Yellow),
        EventKind::Request(_) | EventKind::IdleRequest(_) => ("request", Paint::Yellow),
    }
}

impl SandboxPage {
    fn note(&self, event: &TimelineEvent) -> String {
        let next = || self.coming(event);
        match &event.kind {
            EventKind::Start | EventKind::Stop | EventKind::Scale if event.idle == MAX_IDLE => {
                format!("no change; more like this are only counted; {}", next())
            }
            EventKind::Start | EventKind::Stop | EventKind::Scale if event.idle > 0 => {
                format!("no change; {}", next())
            }
            EventKind::Start | EventKind::Stop | EventKind::Scale | EventKind::Resume => next(),
            EventKind::Wake(until) => format!("running until {}", self.clock(event, *until)),
            EventKind::Sleep(until) => format!("stopped until {}", self.clock(event, *until)),
            EventKind::Pause(None) => "paused until the annotation is removed".to_owned(),
            EventKind::Pause(Some(until)) => format!("paused until {}", self.clock(event, *until)),
            EventKind::Enforce => format!("reverted; {}", next()),
            EventKind::Adopt => format!("adopted, nothing scaled; {}", next()),
            EventKind::Ignore => "has no schedule and is left unchanged".to_owned(),
            EventKind::Reject(error) => error.replace('\n', "; "),
            EventKind::Leave => "the schedule was removed, nothing scaled".to_owned(),
            EventKind::UserAction(command) => command.clone(),
            EventKind::Request(until) => format!("wakes it until {}", self.clock(event, *until)),
            EventKind::IdleRequest(why) => format!("wakes nothing: {why}"),
        }
    }

    /// For example `next stop Mon 19:00`.
    fn coming(&self, event: &TimelineEvent) -> String {
        match event.next {
            Some(Boundary { at, action }) => {
                let action = action.text_from(event.to.get());
                format!("next {action} {}", self.clock(event, at))
            }
            None => "no further boundary".to_owned(),
        }
    }

    /// `19:00` or `Mon 19:00`, with a date if the weekday could be in another week.
    fn clock(&self, event: &TimelineEvent, at: DateTime<Utc>) -> String {
        let local =
            |at: DateTime<Utc>| -> NaiveDateTime { at.with_timezone(&self.zone).naive_local() };
        let (now, then) = (local(event.at), local(at));
        let day = if then.date() == now.date() {
            ""
        } else if then - now < TimeDelta::days(6) {
            "%a "
        } else {
            "%a %Y-%m-%d "
        };
        then.format(&format!("{day}{}", time_of_day(&then)))
            .to_string()
    }

    /// For example `Fri 2026-11-20 10:00:00 UTC`.
    pub(crate) fn moment(&self, at: DateTime<Utc>) -> String {
        at.with_timezone(&self.zone)
            .format("%a %Y-%m-%d %H:%M:%S %Z")
            .to_string()
    }
}

impl SandboxPage {
    /// A table of the workloads, the savings, and the requests of the controller.
    pub fn summary(&self, summary: &Summary, price: Option<&Price>) -> String {
        let Summary {
            from,
            until,
            usages,
            ..
        } = summary;
        let whole = *until - *from;
        let mut text = format!(
            "{} from {} to {}\n",
            span(whole),
            self.moment(*from),
            self.moment(*until)
        );
        if !usages.is_empty() {
            text += &self.table(usages, whole);
            text += &saved(usages, price);
        }
        text + &footnotes(summary)
    }

    fn table(&self, usages: &[(String, Usage)], whole: TimeDelta) -> String {
        let names = usages
            .iter()
            .map(|(name, _)| name.chars().count())
            .max()
            .unwrap_or_default();
        let heading = format!(
            "{:names$}  starts  stops     hours running  replica-hours    without  saved",
            ""
        );
        let whole = format!("{:.1}", hours(whole));
        let whole = whole.trim_end_matches(".0");
        let mut text = format!("\n{}\n", self.paint(Paint::Faint, &heading));
        let (mut starts, mut stops, mut used, mut without, mut saved) = (0, 0, 0.0, 0.0, 0.0);
        for (name, usage) in usages {
            let up = format!("{:.1} of {whole}", hours(usage.up()));
            let (of_starts, of_stops) = (usage.starts, usage.stops);
            text += &format!("{name:names$}  {of_starts:>6}  {of_stops:>5}  {up:>16}");
            starts += of_starts;
            stops += of_stops;
            if !usage.has_replicas() {
                text += &format!("  {:>13}  {:>9}  {:>5}\n", "-", "-", "-");
                continue;
            }
            text += &format!(
                "  {:>13.1}  {:>9.1}  {:>5}\n",
                usage.replica_hours(),
                usage.without(),
                percent(usage.saved().replica_hours, usage.without()),
            );
            used += usage.replica_hours();
            without += usage.without();
            saved += usage.saved().replica_hours;
        }
        let saved = percent(saved, without);
        let total = format!(
            "{:names$}  {starts:>6}  {stops:>5}  {:>16}  {used:>13.1}  {without:>9.1}  {saved:>5}",
            "all", ""
        );
        text += &self.paint(Paint::Bold, &total);
        text + "\n"
    }
}

/// The saved resources and costs, if they are known.
fn saved(usages: &[(String, Usage)], price: Option<&Price>) -> String {
    let counted = usages
        .iter()
        .map(|(_, usage)| usage)
        .filter(|usage| usage.has_replicas());
    let saved: Saved = counted.clone().map(Usage::saved).sum();
    if !saved.requests_any() && price.is_none() {
        return String::new();
    }
    let complete = counted.map(Usage::has_requests);
    let bill = Bill::new(saved, price).with_incomplete(complete);
    format!("\nSaved: {bill}.\n")
}

fn footnotes(summary: &Summary) -> String {
    let transitions: u64 = summary
        .usages
        .iter()
        .map(|(_, usage)| usage.starts + usage.stops)
        .sum();
    let lateness = summary.lateness.num_milliseconds();
    let Requests {
        lists,
        gets,
        patches,
        events,
    } = summary.requests;
    let asked = [
        counted(lists, "list"),
        counted(gets, "read"),
        counted(patches, "patch"),
        counted(events, "Event"),
    ];
    format!(
        "\n{}, the latest {lateness} ms after its scheduled time. Without: the replica-hours without the schedules.\n\
         Requests besides the watch: {}.\n",
        counted(transitions, "transition"),
        asked.join(", ")
    )
}

fn hours(time: TimeDelta) -> f64 {
    time.as_seconds_f64() / 3600.0
}

fn percent(part: f64, whole: f64) -> String {
    if whole > 0.0 {
        format!("{:.0}%", 100.0 * part / whole)
    } else {
        "-".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dayshift_schedule::Action;
    use dayshift_workload::{Kind, Replicas, WorkloadRef};

    use super::*;

    fn zone() -> Zone {
        Zone::parse("Asia/Tokyo").unwrap()
    }

    fn event(kind: EventKind, from: u32, to: u32, next: Option<(&str, Action)>) -> TimelineEvent {
        TimelineEvent {
            at: "2026-11-23T00:00:00Z".parse().unwrap(),
            object: WorkloadRef {
                kind: Kind::DEPLOYMENT,
                namespace: "default".into(),
                name: "web".into(),
                uid: Arc::default(),
            },
            kind,
            from: Replicas::new(from),
            to: Replicas::new(to),
            idle: 0,
            next: next.map(|(at, action)| Boundary {
                at: at.parse().unwrap(),
                action,
            }),
        }
    }

    #[test]
    fn shows_columns_and_the_next_boundary() {
        let stop = |at| Some((at, Action::Stop));
        let page = SandboxPage::new(Style::default(), zone(), ["default/web"]);
        for (event, expected) in [
            (
                event(EventKind::Start, 0, 3, stop("2026-11-23T10:00:00Z")),
                "start   default/web    0 -> 3     next stop 19:00",
            ),
            (
                event(EventKind::Stop, 12, 0, stop("2026-11-24T10:00:07Z")),
                "stop    default/web   12 -> 0     next stop Tue 19:00:07",
            ),
            (
                event(EventKind::Adopt, 3, 3, stop("2026-12-01T10:00:00Z")),
                "adopt   default/web         3     adopted, nothing scaled; next stop Tue \
                 2026-12-01 19:00",
            ),
            (
                event(EventKind::Resume, 3, 3, None),
                "resume  default/web         3     no further boundary",
            ),
            (
                event(
                    EventKind::Wake("2026-11-24T13:00:00Z".parse().unwrap()),
                    0,
                    3,
                    None,
                ),
                "wake    default/web    0 -> 3     running until Tue 22:00",
            ),
            (
                event(EventKind::Pause(None), 3, 3, None),
                "pause   default/web         3     paused until the annotation is removed",
            ),
            (
                event(EventKind::Enforce, 2, 0, stop("2026-11-23T10:00:00Z")),
                "enforce default/web    2 -> 0     reverted; next stop 19:00",
            ),
            (
                event(EventKind::Reject("a: bad\nb: bad".into()), 3, 3, None),
                "reject  default/web         3     a: bad; b: bad",
            ),
            (
                event(EventKind::UserAction("kubectl …".into()), 3, 1, None),
                "manual  default/web    3 -> 1     kubectl …",
            ),
        ] {
            let line = page.line(&event);
            let line = line.strip_prefix("Mon 2026-11-23 09:00:00 JST   ").unwrap();
            assert_eq!(line, expected);
        }
    }

    #[test]
    fn uses_color_and_arrows_if_the_terminal_supports_them() {
        let event = event(EventKind::Start, 0, 3, None);
        let style = Style {
            color: true,
            unicode: true,
        };
        let line = SandboxPage::new(style, zone(), ["default/web"]).line(&event);
        assert!(line.contains("\u{1b}[32m  0 → 3  \u{1b}[0m"), "{line:?}");
        let plain = SandboxPage::new(Style::default(), zone(), ["default/web"]).line(&event);
        assert!(plain.is_ascii(), "{plain:?}");
    }
}
