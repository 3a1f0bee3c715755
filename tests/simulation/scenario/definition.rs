//! A scenario: some objects, some controllers, and the steps.

use std::fmt;

use chrono::{DateTime, Days, NaiveDate, TimeDelta, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use crate::scenario::{
    as_text,
    calendar::{Plan, show},
    holidays::Name,
    kinds::{self, KindInfo},
    op::{NAMED, Slot, Step},
};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Scenario {
    pub seed: u64,
    pub kind: Kind,
    #[serde(with = "as_text")]
    pub begin: DateTime<Utc>,
    /// The length of the scenario, in milliseconds.
    pub length: u32,
    #[serde(with = "as_text")]
    pub zone: Tz,
    pub plans: Vec<Plan>,
    pub controllers: usize,
    /// Whether the controllers compare their clocks with the server's.
    pub guarded: bool,
    /// The controllers' `--catch-up`, in hours.
    pub catch_up: u32,
    /// Whether the controllers select objects by label.
    pub scoped: bool,
    /// Their label selector, if it is not `shift=on`.
    #[serde(default)]
    pub selector: Option<String>,
    /// `--namespace`; all if empty.
    #[serde(default)]
    pub namespaces: Vec<String>,
    /// `--exclude-namespace`.
    #[serde(default)]
    pub excluded: Vec<String>,
    /// `--namespace-selector`: one of `SELECTED`.
    #[serde(default)]
    pub namespace_selector: Option<String>,
    /// `--annotation-prefix`, if it is not the default.
    #[serde(default)]
    pub prefix: Option<String>,
    /// `--namespace-defaults=false`.
    #[serde(default)]
    pub without_defaults: bool,
    /// Whether the controllers run in pods of the first object.
    #[serde(default)]
    pub scales_itself: bool,
    /// The time zones of the controllers that have their own.
    #[serde(default)]
    pub zones: Vec<String>,
    /// The controllers with `--dry-run`.
    #[serde(default)]
    pub dry: Vec<usize>,
    /// `--max-in-flight`; 0 means 32.
    #[serde(default)]
    pub in_flight: usize,
    /// Whether the objects have an on/off field instead of a count.
    #[serde(default)]
    pub switches: bool,
    /// The kind of these objects: an index of `SWITCHES`.
    #[serde(default)]
    pub switch_kind: usize,
    /// Whether the objects in the second Namespace are StatefulSets instead of Deployments.
    #[serde(default)]
    pub has_sets: bool,
    /// Whether every second object has the other kind.
    #[serde(default)]
    pub is_mixed: bool,
    /// Whether end times of overrides are written in local time.
    #[serde(default)]
    pub is_local: bool,
    /// The calendars for which the controllers have a flag at first.
    #[serde(default)]
    pub calendars: Vec<Name>,
    /// Whether annotations name entries of a file of schedules, one for each plan.
    #[serde(default)]
    pub are_named: bool,
    pub steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// Only users and restarts. Without faults, everything happens at its exact millisecond.
    NoFaults,
    /// Also faults of the network, of the server, and of the clocks.
    Faults,
}

impl Scenario {
    /// The range of dates for which calendars are computed. Later boundaries are unknown.
    pub fn dates(&self) -> (NaiveDate, NaiveDate) {
        let first = self.begin.date_naive() - Days::new(21);
        let days = u64::from(self.length / 86_400_000);
        (first, self.begin.date_naive() + Days::new(days + 13))
    }

    /// Whether the object of a slot has an on/off field.
    pub const fn is_switch(&self, slot: Slot) -> bool {
        self.switches != (self.is_mixed && slot % 2 == 1)
    }

    /// The kind of the object of a slot.
    pub const fn kind_of(&self, slot: Slot) -> &'static KindInfo {
        if self.is_switch(slot) {
            kinds::SWITCHES[self.switch_kind]
        } else if self.has_sets && slot >= NAMED / 2 && slot < NAMED {
            &kinds::STATEFUL_SET
        } else {
            &kinds::DEPLOYMENT
        }
    }

    pub fn instant(&self, at: u32) -> DateTime<Utc> {
        self.begin + TimeDelta::milliseconds(i64::from(at))
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            controllers,
            zone,
            guarded,
            catch_up,
            scoped,
            selector,
            namespaces,
            excluded,
            namespace_selector,
            prefix,
            without_defaults,
            scales_itself,
            zones,
            dry,
            in_flight,
            is_local,
            switches,
            switch_kind,
            has_sets,
            is_mixed,
            calendars,
            are_named,
            ..
        } = self;
        let begin = show(self.begin.timestamp());
        writeln!(
            f,
            "{kind:?}, {begin}, {controllers} controllers in {zone}, guarded: {guarded}, catch up: \
             {catch_up} h, scoped: {scoped} \
             {selector:?}, namespaces: {namespaces:?} without {excluded:?} by {namespace_selector:?}, prefix: {prefix:?}, without \
             defaults: {without_defaults}, as a pod of the first: {scales_itself}, zones: {zones:?}, dry: \
             {dry:?}, in flight: {in_flight}, local times: {is_local}, {}s: {switches}, \
             StatefulSets: {has_sets}, \
             mixed: {is_mixed}, calendars: {calendars:?}, named: {are_named}",
            kinds::SWITCHES[*switch_kind].name
        )?;
        for (number, plan) in self.plans.iter().enumerate() {
            writeln!(f, "  plan {number}: {:?}", plan.texts())?;
        }
        for Step { at, op } in &self.steps {
            let second = show(self.instant(*at).timestamp());
            writeln!(f, "  {second} .{:03} {op:?}", at % 1000)?;
        }
        Ok(())
    }
}
