//! A change: what one patch writes to an object, and why.

use std::{cmp::Ordering, fmt};

use chrono::{DateTime, Utc};
use dayshift_schedule::{Action, Boundary};

use super::event_note::EventNote;
use crate::keys::Key;
use crate::observed::{CountField, Observed};
use crate::replicas::Replicas;
use crate::state::{State, whole_second};

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
