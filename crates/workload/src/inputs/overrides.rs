//! The overrides of a schedule (`pause`, `wake-until` and `sleep-until`), and `enforce`.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::{Diagnostic, Zone, parse_date_time};

use crate::{
    inputs::annotations::Origin,
    keys::Key,
    state::{Phase, State},
};

/// The overrides of one schedule. Some might have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Overrides {
    /// The overrides on the object itself.
    pub own: OverrideSet,
    /// The overrides among the team's defaults. They apply when none of the object's own is active.
    pub team: OverrideSet,
    /// The overrides on its Namespace. They apply when none of the others is active.
    pub inherited: OverrideSet,
    /// Whether a workload is stopped again if it runs against its schedule.
    pub enforce: Enforce,
}

/// Whether a workload is stopped again if it runs against its schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Enforce {
    /// A manual change is kept.
    #[default]
    No,
    /// A manual increase is reverted immediately.
    AtOnce,
    /// A manual increase is reverted after this grace period, and a new workload is stopped after
    /// it.
    After(TimeDelta),
}

/// The overrides that are written in one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OverrideSet {
    /// dayshift changes nothing.
    pub pause: Option<Pause>,
    /// The workload runs until then.
    pub wake_until: Option<DateTime<Utc>>,
    /// The workload is stopped until then.
    pub sleep_until: Option<DateTime<Utc>>,
}

/// Whether a request to its Service wakes a workload during a sleep (`wake-on-request`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RequestWakes {
    /// As its `wake-on-request` specifies.
    #[default]
    Allowed,
    /// No request wakes it before the sleep ends.
    Ignored,
}

/// The value of `sleep-until`: the end of the sleep and, after a `;`, whether requests are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SleepUntil {
    /// The end of the sleep.
    pub until: DateTime<Utc>,
    /// Whether a request wakes the workload.
    pub requests: RequestWakes,
}

/// The word after the `;` of a `sleep-until` during which requests are ignored.
pub(crate) const NO_REQUEST_WAKE: &str = "no-request-wake";

impl SleepUntil {
    /// Parses a time, or a time and `no-request-wake`: `2026-12-24 18:00; no-request-wake`.
    ///
    /// # Errors
    /// If the time is invalid, or another word follows. The span is in bytes of the string.
    pub fn parse(text: &str, zone: Zone) -> Result<Self, Diagnostic> {
        let Some((until, word)) = text.split_once(';') else {
            return Ok(Self {
                until: parse_date_time(text, zone)?,
                requests: RequestWakes::Allowed,
            });
        };
        // A proposal for the time should not replace the whole string.
        let until = parse_date_time(until, zone).map_err(|error| error.with_proposal(None))?;
        if !word.trim().eq_ignore_ascii_case(NO_REQUEST_WAKE) {
            let blanks = word.len() - word.trim_start().len();
            let start = text.len() - word.len() + blanks;
            let span = start..start + word.trim().len();
            let help = format!("write `{NO_REQUEST_WAKE}`, or remove the `;`");
            let wrong = "is not `no-request-wake`";
            return Err(Diagnostic::new(span, word.trim(), wrong, help));
        }
        Ok(Self {
            until,
            requests: RequestWakes::Ignored,
        })
    }
}

/// How long a pause lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pause {
    /// Until the annotation is removed.
    Forever,
    /// Until this time.
    Until(DateTime<Utc>),
}

/// An active override.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Override {
    /// dayshift does not change the object.
    Pause(Pause),
    /// The object runs until then.
    Wake(DateTime<Utc>),
    /// The object is stopped until then.
    Sleep(DateTime<Utc>),
}

/// The maximum number of characters of a reason that is printed or written.
pub const MAX_REASON: usize = 200;

/// The author of an override and the reason, if known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Author {
    /// The user, as authenticated by the API server.
    pub by: Option<Box<str>>,
    /// The user's reason.
    pub reason: Option<Box<str>>,
}

/// The reason that `dayshift sync` writes, which marks its overrides.
pub const SYNC_REASON: &str = "dayshift sync";

impl Author {
    /// Whether `dayshift sync` wrote the override.
    pub fn is_sync(&self) -> bool {
        self.reason.as_deref() == Some(SYNC_REASON)
    }
}

impl OverrideSet {
    /// The active override at `now`. Pause has priority over wake, and wake over sleep. An override
    /// that ends at `now` is not active.
    pub fn at(&self, now: DateTime<Utc>) -> Option<Override> {
        self.all()
            .find(|held| held.until().is_none_or(|until| until > now))
    }

    /// All overrides, including ended ones, by priority.
    pub fn all(&self) -> impl Iterator<Item = Override> + use<> {
        let all = [
            self.pause.map(Override::Pause),
            self.wake_until.map(Override::Wake),
            self.sleep_until.map(Override::Sleep),
        ];
        all.into_iter().flatten()
    }

    fn keys(self) -> impl Iterator<Item = Key> {
        self.all().map(Override::annotation)
    }

    fn until(&self, key: Key) -> Option<DateTime<Utc>> {
        let mut overrides = self.all();
        overrides.find(|held| held.annotation() == key)?.until()
    }
}

impl Overrides {
    /// The active override at `now`, and where it is written. The object's own overrides have
    /// priority over those of its team, and these over those of its Namespace.
    pub fn with_origin_at(&self, now: DateTime<Utc>) -> Option<(Origin, Override)> {
        let mut sets = self.sets().into_iter();
        sets.find_map(|(origin, set)| Some((origin, set.at(now)?)))
    }

    /// The overrides of each place, by priority.
    pub const fn sets(&self) -> [(Origin, OverrideSet); 3] {
        [
            (Origin::Own, self.own),
            (Origin::Team, self.team),
            (Origin::Namespace, self.inherited),
        ]
    }

    /// The active override at `now` that the object inherits, and where it is written.
    pub fn inherited_at(&self, now: DateTime<Utc>) -> Option<(Origin, Override)> {
        let own = OverrideSet::default();
        Self { own, ..*self }.with_origin_at(now)
    }

    /// The active override at `now`.
    pub fn at(&self, now: DateTime<Utc>) -> Option<Override> {
        self.with_origin_at(now).map(|(_, held)| held)
    }

    /// All overrides, including ended ones.
    pub fn all(&self) -> impl Iterator<Item = Override> + use<> {
        let sets = self.sets().into_iter();
        sets.flat_map(|(_, set)| set.all())
    }

    /// Removes the object's own overrides if they had ended before and `kubectl rollout undo`
    /// restored them. A restored override comes with the annotation `override-began`, which
    /// dayshift removes when an override ends.
    ///
    /// If the annotation is present, it must match the active override in the state, or the state
    /// must match the override at `now`.
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

    /// The keys of the object's own overrides.
    pub fn own_keys(&self) -> Vec<Key> {
        self.own.keys().collect()
    }

    /// The keys of the object's own overrides that have ended at `now`. Inherited ones apply to other
    /// objects too and are kept where they are.
    pub fn expired_at(&self, now: DateTime<Utc>) -> Vec<Key> {
        let is_over = |held: &Override| held.until().is_some_and(|until| until <= now);
        let over = self.own.all().filter(is_over);
        over.map(Override::annotation).collect()
    }

    /// The end of an override. If it is in several places, the latest end.
    pub fn until(&self, key: Key) -> Option<DateTime<Utc>> {
        let ends = self.sets().map(|(_, set)| set.until(key));
        ends.into_iter().flatten().max()
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
    /// Whether the state of an object has this override.
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

    /// The key of its annotation.
    pub const fn annotation(self) -> Key {
        match self {
            Self::Pause(_) => Key::Pause,
            Self::Wake(_) => Key::WakeUntil,
            Self::Sleep(_) => Key::SleepUntil,
        }
    }

    /// The name of the command that begins it.
    pub const fn command(self) -> &'static str {
        match self {
            Self::Pause(_) => "pause",
            Self::Wake(_) => "wake",
            Self::Sleep(_) => "sleep",
        }
    }

    /// The phase of an object while it is active.
    pub const fn phase(self) -> Phase {
        match self {
            Self::Pause(_) => Phase::Paused,
            Self::Wake(_) => Phase::Woken,
            Self::Sleep(_) => Phase::Slept,
        }
    }

    /// The key of the override that leads to a phase.
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
    fn pause_has_priority_over_wake_and_wake_over_sleep() {
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
    fn an_active_override_has_priority_over_those_of_later_levels() {
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
            team: OverrideSet {
                wake_until: Some(hour(2)),
                ..OverrideSet::default()
            },
            enforce: Enforce::No,
        };
        for (now, expected) in [
            (0, Some((Origin::Own, Phase::Slept))),
            (1, Some((Origin::Team, Phase::Woken))),
            (2, Some((Origin::Namespace, Phase::Paused))),
            (3, None),
        ] {
            let holds = all.with_origin_at(hour(now));
            let holds = holds.map(|(origin, held)| (origin, held.phase()));
            assert_eq!(holds, expected, "{now}");
        }
        assert_eq!(
            all.expired_at(hour(4)),
            [Key::SleepUntil],
            "keys that can be removed"
        );
    }
}
