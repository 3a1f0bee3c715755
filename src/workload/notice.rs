//! What a user is told of a change: the reason and text of a Kubernetes Event.

use std::fmt;

use chrono::{DateTime, Utc};

use crate::schedule::{Action, Boundary};

use super::{
    observed::{ObjectRef, Observed},
    reading::Timetable,
    replicas::Replicas,
};

/// Why an Event is sent; its `reason` is the name of the variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A start raised the count.
    Started,
    /// A stop lowered the count.
    Stopped,
    /// The schedule was edited, or came with a copy; nothing was scaled.
    ScheduleChanged,
    /// The schedule was removed while the object was down.
    ScheduleRemoved,
    /// The schedule is refused.
    InvalidSchedule,
    /// The API server refuses the patch.
    ScaleFailed,
    /// A boundary was missed for longer than the catch-up.
    BoundaryMissed,
    /// The state is from more than an hour ahead.
    StateFromFuture,
    /// Somebody puts the state wrong as often as it is put right.
    HandsOff,
}

impl Reason {
    /// Whether the Event is a Warning.
    pub const fn is_warning(self) -> bool {
        !matches!(self, Self::Started | Self::Stopped | Self::ScheduleChanged)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// One Event to be: why, and in what words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Its reason.
    pub reason: Reason,
    /// Its text, plain, at most 1 kB.
    pub text: String,
}

impl Notice {
    pub(super) fn new(reason: Reason, text: String) -> Self {
        Self { reason, text }
    }

    /// A count changed at a boundary; none where it stayed what it was.
    pub(super) fn scaled(
        boundary: Boundary,
        timetable: &Timetable,
        from: Replicas,
        to: Replicas,
        next: Option<Boundary>,
    ) -> Option<Self> {
        let reason = match boundary.action {
            Action::Start => Reason::Started,
            Action::Stop => Reason::Stopped,
        };
        let text = format!(
            "scaled from {from} to {to} by the {} of {}; {}",
            boundary.action,
            local(timetable, boundary.at),
            coming(timetable, next)
        );
        (from != to).then(|| Self::new(reason, text))
    }

    pub(super) fn changed(
        observed: &Observed,
        timetable: &Timetable,
        saved: Option<Replicas>,
        now: DateTime<Utc>,
        next: Option<Boundary>,
    ) -> Self {
        let mut text = format!(
            "the schedule is new or edited: nothing is scaled now; {}",
            coming(timetable, next)
        );
        let says = timetable.says(&observed.object, now);
        if says == Some(Action::Start) && observed.replicas == Replicas::ZERO {
            let count = timetable
                .replicas
                .or(saved)
                .unwrap_or_default()
                .max(Replicas::ONE);
            text += &format!(
                ". It says running now, but the count is 0: to start it now, run {}",
                scale_command(&observed.object, count)
            );
        }
        Self::new(Reason::ScheduleChanged, text)
    }

    pub(super) fn removed(object: &ObjectRef, running: Replicas, saved: Replicas) -> Self {
        Self::new(
            Reason::ScheduleRemoved,
            format!(
                "the schedule was removed while stopped at {running}; nothing is scaled. To bring it back, run {}",
                scale_command(object, saved)
            ),
        )
    }

    pub(super) fn missed(
        timetable: &Timetable,
        boundary: Boundary,
        next: Option<Boundary>,
    ) -> Self {
        Self::new(
            Reason::BoundaryMissed,
            format!(
                "the {} of {} was missed for longer than the catch-up: nothing is scaled now; {}",
                boundary.action,
                local(timetable, boundary.at),
                coming(timetable, next)
            ),
        )
    }

    pub(super) fn from_future(
        timetable: &Timetable,
        last: DateTime<Utc>,
        next: Option<Boundary>,
    ) -> Self {
        Self::new(
            Reason::StateFromFuture,
            format!(
                "the label `last` is ahead of the clock, at {}: nothing is scaled now; {}",
                last.format("%Y-%m-%dT%H:%M:%SZ"),
                coming(timetable, next)
            ),
        )
    }

    pub(super) fn hands_off() -> Self {
        let text = "something else changes what dayshift wrote as often as it is put right; hands off until the next boundary";
        Self::new(Reason::HandsOff, text.to_owned())
    }
}

fn scale_command(object: &ObjectRef, count: Replicas) -> String {
    format!(
        "kubectl scale deployment/{} -n {} --replicas={count}",
        object.name, object.namespace
    )
}

/// `Mon 2026-11-23 09:00:00 JST`, in the zone of the schedule.
fn local(timetable: &Timetable, at: DateTime<Utc>) -> String {
    at.with_timezone(&timetable.schedule.zone().tz())
        .format("%a %Y-%m-%d %H:%M:%S %Z")
        .to_string()
}

fn coming(timetable: &Timetable, next: Option<Boundary>) -> String {
    match next {
        Some(next) => format!(
            "next is the {} of {}",
            next.action,
            local(timetable, next.at)
        ),
        None => "no boundary is to come".to_owned(),
    }
}
