//! The annotations `wake-on-request`, `wake-on-request-ignore` and `wake-on-request-answer`, and the
//! Services for which `dayshift activator` can accept connections while a workload is stopped.

use std::{collections::BTreeMap, fmt, ops::Range, sync::Arc};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::{
    Action, Diagnostic, Direction, ExcludedDates, Hours, Schedule, ScheduleRule, Zone, parse_grace,
    parse_items,
};
use serde::Serialize;

use crate::{
    inputs::{
        Problem,
        effective::Inputs,
        overrides::{RequestWakes, SleepUntil},
    },
    keys::Key,
};

/// How long a connection wakes a workload, whether its use or a visitor prolongs the wake, and the hours
/// in which a connection has an effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WakeOnRequest {
    /// How long the workload runs from the connection on: one second to one day.
    pub lasts: TimeDelta,
    /// Whether further connections prolong the wake, so that it ends this long after the last one.
    pub while_used: bool,
    /// How long after its beginning a wake can end, if a visitor of the waiting page keeps the workload
    /// awake: one second to one day. `None` if visitors cannot.
    pub keep: Option<TimeDelta>,
    hours: Option<Arc<ScheduleRule>>,
}

/// The item of `wake-on-request` with which use prolongs the wake.
const WHILE_USED: &str = "while-used";

/// The first word of the item with which a visitor can prolong the wake, before a duration.
const KEEP: &str = "keep";

impl WakeOnRequest {
    /// Parses a duration and then, each after a `;`, `while-used`, `keep` with a duration, and the running
    /// hours in which a connection has an effect: `2h`, `30m; while-used; keep 8h; Mon-Fri 06:00-23:00`.
    ///
    /// # Errors
    /// If a duration or the hours are invalid. The span is in bytes of the string.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        // Blanks replace what precedes a part, so that spans refer to the whole string.
        let part = |begin: usize, end: usize| " ".repeat(begin) + &text[begin..end];
        // A proposal for one part should not replace the whole string.
        let of_whole = |error: Diagnostic| error.with_proposal(None);
        let end_of = |begin: usize| text[begin..].find(';').map_or(text.len(), |at| begin + at);
        let after = |end: usize| (end < text.len()).then_some(end + 1);
        let lasts = parse_grace(&text[..end_of(0)]).map_err(of_whole)?;
        let mut rest = after(end_of(0));
        let mut while_used = false;
        if let Some(begin) = rest {
            let item = text[begin..end_of(begin)].trim();
            while_used = item.eq_ignore_ascii_case(WHILE_USED);
            if while_used {
                rest = after(end_of(begin));
            }
        }
        let mut keep = None;
        if let Some(begin) = rest {
            let word = text[begin..end_of(begin)].trim_start();
            let word_end = word.find(char::is_whitespace).unwrap_or(word.len());
            if word[..word_end].eq_ignore_ascii_case(KEEP) {
                let end = end_of(begin);
                let duration = part(end - word.len() + word_end, end);
                keep = Some(parse_grace(&duration).map_err(of_whole)?);
                rest = after(end);
            }
        }
        let hours = rest.map(|begin| part(begin, text.len()));
        let hours = hours.map(|hours| match no_hours(&hours) {
            Some(error) => Err(error),
            None => {
                let hours = Hours::parse(&hours).map_err(of_whole)?;
                Ok(Arc::new(ScheduleRule::Hours(hours)))
            }
        });
        Ok(Self {
            lasts,
            while_used,
            keep,
            hours: hours.transpose()?,
        })
    }

    /// Whether a connection at this time wakes a workload with this time zone.
    pub fn counts_at(&self, now: DateTime<Utc>, zone: Zone) -> bool {
        self.schedule(zone).is_none_or(|schedule| {
            schedule.action_at(now, TimeDelta::zero()) == Some(Action::Start)
        })
    }

    /// The next beginning of its hours; `None` without hours.
    pub fn opens_after(&self, now: DateTime<Utc>, zone: Zone) -> Option<DateTime<Utc>> {
        self.next_boundary(Direction::Up, now, zone)
    }

    /// The next end of its hours; `None` without hours.
    pub fn closes_after(&self, now: DateTime<Utc>, zone: Zone) -> Option<DateTime<Utc>> {
        self.next_boundary(Direction::Down, now, zone)
    }

    fn next_boundary(
        &self,
        direction: Direction,
        now: DateTime<Utc>,
        zone: Zone,
    ) -> Option<DateTime<Utc>> {
        let schedule = self.schedule(zone)?;
        let next = schedule.next_boundary(direction, now, TimeDelta::zero());
        next.map(|boundary| boundary.at)
    }

    /// Its hours as a schedule.
    fn schedule(&self, zone: Zone) -> Option<Schedule> {
        let hours = Arc::clone(self.hours.as_ref()?);
        Some(Schedule::new(hours, ExcludedDates::default(), zone))
    }
}

/// An error for the first item without a digit, which cannot be running hours: a word such as
/// `while used`, or `while-used` after the hours.
fn no_hours(text: &str) -> Option<Diagnostic> {
    let mut begin = 0;
    for item in text.split(';') {
        let word = item.trim();
        if !word.is_empty() && !word.contains(|letter: char| letter.is_ascii_digit()) {
            let begin = begin + item.len() - item.trim_start().len();
            let help =
                format!("write for example `2h; {WHILE_USED}; {KEEP} 8h; Mon-Fri 06:00-23:00`");
            let reason =
                "is neither `while-used` or `keep 8h` after the duration nor running hours";
            return Some(Diagnostic::new(
                begin..begin + word.len(),
                word,
                reason,
                help,
            ));
        }
        begin += item.len() + 1;
    }
    None
}

/// Paths of HTTP requests that do not wake a workload: `/healthz; /metrics; /static/*`.
///
/// They are stored as one string.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IgnoredPaths(Box<str>);

/// The maximum number of ignored paths. Each request compares its path with those of up to a hundred workloads.
const MAX_IGNORED: usize = 100;

impl IgnoredPaths {
    /// Parses at most 100 paths separated by `;`. A `*` at the end matches anything.
    ///
    /// # Errors
    /// If the list or an item is empty, if there are more than 100 paths, or if an item does not begin
    /// with `/`, contains a blank, or has a `*` before its end. The span is in bytes of the string.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        const EXAMPLE: &str = "/healthz; /static/*";
        let items = parse_items(text, EXAMPLE)?;
        for (number, (span, item)) in items.iter().enumerate() {
            let plain = item.strip_suffix('*').unwrap_or(item);
            let reason = if number >= MAX_IGNORED {
                "is one path too many: at most 100 can be ignored"
            } else if !is_path(plain) || plain.contains('*') {
                "is not a path"
            } else {
                continue;
            };
            let help = format!("write for example `{EXAMPLE}`");
            return Err(Diagnostic::new(span.clone(), item, reason, help));
        }
        let paths: Vec<_> = items.into_iter().map(|(_, item)| item).collect();
        Ok(Self(paths.join(";").into()))
    }

    /// Whether a request for this path, without its query, has no effect.
    pub fn has(&self, path: &str) -> bool {
        let mut patterns = self.0.split(';').filter(|pattern| !pattern.is_empty());
        patterns.any(|pattern| match pattern.strip_suffix('*') {
            Some(begins) => path.starts_with(begins),
            None => path == pattern,
        })
    }
}

/// Paths of HTTP requests that get a response with status 200 while a workload is stopped, and do not
/// wake it: `/healthz; /ping`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnsweredPaths(Vec<Box<str>>);

/// The maximum number of answered paths, and the maximum length of one in characters.
const MAX_ANSWERED: usize = 20;
const MAX_PATH: usize = 100;

impl AnsweredPaths {
    /// Parses at most 20 exact paths separated by `;`.
    ///
    /// # Errors
    /// If the list or an item is empty, if there are more than 20 paths, or if an item does not begin
    /// with `/`, contains a blank or `*`, or has more than 100 characters. The span is in bytes of the
    /// string.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        const EXAMPLE: &str = "/healthz; /ping";
        let path = |(number, (span, item)): (usize, (Range<usize>, &str))| {
            let reason = if number >= MAX_ANSWERED {
                "is one path too many: at most 20 can be answered"
            } else if item.contains('*') {
                "is not an exact path"
            } else if !is_path(item) {
                "is not a path"
            } else if item.chars().count() > MAX_PATH {
                "is longer than 100 characters"
            } else {
                return Ok(Box::from(item));
            };
            let help = format!("write for example `{EXAMPLE}`");
            Err(Diagnostic::new(span, item, reason, help))
        };
        let items = parse_items(text, EXAMPLE)?.into_iter();
        let paths = items.enumerate().map(path);
        paths.collect::<Result<_, _>>().map(Self)
    }

    /// Whether a request for this path, without its query, is answered.
    pub fn has(&self, path: &str) -> bool {
        self.0.iter().any(|answered| path == &**answered)
    }
}

/// Whether it begins with `/` and contains neither blanks nor control characters.
fn is_path(text: &str) -> bool {
    text.starts_with('/')
        && !text.contains(|letter: char| letter.is_whitespace() || letter.is_control())
}

/// The time until which requests wake nothing, because the active sleep has `no-request-wake`. The
/// workload's own sleep takes precedence over that of its Namespace, which can be active after it.
pub fn requests_ignored_until(
    inputs: &Inputs,
    zone: Zone,
    now: DateTime<Utc>,
) -> Option<DateTime<Utc>> {
    let mut until = None;
    for sleep in sleeps(inputs, zone) {
        if sleep.until <= until.unwrap_or(now) {
            continue;
        }
        if sleep.requests == RequestWakes::Allowed {
            break;
        }
        until = Some(sleep.until);
    }
    until
}

/// The next end of a sleep of the workload or of its Namespace. Until then, [`requests_ignored_until`] returns the
/// same.
pub fn next_sleep_end(inputs: &Inputs, zone: Zone, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let ends = sleeps(inputs, zone).map(|sleep| sleep.until);
    ends.filter(|end| *end > now).min()
}

/// The workload's own sleep, and then that of its Namespace.
fn sleeps(inputs: &Inputs, zone: Zone) -> impl Iterator<Item = SleepUntil> {
    let inherited = inputs.defaults();
    let inherited = inherited.and_then(|defaults| defaults.text(Key::SleepUntil));
    let texts = [inputs.own().text(Key::SleepUntil), inherited];
    let sleeps = texts.map(|text| SleepUntil::parse(text?, zone).ok());
    sleeps.into_iter().flatten()
}

/// Problems with the annotations for `dayshift activator`. The controller does not read them.
pub fn wake_on_request_problems(inputs: &Inputs) -> Vec<Problem> {
    let text = |key| inputs.text(key);
    let wake = text(Key::WakeOnRequest).map(|text| WakeOnRequest::parse(text).err());
    let ignore = text(Key::WakeOnRequestIgnore).map(|text| IgnoredPaths::parse(text).err());
    let answer = text(Key::WakeOnRequestAnswer).map(|text| AnsweredPaths::parse(text).err());
    [
        (Key::WakeOnRequest, wake.flatten()),
        (Key::WakeOnRequestIgnore, ignore.flatten()),
        (Key::WakeOnRequestAnswer, answer.flatten()),
    ]
    .into_iter()
    .filter_map(|(key, error)| {
        let origin = inputs.origin(key)?;
        Some(Problem::new(key.name(), error?).from(origin))
    })
    .collect()
}

/// The fields of a Service that determine whether `dayshift activator` can accept its connections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceSpec {
    /// Whether its type is `ExternalName`.
    pub is_external_name: bool,
    /// Whether its `clusterIP` is `None`.
    pub is_headless: bool,
    /// Whether proxies send all connections of a client to the same endpoint (`sessionAffinity`).
    pub has_client_affinity: bool,
    /// The labels of its pods.
    pub selector: BTreeMap<String, String>,
    /// Its ports.
    pub ports: Vec<ServicePort>,
}

/// A port of a Service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServicePort {
    /// Its name; empty if it has none.
    pub name: Box<str>,
    /// Its number.
    pub number: i32,
    /// `TCP`, `UDP` or `SCTP`; `None` means TCP.
    pub protocol: Option<Box<str>>,
}

/// Why `dayshift activator` cannot accept the connections of a Service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotCovered {
    /// It is a DNS name.
    ExternalName,
    /// It has no address.
    Headless,
    /// It has no TCP port.
    NoTcpPort,
}

impl NotCovered {
    /// The reason as text.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::ExternalName => "it is an ExternalName Service",
            Self::Headless => "it is headless, so clients take the addresses of its pods from DNS",
            Self::NoTcpPort => "it has no TCP port",
        }
    }
}

impl ServicePort {
    /// Whether it is a TCP port.
    pub fn is_tcp(&self) -> bool {
        self.protocol
            .as_deref()
            .is_none_or(|protocol| protocol == "TCP")
    }
}

/// The name or, without one, the number.
impl fmt::Display for ServicePort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.name {
            "" => self.number.fmt(f),
            name => f.write_str(name),
        }
    }
}

impl ServiceSpec {
    /// Why `dayshift activator` cannot accept its connections; `None` if it can. A Service without
    /// a selector selects no pods and is never covered.
    pub fn not_covered(&self) -> Option<NotCovered> {
        if self.is_external_name {
            Some(NotCovered::ExternalName)
        } else if self.is_headless {
            Some(NotCovered::Headless)
        } else if !self.ports.iter().any(ServicePort::is_tcp) {
            Some(NotCovered::NoTcpPort)
        } else {
            None
        }
    }

    /// Whether it selects pods with these labels.
    pub fn selects(&self, labels: &BTreeMap<String, String>) -> bool {
        selects(&self.selector, labels)
    }
}

/// Whether a selector matches these labels. An empty selector matches nothing.
pub fn selects(selector: &BTreeMap<String, String>, labels: &BTreeMap<String, String>) -> bool {
    let has = |(key, value): (&String, &String)| labels.get(key) == Some(value);
    !selector.is_empty() && selector.iter().all(has)
}

/// The effect of requests to the Services of a workload with `wake-on-request`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestCoverage {
    /// The names of Services whose connections wake it.
    pub services: Vec<Box<str>>,
    /// Whether their connections prolong the wake.
    pub while_used: bool,
    /// Services and ports that select its pods but wake nothing, each with the reason.
    pub not_covered: Vec<String>,
}

impl RequestCoverage {
    /// For a workload with these inputs whose pods have these labels, and the Services of its
    /// namespace by name. `None` without `wake-on-request`.
    pub fn new<'s>(
        inputs: &Inputs,
        labels: &BTreeMap<String, String>,
        services: impl IntoIterator<Item = (&'s str, &'s ServiceSpec)>,
    ) -> Option<Self> {
        let wake = WakeOnRequest::parse(inputs.text(Key::WakeOnRequest)?);
        let mut coverage = Self {
            while_used: wake.is_ok_and(|wake| wake.while_used),
            ..Self::default()
        };
        let selecting = services
            .into_iter()
            .filter(|(_, service)| service.selects(labels));
        for (name, service) in selecting {
            if let Some(why) = service.not_covered() {
                let text = format!("Service {name} wakes nothing: {}", why.reason());
                coverage.not_covered.push(text);
                continue;
            }
            coverage.services.push(name.into());
            if coverage.while_used && service.has_client_affinity {
                let text = format!("use of Service {name} does not prolong a wake: {AFFINITY}");
                coverage.not_covered.push(text);
            }
            for port in service.ports.iter().filter(|port| !port.is_tcp()) {
                let protocol = port.protocol.as_deref().unwrap_or_default();
                let text = format!("port {port} of Service {name} wakes nothing: it is {protocol}");
                coverage.not_covered.push(text);
            }
        }
        if coverage.services.is_empty() && coverage.not_covered.is_empty() {
            let text = "no Service selects its pods, so no request wakes it";
            coverage.not_covered.push(text.to_owned());
        }
        Some(coverage)
    }
}

/// Why use of a Service cannot prolong a wake: the activator would get all connections of some
/// clients and none of the others.
const AFFINITY: &str = "it has sessionAffinity";

/// `a request to Service web wakes it; port dns of Service web wakes nothing: it is UDP`
impl fmt::Display for RequestCoverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prolongs = if self.while_used {
            ", and use prolongs the wake"
        } else {
            ""
        };
        let wakes = self.services.iter();
        let wakes =
            wakes.map(|service| format!("a request to Service {service} wakes it{prolongs}"));
        let all: Vec<_> = wakes.chain(self.not_covered.iter().cloned()).collect();
        f.write_str(&all.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_without_hours_wakes_at_any_time() {
        for (text, seconds) in [("2h", 7200), (" 90s ", 90), ("1h30m", 5400), ("24h", 86400)] {
            let wake = WakeOnRequest::parse(text).unwrap();
            assert_eq!(wake.lasts, TimeDelta::seconds(seconds), "{text}");
            assert!(wake.counts_at(DateTime::UNIX_EPOCH, Zone::UTC));
        }
    }

    #[test]
    fn while_used_follows_the_duration() {
        let monday = "2026-11-30T05:00:00Z".parse().unwrap();
        for (text, while_used, counts) in [
            ("30m", false, true),
            ("30m; while-used", true, true),
            ("30m ;While-Used ", true, true),
            ("30m; while-used; Mon-Fri 06:00-23:00", true, false),
            (
                "30m; while-used; Mon 04:00-06:00; Sat 10:00-11:00",
                true,
                true,
            ),
            ("30m; Mon-Fri 06:00-23:00", false, false),
        ] {
            let wake = WakeOnRequest::parse(text).unwrap();
            let expected = (TimeDelta::minutes(30), while_used);
            assert_eq!((wake.lasts, wake.while_used), expected, "{text}");
            assert_eq!(wake.counts_at(monday, Zone::UTC), counts, "{text}");
        }
    }

    #[test]
    fn keep_follows_the_duration_and_while_used() {
        for (text, while_used, hours, counts) in [
            ("30m", false, None, true),
            ("30m; keep 8h", false, Some(8), true),
            ("30m ;\u{a0}KEEP\u{2003} 1 d ", false, Some(24), true),
            ("30m; while-used;keep 90m 30m", true, Some(2), true),
            (
                "30m; while-used; keep 8h; Mon-Fri 06:00-23:00",
                true,
                Some(8),
                false,
            ),
            ("30m; keep 8h; Mon-Fri 06:00-23:00", false, Some(8), false),
        ] {
            let monday = "2026-11-30T05:00:00Z".parse().unwrap();
            let wake = WakeOnRequest::parse(text).unwrap();
            let keep = hours.map(TimeDelta::hours);
            assert_eq!((wake.keep, wake.while_used), (keep, while_used), "{text}");
            assert_eq!(wake.lasts, TimeDelta::minutes(30), "{text}");
            assert_eq!(wake.counts_at(monday, Zone::UTC), counts, "{text}");
        }
    }

    #[test]
    fn hours_apply_in_the_time_zone_of_the_object() {
        let wake = WakeOnRequest::parse("2h; Mon-Fri 06:00-23:00").unwrap();
        let tokyo = Zone::parse("Asia/Tokyo").unwrap();
        for (at, zone, expected) in [
            ("2026-11-25T06:00:00Z", Zone::UTC, true),
            ("2026-11-25T05:59:59Z", Zone::UTC, false),
            ("2026-11-25T23:00:00Z", Zone::UTC, false),
            ("2026-11-28T12:00:00Z", Zone::UTC, false),
            ("2026-11-24T21:00:00Z", tokyo, true),
            ("2026-11-25T14:00:00Z", tokyo, false),
        ] {
            let at = at.parse().unwrap();
            assert_eq!(wake.counts_at(at, zone), expected, "{at}");
        }
        let saturday = "2026-11-28T12:00:00Z".parse().unwrap();
        let monday = "2026-11-30T06:00:00Z".parse().unwrap();
        assert_eq!(wake.opens_after(saturday, Zone::UTC), Some(monday));
        let always = WakeOnRequest::parse("2h; 00:00-24:00").unwrap();
        assert!(always.counts_at(DateTime::UNIX_EPOCH, Zone::UTC));
    }

    #[test]
    fn errors_contain_the_reason_and_the_span() {
        for (text, span, message) in [
            ("two hours", 0..9, "`two hours` is not a duration"),
            ("0s", 0..2, "`0s` is not a duration"),
            ("25h", 0..3, "`25h` is too long"),
            ("2h; Mon-Fry 06:00-23:00", 8..11, "`Fry` is not a day"),
            ("2h; 09:00", 4..9, "`09:00`"),
            ("2h;", 0..3, "is empty"),
            ("", 0..0, "is empty"),
            (" 3 ; Mon-Fri 06:00-23:00", 1..2, "`3` is not a duration"),
            ("2h; while used", 4..14, "`while used` is neither"),
            (
                "2h; 06:00-23:00; while-used",
                17..27,
                "`while-used` is neither",
            ),
            (
                "2h; while-used; while-used",
                16..26,
                "`while-used` is neither",
            ),
            ("2h; while-used;", 0..15, "is empty"),
            (
                "2h; while-used; Mon-Fry 06:00-23:00",
                20..23,
                "`Fry` is not a day",
            ),
            ("while-used", 0..10, "`while-used` is not a duration"),
            ("2h; keep 25h", 9..12, "`25h` is too long"),
            (
                "2h; while-used; keep eight",
                21..26,
                "`eight` is not a duration",
            ),
            ("2h; keep", 0..8, "is empty"),
            ("2h; keep 8h;", 0..12, "is empty"),
            ("2h; keep 8h; while-used", 13..23, "`while-used` is neither"),
            ("2h; keeps", 4..9, "`keeps` is neither"),
        ] {
            let error = WakeOnRequest::parse(text).unwrap_err();
            assert!(error.message().contains(message), "{text}: {error}");
            assert_eq!(error.span(), span, "{text}: {error}");
        }
    }

    #[test]
    fn ignores_exact_paths_and_prefixes() {
        let paths = IgnoredPaths::parse("/healthz ; /static/*").unwrap();
        for (path, expected) in [
            ("/healthz", true),
            ("/healthz/", false),
            ("/static/", true),
            ("/static/a/b", true),
            ("/", false),
        ] {
            assert_eq!(paths.has(path), expected, "{path}");
        }
        for (text, span) in [
            ("healthz", 0..7),
            ("/a; b", 4..5),
            ("/a*b", 0..4),
            ("/a b", 0..4),
            ("", 0..0),
            (" ;", 0..2),
            ("/a;", 2..3),
            ("/a;;/b", 3..4),
        ] {
            let error = IgnoredPaths::parse(text).unwrap_err();
            assert_eq!(error.span(), span, "{text}: {error}");
        }
        let many = vec!["/a"; 101].join(";");
        let error = IgnoredPaths::parse(&many).unwrap_err();
        assert_eq!(
            (error.span(), error.message().contains("at most 100")),
            (300..302, true),
            "{error}"
        );
        assert!(IgnoredPaths::parse(&many[3..]).is_ok());
    }

    #[test]
    fn answers_exact_paths_of_a_short_list() {
        let paths = AnsweredPaths::parse(" /healthz ;/ping").unwrap();
        for (path, expected) in [
            ("/healthz", true),
            ("/ping", true),
            ("/ping/a", false),
            ("/", false),
        ] {
            assert_eq!(paths.has(path), expected, "{path}");
        }
        let long = format!("/{}", "a".repeat(100));
        let many = vec!["/a"; 21].join(";");
        for (text, span, message) in [
            ("healthz", 0..7, "is not a path"),
            ("/a; /b*", 4..7, "is not an exact path"),
            ("/a b", 0..4, "is not a path"),
            ("/a;", 2..3, "has no item"),
            (&long, 0..101, "is longer than 100 characters"),
            (&many, 60..62, "at most 20"),
        ] {
            let error = AnsweredPaths::parse(text).unwrap_err();
            assert!(error.message().contains(message), "{text}: {error}");
            assert_eq!(error.span(), span, "{text}: {error}");
        }
        assert!(AnsweredPaths::parse(&long[..100]).is_ok());
        assert!(AnsweredPaths::parse(&many[3..]).is_ok());
    }

    #[test]
    fn an_invalid_wake_on_request_does_not_affect_the_schedule() {
        let inputs = Inputs::default()
            .with(Key::Hours, "09:00-19:00")
            .with(Key::WakeOnRequest, "soon");
        let read = crate::read(&inputs, &crate::ParseContext::default());
        assert!(matches!(read, crate::ParsedInputs::Scheduled(_)));
        let problems = wake_on_request_problems(&inputs);
        assert_eq!(&*problems[0].annotation, "wake-on-request");
    }

    fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        let pairs = pairs.iter();
        pairs
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn service(ports: &[(&str, i32, Option<&str>)]) -> ServiceSpec {
        let port = |(name, number, protocol): &(&str, i32, Option<&str>)| ServicePort {
            name: (*name).into(),
            number: *number,
            protocol: protocol.map(Into::into),
        };
        ServiceSpec {
            selector: labels(&[("app", "web")]),
            ports: ports.iter().map(port).collect(),
            ..ServiceSpec::default()
        }
    }

    fn coverage<'s>(
        wake: &str,
        labels: &BTreeMap<String, String>,
        services: impl IntoIterator<Item = (&'s str, &'s ServiceSpec)>,
    ) -> RequestCoverage {
        let inputs = Inputs::default().with(Key::WakeOnRequest, wake);
        RequestCoverage::new(&inputs, labels, services).unwrap()
    }

    #[test]
    fn reports_a_service_whose_use_does_not_prolong_a_wake() {
        let web = ServiceSpec {
            has_client_affinity: true,
            ..service(&[("http", 80, None)])
        };
        for (wake, expected) in [
            ("2h", "a request to Service web wakes it"),
            (
                "2h; while-used",
                "a request to Service web wakes it, and use prolongs the wake; \
                 use of Service web does not prolong a wake: it has sessionAffinity",
            ),
        ] {
            let coverage = coverage(wake, &labels(&[("app", "web")]), [("web", &web)]);
            assert_eq!(coverage.to_string(), expected);
        }
    }

    #[test]
    fn a_service_is_covered_on_its_tcp_ports() {
        let web = service(&[
            ("http", 80, None),
            ("", 53, Some("UDP")),
            ("s", 5, Some("SCTP")),
        ]);
        let pods = labels(&[("app", "web"), ("v", "1")]);
        let coverage = coverage("2h", &pods, [("web", &web)]);
        assert_eq!(*coverage.services, ["web".into()]);
        assert_eq!(
            coverage.not_covered,
            [
                "port 53 of Service web wakes nothing: it is UDP",
                "port s of Service web wakes nothing: it is SCTP",
            ]
        );
    }

    #[test]
    fn reports_why_a_service_is_not_covered() {
        let tcp = service(&[("http", 80, Some("TCP"))]);
        for (service, why) in [
            (
                ServiceSpec {
                    is_external_name: true,
                    ..tcp.clone()
                },
                "Service web wakes nothing: it is an ExternalName Service",
            ),
            (
                ServiceSpec {
                    is_headless: true,
                    ..tcp.clone()
                },
                "Service web wakes nothing: it is headless, so clients take the addresses of its pods from DNS",
            ),
            (
                service(&[("dns", 53, Some("UDP"))]),
                "Service web wakes nothing: it has no TCP port",
            ),
        ] {
            let coverage = coverage("2h", &labels(&[("app", "web")]), [("web", &service)]);
            assert_eq!(
                (&*coverage.not_covered, coverage.services.len()),
                (&[why.to_owned()][..], 0)
            );
        }
    }

    #[test]
    fn reports_a_workload_that_no_service_selects() {
        let web = service(&[("http", 80, None)]);
        let everything = ServiceSpec {
            selector: BTreeMap::new(),
            ..web.clone()
        };
        let coverage = coverage(
            "2h",
            &labels(&[("app", "db")]),
            [("web", &web), ("all", &everything)],
        );
        assert_eq!(
            coverage.not_covered,
            ["no Service selects its pods, so no request wakes it"]
        );
    }
}
