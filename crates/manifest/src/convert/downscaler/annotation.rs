//! Single downscaler annotations: those that convert by themselves, and the types that all share.

use std::ops::Range;

use chrono::{DateTime, NaiveDate, NaiveDateTime, SecondsFormat, Utc};
use dayshift_schedule::format_seconds;
use dayshift_text::quote;
use dayshift_workload::{CountKind, Key, Kind, Label, Replicas};

use crate::{
    convert::{
        conversion::{Converter, Topic},
        downscaler::timespan::{SpanFinding, Spans},
        week::KeyTexts,
    },
    finding::Finding,
};

/// A downscaler annotation: the name after the prefix, and the value.
pub(crate) type OldAnnotation<'o> = (&'o str, &'o str);

/// A finding about one of several annotations. Its place is the annotation's index and the bytes of
/// its value.
pub(crate) type Remark = Finding<Topic, (usize, Range<usize>)>;

/// The result for the annotations of one object.
#[derive(Debug, Default)]
pub(crate) struct ConvertedAnnotations {
    /// Replaced annotations by their index, with the annotations that replace them.
    pub(crate) replaced: Vec<(usize, KeyTexts)>,
    /// The saved count.
    pub(crate) saved: Option<u32>,
    pub(crate) remarks: Vec<Remark>,
}

/// The object and the settings for its annotations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConvertContext<'c> {
    pub(crate) converter: &'c Converter,
    /// The kind definition; `None` for a Namespace, and for other kinds with `spec.replicas`.
    pub(crate) kind: Option<&'c Kind>,
    pub(crate) permanent_force: PermanentForce,
}

/// The result of a permanent force-uptime or force-downtime without a schedule on the same object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PermanentForce {
    /// An override. On a Namespace it has priority over the schedules of objects, and on an object
    /// over that of its Namespace.
    Override,
    /// Only a schedule.
    Schedule,
}

impl<'c> ConvertContext<'c> {
    /// Settings for annotations that are not on an object.
    pub(crate) fn without_object(
        converter: &'c Converter,
        permanent_force: PermanentForce,
    ) -> Self {
        Self {
            converter,
            kind: None,
            permanent_force,
        }
    }

    /// Parses time spans.
    pub(crate) fn spans(&self, text: &str) -> Result<Spans, SpanFinding> {
        Spans::parse(text, &self.converter.defaults)
    }

    /// The meaning of its count.
    pub(crate) fn counts(&self) -> CountKind {
        self.kind.map_or(CountKind::Replicas, Kind::counts)
    }
}

/// The annotations that form the schedule, in the order of `DownscalerSchedule`.
pub(crate) const SCHEDULE: [&str; 6] = [
    "uptime",
    "downtime",
    "upscale-period",
    "downscale-period",
    "force-uptime",
    "force-downtime",
];

/// The other annotations.
const OTHERS: &str = "exclude exclude-until downtime-replicas downscale-replicas \
    original-replicas grace-period scale-children upscale-excluded deployment-time";

pub(crate) fn is_schedule(key: &str) -> bool {
    SCHEDULE.contains(&key)
}

/// Whether an annotation is known.
pub(crate) fn is_known(key: &str) -> bool {
    is_schedule(key) || OTHERS.split_whitespace().any(|known| known == key)
}

/// Whether an annotation overrides a flag, given as the name of its annotation. All annotations of
/// the schedule override each other, and so do the two names of a stop count.
pub(crate) fn is_same(own: &str, flag: &str) -> bool {
    let is_count = |key| matches!(key, "downtime-replicas" | "downscale-replicas");
    own == flag || is_schedule(own) && is_schedule(flag) || is_count(own) && is_count(flag)
}

/// Whether an object has its own force-uptime or force-downtime for certain times, and its Namespace a
/// permanent one. In GoKubeDownscaler that of the object overrides it; in py-kube-downscaler it does not.
pub(crate) fn overrides_force(
    own: &[OldAnnotation<'_>],
    namespace: &[OldAnnotation<'_>],
    context: ConvertContext<'_>,
) -> bool {
    let is_always =
        |old: &OldAnnotation<'_>| context.spans(old.1).is_ok_and(|spans| spans.is_always());
    let mut own = own.iter().filter(|old| is_force(old.0)).peekable();
    own.peek().is_some() && !own.any(is_always) && namespace.iter().any(is_always)
}

/// Whether an object has an uptime and its Namespace a downtime, or the other way around.
pub(crate) fn combines_times(own: &[OldAnnotation<'_>], namespace: &[OldAnnotation<'_>]) -> bool {
    let has = |all: &[OldAnnotation<'_>], key: &str| all.iter().any(|old| old.0 == key);
    let both = [("uptime", "downtime"), ("downtime", "uptime")];
    both.iter()
        .any(|(one, other)| has(own, one) && !has(own, other) && has(namespace, other))
}

/// The force-uptime and force-downtime of a Namespace for certain times, which apply to an object with
/// its own schedule. A permanent one becomes an override instead, and that of the object has priority.
pub(crate) fn timed_forces<'o>(
    own: &[OldAnnotation<'_>],
    namespace: &[OldAnnotation<'o>],
    context: ConvertContext<'_>,
) -> Vec<OldAnnotation<'o>> {
    let has_times = own.iter().any(|old| is_schedule(old.0) && !is_force(old.0));
    if !has_times || own.iter().any(|old| is_force(old.0)) {
        return Vec::new();
    }
    let is_timed = |old: &&OldAnnotation<'_>| {
        let spans = context.spans(old.1);
        is_force(old.0) && spans.is_ok_and(|spans| !spans.is_always() && !spans.is_never())
    };
    namespace.iter().filter(is_timed).copied().collect()
}

pub(crate) fn is_force(key: &str) -> bool {
    key.starts_with("force-") && is_schedule(key)
}

pub(crate) fn rfc3339(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// The annotations that replace one, and a remark about them.
type Replacement = (KeyTexts, Option<Remark>);

/// Converts an annotation that is not part of the schedule.
///
/// # Errors
/// Why it stays.
pub(crate) fn one(
    at: usize,
    key: &str,
    text: &str,
    context: ConvertContext<'_>,
    converted: &mut ConvertedAnnotations,
) -> Result<(), Remark> {
    let old = SingleAnnotation { at, text, context };
    let (texts, note) = match key {
        "exclude" => old.exclude()?,
        "exclude-until" => old.exclude_until()?,
        "downtime-replicas" | "downscale-replicas" => old.stop_count()?,
        "original-replicas" => {
            let (count, note) = old.saved_count()?;
            converted.saved = Some(count);
            (Vec::new(), Some(note))
        }
        "grace-period" => old.grace_period()?,
        "scale-children" => (old.stop_jobs()?, None),
        "upscale-excluded" => {
            return Err(old.remark(
                Topic::NoEquivalent,
                "has no equivalent in dayshift",
                "remove the annotation once the other tool is gone",
            ));
        }
        _ => {
            return Err(old.remark(
                Topic::UnknownKey,
                format!("downscaler/{} is not a known annotation", quote(key)),
                "check what it does, add the dayshift equivalent, and remove it",
            ));
        }
    };
    converted.replaced.push((at, texts));
    converted.remarks.extend(note);
    Ok(())
}

/// An annotation that is not part of the schedule.
struct SingleAnnotation<'o> {
    at: usize,
    text: &'o str,
    context: ConvertContext<'o>,
}

impl SingleAnnotation<'_> {
    fn remark(&self, topic: Topic, message: impl Into<String>, help: impl Into<String>) -> Remark {
        Remark::new(topic, (self.at, 0..self.text.len()), message, help)
    }

    /// A remark that its text is not `what`.
    fn wrong(&self, topic: Topic, what: &str, help: impl Into<String>) -> Remark {
        self.remark(topic, format!("`{}` is not {what}", quote(self.text)), help)
    }

    /// The full name of a dayshift annotation.
    fn name(&self, key: Key) -> String {
        self.context.converter.prefix.annotation(key)
    }

    fn exclude(&self) -> Result<Replacement, Remark> {
        let truth = |value: &str| vec![(Key::Exclude, value.to_owned())];
        let Ok(spans) = self.context.spans(self.text) else {
            let note = self.remark(
                Topic::NotRead,
                format!(
                    "`{}` excludes the object in py-kube-downscaler, as does every value except \
                    `false`; GoKubeDownscaler rejects it",
                    quote(self.text)
                ),
                "converted as py-kube-downscaler reads it",
            );
            return Ok((truth("true"), Some(note)));
        };
        let now = self.context.converter.now;
        let future_spans: Vec<_> = spans.future_spans(now).collect();
        let texts = match future_spans[..] {
            _ if spans.is_always() => truth("true"),
            [] if spans.is_never() => truth("false"),
            [] if spans.week.is_empty() => {
                let message = "this exclusion is in the past, and was left out";
                let note = self.remark(Topic::Over, message, "no action is needed");
                return Ok((Vec::new(), Some(note)));
            }
            [span] if spans.week.is_empty() && span.from.is_none_or(|from| from <= now) => {
                match span.to {
                    Some(to) => vec![(Key::Pause, rfc3339(to))],
                    None => truth("true"),
                }
            }
            _ => {
                return Err(self.remark(
                    Topic::PartialExclude,
                    "excludes the object only at some times, which has no equivalent",
                    "write the schedule without these times, or use dayshift pause --until then",
                ));
            }
        };
        Ok((texts, None))
    }

    fn exclude_until(&self) -> Result<Replacement, Remark> {
        let until = until(self.text).ok_or_else(|| {
            let help = "write for example 2026-12-24T18:00:00Z";
            self.wrong(Topic::NotRead, "a time that the tool reads", help)
        })?;
        if until <= self.context.converter.now {
            let message = "this time is in the past, and was left out";
            let note = self.remark(Topic::Over, message, "no action is needed");
            return Ok((Vec::new(), Some(note)));
        }
        Ok((vec![(Key::Pause, rfc3339(until))], None))
    }

    fn stop_count(&self) -> Result<Replacement, Remark> {
        let count = Replicas::parse(self.text).map_err(|_| {
            let help = format!(
                "write how many replicas a stop leaves into {}, such as \"1\"",
                self.name(Key::StopReplicas)
            );
            self.wrong(Topic::NotACount, "a number of replicas", help)
        })?;
        let counts = self.context.counts();
        let kind = self.context.kind;
        if let Some(kind) = kind.filter(|_| !counts.has(Key::StopReplicas)) {
            let why = match counts {
                CountKind::Suspend { .. } => "has no count: a stop suspends it",
                CountKind::Exact => "stops at 0 and at no other count",
                _ => "has no count: a stop turns it off",
            };
            let message = format!("a {kind} {why}");
            return Err(self.remark(Topic::NoCount, message, "remove the annotation"));
        }
        let count = count.max(counts.least()).to_string();
        Ok((vec![(Key::StopReplicas, count)], None))
    }

    fn saved_count(&self) -> Result<(u32, Remark), Remark> {
        let label = self.context.converter.prefix.label(Label::SavedReplicas);
        let count = saved(self.text, self.context).ok_or_else(|| {
            let help = format!("label the object with the count that a start restores: {label}=3");
            self.wrong(Topic::NotACount, "a number of replicas", help)
        })?;
        let note = self.remark(
            Topic::SavedCount,
            format!("the count {count} is now the label {label}"),
            "the next start restores it; apply the file while the object is stopped",
        );
        Ok((count, note))
    }

    fn grace_period(&self) -> Result<Replacement, Remark> {
        let enforce = self.name(Key::Enforce);
        let seconds = seconds(self.text).ok_or_else(|| {
            let help = "write for example 15m, or 900 for seconds";
            self.wrong(Topic::NotRead, "a duration that the tool reads", help)
        })?;
        if seconds > MAX_GRACE {
            let text = quote(self.text);
            return Err(self.remark(
                Topic::NoEquivalent,
                format!("`{text}` is more than 24h, and {enforce} accepts 1s to 24h"),
                "pause a new workload while it may run, such as dayshift pause deploy/web --for 48h, and leave the grace period out",
            ));
        }
        let note = self.remark(
            Topic::GracePeriod,
            "a workload that is created or scaled up while it should be stopped is stopped \
                after that time; a workload that is new at a stop is stopped like the others",
            format!("to let it run until the next stop, remove {enforce}"),
        );
        let grace = format_seconds(seconds.max(1));
        Ok((vec![(Key::Enforce, grace)], Some(note)))
    }

    fn stop_jobs(&self) -> Result<KeyTexts, Remark> {
        let stop_jobs = self.name(Key::StopJobs);
        if !self.context.counts().has(Key::StopJobs) {
            return Err(self.remark(
                Topic::NoEquivalent,
                "applies only to CronJobs in dayshift",
                format!(
                    "write {stop_jobs}: \"true\" on each CronJob whose Jobs a stop should suspend, and \
                        remove this annotation once the other tool is gone"
                ),
            ));
        }
        let flag = self.text.trim().to_ascii_lowercase().parse::<bool>();
        let flag = flag.map_err(|_| {
            let message = format!("`{}` is neither true nor false", quote(self.text));
            let help = format!("write {stop_jobs}: \"true\"");
            self.remark(Topic::NotRead, message, help)
        })?;
        Ok(vec![(Key::StopJobs, flag.to_string())])
    }
}

/// The maximum of `dayshift/enforce` in seconds.
const MAX_GRACE: u64 = 24 * 3600;

/// Parses a duration as GoKubeDownscaler does, rounded up to seconds: `1h30m`, `1.5h`, or a number
/// of seconds, which py-kube-downscaler accepts too.
fn seconds(text: &str) -> Option<u64> {
    if let Ok(seconds) = text.parse() {
        return Some(seconds);
    }
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    let mut nanos = 0.0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (number, after) = rest.split_at(end);
        let end = after.find(|letter: char| letter.is_ascii_digit() || letter == '.');
        let (unit, after) = after.split_at(end.unwrap_or(after.len()));
        let unit = match unit {
            "ns" => 1.0,
            "us" | "µs" | "μs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "m" => 60e9,
            "h" => 3600e9,
            _ => return None,
        };
        nanos += number.parse::<f64>().ok()? * unit;
        rest = after;
    }
    let seconds = (nanos / 1e9).ceil();
    // The limit of Go's durations is 292 years.
    (seconds < 1e10).then_some(seconds as u64)
}

/// Parses a time. py-kube-downscaler's forms are in UTC; GoKubeDownscaler accepts RFC 3339.
fn until(text: &str) -> Option<DateTime<Utc>> {
    if let Ok(at) = DateTime::parse_from_rfc3339(text) {
        return Some(at.to_utc());
    }
    let forms = ["%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"];
    let mut read = forms
        .iter()
        .filter_map(|form| NaiveDateTime::parse_from_str(text, form).ok());
    let date = || {
        NaiveDate::parse_from_str(text, "%Y-%m-%d")
            .ok()?
            .and_hms_opt(0, 0, 0)
    };
    Some(read.next().or_else(date)?.and_utc())
}

/// Parses the saved count. For suspended and hibernated objects GoKubeDownscaler saves a boolean,
/// and for a ScaledObject that was not paused -1 (`scaledobjects.go`, 018b381).
fn saved(text: &str, context: ConvertContext<'_>) -> Option<u32> {
    let counts = context.counts();
    let count = match (&*text.to_ascii_lowercase(), counts) {
        ("true", CountKind::Suspend { .. } | CountKind::Switch) => Replicas::ZERO,
        ("false", CountKind::Suspend { .. } | CountKind::Switch) | ("-1", CountKind::Pause) => {
            Replicas::ONE
        }
        (_, CountKind::Pause) => Replicas::parse(text).ok().map(|_| Replicas::ZERO)?,
        _ => Replicas::parse(text).ok()?,
    };
    Some(counts.capped(count).get())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_the_durations_of_go() {
        for (text, expected) in [
            ("15m", Some("15m")),
            ("900", Some("15m")),
            ("1h30m", Some("1h30m")),
            ("1.5h", Some("1h30m")),
            ("90s", Some("1m30s")),
            ("1500ms", Some("2s")),
            ("100µs", Some("1s")),
            ("0", Some("")),
            ("15", Some("15s")),
            ("15 m", None),
            ("m", None),
            ("", None),
            (".m", None),
            ("1d", None),
            ("-5m", None),
            ("1e400h", None),
            ("99999999999999999999h", None),
        ] {
            let found = seconds(text).map(format_seconds);
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }
}
