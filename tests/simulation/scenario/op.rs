//! The operations of a scenario, and the objects that they change.

use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use crate::scenario::{
    as_text,
    fault::{Fault, Stage, Trouble},
    holidays::{Dates, Name},
    intent::Bad,
    tampering::Tampering,
};

/// A step: milliseconds since the beginning of the scenario, and the operation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Step {
    pub at: u32,
    pub op: Op,
}

/// The index of an object: the first ones have names, the others are a fleet.
pub type Slot = usize;

/// The index of a Namespace in [`PLACES`].
pub type Place = usize;

/// The Namespaces.
pub const PLACES: [&str; 2] = ["dev", "prod"];

/// The label `team` of each Namespace.
pub const TEAMS: [&str; PLACES.len()] = ["shop", "billing"];

/// The values of `--namespace-selector`, and the Namespaces that each selects.
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

/// An operation, which does nothing if its object is missing. Plans and snapshots are indices, modulo the
/// length of their list. Times are in seconds after the step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Op {
    Make(Slot, u32, usize),
    Scale(Slot, u32),
    /// Creates an object with the labels that a controller left on it this many hours ago.
    MakeWithState(Slot, u32, usize, u8),
    /// Creates this many objects at once, with this count and plan.
    MakeFleet(usize, u32, usize),
    /// Gives writes to each object of the fleet this fault; `None` ends it.
    FleetTrouble(Option<Trouble>),
    /// Sets the count of a running workload as an autoscaler does.
    Autoscale(Slot, u32),
    Plan(Slot, Option<usize>),
    Replicas(Slot, Option<u32>),
    StopReplicas(Slot, Option<u32>),
    /// Changes the plan and `stop-replicas` in one edit.
    PlanAndStopReplicas(Slot, Option<usize>, Option<u32>),
    Pause(Slot, PauseChange),
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
    /// Deletes the object, and creates it again from the same manifest.
    Recreate(Slot, u32),
    /// Deletes the object, while a finalizer keeps it.
    DeleteWithFinalizer(Slot),
    /// `kubectl rollout undo`: earlier annotations, current labels.
    Undo(Slot, usize),
    /// `kubectl rollout undo` to the annotations of the time when the last override was active.
    UndoToOverride(Slot),
    /// Replaces the object with its manifest, with or without its current labels.
    ReplaceFromManifest(Slot, bool),
    /// Restores the complete object from a backup.
    Restore(Slot, usize),
    /// Changes values that dayshift wrote.
    Tamper(Slot, Tampering),
    /// Copies another object with all its annotations and labels.
    Copy(Slot, Slot),
    Scope(Slot, bool),
    /// Creates an object without any annotation.
    MakePlain(Slot, u32),
    /// Changes the annotations of a Namespace.
    Defaults(Place, NamespaceChange),
    Up(usize),
    Kill(usize),
    Stop(usize),
    KillIn(usize, u32, Stage),
    /// Restarts all controllers in another zone.
    Rezone(#[serde(with = "as_text")] Tz),
    /// Restarts all controllers with the times of a plan as their `--default-hours`, or none.
    Flag(Option<usize>),
    /// Writes these dates into the file of a calendar.
    Calendar(Name, #[serde(with = "as_text")] Dates),
    /// Makes the file of a calendar unreadable until it is written again.
    LoseCalendar(Name),
    /// Lets a controller read the files.
    ReadCalendars(usize),
    /// Restarts all controllers with or without the flag of this calendar.
    NameCalendar(Name, bool),
    /// Steps a controller's clock by milliseconds.
    Clock(usize, i32),
    ClockRight(usize),
    /// Gives this percentage of requests and events these faults; an empty list ends them.
    Faults(usize, Vec<Fault>, u8),
    /// Does the same only for requests for Namespaces.
    NamespaceFaults(usize, Vec<Fault>, u8),
    Cut(usize),
    /// Lets a controller's clock drift by this many millionths; 0 ends it.
    Drift(usize, i32),
    /// Gives writes to one object this fault; `None` ends it.
    Trouble(Slot, Option<Trouble>),
    /// Gives requests for Events this fault; `None` ends it.
    EventTrouble(Option<Trouble>),
    /// Lets the versions of watches expire.
    Compact,
    /// Suspends the whole cluster for this time, while clocks continue.
    Suspend(u32),
    /// Does nothing for so long that all objects must be settled.
    Quiet,
}

/// A change of the annotations of a Namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NamespaceChange {
    Plan(Option<usize>),
    Replicas(Option<u32>),
    StopReplicas(Option<u32>),
    Pause(PauseChange),
    Wake(Option<i32>),
    Sleep(Option<i32>),
    Exclude(bool),
    Break(Bad),
    Fix,
}

/// A change of a pause. Times are in seconds after the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PauseChange {
    Lifted,
    Forever,
    For(i32),
}
