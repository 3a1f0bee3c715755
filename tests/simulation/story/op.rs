//! What can happen in a story, and to which object.

use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use crate::story::{
    as_text,
    fault::{Fault, Stage, Trouble},
    holidays::{Dates, Name},
    intent::Bad,
    tampering::Tampering,
};

/// One step: milliseconds since the beginning, and what happens then.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Step {
    pub at: u32,
    pub op: Op,
}

/// One of the objects that there may be: the first ones have names, the others are a fleet.
pub type Slot = usize;

/// A Namespace: its place among [`PLACES`].
pub type Place = usize;

/// The Namespaces that there are.
pub const PLACES: [&str; 2] = ["dev", "prod"];

/// The label `team` of each of them.
pub const TEAMS: [&str; PLACES.len()] = ["shop", "billing"];

/// What `--namespace-selector` may be, and the Namespaces that have such labels.
pub const SELECTED: [(&str, &[&str]); 4] = [
    ("team=shop", &["dev"]),
    ("team!=shop,team", &["prod"]),
    ("team in (shop, billing)", &["dev", "prod"]),
    ("!team", &[]),
];

/// How many objects have names of their own.
pub const NAMED: usize = 4;

/// The namespace and the name of an object.
pub fn place(slot: Slot) -> (&'static str, String) {
    let (namespace, name) = match slot {
        0 => ("dev", "web"),
        1 => ("dev", "api"),
        2 => ("prod", "web"),
        3 => ("prod", "worker"),
        _ => return ("dev", format!("fleet-{}", slot - NAMED)),
    };
    (namespace, name.to_owned())
}

/// Something that happens. An operation on an object that is not there does nothing. Plans and
/// snapshots are indices, modulo the length of their list. Times are in seconds from the step on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Op {
    Make(Slot, u32, usize),
    Scale(Slot, u32),
    /// Creates an object with the state that a scaler left on it, so many hours ago.
    MakeWithState(Slot, u32, usize, u8),
    /// Creates this many objects at once, with a count and a plan.
    MakeFleet(usize, u32, usize),
    /// The fault of writes to each object of the fleet from now on; `None` ends it.
    FleetTrouble(Option<Trouble>),
    /// An autoscaler sets the count of what runs.
    Autoscale(Slot, u32),
    Plan(Slot, Option<usize>),
    Replicas(Slot, Option<u32>),
    StopReplicas(Slot, Option<u32>),
    /// Changes the plan and `stop-replicas` in one edit.
    PlanAndStopReplicas(Slot, Option<usize>, Option<u32>),
    Pause(Slot, Hold),
    Wake(Slot, Option<i32>),
    Sleep(Slot, Option<i32>),
    Enforce(Slot, bool),
    /// It is enforced after so many seconds, or no more.
    Grace(Slot, Option<u32>),
    /// It is left alone, or no more.
    Exclude(Slot, bool),
    Break(Slot, Bad),
    Fix(Slot),
    Delete(Slot),
    /// Deleted, and made again at once from the same manifest.
    Recreate(Slot, u32),
    /// The object is deleted, but a finalizer holds it.
    DeleteWithFinalizer(Slot),
    /// `kubectl rollout undo`: annotations of before, labels of now.
    Undo(Slot, usize),
    /// The same, to the annotations with which the last override was seen to hold.
    UndoToOverride(Slot),
    /// The manifest is put back, and the labels with it or not.
    ReplaceFromManifest(Slot, bool),
    /// The whole object is restored from a backup.
    Restore(Slot, usize),
    /// Somebody changes what dayshift wrote.
    Tamper(Slot, Tampering),
    /// Made from another with all its annotations and labels.
    Copy(Slot, Slot),
    Scope(Slot, bool),
    /// Creates an object without any annotation.
    MakePlain(Slot, u32),
    /// The annotations of a Namespace are changed.
    Defaults(Place, Asked),
    Up(usize),
    Kill(usize),
    Stop(usize),
    KillIn(usize, u32, Stage),
    /// All scalers are started again, in another zone.
    Rezone(#[serde(with = "as_text")] Tz),
    /// All scalers are started again, with the times of a plan as their `--default-hours`, or none.
    Flag(Option<usize>),
    /// The file of a calendar has these dates from now on.
    Calendar(Name, #[serde(with = "as_text")] Dates),
    /// The file of a calendar cannot be read, until it is written again.
    LoseCalendar(Name),
    /// A scaler reads the files.
    ReadCalendars(usize),
    /// All scalers are started again, with the flag for this calendar or without it.
    NameCalendar(Name, bool),
    /// The scaler's clock is set forward or back, by milliseconds.
    Clock(usize, i32),
    ClockRight(usize),
    /// Faults from now on, in so many of a hundred requests and events; none ends them.
    Faults(usize, Vec<Fault>, u8),
    /// The same in what it asks of Namespaces alone.
    NamespaceFaults(usize, Vec<Fault>, u8),
    Cut(usize),
    /// From now on the scaler's clock runs wrong by this many millionths; 0 ends it.
    Drift(usize, i32),
    /// The fault of writes to one object from now on; `None` ends it.
    Trouble(Slot, Option<Trouble>),
    /// The fault of Events from now on; `None` ends it.
    EventTrouble(Option<Trouble>),
    /// What is watched from an older version expires.
    Compact,
    /// The whole cluster stands still so long, clocks excepted.
    Suspend(u32),
    /// Nothing happens for so long that everything has to be in order.
    Quiet,
}

/// What is changed in the annotations of a Namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Asked {
    Plan(Option<usize>),
    Replicas(Option<u32>),
    StopReplicas(Option<u32>),
    Pause(Hold),
    Wake(Option<i32>),
    Sleep(Option<i32>),
    Exclude(bool),
    Break(Bad),
    Fix,
}

/// How a pause is changed; times are in seconds from the step on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Hold {
    Lifted,
    Forever,
    For(i32),
}
