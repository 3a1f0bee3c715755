//! What is told of one change.

use chrono::{DateTime, Utc};
use dayshift_schedule::{Boundary, Zone};
use dayshift_workload::{Replicas, WorkloadRef};

/// Something that happened to a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineEvent {
    /// When it was stored.
    pub at: DateTime<Utc>,
    /// The zone of its schedule, in which times are told.
    pub zone: Zone,
    /// The workload.
    pub object: WorkloadRef,
    /// What happened.
    pub kind: EventKind,
    /// The count before.
    pub from: Replicas,
    /// The count after.
    pub to: Replicas,
    /// How many transitions in a row, up to this one, have not changed the count. Those after the
    /// second are only counted.
    pub idle: u32,
    /// The boundary to come, where there is a schedule and it has one.
    pub next: Option<Boundary>,
}

/// What happened to a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A start was carried out.
    Start,
    /// A stop was carried out.
    Stop,
    /// An exact count was set.
    Scale,
    /// `wake-until` holds it up until then.
    Wake(DateTime<Utc>),
    /// `sleep-until` holds it down until then.
    Sleep(DateTime<Utc>),
    /// Nothing is done until then or, without a time, until the annotation goes.
    Pause(Option<DateTime<Utc>>),
    /// A count that somebody raised while it was stopped was put back.
    Enforce,
    /// Its schedule was taken up; nothing was scaled.
    Adopt,
    /// It has no schedule and is left alone.
    Ignore,
    /// Its schedule is refused, for this reason; it stays as it is.
    Refuse(String),
    /// Its schedule was fixed, or a pause has ended, and it goes on.
    Resume,
    /// Its schedule was removed; nothing was scaled.
    Leave,
    /// Somebody changed it, by this command.
    UserAction(String),
    /// A request asked for it, or for what needs it: it is to be woken until then.
    Request(DateTime<Utc>),
    /// A request asked for it and wakes nothing, for this reason.
    IdleRequest(&'static str),
}
