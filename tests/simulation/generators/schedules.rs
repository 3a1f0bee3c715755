//! Random schedules, and zones and dates with clock changes or other rarities.

use chrono::{DateTime, Days, NaiveDateTime, Utc};
use chrono_tz::Tz;
use fastrand::Rng;

use crate::scenario::{
    calendar::{Plan, Rule},
    times::{At, Style, Window},
};

/// Zones, and dates near their clock changes or the end of the year.
pub const PLACES: [(Tz, &[&str]); 9] = [
    (Tz::UTC, &["2026-11-16", "2026-12-28"]),
    (Tz::Asia__Tokyo, &["2026-11-16", "2027-02-25"]),
    (Tz::Asia__Kolkata, &["2026-11-16"]),
    (Tz::Europe__Berlin, &["2026-03-28", "2026-10-24"]),
    (Tz::America__New_York, &["2026-03-07", "2026-10-31"]),
    (Tz::Australia__Lord_Howe, &["2026-04-04", "2026-10-03"]),
    (Tz::Africa__Cairo, &["2026-04-23", "2026-10-29"]),
    (Tz::America__Santiago, &["2026-04-04", "2026-09-05"]),
    (Tz::America__St_Johns, &["2026-03-07", "2026-10-31"]),
];

pub fn plan(random: &mut Rng, zone: Tz, begin: DateTime<Utc>) -> Plan {
    let near = random.u8(..3) == 0;
    let minute = |random: &mut Rng| {
        let hours = if near { 0..5 } else { 0..24 };
        random.u32(hours) * 60 + random.choice([0, 0, 0, 15, 30, 45, 59]).unwrap()
    };
    let date = |random: &mut Rng| begin.date_naive() + Days::new(random.u64(0..4));
    let rule = if random.bool() {
        let window = |random: &mut Rng| match (minute(random), minute(random)) {
            (from, to) if from == to => Window {
                days: days(random),
                within: None,
                from: 0,
                to: 1440,
            },
            (from, to) => Window {
                days: days(random),
                within: None,
                from,
                to,
            },
        };
        Rule::Hours((0..random.usize(1..4)).map(|_| window(random)).collect())
    } else {
        let at = |random: &mut Rng| match random.u8(..5) {
            0 => At::Once(date(random).and_hms_opt(random.u32(0..24), 30, 0).unwrap()),
            _ => At::Weekly {
                days: days(random),
                minute: minute(random),
            },
        };
        let list = |random: &mut Rng| (0..random.usize(1..5)).map(|_| at(random)).collect();
        let (start, stop) = (list(random), list(random));
        match random.u8(..7) {
            0 => Rule::Times {
                start,
                stop: Vec::new(),
            },
            1 => Rule::Times {
                start: Vec::new(),
                stop,
            },
            2 => {
                let up = start.into_iter().map(|at| (at, random.u32(1..6)));
                let mut steps: Vec<_> = up.collect();
                steps.extend(stop.into_iter().map(|at| (at, random.u32(..3) / 2)));
                // Two counts at the same time are rejected, which the checker does not model: each time of
                // day, and each date with time, occurs once.
                let mut known = Vec::new();
                steps.retain(|(at, _)| {
                    let is_new = !known.contains(&time_of(at));
                    known.push(time_of(at));
                    is_new
                });
                Rule::Scale(steps)
            }
            _ => Rule::Times { start, stop },
        }
    };
    let except = (0..random.usize(..4).saturating_sub(1)).map(|_| {
        let first = date(random);
        (first, first + Days::new(random.u64(0..2)))
    });
    Plan {
        rule,
        except: except.collect(),
        treated: Vec::new(),
        extra: Vec::new(),
        calendars: Vec::new(),
        zone: match random.u8(..4) {
            0 => Some(PLACES[random.usize(..PLACES.len())].0),
            1 => None,
            _ => Some(zone),
        },
        jitter: (random.u8(..5) == 0).then(|| random.u32(1..60)),
        style: random
            .choice([Style::Names, Style::Cron, Style::Loud])
            .unwrap(),
    }
}

/// The schedule `first` with one change, as in most edits.
pub fn edited(random: &mut Rng, first: &Plan, zone: Tz, begin: DateTime<Utc>) -> Plan {
    let (first, other) = (first.clone(), plan(random, zone, begin));
    match random.u8(..4) {
        0 => Plan {
            except: other.except,
            ..first
        },
        1 => Plan {
            zone: other.zone,
            ..first
        },
        2 => Plan {
            jitter: other.jitter,
            ..first
        },
        _ => Plan {
            style: other.style,
            ..first
        },
    }
}

/// The time of day of a recurring time, or else the date with its time.
fn time_of(at: &At) -> (Option<u32>, Option<NaiveDateTime>) {
    match at {
        At::Once(moment) => (None, Some(*moment)),
        At::Weekly { minute, .. } | At::Monthly { minute, .. } => (Some(*minute), None),
    }
}

fn days(random: &mut Rng) -> u8 {
    match random.u8(..8) {
        0..=4 => 0x7f,
        5 => 0x1f,
        6 => 0x60,
        _ => random.u8(1..0x80),
    }
}
