//! The overrides of a schedule: `pause`, `wake-until` and `sleep-until`; and `enforce`.

use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    inputs::annotations::Origin,
    keys::Key,
    state::{Phase, State},
};

/// The overrides of one schedule, by their annotations. Some may be over by now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Overrides {
    /// What is written on the object itself.
    pub own: OverrideSet,
    /// What is written on its Namespace, which holds while none of the object's own does.
    pub inherited: OverrideSet,
    /// Whether what runs while the schedule says stopped is stopped again.
    pub enforce: Enforce,
}

/// Whether what runs while the schedule says stopped is stopped again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Enforce {
    /// It is left as it is.
    #[default]
    No,
    /// A count that somebody raises is put back at once.
    AtOnce,
    /// A count that somebody raises is put back after this long, and so is what appears meanwhile.
    After(TimeDelta),
}

/// The overrides that are written in one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OverrideSet {
    /// Nothing is done.
    pub pause: Option<Pause>,
    /// Running until then.
    pub wake_until: Option<DateTime<Utc>>,
    /// Stopped until then.
    pub sleep_until: Option<DateTime<Utc>>,
}

/// How long dayshift leaves an object alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pause {
    /// Until the annotation is removed.
    Forever,
    /// Until then.
    Until(DateTime<Utc>),
}

/// The one override that is active at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Override {
    /// dayshift leaves the object alone.
    Pause(Pause),
    /// The object runs until then.
    Wake(DateTime<Utc>),
    /// The object is stopped until then.
    Sleep(DateTime<Utc>),
}

/// The most characters of a reason that are shown; a command writes no longer one.
pub const MAX_REASON: usize = 200;

/// Whose an override is, and why it is there, as far as anybody says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Author {
    /// The user, as the API server knows them.
    pub by: Option<Box<str>>,
    /// Their reason.
    pub reason: Option<Box<str>>,
}

impl OverrideSet {
    /// The override that holds at `now`: pause beats wake beats sleep, and one that ends at `now`
    /// is over.
    pub fn at(&self, now: DateTime<Utc>) -> Option<Override> {
        self.all()
            .find(|held| held.until().is_none_or(|until| until > now))
    }

    /// All of them, whether they are over or not; the one that beats the others first.
    pub fn all(&self) -> impl Iterator<Item = Override> + use<> {
        let all = [
            self.pause.map(Override::Pause),
            self.wake_until.map(Override::Wake),
            self.sleep_until.map(Override::Sleep),
        ];
        all.into_iter().flatten()
    }

    /// The annotations that name one.
    fn keys(self) -> impl Iterator<Item = Key> {
        self.all().map(Override::annotation)
    }

    fn until(&self, key: Key) -> Option<DateTime<Utc>> {
        let mut overrides = self.all();
        overrides.find(|held| held.annotation() == key)?.until()
    }
}

impl Overrides {
    /// The override that holds at `now`, and where it is written: one of the object's own beats
    /// those of its Namespace.
    pub fn with_origin_at(&self, now: DateTime<Utc>) -> Option<(Origin, Override)> {
        let own = self.own.at(now).map(|held| (Origin::Own, held));
        own.or_else(|| Some((Origin::Namespace, self.inherited.at(now)?)))
    }

    /// The override that holds at `now`.
    pub fn at(&self, now: DateTime<Utc>) -> Option<Override> {
        self.with_origin_at(now).map(|(_, held)| held)
    }

    /// Every override, whether it is over or not.
    pub fn all(&self) -> impl Iterator<Item = Override> + use<> {
        self.own.all().chain(self.inherited.all())
    }

    /// These, but for overrides of the object's own that have ended before and that `kubectl
    /// rollout undo` has brought back: those come with the annotation `override-began`, which goes
    /// when an override ends.
    ///
    /// Where it is there, it has to be that of the override that holds the object by its state,
    /// or the override at `now` has to be that one.
    #[must_use]
    pub fn without_ended(self, began: Option<&str>, state: &State, now: DateTime<Utc>) -> Self {
        let counts = began.is_none_or(|began| {
            state.override_began().as_deref() == Some(began)
                || self.at(now).is_some_and(|over| over.holds(state))
        });
        if counts {
            self
        } else {
            Self {
                own: OverrideSet::default(),
                ..self
            }
        }
    }

    /// The annotations of the object itself that name an override.
    pub fn own_keys(&self) -> Vec<Key> {
        self.own.keys().collect()
    }

    /// The annotations of the object itself that are over at `now`. Those of its Namespace are
    /// others' too, and are left there.
    pub fn expired_at(&self, now: DateTime<Utc>) -> Vec<Key> {
        let is_over = |held: &Override| held.until().is_some_and(|until| until <= now);
        let over = self.own.all().filter(is_over);
        over.map(Override::annotation).collect()
    }

    /// The time that an annotation names, the later one where the Namespace has it too.
    pub fn until(&self, key: Key) -> Option<DateTime<Utc>> {
        self.own.until(key).max(self.inherited.until(key))
    }
}

impl Pause {
    /// When it ends by itself, if it does.
    pub const fn until(self) -> Option<DateTime<Utc>> {
        match self {
            Self::Forever => None,
            Self::Until(until) => Some(until),
        }
    }
}

impl Override {
    /// Whether an object is held by this override, by its state.
    pub fn holds(self, state: &State) -> bool {
        let seconds = |at: Option<DateTime<Utc>>| at.map(|at| at.timestamp());
        state.phase == Some(self.phase()) && seconds(state.next_at()) == seconds(self.until())
    }

    /// When it ends by itself, if it does.
    pub const fn until(self) -> Option<DateTime<Utc>> {
        match self {
            Self::Pause(pause) => pause.until(),
            Self::Wake(until) | Self::Sleep(until) => Some(until),
        }
    }

    /// The annotation that asks for it.
    pub const fn annotation(self) -> Key {
        match self {
            Self::Pause(_) => Key::Pause,
            Self::Wake(_) => Key::WakeUntil,
            Self::Sleep(_) => Key::SleepUntil,
        }
    }

    /// The phase of an object on which it has begun.
    pub const fn phase(self) -> Phase {
        match self {
            Self::Pause(_) => Phase::Paused,
            Self::Wake(_) => Phase::Woken,
            Self::Sleep(_) => Phase::Slept,
        }
    }

    /// The annotation that has brought an object into a phase.
    pub const fn key(phase: Phase) -> Option<Key> {
        match phase {
            Phase::Paused => Some(Key::Pause),
            Phase::Woken => Some(Key::WakeUntil),
            Phase::Slept => Some(Key::SleepUntil),
            Phase::Adopted | Phase::Running | Phase::Stopped => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pause_beats_wake_beats_sleep_until_each_is_over() {
        let hour = |hour| DateTime::UNIX_EPOCH + TimeDelta::hours(hour);
        let own = OverrideSet {
            pause: Some(Pause::Until(hour(1))),
            wake_until: Some(hour(2)),
            sleep_until: Some(hour(3)),
        };
        let all = Overrides {
            own,
            ..Overrides::default()
        };
        for (now, expected, over) in [
            (0, Some(Phase::Paused), &[][..]),
            (1, Some(Phase::Woken), &[Key::Pause]),
            (2, Some(Phase::Slept), &[Key::Pause, Key::WakeUntil]),
            (3, None, &[Key::Pause, Key::WakeUntil, Key::SleepUntil]),
        ] {
            assert_eq!(all.at(hour(now)).map(Override::phase), expected, "{now}");
            assert_eq!(all.expired_at(hour(now)), over, "{now}");
        }
        let for_ever = Overrides {
            own: OverrideSet {
                pause: Some(Pause::Forever),
                ..own
            },
            ..all
        };
        assert_eq!(for_ever.at(hour(9)), Some(Override::Pause(Pause::Forever)));
        assert_eq!(for_ever.expired_at(hour(2)), [Key::WakeUntil]);
    }

    #[test]
    fn an_own_override_beats_any_of_the_namespace_until_it_is_over() {
        let hour = |hour| DateTime::UNIX_EPOCH + TimeDelta::hours(hour);
        let all = Overrides {
            own: OverrideSet {
                sleep_until: Some(hour(1)),
                ..OverrideSet::default()
            },
            inherited: OverrideSet {
                pause: Some(Pause::Until(hour(3))),
                ..OverrideSet::default()
            },
            enforce: Enforce::No,
        };
        for (now, expected) in [
            (0, Some((Origin::Own, Phase::Slept))),
            (1, Some((Origin::Namespace, Phase::Paused))),
            (3, None),
        ] {
            let holds = all.with_origin_at(hour(now));
            let holds = holds.map(|(origin, held)| (origin, held.phase()));
            assert_eq!(holds, expected, "{now}");
        }
        assert_eq!(all.expired_at(hour(4)), [Key::SleepUntil], "what may go");
    }
}
