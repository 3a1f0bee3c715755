//! The content of one patch, why it is sent, and the note from which its Event is written.

use std::{cmp::Ordering, fmt};

use chrono::{DateTime, Utc};
use dayshift_schedule::{Action, Boundary, Since, Zone};

use crate::{
    inputs::{
        overrides::{Author, Enforce, Override},
        spec::ScheduleSpec,
    },
    keys::Key,
    observed::{CountField, Observed},
    replicas::Replicas,
    state::{Next, Phase, Started, State, whole_second},
    workload_ref::WorkloadRef,
};

/// The content of one patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The kind of change.
    pub kind: ChangeKind,
    /// Why it is made now.
    pub cause: Cause,
    /// The boundary that a start, a stop or an exact count carries out; `None` for other changes.
    /// After an override, its `at` is the end of the override.
    pub boundary: Option<Boundary>,
    /// The count after the change.
    pub replicas: Replicas,
    /// The state labels after the change.
    pub state: State,
    /// The value that a start restores in an on/off field, as stored in the label; `None` if none
    /// was saved.
    pub value: Option<Box<str>>,
    /// The annotation `error` after the change.
    pub error: Option<Box<str>>,
    /// The annotation `override-began` after the change.
    pub override_began: Option<Box<str>>,
    /// The annotation `inherited` after the change.
    pub inherited: Option<Box<str>>,
    /// The calendar dates that the decision used:
    /// [`ParsedInputs::calendar_digest`](crate::ParsedInputs::calendar_digest).
    pub calendars: u64,
    /// The annotations of ended overrides, which the patch removes.
    pub expired: Vec<Key>,
    /// The note for the Event to send when the patch is accepted.
    pub note: Option<EventNote>,
}

impl Change {
    /// A change by a CLI command: it sets the count and the state, and keeps everything else.
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

    /// Updates a start that has waited until `ended`. It is due since then, and all boundaries up
    /// to then are considered.
    #[must_use]
    pub fn after_wait(
        mut self,
        ended: DateTime<Utc>,
        spec: &ScheduleSpec,
        object: &WorkloadRef,
    ) -> Self {
        self.cause = match self.cause {
            Cause::Clock(_) => Cause::Clock(ended),
            Cause::Request { .. } => Cause::Request { seen: ended },
            Cause::Correction => Cause::Correction,
        };
        let ended = whole_second(ended);
        self.state.last = self.state.last.max(Some(ended));
        let since = spec.stop_after.map(|after| after.since);
        if let Some(started) = &mut self.state.started
            && since == Some(Since::Start)
            && started.at < ended
        {
            started.at = ended;
            if !self.state.phase.is_some_and(Phase::is_override) {
                let next = spec.next_after(object, self.state.started, ended);
                self.state.next = Some(Next::or_never(next.map(|next| next.at)));
            }
        }
        self
    }

    /// Adds the effect on the value of an on/off field: a stop saves the value, and a start
    /// restores it.
    ///
    /// `enforce` reverts a manual change since the stop, so it keeps the value that the stop saved.
    pub(crate) fn with_value(mut self, observed: &Observed) -> Self {
        let CountField::Switch(field) = &observed.count_field else {
            return self;
        };
        let known = self.state.saved_value.take();
        let has_saved_count = self.state.saved > Some(Replicas::ZERO);
        match self.replicas.cmp(&observed.replicas) {
            Ordering::Less if self.kind == ChangeKind::Enforce && known.is_some() => {
                self.state.saved_value = known;
            }
            Ordering::Less => self.state.saved_value = field.value.to_label(),
            Ordering::Greater => self.value = known,
            Ordering::Equal if has_saved_count => self.state.saved_value = known,
            Ordering::Equal => {}
        }
        self
    }
}

/// Why a change is made now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// At this time a boundary was reached, or an override ended by itself.
    Clock(DateTime<Utc>),
    /// A user changed annotations: a schedule is new, edited or removed, or an override begins or
    /// is removed.
    Request {
        /// When the annotations were first observed.
        seen: DateTime<Utc>,
    },
    /// A correction: another client changed something that dayshift had written.
    /// [`Memory`](crate::Memory) counts corrections.
    Correction,
}

/// The kinds of changes.
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
    /// The schedule is adopted without scaling. If the adoption also starts the object, the kind is
    /// [`Self::Start`].
    Adopt(Adoption),
    /// The schedule is rejected.
    Refuse,
    /// A rejected schedule was corrected.
    Resume,
    /// The next time has moved: an override ends at another time, or a boundary moved with the
    /// default zone or with new time zone data.
    Reschedule,
    /// A manual increase while stopped is reverted.
    Enforce,
    /// An override is removed that had ended before it was first observed, or that was restored
    /// after its end.
    RemoveExpiredOverride,
    /// State labels that were removed or replaced by older ones are written again.
    Correct,
    /// The schedule was removed.
    Remove,
    /// `dayshift restore` raises the object to its saved count.
    Restore,
    /// `dayshift sync` sets the count that the schedule requires.
    Sync,
}

impl ChangeKind {
    /// Whether the change is a start, a stop or an exact count. Those have priority over other
    /// writes.
    pub const fn is_transition(self) -> bool {
        self.action().is_some()
    }

    /// The action of a boundary, or of the beginning of an override.
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
            Self::Correct => "heal",
            Self::Remove => "remove",
            Self::Restore => "restore",
            Self::Sync => "sync",
        })
    }
}

/// Why a schedule is adopted, so that it takes effect at its next boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Adoption {
    /// The object has no state labels.
    New,
    /// The state belongs to another schedule or another object.
    Changed,
    /// A pause ended, or an override ended after which the schedule requires nothing yet.
    Over,
    /// The due boundary was missed for longer than the catch-up limit.
    Missed,
    /// The state is more than an hour ahead of a correct clock.
    FromFuture,
}

/// The content of an Event about a change. Times are printed in `zone`, the zone of the schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventNote {
    /// A boundary, or the end of an override, changed the count.
    Scaled {
        /// The action, and when it was due.
        boundary: Boundary,
        /// The override that ended.
        ended: Option<Key>,
        /// The count before.
        from: Replicas,
        /// The count after.
        to: Replicas,
        /// The boundary after that.
        next: Option<Boundary>,
        /// The zone of the schedule.
        zone: Zone,
    },
    /// An override began, whether it changed the count or not.
    Began {
        /// The override.
        active: Override,
        /// The count before.
        from: Replicas,
        /// The count after.
        to: Replicas,
        /// The zone of the schedule.
        zone: Zone,
        /// The author of the override.
        author: Box<Author>,
    },
    /// A user ended the active override earlier.
    Shortened {
        /// The override with its new end.
        active: Override,
        /// The end before; `None` if it had none.
        before: Option<DateTime<Utc>>,
        /// The zone of the schedule.
        zone: Zone,
        /// The author of the change.
        author: Box<Author>,
    },
    /// A schedule was observed for the first time, and the object does not match it.
    Adopted {
        /// The action that the schedule requires.
        required: Action,
        /// The count, which is not changed.
        replicas: Replicas,
        /// When the schedule takes effect, if ever.
        until: Option<DateTime<Utc>>,
        /// The zone of the schedule.
        zone: Zone,
    },
    /// A new or edited schedule was adopted.
    ScheduleChanged(AdoptedSchedule),
    /// An override ended, and the schedule was adopted again.
    Resumed(AdoptedSchedule),
    /// The adoption of a schedule started a workload that dayshift had stopped.
    Restored {
        /// Why it was adopted.
        why: Adoption,
        /// The count before.
        from: Replicas,
        /// The count after.
        to: Replicas,
        /// The boundary after that.
        next: Option<Boundary>,
        /// The zone of the schedule.
        zone: Zone,
    },
    /// The schedule was edited while an override is active.
    ChangedDuringOverride {
        /// The override.
        active: Override,
        /// The zone of the schedule.
        zone: Zone,
    },
    /// `enforce` reverted a manual change.
    Enforced {
        /// The count before.
        from: Replicas,
        /// The count after.
        to: Replicas,
    },
    /// The object runs against its schedule, and `enforce` will stop it.
    StopsSoon {
        /// When `enforce` stops it.
        due: DateTime<Utc>,
        /// The zone of the schedule.
        zone: Zone,
    },
    /// The override had ended before it was first observed.
    Expired(Key),
    /// The override had already ended, and its annotation was restored.
    EndedBefore(Key),
    /// The schedule was removed while more was saved than runs.
    Removed {
        /// The count, which is not changed.
        replicas: Replicas,
        /// The saved count.
        saved: Replicas,
    },
    /// A boundary was missed for longer than the catch-up limit.
    Missed {
        /// The missed boundary.
        boundary: Boundary,
        /// The next boundary.
        next: Option<Boundary>,
        /// The zone of the schedule.
        zone: Zone,
    },
    /// The label `last` is ahead of the clock.
    FromFuture {
        /// The time in the label.
        last: DateTime<Utc>,
        /// The next boundary.
        next: Option<Boundary>,
        /// The zone of the schedule.
        zone: Zone,
    },
    /// Another client reverts every correction of the state.
    CorrectionLimitReached,
    /// The schedule is rejected. The text is that of the annotation `error`.
    Invalid(Box<str>),
}

/// The consequences of adopting a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdoptedSchedule {
    /// The action that the schedule requires now, if the object does not match it.
    pub required: Option<Action>,
    /// The count, which is not changed.
    pub replicas: Replicas,
    /// The next boundary.
    pub next: Option<Boundary>,
    /// The zone of the schedule.
    pub zone: Zone,
}

impl EventNote {
    /// `None` if the count does not change.
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

    /// `None` if the object matches the schedule.
    pub(crate) fn adopted(
        observed: &Observed,
        spec: &ScheduleSpec,
        started: Option<Started>,
        now: DateTime<Utc>,
    ) -> Option<Self> {
        let object = &observed.object;
        let required = observed.contradicted_since(spec, started, now)?;
        let stops = matches!(spec.overrides.enforce, Enforce::After(_)) && !required.is_up();
        if stops {
            return None; // `StopsSoon` reports it with its time.
        }
        let same = match required {
            Action::Scale(_) => spec.next_after(object, started, now),
            Action::Start | Action::Stop => {
                spec.next_boundary(required.direction(), object, started, now)
            }
        };
        Some(Self::Adopted {
            required,
            replicas: observed.replicas,
            until: same.map(|boundary| boundary.at),
            zone: spec.schedule.zone(),
        })
    }
}

impl AdoptedSchedule {
    pub(crate) fn new(
        observed: &Observed,
        spec: &ScheduleSpec,
        started: Option<Started>,
        now: DateTime<Utc>,
    ) -> Self {
        Self {
            required: observed.contradicted_since(spec, started, now),
            replicas: observed.replicas,
            next: spec.next_after(&observed.object, started, now),
            zone: spec.schedule.zone(),
        }
    }
}
