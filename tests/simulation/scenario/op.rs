//! The operations of a scenario, and their objects.

use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use crate::scenario::{
    as_text,
    fault::{Fault, Stage, Trouble},
    holidays::{Dates, Name},
    intent::Bad,
    tampering::Tampering,
};

/// One step: milliseconds since the beginning, and the operation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Step {
    pub at: u32,
    pub op: Op,
}

/// An object: the first ones have names, the others are a fleet.
pub type Slot = usize;

/// A Namespace: its index in [`PLACES`].
pub type Place = usize;

/// The Namespaces.
pub const PLACES: [&str; 2] = ["dev", "prod"];

/// The label `team` of each of them.
pub const TEAMS: [&str; PLACES.len()] = ["shop", "billing"];

/// The values of `--namespace-selector`, and the Namespaces with such labels.
pub const SELECTED: [(&str, &[&str]); 4] = [
    ("team=shop", &["dev"]),
    ("team!=shop,team", &["prod"]),
    ("team in (shop, billing)", &["dev", "prod"]),
    ("!team", &[]),
];

/// The number of objects with their own names.
pub const NAMED: usize = 4;

/// The namespace and name of an object.
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

/// An operation. An operation on a missing object does nothing. Plans and snapshots are indices,
/// modulo the length of their list. Times are in seconds from the step on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Op {
    Make(Slot, u32, usize),
    Scale(Slot, u32),
    /// Creates an object with the state that a controller left on it, this many hours ago.
    MakeWithState(Slot, u32, usize, u8),
    /// Creates this many objects at once, with a count and a plan.
    MakeFleet(usize, u32, usize),
    /// The fault of writes to each object of the fleet from now on; `None` ends it.
    FleetTrouble(Option<Trouble>),
    /// An autoscaler sets the count of a running workload.
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
    /// Sets `enforce` to this many seconds, or removes it.
    Grace(Slot, Option<u32>),
    /// Sets or removes `exclude`.
    Exclude(Slot, bool),
    Break(Slot, Bad),
    Fix(Slot),
    Delete(Slot),
    /// Deletes the object, and creates it at once from the same manifest.
    Recreate(Slot, u32),
    /// Deletes the object, but a finalizer keeps it.
    DeleteWithFinalizer(Slot),
    /// `kubectl rollout undo`: earlier annotations, current labels.
    Undo(Slot, usize),
    /// The same, to the annotations with which the last override was active.
    UndoToOverride(Slot),
    /// Restores the manifest, with or without its labels.
    ReplaceFromManifest(Slot, bool),
    /// Restores the complete object from a backup.
    Restore(Slot, usize),
    /// Changes values that dayshift wrote.
    Tamper(Slot, Tampering),
    /// Creates a copy of another object with all its annotations and labels.
    Copy(Slot, Slot),
    Scope(Slot, bool),
    /// Creates an object without any annotation.
    MakePlain(Slot, u32),
    /// Changes the annotations of a Namespace.
    Defaults(Place, Asked),
    Up(usize),
    Kill(usize),
    Stop(usize),
    KillIn(usize, u32, Stage),
    /// Restarts all controllers in another zone.
    Rezone(#[serde(with = "as_text")] Tz),
    /// Restarts all controllers with the times of a plan as their `--default-hours`, or none.
    Flag(Option<usize>),
    /// The file of a calendar has these dates from now on.
    Calendar(Name, #[serde(with = "as_text")] Dates),
    /// The file of a calendar is unreadable until it is written again.
    LoseCalendar(Name),
    /// A controller reads the files.
    ReadCalendars(usize),
    /// Restarts all controllers with or without the flag for this calendar.
    NameCalendar(Name, bool),
    /// Steps the controller's clock, by milliseconds.
    Clock(usize, i32),
    ClockRight(usize),
    /// Faults from now on, in this percentage of requests and events; an empty list ends them.
    Faults(usize, Vec<Fault>, u8),
    /// The same only for its requests for Namespaces.
    NamespaceFaults(usize, Vec<Fault>, u8),
    Cut(usize),
    /// From now on the controller's clock drifts by this many millionths; 0 ends it.
    Drift(usize, i32),
    /// The fault of writes to one object from now on; `None` ends it.
    Trouble(Slot, Option<Trouble>),
    /// The fault of Events from now on; `None` ends it.
    EventTrouble(Option<Trouble>),
    /// Versions of watches expire.
    Compact,
    /// The whole cluster is suspended this long, except for clocks.
    Suspend(u32),
    /// Nothing happens for so long that everything must be in order.
    Quiet,
}

/// A change in the annotations of a Namespace.
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

/// A change of a pause; times are in seconds from the step on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Hold {
    Lifted,
    Forever,
    For(i32),
}
