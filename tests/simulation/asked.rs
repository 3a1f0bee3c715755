//! What a user asks for with annotations, as a value and as text.

use std::collections::BTreeMap;

use chrono::DateTime;

use crate::{calendar::Plan, object::Phase};

/// All of a user's annotations; `plan` counts in the story's list of plans.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    pub plan: Option<usize>,
    pub bad: Option<Bad>,
    pub replicas: Option<u32>,
    pub stop_replicas: Option<u32>,
    pub pause: Option<Pause>,
    /// In seconds since 1970.
    pub wake: Option<i64>,
    pub sleep: Option<i64>,
    pub enforce: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    Forever,
    Until(i64),
}

/// What can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bad {
    Day,
    Zone,
    Unknown,
    Replicas,
    StopReplicas,
    Override,
}

impl Bad {
    /// A name that is no key.
    pub const UNKNOWN: &str = "strat";

    pub const ALL: [Self; 6] = [
        Self::Day,
        Self::Zone,
        Self::Unknown,
        Self::Replicas,
        Self::StopReplicas,
        Self::Override,
    ];

    const fn text(self) -> (&'static str, &'static str) {
        match self {
            Self::Day => ("stop", "Mon-Fry 19:00"),
            Self::Zone => ("timezone", "Mars/Olympus"),
            Self::Unknown => (Self::UNKNOWN, "Mon-Fri 09:00"),
            Self::Replicas => ("replicas", "two"),
            Self::StopReplicas => ("stop-replicas", "-1"),
            Self::Override => ("wake-until", "tomorrow"),
        }
    }
}

const SCHEDULE: [&str; 3] = ["start", "stop", "hours"];
const FINGERPRINTED: [&str; 6] = ["start", "stop", "hours", "timezone", "except", "jitter"];

impl Asked {
    pub fn texts(&self, plans: &[Plan]) -> BTreeMap<String, String> {
        let mut texts = BTreeMap::new();
        let mut put = |key: &str, text: Option<String>| {
            if let Some(text) = text {
                texts.insert(key.to_owned(), text);
            }
        };
        for (key, text) in self.plan.map_or_else(Vec::new, |plan| plans[plan].texts()) {
            put(key, Some(text));
        }
        let count = |count: Option<u32>| count.map(|count| count.to_string());
        put("replicas", count(self.replicas));
        put("stop-replicas", count(self.stop_replicas));
        put(
            "pause",
            self.pause.map(|pause| match pause {
                Pause::Forever => "true".to_owned(),
                Pause::Until(at) => until(at),
            }),
        );
        put("wake-until", self.wake.map(until));
        put("sleep-until", self.sleep.map(until));
        put("enforce", self.enforce.then(|| "true".to_owned()));
        if let Some(bad) = self.bad {
            let (key, text) = bad.text();
            put(key, Some(text.to_owned()));
        }
        texts
    }

    /// What texts ask for that are not refused.
    pub fn of(texts: &BTreeMap<String, String>, plans: &[Plan]) -> Self {
        if !has_schedule(texts) {
            return Self::default();
        }
        let count = |key: &str| texts.get(key).map(|text| text.parse().unwrap());
        let moment = |key: &str| texts.get(key).map(|text| instant(text));
        let schedule = schedule(texts);
        let written = |plan: &Plan| -> BTreeMap<String, String> {
            let texts = plan.texts().into_iter();
            texts.map(|(key, text)| (key.to_owned(), text)).collect()
        };
        let plan = plans.iter().position(|plan| schedule == written(plan));
        assert!(plan.is_some(), "a schedule of nobody: {schedule:?}");
        Self {
            plan,
            bad: None,
            replicas: count("replicas"),
            stop_replicas: count("stop-replicas"),
            pause: texts.get("pause").map(|text| match &**text {
                "true" => Pause::Forever,
                until => Pause::Until(instant(until)),
            }),
            wake: moment("wake-until"),
            sleep: moment("sleep-until"),
            enforce: texts.contains_key("enforce"),
        }
    }

    /// What is laid over the schedule at an instant, and until when: pause beats wake beats sleep.
    pub fn held(&self, now: i64) -> Option<(Phase, Option<i64>)> {
        let pause = match self.pause {
            Some(Pause::Forever) => return Some((Phase::Paused, None)),
            Some(Pause::Until(at)) => Some((Phase::Paused, at)),
            None => None,
        };
        let wake = self.wake.map(|at| (Phase::Woken, at));
        let sleep = self.sleep.map(|at| (Phase::Slept, at));
        let all = [pause, wake, sleep].into_iter().flatten();
        let mut still = all.filter(|(_, at)| *at > now);
        still.next().map(|(phase, at)| (phase, Some(at)))
    }

    /// The end that is written for what a phase stands for.
    pub fn end_of(&self, phase: Phase) -> Option<i64> {
        match (phase, self.pause) {
            (Phase::Paused, Some(Pause::Until(at))) => Some(at),
            (Phase::Woken, _) => self.wake,
            (Phase::Slept, _) => self.sleep,
            _ => None,
        }
    }

    /// The annotations that are over.
    pub fn over(&self, now: i64) -> Vec<&'static str> {
        let ends = [
            ("pause", self.end_of(Phase::Paused)),
            ("sleep-until", self.sleep),
            ("wake-until", self.wake),
        ];
        let over = |end: Option<i64>| end.is_some_and(|end| end <= now);
        let keys = ends.into_iter().filter(|(_, end)| over(*end));
        keys.map(|(key, _)| key).collect()
    }
}

pub fn has_schedule(texts: &BTreeMap<String, String>) -> bool {
    SCHEDULE.iter().any(|key| texts.contains_key(*key))
}

/// The texts that a fingerprint is made of.
pub fn schedule(texts: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut schedule = texts.clone();
    schedule.retain(|key, _| FINGERPRINTED.contains(&&**key));
    schedule
}

/// The label `fingerprint`, as documented: anybody can compute it.
pub fn fingerprint(texts: &BTreeMap<String, String>, uid: &str) -> String {
    use sha2::{Digest, Sha256};
    let mut hash = Sha256::new();
    hash.update(uid);
    for key in FINGERPRINTED {
        if let Some(text) = texts.get(key) {
            hash.update(format!("\n{key}={}:{text}", text.len()));
        }
    }
    let digest = hash.finalize();
    let digits: String = digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("v1-{digits}")
}

/// The count after a stop that stands there; an unreadable one counts as none.
pub fn stop_count(texts: &BTreeMap<String, String>) -> u32 {
    let text = texts.get("stop-replicas");
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn until(at: i64) -> String {
    let at = DateTime::from_timestamp(at, 0).unwrap();
    at.format("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn instant(text: &str) -> i64 {
    DateTime::parse_from_rfc3339(text).unwrap().timestamp()
}
