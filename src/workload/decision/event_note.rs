//! What a user is told of a change: the reason and text of a Kubernetes Event.

use std::fmt;

use chrono::{DateTime, Utc};

use crate::schedule::{Action, Boundary};

use super::change::Adoption;
use super::commands::{scale_command, sync_command, wake_command};
use super::phrases::{coming, holding, local, taken_up};
use crate::workload::inputs::overrides::{Enforce, Override};
use crate::workload::inputs::spec::ScheduleSpec;
use crate::workload::keys::{Key, Prefix};
use crate::workload::observed::Observed;
use crate::workload::replicas::Replicas;
use crate::workload::state::Phase;
use crate::workload::workload_ref::WorkloadRef;

/// Why an Event is sent; its `reason` is the name of the variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventReason {
    /// A start raised the count.
    Started,
    /// A stop lowered the count.
    Stopped,
    /// `scale` set another count.
    Scaled,
    /// `wake-until` began: the object runs until then.
    Woken,
    /// `sleep-until` began: the object is stopped until then.
    Slept,
    /// A pause began: dayshift leaves the object alone.
    Paused,
    /// An override or a pause ended, and nothing was scaled but what was held down.
    Resumed,
    /// `enforce` stops it before long.
    StopsSoon,
    /// A count raised by hand while stopped was put back.
    Enforced,
    /// An override was over when it was first seen, or has ended before and came back.
    OverrideExpired,
    /// The schedule was seen for the first time, and says otherwise than what runs.
    Adopted,
    /// The schedule was edited, or came with a copy; nothing was scaled but what was held down.
    ScheduleChanged,
    /// The schedule was removed while fewer ran than are saved.
    ScheduleRemoved,
    /// The schedule is refused.
    InvalidSchedule,
    /// The API server refuses the patch.
    ScaleFailed,
    /// Boundaries come faster than they can be carried out.
    BoundariesSkipped,
    /// A boundary was missed for longer than the catch-up.
    BoundaryMissed,
    /// The label `last` is more than an hour ahead of the clock.
    StateFromFuture,
    /// Somebody undoes each correction of the state.
    CorrectionLimitReached,
    /// Somebody else has set back a count that dayshift set.
    Reverted,
}

impl EventReason {
    /// All of them.
    pub const ALL: [Self; 20] = [
        Self::Started,
        Self::Stopped,
        Self::Scaled,
        Self::Woken,
        Self::Slept,
        Self::Paused,
        Self::Resumed,
        Self::StopsSoon,
        Self::Enforced,
        Self::OverrideExpired,
        Self::Adopted,
        Self::ScheduleChanged,
        Self::ScheduleRemoved,
        Self::InvalidSchedule,
        Self::ScaleFailed,
        Self::BoundariesSkipped,
        Self::BoundaryMissed,
        Self::StateFromFuture,
        Self::CorrectionLimitReached,
        Self::Reverted,
    ];

    /// Whether the Event is a Warning.
    pub const fn is_warning(self) -> bool {
        !matches!(
            self,
            Self::Started
                | Self::Stopped
                | Self::Scaled
                | Self::Woken
                | Self::Slept
                | Self::Paused
                | Self::Resumed
                | Self::StopsSoon
                | Self::Enforced
                | Self::Adopted
                | Self::ScheduleChanged
        )
    }
}

impl fmt::Display for EventReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// An Event that is to be sent: its reason and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventNote {
    /// Its reason.
    pub reason: EventReason,
    /// Its text, plain, at most 1 kB.
    pub text: String,
}

impl EventNote {
    pub(in crate::workload) fn new(reason: EventReason, text: String) -> Self {
        Self { reason, text }
    }

    /// What the annotations of a Namespace ask for is refused.
    pub fn invalid(text: String) -> Self {
        Self::new(EventReason::InvalidSchedule, text)
    }

    /// A boundary or the end of an override changed the count; `None` where the count is the same.
    pub(in crate::workload) fn scaled(
        boundary: Boundary,
        before: Option<Phase>,
        spec: &ScheduleSpec,
        from: Replicas,
        to: Replicas,
        next: Option<Boundary>,
    ) -> Option<Self> {
        let reason = match boundary.action {
            Action::Start => EventReason::Started,
            Action::Stop => EventReason::Stopped,
            Action::Scale(_) => EventReason::Scaled,
        };
        let (action, at) = (boundary.action, local(spec, boundary.at));
        let why = match before.and_then(Override::key) {
            Some(key @ (Key::WakeUntil | Key::SleepUntil)) => {
                format!("at the end of `{key}`, {at}: the schedule says {action}")
            }
            _ => format!("by the {action} of {at}"),
        };
        let changed = spec.counts.scaled_from(from, to);
        let text = format!("{changed} {why}; {}", coming(spec, next));
        (from != to).then(|| Self::new(reason, text))
    }

    /// An override or a pause has begun, whether it changed the count or not.
    pub(in crate::workload) fn begun(
        active: Override,
        spec: &ScheduleSpec,
        from: Replicas,
        to: Replicas,
    ) -> Self {
        let reason = match active {
            Override::Pause(_) => EventReason::Paused,
            Override::Wake(_) => EventReason::Woken,
            Override::Sleep(_) => EventReason::Slept,
        };
        let until = holding(active, spec);
        let text = match active {
            Override::Pause(_) => {
                format!(
                    "{}, and nothing is done, {until}",
                    spec.counts.count_stays(to)
                )
            }
            _ if from == to => format!("{} {until}", spec.counts.count_stays(to)),
            _ => format!("{} {until}", spec.counts.scaled_from(from, to)),
        };
        Self::new(reason, text)
    }

    /// A schedule was seen for the first time; none where it says what runs.
    pub(in crate::workload) fn adopted(
        observed: &Observed,
        spec: &ScheduleSpec,
        prefix: &Prefix,
        now: DateTime<Utc>,
    ) -> Option<Self> {
        let object = &observed.object;
        let says = spec.contradicts(observed, now)?;
        let stops = matches!(spec.overrides.enforce, Enforce::After(_)) && !says.brings_up();
        if stops {
            return None; // That is told with its time.
        }
        let same = |says: Action| match says {
            Action::Scale(_) => spec.next_after(object, now),
            Action::Start | Action::Stop => spec.next_that(says.brings_up(), object, now),
        };
        let until = same(says).map_or_else(
            || "until somebody scales it".to_owned(),
            |it| format!("until {}", local(spec, it.at)),
        );
        let (replicas, command) = (observed.replicas, sync_command(&observed.object, prefix));
        let text = match says {
            Action::Start => format!(
                "the schedule says running; {} {until}. To start it now, run {command}",
                spec.counts.it_stays_at(replicas)
            ),
            Action::Stop => {
                format!("the schedule says stopped; it runs {until}. To stop it now, run {command}")
            }
            Action::Scale(count) => format!(
                "the schedule says {count}; it stays at {replicas} {until}. To scale it now, run {command}"
            ),
        };
        Some(Self::new(EventReason::Adopted, text))
    }

    /// A new or edited schedule was adopted.
    pub(in crate::workload) fn changed(
        observed: &Observed,
        spec: &ScheduleSpec,
        prefix: &Prefix,
        now: DateTime<Utc>,
    ) -> Self {
        let text = format!(
            "the schedule is new or edited: {}",
            taken_up(observed, spec, prefix, now)
        );
        Self::new(EventReason::ScheduleChanged, text)
    }

    /// A schedule was taken up that says running, and what dayshift held down is started.
    pub(in crate::workload) fn brought_back(
        why: Adoption,
        spec: &ScheduleSpec,
        from: Replicas,
        to: Replicas,
        next: Option<Boundary>,
    ) -> Self {
        let (reason, what) = match why {
            Adoption::Missed => (
                EventReason::BoundaryMissed,
                "the schedule was missed for longer than the catch-up",
            ),
            Adoption::Over => (EventReason::Resumed, "the schedule goes on"),
            Adoption::New | Adoption::Changed | Adoption::FromFuture => {
                (EventReason::ScheduleChanged, "the schedule is edited")
            }
        };
        let text = format!(
            "{what} and says running now: {}; {}",
            spec.counts.scaled_from(from, to),
            coming(spec, next)
        );
        Self::new(reason, text)
    }

    /// An override or a pause ended, and the schedule was adopted again.
    pub(in crate::workload) fn resumed(
        observed: &Observed,
        spec: &ScheduleSpec,
        prefix: &Prefix,
        now: DateTime<Utc>,
    ) -> Self {
        let text = format!(
            "the schedule goes on: {}",
            taken_up(observed, spec, prefix, now)
        );
        Self::new(EventReason::Resumed, text)
    }

    /// The schedule was edited while an override holds.
    pub(in crate::workload) fn changed_below(active: Override, spec: &ScheduleSpec) -> Self {
        let text = format!(
            "the schedule is new or edited: nothing is scaled now, and the object is held {}",
            holding(active, spec)
        );
        Self::new(EventReason::ScheduleChanged, text)
    }

    pub(in crate::workload) fn enforced(spec: &ScheduleSpec, from: Replicas, to: Replicas) -> Self {
        let why = "it is stopped, and `enforce` is set";
        let text = if spec.counts.is_switch() {
            format!("{} again: {why}", spec.counts.scaled_from(from, to))
        } else {
            format!(
                "scaled from {from} back to {to}: {why}; the larger count is saved for the next start"
            )
        };
        Self::new(EventReason::Enforced, text)
    }

    /// It runs, and `enforce` stops it at `due`.
    pub(in crate::workload) fn stops_soon(
        observed: &Observed,
        spec: &ScheduleSpec,
        due: DateTime<Utc>,
        prefix: &Prefix,
    ) -> Self {
        let text = format!(
            "the schedule says stopped, and `enforce` stops it at {}. To keep it up, run {}",
            local(spec, due),
            wake_command(&observed.object, prefix)
        );
        Self::new(EventReason::StopsSoon, text)
    }

    pub(in crate::workload) fn expired(key: Key) -> Self {
        let text =
            format!("`{key}` is in the past: nothing is done, and the annotation is removed");
        Self::new(EventReason::OverrideExpired, text)
    }

    pub(in crate::workload) fn ended_before(key: Key) -> Self {
        let text = format!(
            "`{key}` has ended before and came back, as with `kubectl rollout undo`: nothing is done, and the annotation is removed"
        );
        Self::new(EventReason::OverrideExpired, text)
    }

    pub(in crate::workload) fn removed(
        object: &WorkloadRef,
        running: Replicas,
        saved: Replicas,
    ) -> Self {
        let counts = object.kind.counts();
        let how = if counts.is_switch() {
            format!("it was {}", counts.in_a_word(running))
        } else {
            format!("{running} ran of {saved}")
        };
        let command = scale_command(object, saved);
        let text = format!(
            "the schedule was removed while {how}; nothing is scaled. To bring it back, run {command}"
        );
        Self::new(EventReason::ScheduleRemoved, text)
    }

    pub(in crate::workload) fn missed(
        spec: &ScheduleSpec,
        boundary: Boundary,
        next: Option<Boundary>,
    ) -> Self {
        Self::new(
            EventReason::BoundaryMissed,
            format!(
                "the {} of {} was missed for longer than the catch-up: nothing is scaled now; {}",
                boundary.action,
                local(spec, boundary.at),
                coming(spec, next)
            ),
        )
    }

    pub(in crate::workload) fn from_future(
        spec: &ScheduleSpec,
        last: DateTime<Utc>,
        next: Option<Boundary>,
    ) -> Self {
        Self::new(
            EventReason::StateFromFuture,
            format!(
                "the label `last` is ahead of the clock, at {}: nothing is scaled now; {}",
                last.format("%Y-%m-%dT%H:%M:%SZ"),
                coming(spec, next)
            ),
        )
    }

    pub(in crate::workload) fn correction_limit_reached(
        observed: &Observed,
        prefix: &Prefix,
    ) -> Self {
        let object = &observed.object;
        let help = if observed.replicas == Replicas::ZERO {
            format!("To have it run now, run {}", wake_command(object, prefix))
        } else {
            let (kind, name, namespace) = (object.kind.singular(), &object.name, &object.namespace);
            format!(
                "To see who, run kubectl get {kind}/{name} -n {namespace} -o yaml --show-managed-fields"
            )
        };
        let text = format!(
            "something else keeps changing what dayshift wrote; dayshift leaves it alone until the next boundary. {help}"
        );
        Self::new(EventReason::CorrectionLimitReached, text)
    }
}
