//! Events on Namespaces about starts that wait for a slot: `docs/guides/start-order.md`.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::known::{KnownWorkload, MOMENT, Milli, Place, SOON};

/// The interval between Events while a start waits.
const AGAIN: Milli = 5 * 60_000;
/// The delay of the first Event after the first start begins to wait.
const SETTLING: Milli = 1_000;

/// The Events of the running controller.
#[derive(Default)]
pub(super) struct Notices {
    /// The time of the last Event of each Namespace.
    last_events: BTreeMap<String, Milli>,
    /// The Events since the last check.
    news: Vec<Notice>,
    pub(super) count: usize,
}

struct Notice {
    at: Milli,
    namespace: String,
    text: String,
}

impl Notices {
    /// Another controller starts, which does not know the earlier Events.
    pub(super) fn forget_events(&mut self) {
        self.last_events.clear();
        self.news.clear();
    }

    /// Records an Event, given the beginning of the day. Returns the violated rule, if any.
    pub(super) fn record(&mut self, event: &Value, day: DateTime<Utc>) -> Result<(), String> {
        if event["reason"] != "StartsWait" {
            return Ok(());
        }
        let [kind, namespace] = ["kind", "name"].map(|it| event["regarding"][it].as_str());
        if kind != Some("Namespace") || event["type"] != "Normal" {
            return Err(format!(
                "waiting starts are not reported by a Normal Event on a Namespace: {event}"
            ));
        }
        let made = event["eventTime"].as_str().unwrap();
        let made = made.parse::<DateTime<Utc>>().unwrap();
        self.count += 1;
        self.news.push(Notice {
            at: (made - day).num_milliseconds(),
            namespace: namespace.unwrap().to_owned(),
            text: event["note"].as_str().unwrap().to_owned(),
        });
        Ok(())
    }

    /// Checks the Events of the controller that has run since `up`.
    pub(super) fn check(
        &mut self,
        seen: &BTreeMap<Place, KnownWorkload>,
        max: Option<usize>,
        (up, now): (Milli, Milli),
    ) -> Result<(), String> {
        let of = |namespace: &str| {
            let all = seen.iter().filter(move |(place, _)| place.0 == namespace);
            all.map(|(_, it)| it).collect::<Vec<_>>()
        };
        for Notice {
            at,
            namespace,
            text,
        } in std::mem::take(&mut self.news)
        {
            let all = of(&namespace);
            let most = all.iter().filter(|it| it.may_wait(at)).count();
            let waits = |it: &&&KnownWorkload| it.waiting_since(at, up).is_some();
            let least = all.iter().filter(waits).count().max(1);
            let expected_text = |count: usize| {
                let starts = if count == 1 {
                    "1 start waits".to_owned()
                } else {
                    format!("{count} starts wait")
                };
                let max = max.unwrap_or_default();
                format!("{starts} until fewer workloads are starting (--max-starting {max})")
            };
            if !(least..=most).any(|count| text == expected_text(count)) {
                return Err(format!(
                    "{least} to {most} starts wait in {namespace}, and the Event reports: {text}"
                ));
            }
            let before = self.last_events.insert(namespace.clone(), at);
            let has_waited = |before: Milli| {
                let since = all.iter().filter_map(|it| it.waiting_since(at, up));
                since.min().is_some_and(|since| since < before)
            };
            if before.is_some_and(|before| at < before + AGAIN && has_waited(before)) {
                return Err(format!(
                    "waiting starts in {namespace} are reported again too early"
                ));
            }
        }
        let namespaces: BTreeSet<_> = seen.keys().map(|place| &*place.0).collect();
        for namespace in namespaces {
            let all = of(namespace);
            let since = all.iter().filter_map(|it| it.waiting_since(now, up)).min();
            let is_due = since.is_some_and(|since| since + SETTLING + SOON < now);
            let last_event = self.last_events.get(namespace);
            if is_due && last_event.is_none_or(|last| last + AGAIN + SOON < now) {
                return Err(format!("waiting starts in {namespace} are not reported"));
            }
        }
        Ok(())
    }
}

impl KnownWorkload {
    /// Whether the start might have waited for a slot at this time, or since the last check.
    fn may_wait(&self, at: Milli) -> bool {
        let was_down = self.replicas == 0 || self.started.is_some_and(|it| it.0 >= at);
        let was_due = self.due(at).or_else(|| self.due(at - MOMENT)).is_some();
        was_down && (was_due || self.edited + MOMENT >= at)
    }

    /// Since when the start has certainly waited for a slot, if that is long enough to be counted.
    fn waiting_since(&self, at: Milli, up: Milli) -> Option<Milli> {
        let waits = self.replicas == 0
            && !self.is_refused
            && self.edited + MOMENT < at
            && self.due(at + MOMENT).is_some();
        let since = self.free_since.filter(|_| waits)?.max(up) + SOON;
        (since < at).then_some(since)
    }
}
