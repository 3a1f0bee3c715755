//! What is told, as lines of text in columns.

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use dayshift_operations::status::{span, time_of_day};
use dayshift_schedule::{Boundary, Zone};
use dayshift_text::counted;

use super::style::{Paint, Style};
use crate::sandbox::{EventKind, MAX_IDLE, Speed, TimelineEvent};

/// Lays out lines of columns.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    style: Style,
    /// In which all times are told, so that they are in order.
    zone: Zone,
    /// How wide the column of names is.
    names: usize,
}

/// What is about to run.
#[derive(Clone, Copy, Debug)]
pub struct Title {
    /// How many workloads there are.
    pub workloads: usize,
    /// The beginning.
    pub from: DateTime<Utc>,
    /// The end.
    pub until: DateTime<Utc>,
    /// How fast it is shown.
    pub speed: Speed,
}

/// Longer names push the rest of their line to the right.
const MAX_NAME: usize = 40;

impl Page {
    /// A page on which these names of objects will stand, with times on the clocks of `zone`.
    pub fn new<'a>(style: Style, zone: Zone, names: impl IntoIterator<Item = &'a str>) -> Self {
        let widest = names.into_iter().map(|name| name.chars().count()).max();
        Self {
            style,
            zone,
            names: widest.unwrap_or_default().min(MAX_NAME),
        }
    }

    /// What is about to run, with the command that shows it at another pace.
    pub fn title(&self, run: &Title) -> String {
        let Title {
            workloads,
            from,
            until,
            speed,
        } = *run;
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

    /// One line for what happened, without its end:
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

    /// `0 → 3`, or the one count where it did not change, in a column of nine; what is only on or
    /// off, and how it is now.
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
        EventKind::Refuse(_) => ("refuse", Paint::Red),
        EventKind::Resume => ("resume", Paint::Green),
        EventKind::Leave => ("leave", Paint::Faint),
        EventKind::UserAction(_) => ("manual", Paint::Yellow),
        EventKind::Request(_) | EventKind::IdleRequest(_) => ("request", Paint::Yellow),
    }
}

impl Page {
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
            EventKind::Enforce => format!("put back; {}", next()),
            EventKind::Adopt => format!("adopted, nothing scaled; {}", next()),
            EventKind::Ignore => "has no schedule and is left alone".to_owned(),
            EventKind::Refuse(error) => error.replace('\n', "; "),
            EventKind::Leave => "the schedule was removed, nothing scaled".to_owned(),
            EventKind::UserAction(command) => command.clone(),
            EventKind::Request(until) => format!("wakes it until {}", self.clock(event, *until)),
            EventKind::IdleRequest(why) => format!("wakes nothing: {why}"),
        }
    }

    /// `next stop Mon 19:00`.
    fn coming(&self, event: &TimelineEvent) -> String {
        match event.next {
            Some(Boundary { at, action }) => format!("next {action} {}", self.clock(event, at)),
            None => "no further boundary".to_owned(),
        }
    }

    /// `19:00` or `Mon 19:00`: with the date where a weekday alone might be another week's.
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

    /// `Fri 2026-11-20 10:00:00 UTC`.
    pub(crate) fn moment(&self, at: DateTime<Utc>) -> String {
        at.with_timezone(&self.zone)
            .format("%a %Y-%m-%d %H:%M:%S %Z")
            .to_string()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use dayshift_schedule::Action;
    use dayshift_workload::{Kind, Replicas, WorkloadRef};

    fn zone() -> Zone {
        Zone::parse("Asia/Tokyo").unwrap()
    }

    fn event(kind: EventKind, from: u32, to: u32, next: Option<(&str, Action)>) -> TimelineEvent {
        TimelineEvent {
            at: "2026-11-23T00:00:00Z".parse().unwrap(),
            zone: Zone::UTC,
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
    fn a_line_has_columns_and_tells_what_is_next() {
        let stop = |at| Some((at, Action::Stop));
        let page = Page::new(Style::default(), zone(), ["default/web"]);
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
                "enforce default/web    2 -> 0     put back; next stop 19:00",
            ),
            (
                event(EventKind::Refuse("a: bad\nb: bad".into()), 3, 3, None),
                "refuse  default/web         3     a: bad; b: bad",
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
    fn colour_and_arrows_are_for_screens_that_have_them() {
        let event = event(EventKind::Start, 0, 3, None);
        let style = Style {
            colour: true,
            unicode: true,
        };
        let line = Page::new(style, zone(), ["default/web"]).line(&event);
        assert!(line.contains("\u{1b}[32m  0 → 3  \u{1b}[0m"), "{line:?}");
        let plain = Page::new(Style::default(), zone(), ["default/web"]).line(&event);
        assert!(plain.is_ascii(), "{plain:?}");
    }
}
