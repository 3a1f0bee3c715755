//! What was asked for and is still to be confirmed, and what came of what was.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, TimeDelta, Utc};

use super::{
    gate::Token,
    worker::{Asked, Jobs},
};
use crate::operations::{RequestedOverride, Said};

/// So many plans are remembered.
const MOST_PLANS: usize = 16;
/// So long what was asked for may be confirmed.
const LONGEST: TimeDelta = TimeDelta::minutes(5);
/// So many lines of a result are kept.
const MOST_LINES: usize = 2_100;

/// What somebody may have done from the pages.
pub(in crate::dashboard) struct Actions {
    pub(in crate::dashboard) token: Token,
    pub(super) jobs: Jobs,
    plans: Mutex<(u64, VecDeque<Arc<Plan>>)>,
}

/// What was asked for, and what has become of it.
pub(in crate::dashboard) struct Plan {
    pub(in crate::dashboard) id: u64,
    pub(super) asked: Arc<Asked>,
    pub(in crate::dashboard) planned: Planned,
    progress: Mutex<Progress>,
}

/// What would be done.
#[derive(Debug, Default)]
pub(in crate::dashboard) struct Planned {
    /// Of what, what would become of it, and what would be written.
    pub(in crate::dashboard) changes: Vec<(String, String, String)>,
    /// What nothing would be done to, and why.
    pub(in crate::dashboard) others: Vec<String>,
    /// The first end of all.
    pub(in crate::dashboard) ends: Option<DateTime<Utc>>,
}

/// How far a plan is.
#[derive(Clone, Debug, Default)]
pub(in crate::dashboard) struct Progress {
    pub(in crate::dashboard) phase: Phase,
    /// What was said, and whether it is bad.
    pub(in crate::dashboard) lines: Vec<(String, bool)>,
}

/// How far a plan is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::dashboard) enum Phase {
    /// Nobody has confirmed it yet.
    #[default]
    Planned,
    /// It is carried out: a controller has acted on so many of all.
    UnderWay(usize, usize),
    /// All is said.
    Done,
}

impl Actions {
    pub(in crate::dashboard) fn new() -> io::Result<Self> {
        Ok(Self {
            token: Token::random()?,
            jobs: Jobs::default(),
            plans: Mutex::default(),
        })
    }

    /// Remembers a plan, and forgets an old one where there are many.
    pub(super) fn remember(&self, asked: Arc<Asked>, planned: Planned) -> Arc<Plan> {
        let mut plans = self.plans();
        plans.0 += 1;
        let plan = Arc::new(Plan {
            id: plans.0,
            asked,
            planned,
            progress: Mutex::default(),
        });
        if plans.1.len() == MOST_PLANS {
            plans.1.pop_front();
        }
        plans.1.push_back(Arc::clone(&plan));
        plan
    }

    pub(in crate::dashboard) fn find(&self, id: u64) -> Option<Arc<Plan>> {
        self.plans().1.iter().find(|it| it.id == id).cloned()
    }

    fn plans(&self) -> MutexGuard<'_, (u64, VecDeque<Arc<Plan>>)> {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Plan {
    /// What is requested.
    pub(in crate::dashboard) fn requested(&self) -> &RequestedOverride {
        &self.asked.request.requested
    }

    /// Begins; false where that was done before.
    pub(super) fn begin(&self) -> bool {
        let mut progress = self.locked();
        let begins = progress.phase == Phase::Planned;
        if begins {
            progress.phase = Phase::UnderWay(0, 0);
        }
        begins
    }

    /// Whether what was confirmed still holds at `now`.
    pub(super) fn is_fresh(&self, now: DateTime<Utc>) -> bool {
        let ends = self.planned.ends.is_none_or(|ends| ends > now);
        ends && now - self.asked.request.now <= LONGEST
    }

    pub(super) fn tell(&self, said: Said) {
        let mut progress = self.locked();
        match said {
            Said::Waiting { done, all } => progress.phase = Phase::UnderWay(done, all),
            Said::Done(line) if progress.lines.len() < MOST_LINES => {
                progress.lines.push((line, false));
            }
            Said::Failed { text, .. } if progress.lines.len() < MOST_LINES => {
                progress.lines.push((text, true));
            }
            Said::Done(_) | Said::Failed { .. } => {}
        }
    }

    pub(super) fn end(&self) {
        self.locked().phase = Phase::Done;
    }

    /// How far it is now.
    pub(in crate::dashboard) fn progress(&self) -> Progress {
        self.locked().clone()
    }

    fn locked(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
