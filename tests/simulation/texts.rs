//! What annotations as they stand ask for.

use std::collections::BTreeMap;

use chrono::DateTime;

use crate::{
    asked::{Asked, Pause},
    calendar::Plan,
    phase::Phase,
};

const SCHEDULE: [&str; 3] = ["start", "stop", "hours"];
const FINGERPRINTED: [&str; 6] = ["start", "stop", "hours", "timezone", "except", "jitter"];

impl Asked {
    pub fn texts(&self, plans: &[Plan]) -> BTreeMap<String, String> {
        self.annotations(plans).into_iter().collect()
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

fn instant(text: &str) -> i64 {
    DateTime::parse_from_rfc3339(text).unwrap().timestamp()
}
