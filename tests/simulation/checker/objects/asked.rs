//! The intent of annotations.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDateTime};
use chrono_tz::Tz;

use crate::{
    checker::objects::{
        object::{NEVER, State},
        phase::Phase,
        texts,
    },
    scenario::{
        calendar::{self, Plan},
        intent::{Enforce, Intent, Overrides, Pause},
    },
};

impl Intent {
    pub fn texts(&self, plans: &[Plan]) -> BTreeMap<String, String> {
        self.annotations(plans).into_iter().collect()
    }

    /// The intent of valid annotations on an object and on its Namespace.
    pub fn of(
        [own, defaults]: [&BTreeMap<String, String>; 2],
        plans: &[Plan],
        default_zone: Tz,
    ) -> Self {
        let texts = &*texts::in_force(own, defaults);
        if !texts::is_scheduled(texts) {
            return Self::default();
        }
        let count = |key: &str| texts.get(key).map(|text| text.parse().unwrap());
        let named = texts.get("timezone").map(|zone| zone.parse().unwrap());
        let zone = named.unwrap_or(default_zone);
        let overrides = |texts: &BTreeMap<String, String>| {
            let moment = |key: &str| texts.get(key).map(|text| instant(text, zone));
            Overrides {
                pause: texts.get("pause").map(|text| match &**text {
                    "true" => Pause::Forever,
                    until => Pause::Until(instant(until, zone)),
                }),
                wake: moment("wake-until"),
                sleep: moment("sleep-until"),
            }
        };
        let (inherited, own) = (overrides(defaults), overrides(own));
        let schedule = texts::schedule(texts);
        let written = |plan: &Plan| -> BTreeMap<String, String> {
            let texts = plan.texts().into_iter();
            texts.map(|(key, text)| (key.to_owned(), text)).collect()
        };
        let plan = plans.iter().position(|plan| schedule == written(plan));
        assert!(plan.is_some(), "no plan has the schedule {schedule:?}");
        Self {
            plan,
            bad: None,
            replicas: count("replicas"),
            stop_replicas: count("stop-replicas"),
            pause: own.pause,
            wake: own.wake,
            sleep: own.sleep,
            enforce: texts
                .get("enforce")
                .map(|text| match text.strip_suffix('s') {
                    Some(seconds) => Enforce::After(seconds.parse().unwrap()),
                    None => Enforce::AtOnce,
                }),
            exclude: false,
            inherited,
        }
    }

    /// The intent without overrides that had ended earlier and that a rollout undo restored, recognized by
    /// the annotation `override-began`; and the names of these overrides.
    pub fn without_ended(
        mut self,
        began: Option<&str>,
        state: &State,
        now: i64,
    ) -> (Self, Vec<&'static str>) {
        let Some(began) = began else {
            return (self, Vec::new());
        };
        let holds = |(phase, until): (Phase, Option<i64>)| {
            state.phase == Some(phase) && state.next == Some(until.unwrap_or(NEVER))
        };
        if state.began().as_deref() == Some(began) || self.held(now).is_some_and(holds) {
            return (self, Vec::new());
        }
        let there = [
            ("pause", self.pause.take().is_some()),
            ("sleep-until", self.sleep.take().is_some()),
            ("wake-until", self.wake.take().is_some()),
        ];
        let ended = there.into_iter().filter(|(_, is_there)| *is_there);
        (self, ended.map(|(key, _)| key).collect())
    }

    /// When each override ends.
    pub fn ends(&self) -> impl Iterator<Item = i64> {
        let own: Vec<_> = self.own().ends().collect();
        own.into_iter().chain(self.inherited.ends())
    }

    /// The override annotations of the object itself that have ended at `now`. Annotations of its Namespace
    /// stay.
    pub fn over(&self, now: i64) -> Vec<&'static str> {
        let ends = [
            ("pause", self.own().end_of(Phase::Paused)),
            ("sleep-until", self.sleep),
            ("wake-until", self.wake),
        ];
        let over = |end: Option<i64>| end.is_some_and(|end| end <= now);
        let keys = ends.into_iter().filter(|(_, end)| over(*end));
        keys.map(|(key, _)| key).collect()
    }
}

fn instant(text: &str, zone: Tz) -> i64 {
    NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M").map_or_else(
        |_| DateTime::parse_from_rfc3339(text).unwrap().timestamp(),
        |local| calendar::instant(zone, local),
    )
}
