//! What becomes of annotations, and what is said of them.

use std::ops::Range;

use chrono::{DateTime, SecondsFormat, Utc};
use dayshift_workload::{CountKind, Key, Kind, Prefix};

use crate::{
    convert::{
        finding::Topic,
        times::timespan::{SpanDefaults, SpanError, SpanErrorKind, Spans},
    },
    manifest::Finding,
};

/// One of their annotations: the name after the prefix, and the text.
pub(crate) type Old<'o> = (&'o str, &'o str);

/// What is said of one of the annotations: its place is which of them, and which bytes of its text.
pub(crate) type Remark = Finding<Topic, (usize, Range<usize>)>;

/// Why the text of an annotation is no list of spans.
pub(super) fn of_span_error(at: usize, error: SpanError) -> Remark {
    let topic = match error.kind {
        SpanErrorKind::Text => Topic::NotRead,
        SpanErrorKind::Default => Topic::NeedsDefault,
        SpanErrorKind::Zones => Topic::TwoZones,
    };
    Remark::new(topic, (at, error.span), error.message, error.help)
}

/// What became of each annotation.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// The annotations that are replaced, each with what takes its place.
    pub(crate) replaced: Vec<(usize, Vec<(&'static str, String)>)>,
    /// The count that was saved.
    pub(crate) saved: Option<u32>,
    pub(crate) remarks: Vec<Remark>,
}

/// What there is to know about the object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'c> {
    pub(crate) now: DateTime<Utc>,
    pub(crate) defaults: SpanDefaults,
    pub(crate) prefix: &'c Prefix,
    /// Its row in the table of kinds; `None` for a Namespace, and for what has `spec.replicas` alone.
    pub(crate) kind: Option<Kind>,
    /// Whether a force that always holds has to be an override: on a Namespace it wins over the
    /// schedules of objects, and on an object over that of its Namespace.
    pub(crate) overrides: bool,
}

impl Context<'_> {
    /// What its count means.
    pub(super) fn counts(&self) -> CountKind {
        self.kind.map_or(CountKind::Replicas, Kind::counts)
    }
}

/// `dayshift/exclude`, which is beside the schedule.
pub(crate) const EXCLUDE: &str = Key::Exclude.name();

pub(super) const UPTIME: &str = "uptime";
pub(super) const DOWNTIME: &str = "downtime";
pub(super) const UPSCALE: &str = "upscale-period";
pub(super) const DOWNSCALE: &str = "downscale-period";
pub(super) const FORCE_UP: &str = "force-uptime";
pub(super) const FORCE_DOWN: &str = "force-downtime";

/// Those that make up the schedule.
pub(super) const SCHEDULE: [&str; 6] = [UPTIME, DOWNTIME, UPSCALE, DOWNSCALE, FORCE_UP, FORCE_DOWN];

/// Whether a key is one of those that make up the schedule.
pub(super) fn is_schedule(key: &str) -> bool {
    SCHEDULE.contains(&key)
}

/// Whether an annotation takes the place of a flag, which the name of its annotation stands for:
/// the schedule counts as one, and the count of a stop has a name in each tool.
pub(crate) fn is_same(own: &str, flag: &str) -> bool {
    let is_count = |key| matches!(key, "downtime-replicas" | "downscale-replicas");
    own == flag || is_schedule(own) && is_schedule(flag) || is_count(own) && is_count(flag)
}

/// What of a Namespace's force is laid over the schedule that an object has of its own: what holds at
/// times only. One that always holds is an override, and one of the object's own comes before it.
pub(crate) fn laid_over<'o>(
    own: &[Old<'_>],
    namespace: &[Old<'o>],
    context: Context<'_>,
) -> Vec<Old<'o>> {
    let has_times = own.iter().any(|it| is_schedule(it.0) && !is_force(it.0));
    if !has_times || own.iter().any(|it| is_force(it.0)) {
        return Vec::new();
    }
    let is_timed = |it: &&Old<'_>| {
        let spans = Spans::parse(it.1, context.defaults);
        is_force(it.0) && spans.is_ok_and(|it| !it.is_always() && !it.is_never())
    };
    namespace.iter().filter(is_timed).copied().collect()
}

/// Whether a key forces something, whatever the other times are.
pub(crate) fn is_force(key: &str) -> bool {
    matches!(key, FORCE_UP | FORCE_DOWN)
}

pub(super) fn rfc3339(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}
