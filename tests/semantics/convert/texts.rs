//! Random texts of GoKubeDownscaler and py-kube-downscaler, with an oracle of their documentation.

use chrono_tz::Tz;
use proptest::prelude::*;

use super::clocks::Minute;

const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// A span as in the text: `Mon-Fri 08:00-20:00 Europe/Berlin`.
#[derive(Clone, Debug)]
struct Span {
    first: u32,
    last: u32,
    from: u32,
    to: u32,
}

/// Parses a text as the documentation describes it. Other forms are not generated.
fn read(text: &str) -> (Vec<Span>, Tz) {
    let mut zone = Tz::UTC;
    let spans = text.split(',').map(|item| {
        let [days, times, name] = item.trim().split(' ').collect::<Vec<_>>()[..] else {
            panic!("{text}");
        };
        zone = name.parse().unwrap();
        let day = |name: &str| {
            let at = DAYS
                .iter()
                .position(|it| it.to_lowercase() == name.to_lowercase());
            u32::try_from(at.unwrap()).unwrap()
        };
        let minute = |clock: &str| {
            let (hour, minute) = clock.split_once(':').unwrap();
            hour.parse::<u32>().unwrap() * 60 + minute.parse::<u32>().unwrap()
        };
        let (first, last) = days.split_once('-').unwrap();
        let (from, to) = times.split_once('-').unwrap();
        Span {
            first: day(first),
            last: day(last),
            from: minute(from),
            to: minute(to),
        }
    });
    let spans = spans.collect();
    (spans, zone)
}

/// Whether a weekday is in a range that can wrap around the end of the week.
fn has(span: &Span, day: u32) -> bool {
    if span.first <= span.last {
        (span.first..=span.last).contains(&day)
    } else {
        day >= span.first || day <= span.last
    }
}

/// A text, evaluated as each of the tools does.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) text: String,
    spans: Vec<Span>,
    pub(crate) zone: Tz,
}

impl Text {
    pub(crate) fn new(text: &str) -> Self {
        let (spans, zone) = read(text);
        Self {
            text: text.to_owned(),
            spans,
            zone,
        }
    }

    /// GoKubeDownscaler: a weekday in the range, and a time of day in the span. Reversed times are
    /// the hours before and after them on each day.
    pub(crate) fn go(&self, minute: &Minute) -> bool {
        self.spans.iter().any(|span| {
            let now = minute.of_day();
            let in_time = if span.from > span.to {
                now >= span.from || now < span.to
            } else {
                span.from <= now && now < span.to
            };
            in_time && has(span, minute.weekday())
        })
    }

    /// py-kube-downscaler: as in GoKubeDownscaler, but reversed times never match.
    pub(crate) fn py(&self, minute: &Minute) -> bool {
        self.spans.iter().any(|span| {
            let now = minute.of_day();
            span.from <= now && now < span.to && has(span, minute.weekday())
        })
    }

    /// Whether GoKubeDownscaler rejects an object's annotations: both uptime and downtime, or one
    /// of them beside a period.
    pub(crate) fn go_refuses(annotations: &[(&str, &str)]) -> bool {
        let has = |names: [&str; 2]| {
            annotations
                .iter()
                .filter(|it| names.contains(&it.0))
                .count()
        };
        let (times, periods) = (
            has(["uptime", "downtime"]),
            has(["upscale-period", "downscale-period"]),
        );
        times == 2 || times > 0 && periods > 0
    }

    /// The hours after midnight that are cut off from the last day of a range with reversed times, which
    /// `docs/guides/migrate.md` calls whole nights.
    pub(crate) fn is_cut_off(&self, minute: &Minute) -> bool {
        self.spans.iter().any(|span| {
            let yesterday = (minute.weekday() + 6) % 7;
            span.from > span.to
                && span.from < 1440
                && minute.of_day() < span.to
                && yesterday == span.last
                && !has(span, minute.weekday())
        })
    }
}

pub(crate) const ZONES: [&str; 5] = [
    "Europe/Berlin",
    "America/New_York",
    "UTC",
    "Asia/Kolkata",
    "CET",
];

fn clock() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (0..24_u32, prop::sample::select(vec![0_u32, 15, 30, 59])).prop_map(|(hour, minute)| format!("{hour:02}:{minute:02}")),
        1 => Just("24:00".to_owned()),
        1 => Just("00:00".to_owned()),
    ]
}

/// One to three spans in one zone.
pub(crate) fn text() -> impl Strategy<Value = Text> {
    let span = (0..7_usize, 0..7_usize, clock(), clock());
    let zone = prop::sample::select(ZONES.to_vec());
    (prop::collection::vec(span, 1..4), zone).prop_map(|(spans, zone)| {
        let spans = spans.iter().map(|(first, last, from, to)| {
            format!("{}-{} {from}-{to} {zone}", DAYS[*first], DAYS[*last])
        });
        Text::new(&spans.collect::<Vec<_>>().join(", "))
    })
}

/// One to three spans in one zone, without reversed times.
pub(crate) fn forward_text() -> impl Strategy<Value = Text> {
    text().prop_map(|text| {
        let zone = text.zone.name();
        let clock = |minute: u32| format!("{:02}:{:02}", minute / 60, minute % 60);
        let day = |day: u32| DAYS[usize::try_from(day).unwrap()];
        let spans = text.spans.iter().map(|it| {
            let (from, to) = (it.from.min(it.to), it.from.max(it.to));
            let days = format!("{}-{}", day(it.first), day(it.last));
            format!("{days} {}-{} {zone}", clock(from), clock(to))
        });
        Text::new(&spans.collect::<Vec<_>>().join(", "))
    })
}

impl Text {
    /// This text with its spans in another zone.
    pub(crate) fn in_zone(&self, zone: Tz) -> Self {
        Self::new(&self.text.replace(self.zone.name(), zone.name()))
    }
}
