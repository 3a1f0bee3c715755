//! A story: some objects, some scalers, and what happens to them.

use std::fmt;

use chrono::{DateTime, Days, NaiveDate, TimeDelta, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use crate::{
    as_text,
    asked::Bad,
    calendar::{Plan, show},
    troubles::Trouble,
    weather::{Fault, Stage},
};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Story {
    pub seed: u64,
    pub kind: Kind,
    #[serde(with = "as_text")]
    pub begin: DateTime<Utc>,
    /// In milliseconds.
    pub length: u32,
    #[serde(with = "as_text")]
    pub zone: Tz,
    pub plans: Vec<Plan>,
    pub scalers: usize,
    /// Whether the scalers hold their clocks against the server's.
    pub guarded: bool,
    /// What they do nothing about any more, in hours.
    pub catch_up: u32,
    /// Whether they look at what a selector matches alone.
    pub scoped: bool,
    /// How they select where they do, in other words than `shift=on`.
    #[serde(default)]
    pub selector: Option<String>,
    /// `--namespace`; all where there is none.
    #[serde(default)]
    pub namespaces: Vec<String>,
    /// `--exclude-namespace`.
    #[serde(default)]
    pub excluded: Vec<String>,
    /// The zones of scalers that have one of their own.
    #[serde(default)]
    pub zones: Vec<String>,
    /// The scalers that only say what they would do.
    #[serde(default)]
    pub dry: Vec<usize>,
    /// `--max-in-flight`; 32 where it is 0.
    #[serde(default)]
    pub in_flight: usize,
    /// Whether until-times are written in local time.
    #[serde(default)]
    pub is_local: bool,
    pub steps: Vec<Step>,
}

/// Milliseconds since the beginning, and what happens then.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Step {
    pub at: u32,
    pub op: Op,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// Users and restarts; nothing goes wrong, and everything happens at its very millisecond.
    Calm,
    /// Everything goes wrong.
    Storm,
}

/// One of the objects that there may be.
pub type Slot = usize;

pub const SLOTS: [(&str, &str); 4] = [
    ("dev", "web"),
    ("dev", "api"),
    ("prod", "web"),
    ("prod", "worker"),
];

/// Something that happens. What happens to an object that is not there does not. Plans and
/// snapshots are counted in lists, and round again; times are in seconds from then.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Op {
    Make(Slot, u32, usize),
    Scale(Slot, u32),
    /// An autoscaler sets the count of what runs.
    Autoscale(Slot, u32),
    Plan(Slot, Option<usize>),
    Replicas(Slot, Option<u32>),
    StopReplicas(Slot, Option<u32>),
    Pause(Slot, Hold),
    Wake(Slot, Option<i32>),
    Sleep(Slot, Option<i32>),
    Enforce(Slot, bool),
    Break(Slot, Bad),
    Mend(Slot),
    Delete(Slot),
    /// Deleted, and made again at once from the same manifest.
    Recreate(Slot, u32),
    /// Deleted, but something holds it.
    Linger(Slot),
    /// `kubectl rollout undo`: annotations of before, labels of now.
    Undo(Slot, usize),
    /// The manifest is put back, and the labels with it or not.
    PutBack(Slot, bool),
    /// All of it as it was.
    Restore(Slot, usize),
    /// Made from another with all its annotations and labels.
    Copy(Slot, Slot),
    Scope(Slot, bool),
    Up(usize),
    Kill(usize),
    Stop(usize),
    KillIn(usize, u32, Stage),
    /// All scalers are started again, in another zone.
    Rezone(#[serde(with = "as_text")] Tz),
    /// The scaler's clock is set forward or back, by milliseconds.
    Clock(usize, i32),
    ClockRight(usize),
    /// Faults from now on, in so many of a hundred requests and events; none ends them.
    Weather(usize, Vec<Fault>, u8),
    Cut(usize),
    /// From now on the scaler's clock goes wrong by so many millionths; by none it goes right.
    Drift(usize, i32),
    /// What becomes of writes to one object from now on.
    Trouble(Slot, Option<Trouble>),
    /// What becomes of Events.
    EventTrouble(Option<Trouble>),
    /// What is watched from an older version expires.
    Compact,
    /// The whole cluster stands still so long, clocks excepted.
    Nap(u32),
    /// So quiet that everything has to be in order.
    Quiet,
}

/// What becomes of a pause; times are in seconds from then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Hold {
    Lifted,
    Forever,
    For(i32),
}

impl Story {
    /// The dates on which its calendars are painted: boundaries beyond are unknown.
    pub fn dates(&self) -> (NaiveDate, NaiveDate) {
        let first = self.begin.date_naive() - Days::new(21);
        let days = u64::from(self.length / 86_400_000);
        (first, self.begin.date_naive() + Days::new(days + 13))
    }

    pub fn instant(&self, at: u32) -> DateTime<Utc> {
        self.begin + TimeDelta::milliseconds(i64::from(at))
    }
}

impl fmt::Display for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            scalers,
            zone,
            guarded,
            catch_up,
            scoped,
            selector,
            namespaces,
            excluded,
            zones,
            dry,
            in_flight,
            is_local,
            ..
        } = self;
        let begin = show(self.begin.timestamp());
        writeln!(
            f,
            "{kind:?}, {begin}, {scalers} scalers in {zone}, guarded: {guarded}, catch up: \
             {catch_up} h, scoped: {scoped} \
             {selector:?}, namespaces: {namespaces:?} without {excluded:?}, zones: {zones:?}, dry: \
             {dry:?}, in flight: {in_flight}, local times: {is_local}"
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
