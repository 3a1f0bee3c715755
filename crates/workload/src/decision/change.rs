//! The content of one patch, why it is sent, and the note from which its Event is written.

use std::{cmp::Ordering, fmt};

use chrono::{DateTime, Utc};
use dayshift_schedule::{Action, Boundary, Zone};

use crate::{
    inputs::{
        overrides::{Author, Enforce, Override},
        spec::ScheduleSpec,
    },
    keys::Key,
    observed::{CountField, Observed},
    replicas::Replicas,
    state::{Phase, State, whole_second},
};

/// What one patch writes to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Which sort of change it is.
    pub kind: ChangeKind,
    /// Why it is made now.
    pub cause: Cause,
    /// The boundary that it carries out; `None` unless it is a start, a stop or a count. After an
    /// override, its `at` is the end of the override.
    pub boundary: Option<Boundary>,
    /// The count afterwards.
    pub replicas: Replicas,
    /// The state labels afterwards.
    pub state: State,
    /// What a switch that is turned on gets back, as its label had it; `None` where nothing says
    /// that.
    pub value: Option<Box<str>>,
    /// The error annotation afterwards.
    pub error: Option<Box<str>>,
    /// The annotation `override-began` afterwards.
    pub override_began: Option<Box<str>>,
    /// The annotation `inherited` afterwards.
    pub inherited: Option<Box<str>>,
    /// Which dates of calendars it was decided by: [`ParsedInputs::calendar_digest`](crate::ParsedInputs::calendar_digest).
    pub calendars: u64,
    /// The override annotations that are over, which the patch removes.
    pub expired: Vec<Key>,
    /// The Event to send once the patch is accepted.
    pub note: Option<EventNote>,
}

impl Change {
    /// A change that a person makes now: the count and the state afterwards, and all else as it is.
    pub(crate) fn requested(
        kind: ChangeKind,
        observed: &Observed,
        replicas: Replicas,
        state: State,
        now: DateTime<Utc>,
    ) -> Self {
        Self {
            kind,
            cause: Cause::Request { seen: now },
            boundary: None,
            replicas,
            state,
            value: None,
            error: observed.error.clone(),
            override_began: observed.override_began.clone(),
            inherited: observed.inherited.clone(),
            calendars: 0,
            expired: Vec::new(),
            note: None,
        }
    }

    /// The same start after a wait that ended then: it is due since then, and everything up to then is
    /// considered.
    #[must_use]
    pub fn after_wait(mut self, ended: DateTime<Utc>) -> Self {
        self.cause = match self.cause {
            Cause::Clock(_) => Cause::Clock(ended),
            Cause::Request { .. } => Cause::Request { seen: ended },
            Cause::Correction => Cause::Correction,
        };
        self.state.last = self.state.last.max(Some(whole_second(ended)));
        self
    }

    /// What this changes about the field of a switch, beside its count: one that is turned off has
    /// its value saved, one that is turned on gets back what was saved.
    ///
    /// `enforce` takes back what somebody has set since the stop, so what the stop saved stays.
    pub(crate) fn with_value(mut self, observed: &Observed) -> Self {
        let CountField::Switch(field) = &observed.count_field else {
            return self;
        };
        let known = self.state.saved_value.take();
        let is_held_down = self.state.saved > Some(Replicas::ZERO);
        match self.replicas.cmp(&observed.replicas) {
            Ordering::Less if self.kind == ChangeKind::Enforce && known.is_some() => {
                self.state.saved_value = known;
            }
            Ordering::Less => self.state.saved_value = field.value.to_label(),
            Ordering::Greater => self.value = known,
            Ordering::Equal if is_held_down => self.state.saved_value = known,
            Ordering::Equal => {}
        }
        self
    }
}

/// Why a change is made now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The clock: at this instant a boundary came, or an override ended by itself.
    Clock(DateTime<Utc>),
    /// A user, by annotations that were first seen then: a schedule that is new, edited or
    /// removed, an override that begins or is taken away.
    Request {
        /// When they were seen.
        seen: DateTime<Utc>,
    },
    /// A correction: somebody has changed what dayshift wrote, and dayshift writes it again.
    /// [`Memory`](crate::Memory) counts these.
    Correction,
}

/// The sorts of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// A start is due.
    Start,
    /// A stop is due.
    Stop,
    /// An exact count is due.
    Scale(Replicas),
    /// `wake-until` begins.
    Wake,
    /// `sleep-until` begins.
    Sleep,
    /// A pause begins.
    Pause,
    /// The schedule is adopted: followed from now on, without scaling. Where the adoption starts
    /// what was held down it is a [`Self::Start`].
    Adopt(Adoption),
    /// The schedule is refused.
    Refuse,
    /// A refused schedule was corrected.
    Resume,
    /// The next instant has moved: an override ends at another time, or a boundary moved with the
    /// default zone or new zone data.
    Reschedule,
    /// A count raised by hand while stopped is lowered again.
    Enforce,
    /// An override that was over when it was first seen, or already ended and was restored, is removed.
    RemoveExpiredOverride,
    /// State that vanished or went backwards is written again.
    Heal,
    /// The schedule was removed.
    Remove,
    /// `dayshift restore` raises the object to its saved count.
    Restore,
    /// `dayshift sync` sets the count that the schedule says.
    Sync,
}

impl ChangeKind {
    /// Whether the change is a start, a stop or a count. These are sent before all others.
    pub const fn is_transition(self) -> bool {
        self.action().is_some()
    }

    /// What a boundary, or the beginning of an override, does.
    pub const fn action(self) -> Option<Action> {
        match self {
            Self::Start | Self::Wake => Some(Action::Start),
            Self::Stop | Self::Sleep => Some(Action::Stop),
            Self::Scale(count) => Some(Action::Scale(count.get())),
            _ => None,
        }
    }
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Scale(_) => "scale",
            Self::Wake => "wake",
            Self::Sleep => "sleep",
            Self::Pause => "pause",
            Self::Adopt(_) => "adopt",
            Self::Refuse => "refuse",
            Self::Resume => "resume",
            Self::Reschedule => "reschedule",
            Self::Enforce => "enforce",
            Self::RemoveExpiredOverride => "remove expired override",
            Self::Heal => "heal",
            Self::Remove => "remove",
            Self::Restore => "restore",
            Self::Sync => "sync",
        })
    }
}

/// Why a schedule is adopted: followed from now on, without scaling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Adoption {
    /// No state was there.
    New,
    /// The state belongs to another text or another object.
    Changed,
    /// A pause is over, or an override after which the schedule says nothing.
    Over,
    /// The boundary that is due was missed for longer than the catch-up.
    Missed,
    /// The state is from more than an hour ahead of a good clock.
    FromFuture,
}

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
    ScheduleChanged(AdoptedSchedule),
    /// An override or a pause ended, and the schedule was adopted again.
    Resumed(AdoptedSchedule),
    /// A schedule was taken up that says running, and what dayshift held down is started.
    Restored {
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
    ChangedDuringOverride {
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
pub struct AdoptedSchedule {
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
        let says = observed.contradicted_action(spec, now)?;
        let stops = matches!(spec.overrides.enforce, Enforce::After(_)) && !says.is_up();
        if stops {
            return None; // That is told with its time.
        }
        let same = match says {
            Action::Scale(_) => spec.next_after(object, now),
            Action::Start | Action::Stop => spec.next_boundary(says.direction(), object, now),
        };
        Some(Self::Adopted {
            says,
            replicas: observed.replicas,
            until: same.map(|boundary| boundary.at),
            zone: spec.schedule.zone(),
        })
    }
}

impl AdoptedSchedule {
    pub(crate) fn new(observed: &Observed, spec: &ScheduleSpec, now: DateTime<Utc>) -> Self {
        Self {
            says: observed.contradicted_action(spec, now),
            replicas: observed.replicas,
            next: spec.next_after(&observed.object, now),
            zone: spec.schedule.zone(),
        }
    }
}
