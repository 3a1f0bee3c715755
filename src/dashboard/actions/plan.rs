//! What was asked for, what would be done, and what came of it.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_operations::{
    AnnotatedNamespace, OverrideReport, OverrideRequest, RequestedOverride, Selection,
};
use dayshift_workload::{Observed, WorkloadRef};
use kube::Client;

/// How long what was asked for may be confirmed.
const MAX_AGE: TimeDelta = TimeDelta::minutes(5);
/// How many lines of a result are kept.
const MAX_LINES: usize = 2_100;

/// What somebody has asked for.
pub(super) struct Asked {
    /// Acts with the rights of whoever asks.
    pub(super) client: Client,
    pub(super) request: OverrideRequest,
    pub(super) selection: Selection,
    pub(super) missing: Vec<String>,
    pub(super) namespaces: Vec<String>,
}

/// What was asked for, and what has become of it.
pub(crate) struct Plan {
    pub(crate) id: u64,
    pub(super) asked: Arc<Asked>,
    pub(crate) planned: Planned,
    progress: Mutex<Progress>,
}

/// What would be done.
#[derive(Debug, Default)]
pub(crate) struct Planned {
    pub(crate) changes: Vec<PlannedChange>,
    /// The workloads that are changed, as they were seen.
    pub(super) objects: Vec<Observed>,
    /// The Namespaces that are changed, as they were seen.
    pub(super) namespaces: Vec<(String, AnnotatedNamespace)>,
    /// What nothing would be done to, and why.
    pub(crate) others: Vec<String>,
    /// The first end of all.
    pub(crate) ends: Option<DateTime<Utc>>,
}

/// What would be done to one object or Namespace.
#[derive(Debug)]
pub(crate) struct PlannedChange {
    /// To what: `dev/web`, or `namespace/dev`.
    pub(crate) object: String,
    /// What would become of it, such as `woken until 22:00 CET`.
    pub(crate) outcome: String,
    /// What would be written, in the form of `kubectl annotate` or `kubectl scale`.
    pub(crate) written: String,
    /// The workloads that a change of a Namespace reaches.
    pub(crate) reaches: Vec<WorkloadRef>,
}

impl Planned {
    /// How many workloads it reaches, each once.
    pub(crate) fn reached(&self) -> usize {
        let in_namespaces = self.changes.iter().flat_map(|it| &it.reaches);
        let own = self.objects.iter().map(|it| &it.object);
        own.chain(in_namespaces).collect::<HashSet<_>>().len()
    }

    /// Whether it may still be confirmed at `now`, where it was asked for at that time.
    fn is_fresh(&self, asked: DateTime<Utc>, now: DateTime<Utc>) -> bool {
        now - asked <= MAX_AGE && self.ends.is_none_or(|ends| ends > now)
    }
}

/// How far a plan is, and what was said of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    pub(crate) phase: Phase,
    pub(crate) lines: Vec<ResultLine>,
}

impl Progress {
    /// How many lines tell of an error.
    pub(crate) fn errors(&self) -> usize {
        self.lines.iter().filter(|it| it.is_error).count()
    }
}

/// One line of a result, as the command prints it.
#[derive(Clone, Debug)]
pub(crate) struct ResultLine {
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

/// How far a plan is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nobody has confirmed it yet.
    #[default]
    Planned,
    /// It is carried out.
    UnderWay {
        /// Objects on which a controller has acted.
        done: usize,
        /// All objects.
        all: usize,
    },
    /// All is said.
    Done,
}

impl Plan {
    pub(super) fn new(id: u64, asked: Arc<Asked>, planned: Planned) -> Self {
        Self {
            id,
            asked,
            planned,
            progress: Mutex::default(),
        }
    }

    /// How many objects it holds.
    pub(super) fn objects(&self) -> usize {
        let of_namespace = |(_, it): &(_, AnnotatedNamespace)| it.affected.len();
        let in_namespaces: usize = self.planned.namespaces.iter().map(of_namespace).sum();
        self.asked.selection.observed.len() + self.planned.objects.len() + in_namespaces
    }

    /// What is requested.
    pub(crate) fn requested(&self) -> &RequestedOverride {
        &self.asked.request.requested
    }

    /// Begins; false where that was done before.
    pub(super) fn begin(&self) -> bool {
        let mut progress = self.locked();
        let begins = progress.phase == Phase::Planned;
        if begins {
            progress.phase = Phase::UnderWay { done: 0, all: 0 };
        }
        begins
    }

    /// Whether what was confirmed still holds at `now`.
    pub(super) fn is_fresh(&self, now: DateTime<Utc>) -> bool {
        self.planned.is_fresh(self.asked.request.now, now)
    }

    pub(super) fn tell(&self, said: OverrideReport) {
        let mut progress = self.locked();
        let (text, is_error) = match said {
            OverrideReport::Waiting { done, all } => {
                progress.phase = Phase::UnderWay { done, all };
                return;
            }
            OverrideReport::Done(line) => (line, false),
            OverrideReport::Failed { text, .. } => (text, true),
        };
        if progress.lines.len() < MAX_LINES {
            progress.lines.push(ResultLine { text, is_error });
        }
    }

    pub(super) fn end(&self) {
        self.locked().phase = Phase::Done;
    }

    /// How far it is now.
    pub(crate) fn progress(&self) -> Progress {
        self.locked().clone()
    }

    fn locked(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_is_good_for_five_minutes_unless_it_ends_before() {
        let asked = DateTime::UNIX_EPOCH;
        let at = |minutes: i64| asked + TimeDelta::minutes(minutes);
        for (ends, minutes, expected) in [
            (None, 5, true),
            (None, 6, false),
            (Some(3), 2, true),
            (Some(3), 3, false),
            (Some(9), 6, false),
        ] {
            let planned = Planned {
                ends: ends.map(at),
                ..Planned::default()
            };
            let is_fresh = planned.is_fresh(asked, at(minutes));
            assert_eq!(is_fresh, expected, "{ends:?} {minutes}");
        }
    }
}
