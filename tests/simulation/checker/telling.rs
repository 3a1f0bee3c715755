//! What a scaler tells of its writes: each Event has a write that it tells of, each write that changes a
//! count has an Event, and the metrics count the same. Asked where nothing goes wrong.

use std::collections::HashMap;

use crate::checker::{objects::object::Object, rules::outcome::WriteKind};

/// The reasons of Warnings, as `docs/operations/events.md` has them.
const WARNINGS: [&str; 11] = [
    "InvalidSchedule",
    "ScaleFailed",
    "NotReady",
    "StartedWithout",
    "CorrectionLimitReached",
    "Reverted",
    "ScheduleRemoved",
    "OverrideExpired",
    "BoundaryMissed",
    "BoundariesSkipped",
    "StateFromFuture",
];

/// No object of a story is ever unready, waits for others or has a Service.
const NEVER_TOLD: [&str; 3] = ["NotReady", "StartedWithout", "WokenByRequest"];

/// The longest text of an Event, in bytes.
const MAX_NOTE: usize = 1024;

/// How long after a write its Event comes at the latest, in milliseconds: while many starts and stops wait,
/// one is sent each second.
const MAX_DELAY: i64 = 5 * 60_000;

/// A write that was accepted, and of which no Event has told yet.
pub(crate) struct Untold {
    pub(crate) at: i64,
    /// What it can be, and whether that takes the schedule up as it is.
    pub(crate) kinds: Vec<(WriteKind, bool)>,
    /// Whether it has changed the count.
    pub(crate) scales: bool,
    /// Whether it has removed an annotation of a user.
    pub(crate) lifts: bool,
    /// Whether it says what is wrong.
    pub(crate) is_refused: bool,
}

/// The writes of all processes.
#[derive(Default)]
pub(crate) struct Telling {
    /// By process and object.
    untold: HashMap<(String, String), Vec<Untold>>,
    /// How many starts and stops each process has made; `None` where it may be one more.
    transitions: HashMap<String, Option<usize>>,
}

impl Untold {
    pub(crate) fn of(at: i64, kinds: Vec<(WriteKind, bool)>, old: &Object, new: &Object) -> Self {
        Self {
            at,
            kinds,
            scales: old.replicas != new.replicas,
            lifts: old.texts != new.texts,
            is_refused: new.error.is_some(),
        }
    }

    /// Whether an Event of this reason tells of it; of the others more than one write can be told.
    fn is_told_by(&self, reason: &str) -> bool {
        let is = |kind: WriteKind| self.kinds.iter().any(|(it, _)| *it == kind);
        let carries_out = |kind: WriteKind| self.kinds.contains(&(kind, false)) && self.scales;
        match reason {
            "Started" => carries_out(WriteKind::Start),
            "Stopped" => carries_out(WriteKind::Stop),
            "Scaled" => carries_out(WriteKind::Scale),
            "Woken" => is(WriteKind::Wake),
            "Slept" => is(WriteKind::Sleep),
            "Paused" => is(WriteKind::Pause),
            "Enforced" => is(WriteKind::Enforce),
            "Adopted" | "StateFromFuture" => is(WriteKind::Adopt),
            "ScheduleChanged" | "Resumed" | "BoundaryMissed" => {
                self.kinds.iter().any(|(_, adopts)| *adopts)
            }
            "InvalidSchedule" => is(WriteKind::Refuse) && self.is_refused,
            "ScheduleRemoved" => is(WriteKind::Remove),
            "OverrideExpired" => self.lifts,
            _ => false,
        }
    }
}

impl Telling {
    /// A process has written to an object.
    pub(crate) fn wrote(&mut self, by: &str, uid: &str, write: Untold) {
        let is_transition = |(kind, _): &(WriteKind, bool)| kind.is_transition();
        let count = self.transitions.entry(by.to_owned()).or_insert(Some(0));
        if write.kinds.iter().all(is_transition) {
            *count = count.map(|it| it + 1);
        } else if write.kinds.iter().any(is_transition) {
            *count = None;
        }
        let place = (by.to_owned(), uid.to_owned());
        self.untold.entry(place).or_default().push(write);
    }

    /// A process tells of an object; why it must not.
    pub(crate) fn tells(
        &mut self,
        (by, uid): (&str, &str),
        (reason, kind, note): (&str, &str, &str),
    ) -> Result<(), String> {
        let is_warning = WARNINGS.contains(&reason);
        if kind != if is_warning { "Warning" } else { "Normal" } {
            return Err(format!("{reason} is told as {kind}"));
        }
        if note.is_empty() || note.len() > MAX_NOTE {
            return Err(format!("{reason} has {} bytes", note.len()));
        }
        if NEVER_TOLD.contains(&reason) {
            return Err(format!("{reason} is told, and nothing asks for it"));
        }
        // Of these no write is told.
        if ["StopsSoon", "CorrectionLimitReached", "Reverted"].contains(&reason)
            || ["ScaleFailed", "BoundariesSkipped"].contains(&reason)
        {
            return Ok(());
        }
        let untold = self.untold.entry((by.to_owned(), uid.to_owned()));
        let untold = untold.or_default();
        match untold.iter().position(|it| it.is_told_by(reason)) {
            Some(place) => {
                untold.remove(place);
                Ok(())
            }
            None => Err(format!("{by} tells {reason}, and has done nothing of it")),
        }
    }

    /// Whether no Event has told for too long of a write that changed a count.
    pub(crate) fn is_silent(&self, by: &str, uid: &str, now: i64) -> bool {
        let untold = self.untold.get(&(by.to_owned(), uid.to_owned()));
        let mut untold = untold.into_iter().flatten();
        untold.any(|it| it.scales && it.at + MAX_DELAY < now)
    }

    /// Whether the metrics of a process count as many starts and stops as it has made.
    pub(crate) fn is_counted(&self, by: &str, metrics: &str) -> Result<(), String> {
        let Some(made) = self.transitions.get(by).copied().unwrap_or(Some(0)) else {
            return Ok(());
        };
        let done = metrics.lines().filter(|line| {
            line.starts_with("dayshift_transitions_total{") && line.contains("outcome=\"done\"")
        });
        let values = done.filter_map(|line| line.rsplit_once(' ')?.1.parse::<usize>().ok());
        let counted: usize = values.sum();
        if counted == made {
            return Ok(());
        }
        Err(format!(
            "{by} counts {counted} starts and stops, not {made}"
        ))
    }
}
