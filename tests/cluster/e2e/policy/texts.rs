//! Values of each key, and whether dayshift accepts them.

use dayshift_schedule::{
    ExcludedDates, ExtraWindows, Hours, StopAfter, Times, TreatedDates, Zone, parse_date_time,
    parse_grace, parse_jitter, parse_notice, parse_scale,
};
use dayshift_workload::{
    After, AnsweredPaths, IgnoredPaths, KindTable, Replicas, SleepUntil, WakeOnRequest,
};

/// Whether dayshift accepts the value of that key.
pub(super) fn is_read(key: &str, text: &str) -> bool {
    let zone = Zone::UTC;
    let is_truth = ["true", "false"]
        .iter()
        .any(|it| text.trim().eq_ignore_ascii_case(it));
    match key {
        "start" | "stop" => Times::parse(text).is_ok(),
        "hours" => Hours::parse(text).is_ok(),
        "scale" => parse_scale(text).is_ok(),
        "timezone" => Zone::parse(text).is_ok(),
        "replicas" | "stop-replicas" => Replicas::parse(text).is_ok(),
        "jitter" => parse_jitter(text).is_ok(),
        "notice" | "ready-within" => parse_notice(text).is_ok(),
        "except" => ExcludedDates::parse(text).is_ok(),
        "treat-as" => TreatedDates::parse(text).is_ok(),
        "extra" => ExtraWindows::parse(text).is_ok(),
        "stop-after" => StopAfter::parse(text).is_ok(),
        "after" => After::parse(text, &KindTable::default()).is_ok(),
        "pause" => is_truth || parse_date_time(text, zone).is_ok(),
        "wake-until" => parse_date_time(text, zone).is_ok(),
        "sleep-until" => SleepUntil::parse(text, zone).is_ok(),
        "enforce" => is_truth || parse_grace(text).is_ok(),
        "exclude" | "team-defaults" | "allow-volume-deletion" | "stop-jobs" => is_truth,
        "wake-on-request" => WakeOnRequest::parse(text).is_ok(),
        "wake-on-request-ignore" => IgnoredPaths::parse(text).is_ok(),
        "wake-on-request-answer" => AnsweredPaths::parse(text).is_ok(),
        _ => panic!("{key}"),
    }
}

/// Accepted values of each key, from which others are derived.
pub(super) const SEEDS: [(&str, &[&str]); 23] = [
    (
        "start",
        &[
            "Mon-Fri 09:00",
            "9:05",
            "daily 00:00, 12:30,23:59",
            "weekdays,Sat 8:00;Sunday 10:00",
            "fri - mon , wed 07:45",
            "0 9 * * Mon-Fri",
            "*/15 8-18/2 1,15 jan-dec ?",
            "30 0 9 * * 7",
            "@daily",
            "@Hourly; 2026-12-24 18:00",
            "2199-12-31  23:59",
            "first Mon,last Friday 09:00; second  weekday 8:00",
        ],
    ),
    ("stop", &["Mon-Fri 19:00; Sat 14:00", "0 19 * * 1-5"]),
    (
        "hours",
        &[
            "Mon-Fri 09:00-19:00; Sat 10:00-14:00",
            "22:00-06:00",
            "weekends 00:00 - 24:00",
            "mon,wed-fri 8:00-12:00,13:00-17:00;Sun 9:00-10:00",
            "Last Day 22:00-06:00; third tue, fourth Wed 09:00-17:00",
        ],
    ),
    (
        "scale",
        &[
            "Mon-Fri 08:00 = 5; 12:00=10; 19:00 = 0",
            "0 8 * * 1-5 = 3",
            "first day 08:00 = 5; last weekday 20:00=0",
            "2026-12-24 18:00 = 2147483647",
        ],
    ),
    ("replicas", &["3", "0", "2147483647", "007"]),
    ("jitter", &["5m", "1m30s", "1h", "90s"]),
    (
        "except",
        &[
            "2026-12-28..2027-01-03; 2027-01-11",
            "2026-02-28",
            "2026-01-01 .. 2026-01-02;2026-05-01",
        ],
    ),
    (
        "treat-as",
        &[
            "2026-10-10 = Mon",
            "2026-12-28..2027-01-03=sunday; 2026-02-28 = FRI",
            "2026-01-01 .. 2026-01-02 = Wednesday ;2026-05-01=Tue",
        ],
    ),
    (
        "extra",
        &[
            "2026-12-05 09:00-18:00",
            "2026-12-12..2026-12-13 20:00-23:00;2026-12-05 .. 2026-12-27 Sat, sunday 6:00-11:00,12:00 - 24:00",
        ],
    ),
    (
        "stop-after",
        &[
            "8h",
            "1h 30 minutes",
            "2d  since creation",
            " 90m Since Creation ",
        ],
    ),
    (
        "after",
        &[
            "sts/db",
            "StatefulSet.apps/db ; deploy/cache.main, 5m",
            "deployments/a-1;sts/b , 1h 30 min",
            "svc/db-1; Services/cache , 1h",
        ],
    ),
    (
        "pause",
        &["true", "FALSE", "2026-12-24 18:00", "2026-12-24T18:00:00Z"],
    ),
    (
        "wake-until",
        &[
            "2026-12-24 18:00",
            "2026-12-24T18:00:00.5+09:00",
            "2026-12-24t8:00Z",
            "2026-12-24 18:00:30",
        ],
    ),
    (
        "sleep-until",
        &[
            "2026-12-24 18:00",
            "2026-12-24T18:00:00Z; no-request-wake",
            " 2026-12-24 18:00 ;No-Request-Wake ",
        ],
    ),
    ("enforce", &["true", "30m", "1h30m", "24h", "1s"]),
    ("notice", &["15m", "0", "1h30m", "24h"]),
    ("ready-within", &["20m", "0", "1h30m", "24h"]),
    ("exclude", &["false", " False "]),
    ("allow-volume-deletion", &["true", "FALSE "]),
    ("stop-jobs", &["true", " False"]),
    (
        "wake-on-request",
        &[
            "2h",
            "90 min; Mon-Fri 06:00-23:00",
            "30m; while-used",
            "30m; keep 8h",
            "30m; while-used; Keep 1h 30m ;Mon-Fri 06:00-23:00",
            "30m ; While-Used ;Mon-Fri 06:00-23:00;Sat 9:00-10:00",
            "1h30m;weekends 8:00 - 24:00, 1:00-2:00;last Fri 22:00-06:00",
        ],
    ),
    (
        "wake-on-request-ignore",
        &["/healthz", "/healthz; /static/*", " /* ;/a.b"],
    ),
    (
        "wake-on-request-answer",
        &["/healthz", "/healthz; /ping", " /a.b ;/c"],
    ),
];

/// Characters that are inserted into values: those of valid values, blanks of Unicode, and others.
const SIGNS: &str =
    " \t\u{a0}\u{2003}\u{3000};,-:=*?/@.0123456789TZtzMonFriSatfirstlastweekdaysjanhms+\u{2013}é";

/// A pseudorandom generator, the same in each run.
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % bound
    }
}

/// A seed with some characters removed, inserted, doubled or in other case.
pub(super) fn changed(seed: &str, numbers: &mut Numbers) -> String {
    let signs: Vec<char> = SIGNS.chars().collect();
    let mut text: Vec<char> = seed.chars().collect();
    for _ in 0..numbers.below(4) {
        let at = numbers.below(text.len() + 1);
        let is_there = at < text.len();
        match numbers.below(5) {
            0 if is_there => drop(text.remove(at)),
            1 if is_there => text[at] = signs[numbers.below(signs.len())],
            2 if is_there => text.insert(at, text[at]),
            3 if is_there => text[at] = text[at].to_ascii_uppercase(),
            _ => text.insert(at, signs[numbers.below(signs.len())]),
        }
    }
    text.into_iter().collect()
}
