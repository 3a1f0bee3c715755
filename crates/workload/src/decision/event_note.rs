//! What a user is to be told of a change; `events` puts it in words.

use chrono::{DateTime, Utc};
use dayshift_schedule::{Action, Boundary, Zone};

use super::change::Adoption;
use crate::inputs::overrides::{Author, Enforce, Override};
use crate::inputs::spec::ScheduleSpec;
use crate::keys::Key;
use crate::observed::Observed;
use crate::replicas::Replicas;
use crate::state::Phase;

/// What a user is to be told of a change, in an Event of the object. Instants are told in `zone`,
/// that of the schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventNote {
    /// A boundary changed the count, or the end of an override did.
    Scaled {
        /// What was carried out, and when it was due.
        boundary: Boundary,
        /// The override that ended then.
        ended: Option<Key>,
        /// The count before.
        from: Replicas,
        /// The count afterwards.
        to: Replicas,
        /// The boundary after that.
        next: Option<Boundary>,
        /// The zone of the schedule.
        zone: Zone,
    },
    /// An override or a pause has begun, whether it changed the count or not.
    Began {
        /// Which, and until when.
        active: Override,
        /// The count before.
        from: Replicas,
        /// The count afterwards.
        to: Replicas,
        /// The zone of the schedule.
        zone: Zone,
        /// Whose it is.
        author: Box<Author>,
    },
    /// A schedule was seen for the first time, and differs from what runs.
    Adopted {
        /// What it says.
        says: Action,
        /// The count that stays.
        replicas: Replicas,
        /// Until when it stays; `None` where nothing ends that.
        until: Option<DateTime<Utc>>,
        /// The zone of the schedule.
        zone: Zone,
    },
    /// A new or edited schedule was adopted.
    ScheduleChanged(TakenUp),
    /// An override or a pause ended, and the schedule was adopted again.
    Resumed(TakenUp),
    /// A schedule was taken up that says running, and what dayshift held down is started.
    BroughtBack {
        /// Why it was taken up.
        why: Adoption,
        /// The count before.
        from: Replicas,
        /// The count afterwards.
        to: Replicas,
        /// The boundary after that.
        next: Option<Boundary>,
        /// The zone of the schedule.
        zone: Zone,
    },
    /// The schedule was edited while an override holds.
    ChangedBelow {
        /// The override.
        active: Override,
        /// The zone of the schedule.
        zone: Zone,
    },
    /// `enforce` put the count back.
    Enforced {
        /// The count before.
        from: Replicas,
        /// The count afterwards.
        to: Replicas,
    },
    /// It runs, and `enforce` stops it.
    StopsSoon {
        /// When.
        due: DateTime<Utc>,
        /// The zone of the schedule.
        zone: Zone,
    },
    /// The time of this override was over when it was first seen.
    Expired(Key),
    /// This override already ended, and its annotation was restored.
    EndedBefore(Key),
    /// The schedule was removed while fewer run than are saved.
    Removed {
        /// The count that stays.
        running: Replicas,
        /// The count that was saved.
        saved: Replicas,
        /// What a switch held before, as its label has it.
        value: Option<Box<str>>,
    },
    /// A boundary was missed for longer than the catch-up.
    Missed {
        /// The boundary.
        boundary: Boundary,
        /// The boundary after now.
        next: Option<Boundary>,
        /// The zone of the schedule.
        zone: Zone,
    },
    /// The label `last` is ahead of the clock.
    FromFuture {
        /// What it says.
        last: DateTime<Utc>,
        /// The boundary after now.
        next: Option<Boundary>,
        /// The zone of the schedule.
        zone: Zone,
    },
    /// Somebody undoes each correction of the state; this many run now.
    CorrectionLimitReached(Replicas),
    /// The schedule is refused: the text of the annotation `error`.
    Invalid(Box<str>),
}

/// What becomes of a schedule that is followed from now on without scaling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakenUp {
    /// What the schedule says now, if that differs from what runs.
    pub says: Option<Action>,
    /// The count that stays.
    pub replicas: Replicas,
    /// The next boundary.
    pub next: Option<Boundary>,
    /// The zone of the schedule.
    pub zone: Zone,
}

impl EventNote {
    /// `None` where the count is the same.
    pub(crate) fn scaled(
        boundary: Boundary,
        before: Option<Phase>,
        spec: &ScheduleSpec,
        from: Replicas,
        to: Replicas,
        next: Option<Boundary>,
    ) -> Option<Self> {
        let ended = before.and_then(Override::key);
        (from != to).then(|| Self::Scaled {
            boundary,
            ended: ended.filter(|key| *key != Key::Pause),
            from,
            to,
            next,
            zone: spec.schedule.zone(),
        })
    }

    /// `None` where the schedule says what runs.
    pub(crate) fn adopted(
        observed: &Observed,
        spec: &ScheduleSpec,
        now: DateTime<Utc>,
    ) -> Option<Self> {
        let object = &observed.object;
        let says = spec.contradicts(observed, now)?;
        let stops = matches!(spec.overrides.enforce, Enforce::After(_)) && !says.brings_up();
        if stops {
            return None; // That is told with its time.
        }
        let same = match says {
            Action::Scale(_) => spec.next_after(object, now),
            Action::Start | Action::Stop => spec.next_that(says.brings_up(), object, now),
        };
        Some(Self::Adopted {
            says,
            replicas: observed.replicas,
            until: same.map(|it| it.at),
            zone: spec.schedule.zone(),
        })
    }
}

impl TakenUp {
    pub(crate) fn of(observed: &Observed, spec: &ScheduleSpec, now: DateTime<Utc>) -> Self {
        Self {
            says: spec.contradicts(observed, now),
            replicas: observed.replicas,
            next: spec.next_after(&observed.object, now),
            zone: spec.schedule.zone(),
        }
    }
}
