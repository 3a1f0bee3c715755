//! A user's intent: the annotations as plain values, and as strings.

use chrono::DateTime;
use serde::{Deserialize, Serialize};

use crate::{
    checker::objects::phase::Phase,
    scenario::{calendar::Plan, names},
};

/// All of a user's annotations. `plan` is an index into the scenario's list of plans.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Intent {
    pub plan: Option<usize>,
    pub bad: Option<Bad>,
    pub replicas: Option<u32>,
    pub stop_replicas: Option<u32>,
    pub pause: Option<Pause>,
    /// The end of `wake-until`, in seconds since 1970.
    pub wake: Option<i64>,
    pub sleep: Option<i64>,
    pub enforce: Option<Enforce>,
    pub exclude: bool,
    /// The overrides of the Namespace, which apply if the object has none of its own.
    pub inherited: Overrides,
}

/// The overrides of one Namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    pub pause: Option<Pause>,
    pub wake: Option<i64>,
    pub sleep: Option<i64>,
}

/// When `enforce` corrects a count that was raised while stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enforce {
    AtOnce,
    /// After this many seconds; this also applies to workloads that are created while stopped.
    After(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    Forever,
    Until(i64),
}

/// Possible errors in annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Bad {
    Day,
    Zone,
    UnknownKey,
    NoHoursBeside,
    Replicas,
    StopReplicas,
    Long,
    Foreign,
    Override,
}

impl Bad {
    pub const ALL: [Self; 9] = [
        Self::Day,
        Self::Zone,
        Self::UnknownKey,
        Self::NoHoursBeside,
        Self::Replicas,
        Self::StopReplicas,
        Self::Long,
        Self::Foreign,
        Self::Override,
    ];

    /// An unknown annotation key.
    pub const UNKNOWN_KEY: &str = "strat";

    /// The invalid annotations.
    pub fn texts(self) -> Vec<(String, String)> {
        let mut texts = Vec::new();
        self.spoil(&mut texts);
        texts
    }

    fn spoil(self, texts: &mut Vec<(String, String)>) {
        let mut put = |key: &str, text: &str| {
            texts.retain(|(known, _)| known != key);
            texts.push((key.to_owned(), text.to_owned()));
        };
        match self {
            Self::Day => put("stop", "Mon-Fry 19:00"),
            Self::Zone => put("timezone", "Mars/Olympus"),
            Self::UnknownKey => put(Self::UNKNOWN_KEY, "Mon-Fri 09:00"),
            Self::NoHoursBeside => {
                put("hours", "09:00-17:00");
                put("start", "09:00");
            }
            Self::Replicas => put("replicas", "two"),
            Self::StopReplicas => put("stop-replicas", "-1"),
            Self::Long => put("start", &"Mon-Fri 09:00, ".repeat(400)),
            Self::Foreign => put("start", &"月曜日 ９時 🕘 ".repeat(30)),
            Self::Override => put("wake-until", "tomorrow"),
        }
    }
}

impl Intent {
    /// The annotations: names without the prefix, and values.
    pub fn annotations(&self, plans: &[Plan]) -> Vec<(String, String)> {
        let mut texts: Vec<_> = self.plan.map_or_else(Vec::new, |plan| {
            let name = names::name(plan);
            if names::entries().contains_key(&name) {
                return vec![(names::KEY.to_owned(), name)];
            }
            let texts = plans[plan].texts().into_iter();
            texts.map(|(key, text)| (key.to_owned(), text)).collect()
        });
        let counts = [
            ("replicas", self.replicas),
            ("stop-replicas", self.stop_replicas),
        ];
        for (key, count) in counts {
            texts.extend(count.map(|count| (key.to_owned(), count.to_string())));
        }
        let until = |at: i64| {
            let at = DateTime::from_timestamp(at, 0).unwrap();
            at.format("%Y-%m-%dT%H:%M:%SZ").to_string()
        };
        let overlays = [
            (
                "pause",
                self.pause.map(|pause| match pause {
                    Pause::Forever => "true".to_owned(),
                    Pause::Until(at) => until(at),
                }),
            ),
            ("wake-until", self.wake.map(until)),
            ("sleep-until", self.sleep.map(until)),
            (
                "enforce",
                self.enforce.map(|enforce| match enforce {
                    Enforce::AtOnce => "true".to_owned(),
                    Enforce::After(grace) => format!("{grace}s"),
                }),
            ),
            ("exclude", self.exclude.then(|| "true".to_owned())),
        ];
        for (key, text) in overlays {
            texts.extend(text.map(|text| (key.to_owned(), text)));
        }
        if let Some(bad) = self.bad {
            bad.spoil(&mut texts);
        }
        texts
    }

    /// The object's own overrides.
    pub const fn own(&self) -> Overrides {
        Overrides {
            pause: self.pause,
            wake: self.wake,
            sleep: self.sleep,
        }
    }

    /// The override that is active at a time, and its end. An override of the object precedes one of its
    /// Namespace.
    pub fn held(&self, now: i64) -> Option<(Phase, Option<i64>)> {
        self.own().held(now).or_else(|| self.inherited.held(now))
    }

    /// The end of the override that causes a phase; the later one if both objects have one.
    pub fn end_of(&self, phase: Phase) -> Option<i64> {
        self.own().end_of(phase).max(self.inherited.end_of(phase))
    }
}

impl Overrides {
    fn held(&self, now: i64) -> Option<(Phase, Option<i64>)> {
        match self.pause {
            Some(Pause::Forever) => return Some((Phase::Paused, None)),
            Some(Pause::Until(at)) if at > now => return Some((Phase::Paused, Some(at))),
            _ => {}
        }
        let wake = self
            .wake
            .filter(|at| *at > now)
            .map(|at| (Phase::Woken, Some(at)));
        let sleep = || {
            self.sleep
                .filter(|at| *at > now)
                .map(|at| (Phase::Slept, Some(at)))
        };
        wake.or_else(sleep)
    }

    pub fn end_of(&self, phase: Phase) -> Option<i64> {
        match (phase, self.pause) {
            (Phase::Paused, Some(Pause::Until(at))) => Some(at),
            (Phase::Woken, _) => self.wake,
            (Phase::Slept, _) => self.sleep,
            _ => None,
        }
    }

    /// The ends of all overrides.
    pub fn ends(&self) -> impl Iterator<Item = i64> {
        let pause = self.end_of(Phase::Paused);
        pause.into_iter().chain(self.wake).chain(self.sleep)
    }
}
