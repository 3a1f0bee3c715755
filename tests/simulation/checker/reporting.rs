//! Checks Events and metrics in scenarios without faults: each Event belongs to a write, each write that
//! changes a count has an Event, and the metrics count the same writes.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::{
    checker::{
        objects::{managers::programs_that_set_the_count, object::Object},
        rules::outcome::WriteKind,
    },
    scenario::fault::Trouble,
};

/// The reasons of Warnings in `docs/reference/events.md`.
const WARNINGS: [&str; 12] = [
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
    "StateFromLaterVersion",
];

/// In scenarios no object is unready, depends on another one, or has a Service.
const NEVER_REPORTED: [&str; 3] = ["NotReady", "StartedWithout", "WokenByRequest"];

/// The maximum length of an Event note, in bytes.
const MAX_NOTE: usize = 1024;

/// The maximum delay of an Event after its write, in milliseconds. If many workloads start and stop, the
/// controller sends one Event per second.
const MAX_DELAY: i64 = 5 * 60_000;

/// The time until a program that reverted a count is reported again, in milliseconds.
const REVERT_AGAIN: i64 = 12 * 3_600_000;

/// A write that was accepted and has no Event yet.
pub(crate) struct Unreported {
    pub(crate) at: i64,
    /// The possible kinds of the write, each with whether it adopts the current schedule.
    pub(crate) kinds: Vec<(WriteKind, bool)>,
    /// Whether it changed the count.
    pub(crate) scales: bool,
    /// Whether it removed an annotation of a user, such as an ended override (`OverrideExpired`).
    pub(crate) lifts: bool,
    /// Whether it reports an error.
    pub(crate) is_refused: bool,
}

/// The writes of all processes.
#[derive(Default)]
pub(crate) struct Reports {
    /// The writes without an Event, by process and object.
    unreported: HashMap<(String, String), Vec<Unreported>>,
    /// The number of starts and stops of each process; `None` if one of them is uncertain.
    transitions: HashMap<String, Option<usize>>,
    /// Failed attempts to write since the last success, by process and object.
    failing: HashMap<(String, String), Failing>,
    /// Reads that look up the manager of a count: those in flight by process and path, and the results by
    /// process and object.
    looking: HashSet<(String, String)>,
    found: HashMap<(String, String), Found>,
    /// When a process last reported a program that reverts an object.
    reverts: HashMap<(String, String, &'static str), i64>,
}

/// An object whose writes fail.
struct Failing {
    since: i64,
    /// Whether an admission webhook denied it.
    is_denied: bool,
    is_reported: bool,
}

/// The manager that reverted a count.
struct Found {
    at: i64,
    programs: Vec<&'static str>,
    is_reported: bool,
}

impl Unreported {
    pub(crate) fn of(at: i64, kinds: Vec<(WriteKind, bool)>, old: &Object, new: &Object) -> Self {
        Self {
            at,
            kinds,
            scales: old.replicas != new.replicas,
            lifts: old.texts != new.texts,
            is_refused: new.error.is_some(),
        }
    }

    /// Whether an Event with this reason reports this write and no other. Events with other reasons can
    /// report several writes.
    fn is_reported_by(&self, reason: &str) -> bool {
        let is = |kind: WriteKind| self.kinds.iter().any(|(it, _)| *it == kind);
        let carries_out = |kind: WriteKind| self.kinds.contains(&(kind, false)) && self.scales;
        match reason {
            "Started" => carries_out(WriteKind::Start),
            "Stopped" => carries_out(WriteKind::Stop),
            "Scaled" => carries_out(WriteKind::Scale),
            "Woken" => is(WriteKind::Wake),
            "Slept" => is(WriteKind::Sleep),
            "Paused" => is(WriteKind::Pause),
            "OverrideShortened" => is(WriteKind::Tidy),
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

impl Reports {
    /// A process wrote to an object.
    pub(crate) fn wrote(&mut self, by: &str, uid: &str, write: Unreported) {
        let is_transition = |(kind, _): &(WriteKind, bool)| kind.is_transition();
        let count = self.transitions.entry(by.to_owned()).or_insert(Some(0));
        if write.kinds.iter().all(is_transition) {
            *count = count.map(|it| it + 1);
        } else if write.kinds.iter().any(is_transition) {
            *count = None;
        }
        self.failing.retain(|(_, object), _| object != uid);
        let place = (by.to_owned(), uid.to_owned());
        self.unreported.entry(place).or_default().push(write);
    }

    /// Records that another client changed an object. If writes to it still fail, a process reports the
    /// error again.
    pub(crate) fn touched(&mut self, uid: &str) {
        let of_it = self.failing.iter_mut();
        let of_it = of_it.filter(|((_, object), _)| object == uid);
        of_it.for_each(|(_, it)| it.is_reported = false);
    }

    /// A process failed to write to an object.
    pub(crate) fn failed(&mut self, by: &str, uid: &str, answered: Option<Trouble>, at: i64) {
        let place = (by.to_owned(), uid.to_owned());
        let failing = self.failing.entry(place).or_insert(Failing {
            since: at,
            is_denied: false,
            is_reported: false,
        });
        failing.is_denied |= answered == Some(Trouble::Denies);
    }

    /// A process reads the object at a path to look up the manager of its count.
    pub(crate) fn begin_lookup(&mut self, by: &str, path: &str) {
        self.looking.insert((by.to_owned(), path.to_owned()));
    }

    /// A process received the object that it looked up.
    pub(crate) fn end_lookup(&mut self, by: &str, path: &str, object: &Value, at: i64) {
        if !self.looking.remove(&(by.to_owned(), path.to_owned())) {
            return;
        }
        let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
        let found = Found {
            at,
            programs: programs_that_set_the_count(object),
            is_reported: false,
        };
        self.found.insert((by.to_owned(), uid.to_owned()), found);
    }

    /// Checks an Event that a process created about an object. `made` is its `eventTime`. Returns the
    /// violated rule, if any.
    pub(crate) fn check_event(
        &mut self,
        (by, uid): (&str, &str),
        (reason, kind, note): (&str, &str, &str),
        (made, at): (i64, i64),
        may_skip: bool,
    ) -> Result<(), String> {
        let is_warning = WARNINGS.contains(&reason);
        if kind != if is_warning { "Warning" } else { "Normal" } {
            return Err(format!("{reason} is reported as {kind}"));
        }
        if note.is_empty() || note.len() > MAX_NOTE {
            return Err(format!("{reason} has {} bytes", note.len()));
        }
        if NEVER_REPORTED.contains(&reason) {
            return Err(format!("{reason} is reported without a cause"));
        }
        // Events with these reasons do not report a write.
        match reason {
            "StopsSoon" | "CorrectionLimitReached" | "StateFromLaterVersion" => return Ok(()),
            "BoundariesSkipped" if may_skip => return Ok(()),
            "BoundariesSkipped" => return Err("boundaries are skipped, and nothing is slow".into()),
            "ScaleFailed" => return self.check_failure_event(by, uid),
            "Reverted" => return self.check_revert_event(by, uid, note, at),
            _ => {}
        }
        let unreported = self.unreported.entry((by.to_owned(), uid.to_owned()));
        let unreported = unreported.or_default();
        // Some adoptions have no Event, so this Event might report a later write than the first one.
        let is_reported = unreported
            .iter()
            .enumerate()
            .filter(|(_, it)| it.is_reported_by(reason));
        match is_reported.min_by_key(|(_, it)| (it.at - made).abs()) {
            Some((place, _)) => {
                unreported.remove(place);
                Ok(())
            }
            None => Err(format!("{by} reports {reason} without such a write")),
        }
    }

    fn check_failure_event(&mut self, by: &str, uid: &str) -> Result<(), String> {
        let failing = self.failing.get_mut(&(by.to_owned(), uid.to_owned()));
        let Some(failing) = failing else {
            return Err(format!("{by} reports a failure, but no write has failed"));
        };
        if std::mem::replace(&mut failing.is_reported, true) {
            return Err(format!("{by} reports the same failure twice"));
        }
        Ok(())
    }

    fn check_revert_event(
        &mut self,
        by: &str,
        uid: &str,
        note: &str,
        at: i64,
    ) -> Result<(), String> {
        // After five Events in a namespace, one Event summarizes the others.
        if note.contains(" more in namespace ") {
            return Ok(());
        }
        let found = self.found.get_mut(&(by.to_owned(), uid.to_owned()));
        let Some(found) = found.filter(|it| !it.is_reported) else {
            return Err(format!(
                "{by} reports the manager of a count without a lookup"
            ));
        };
        found.is_reported = true;
        let programs = &found.programs;
        let Some(program) = programs.iter().find(|it| note.starts_with(**it)) else {
            return Err(format!(
                "{programs:?} reverted the count, and {by} reports: {note}"
            ));
        };
        let place = (by.to_owned(), uid.to_owned(), *program);
        let before = self.reverts.insert(place, at);
        match before.filter(|before| at < before + REVERT_AGAIN) {
            Some(before) => Err(format!(
                "{by} reports {program} again after {} ms",
                at - before
            )),
            None => Ok(()),
        }
    }

    /// Whether an admission denial has lasted for too long without an Event.
    pub(crate) fn hides_failure(&self, by: &str, uid: &str, now: i64) -> bool {
        let failing = self.failing.get(&(by.to_owned(), uid.to_owned()));
        failing.is_some_and(|it| it.is_denied && !it.is_reported && it.since + MAX_DELAY < now)
    }

    /// Whether a revert by a single known program has lasted for too long without an Event.
    pub(crate) fn hides_revert(&self, by: &str, uid: &str, now: i64) -> bool {
        let found = self.found.get(&(by.to_owned(), uid.to_owned()));
        let Some(found) = found.filter(|it| !it.is_reported && it.at + MAX_DELAY < now) else {
            return false;
        };
        let [program] = found.programs[..] else {
            return false;
        };
        let place = (by.to_owned(), uid.to_owned(), program);
        let before = self.reverts.get(&place);
        before.is_none_or(|before| found.at >= before + REVERT_AGAIN)
    }

    /// Whether a write that changed a count has been without an Event for too long.
    pub(crate) fn is_silent(&self, by: &str, uid: &str, now: i64) -> bool {
        let unreported = self.unreported.get(&(by.to_owned(), uid.to_owned()));
        let mut unreported = unreported.into_iter().flatten();
        unreported.any(|it| it.scales && it.at + MAX_DELAY < now)
    }

    /// Checks that the metrics of a process count as many starts and stops as it made.
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
