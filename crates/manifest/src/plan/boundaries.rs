//! The boundaries of one object in a period, as a plan shows them.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::{Action, Zone};
use dayshift_workload::{Key, Override, Replicas, ScheduleSpec};
use serde::{Serialize, Serializer};

use super::{occurrence::occurrences, period::Period};

/// A boundary as an object meets it: on its own clocks, its start moved by its jitter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedBoundary {
    /// When; in JSON as RFC 3339 with the offset of the object's zone.
    #[serde(serialize_with = "rfc_3339")]
    pub at: DateTime<Zone>,
    /// What.
    #[serde(serialize_with = "name")]
    pub action: Action,
    /// The count afterwards; `None` where it depends on the count saved at the stop.
    #[serde(serialize_with = "count")]
    pub replicas: Option<Replicas>,
    /// Whether it is applied: not while an override holds. In JSON only where it is not.
    #[serde(skip_serializing_if = "is_true")]
    pub applied: bool,
    /// The override that ends then and so is the reason for it, such as `wake-until`. In JSON only
    /// where there is one.
    #[serde(serialize_with = "key_name", skip_serializing_if = "Option::is_none")]
    pub ends: Option<Key>,
}

/// All of one object in a period. They are found as they are asked for.
#[derive(Clone, Debug)]
pub(super) struct Boundaries {
    pub(super) spec: Option<ScheduleSpec>,
    pub(super) delay: TimeDelta,
    pub(super) period: Period,
    /// The count that a start brings back, where it is known.
    pub(super) brings_back: Option<Replicas>,
}

impl Boundaries {
    pub(super) fn iter(&self) -> impl Iterator<Item = PlannedBoundary> + '_ {
        self.spec.iter().flat_map(move |spec| {
            let zone = spec.schedule.zone();
            let from = self.period.from();
            let found = occurrences(spec, self.delay, self.period, from);
            found.map(move |it| PlannedBoundary {
                at: it.at.with_timezone(&zone),
                action: it.action,
                replicas: match it.action {
                    _ if !it.applied => None,
                    Action::Start => self.started(spec, it.at),
                    Action::Stop => Some(spec.stop_replicas),
                    Action::Scale(count) => Some(Replicas::new(count)),
                },
                applied: it.applied,
                ends: it.ends,
            })
        })
    }

    /// The count after a start at that instant: a wake gives one at the least, and with exact counts
    /// the largest of them.
    fn started(&self, spec: &ScheduleSpec, at: DateTime<Utc>) -> Option<Replicas> {
        let is_woken = matches!(spec.overrides.at(at), Some(Override::Wake(_)));
        if spec.keeps_zero && self.brings_back == Some(Replicas::ZERO) && !is_woken {
            return self.brings_back;
        }
        let least = spec.largest_count().max(Some(Replicas::ONE));
        let least = least.filter(|_| is_woken).unwrap_or_default();
        let back = || self.brings_back.map(|count| count.max(least));
        spec.replicas.or_else(back)
    }
}

impl Serialize for Boundaries {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

fn rfc_3339<S: Serializer>(at: &DateTime<Zone>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&at.to_rfc3339())
}

// As serde asks for it.
#[expect(clippy::trivially_copy_pass_by_ref)]
fn is_true(value: &bool) -> bool {
    *value
}

fn name<S: Serializer>(action: &Action, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(action.name())
}

fn key_name<S: Serializer>(key: &Option<Key>, serializer: S) -> Result<S::Ok, S::Error> {
    key.map(Key::name).serialize(serializer)
}

fn count<S: Serializer>(count: &Option<Replicas>, serializer: S) -> Result<S::Ok, S::Error> {
    count.map(Replicas::get).serialize(serializer)
}
