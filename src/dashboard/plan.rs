//! A requested action from its preview to its result: who may confirm it, how long, and how far it is.

use std::{
    collections::{HashSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_operations::{
    AnnotatedNamespace, OverrideReport, OverrideRequest, RequestedOverride, Selection,
};
use dayshift_workload::{Observed, WorkloadRef};
use kube::Client;
use tokio::sync::{mpsc, oneshot};

use crate::dashboard::{entrance::Identity, view::View};

/// How long what was asked for may be confirmed.
const MAX_AGE: TimeDelta = TimeDelta::minutes(5);
/// How many lines of a result are kept.
const MAX_LINES: usize = 2_100;

/// What somebody has asked for.
pub(crate) struct ActionRequest {
    /// Acts with the rights of whoever asks.
    pub(crate) client: Client,
    pub(crate) request: OverrideRequest,
    pub(crate) selection: Selection,
    pub(crate) missing: Vec<String>,
    pub(crate) namespaces: Vec<String>,
}

/// What was asked for, and what has become of it.
pub(crate) struct ActionPlan {
    pub(crate) id: u64,
    pub(crate) asked: Arc<ActionRequest>,
    pub(crate) planned: Preview,
    progress: Mutex<PlanProgress>,
}

/// What would be done.
#[derive(Debug, Default)]
pub(crate) struct Preview {
    pub(crate) changes: Vec<PreviewedChange>,
    /// The workloads that are changed, as they were seen.
    pub(crate) objects: Vec<Observed>,
    /// The Namespaces that are changed, as they were seen.
    pub(crate) namespaces: Vec<(String, AnnotatedNamespace)>,
    /// What nothing would be done to, and why.
    pub(crate) others: Vec<String>,
    /// The first end of all.
    pub(crate) ends: Option<DateTime<Utc>>,
}

/// What would be done to one object or Namespace.
#[derive(Debug)]
pub(crate) struct PreviewedChange {
    /// To what: `dev/web`, or `namespace/dev`.
    pub(crate) object: String,
    /// What would become of it, such as `woken until 22:00 CET`.
    pub(crate) outcome: String,
    /// What would be written, in the form of `kubectl annotate` or `kubectl scale`.
    pub(crate) written: String,
    /// The workloads that a change of a Namespace reaches.
    pub(crate) reaches: Vec<WorkloadRef>,
}

impl Preview {
    /// How many workloads it reaches, each once.
    pub(crate) fn reached(&self) -> usize {
        let in_namespaces = self.changes.iter().flat_map(|change| &change.reaches);
        let own = self.objects.iter().map(|object| &object.object);
        own.chain(in_namespaces).collect::<HashSet<_>>().len()
    }

    /// Whether it may still be confirmed at `now`, where it was asked for at that time.
    fn is_fresh(&self, asked: DateTime<Utc>, now: DateTime<Utc>) -> bool {
        now - asked <= MAX_AGE && self.ends.is_none_or(|ends| ends > now)
    }
}

/// How far a plan is, and what was said of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlanProgress {
    pub(crate) phase: PlanPhase,
    pub(crate) lines: Vec<ResultLine>,
}

impl PlanProgress {
    /// How many lines tell of an error.
    pub(crate) fn errors(&self) -> usize {
        self.lines.iter().filter(|line| line.is_error).count()
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
pub(crate) enum PlanPhase {
    /// Nobody has confirmed it yet.
    #[default]
    Preview,
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

impl ActionPlan {
    pub(crate) fn new(id: u64, asked: Arc<ActionRequest>, planned: Preview) -> Self {
        Self {
            id,
            asked,
            planned,
            progress: Mutex::default(),
        }
    }

    /// How many objects it holds.
    pub(crate) fn objects(&self) -> usize {
        let affected = |(_, namespace): &(_, AnnotatedNamespace)| namespace.affected.len();
        let in_namespaces: usize = self.planned.namespaces.iter().map(affected).sum();
        self.asked.selection.observed.len() + self.planned.objects.len() + in_namespaces
    }

    /// What is requested.
    pub(crate) fn requested(&self) -> &RequestedOverride {
        &self.asked.request.requested
    }

    /// Begins; false where that was done before.
    pub(crate) fn begin(&self) -> bool {
        let mut progress = self.locked();
        let begins = progress.phase == PlanPhase::Preview;
        if begins {
            progress.phase = PlanPhase::UnderWay { done: 0, all: 0 };
        }
        begins
    }

    /// Whether what was confirmed still holds at `now`.
    pub(crate) fn is_fresh(&self, now: DateTime<Utc>) -> bool {
        self.planned.is_fresh(self.asked.request.now, now)
    }

    pub(crate) fn tell(&self, said: OverrideReport) {
        let mut progress = self.locked();
        let (text, is_error) = match said {
            OverrideReport::Waiting { done, all } => {
                progress.phase = PlanPhase::UnderWay { done, all };
                return;
            }
            OverrideReport::Done(line) => (line, false),
            OverrideReport::Failed { text, .. } => (text, true),
        };
        if progress.lines.len() < MAX_LINES {
            progress.lines.push(ResultLine { text, is_error });
        }
    }

    pub(crate) fn end(&self) {
        self.locked().phase = PlanPhase::Done;
    }

    /// How far it is now.
    pub(crate) fn progress(&self) -> PlanProgress {
        self.locked().clone()
    }

    fn locked(&self) -> MutexGuard<'_, PlanProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// At most this many plans of one visitor are remembered.
const MAX_PLANS: usize = 16;
/// At most this many visitors have plans.
const MAX_VISITORS: usize = 16;

/// At most this many objects are remembered in all plans together: some 2 kB each.
const MAX_OBJECTS: usize = 6_000;

/// What somebody may have done from the pages.
#[derive(Default)]
pub(crate) struct Actions {
    pub(crate) jobs: JobQueue,
    plans: Mutex<VisitorPlans>,
}

/// The plans of each visitor; whoever asked last stands last.
#[derive(Default)]
struct VisitorPlans {
    last_id: u64,
    by_visitor: VecDeque<(Identity, VecDeque<Arc<ActionPlan>>)>,
}

impl VisitorPlans {
    /// Forgets the oldest plans of whoever has not asked for longest, until all plans together hold
    /// no more objects than this, or one plan is left.
    fn forget_beyond(&mut self, objects: usize) {
        loop {
            let all = self.by_visitor.iter().flat_map(|(_, own)| own);
            let (mut plans, mut held) = (0, 0);
            for plan in all {
                plans += 1;
                held += plan.objects();
            }
            if held <= objects || plans <= 1 {
                return;
            }
            if let Some((_, own)) = self.by_visitor.front_mut() {
                own.pop_front();
            }
            self.by_visitor.retain(|(_, own)| !own.is_empty());
        }
    }
}

impl Actions {
    /// Remembers a plan of a visitor, and forgets their oldest where they have many.
    pub(crate) fn remember(
        &self,
        visitor: &Identity,
        asked: Arc<ActionRequest>,
        planned: Preview,
    ) -> Arc<ActionPlan> {
        let mut plans = self.plans();
        plans.last_id += 1;
        let plan = Arc::new(ActionPlan::new(plans.last_id, asked, planned));
        let by_visitor = &mut plans.by_visitor;
        let at = by_visitor.iter().position(|(known, _)| known == visitor);
        let known = at.and_then(|at| by_visitor.remove(at));
        let mut own = known.map(|(_, own)| own).unwrap_or_default();
        if own.len() == MAX_PLANS {
            own.pop_front();
        }
        own.push_back(Arc::clone(&plan));
        if by_visitor.len() == MAX_VISITORS {
            by_visitor.pop_front();
        }
        by_visitor.push_back((visitor.clone(), own));
        plans.forget_beyond(MAX_OBJECTS);
        plan
    }

    /// A plan that this visitor has asked for.
    pub(crate) fn find(&self, visitor: &Identity, id: u64) -> Option<Arc<ActionPlan>> {
        let plans = self.plans();
        let (_, own) = plans
            .by_visitor
            .iter()
            .find(|(known, _)| known == visitor)?;
        own.iter().find(|plan| plan.id == id).cloned()
    }

    fn plans(&self) -> MutexGuard<'_, VisitorPlans> {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Something to be done.
pub(crate) enum ActionJob {
    /// To look what would change.
    Plan(Arc<ActionRequest>, oneshot::Sender<Preview>),
    /// To change it, and what is seen when that is confirmed.
    CarryOut(Arc<ActionPlan>, Arc<View>),
}

/// JobQueue on their way.
pub(crate) struct JobQueue {
    sender: mpsc::UnboundedSender<ActionJob>,
    receiver: Mutex<Option<mpsc::UnboundedReceiver<ActionJob>>>,
}

impl Default for JobQueue {
    fn default() -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        let receiver = Mutex::new(Some(receiver));
        Self { sender, receiver }
    }
}

impl JobQueue {
    /// Has it done, by and by.
    pub(crate) fn send(&self, job: ActionJob) {
        // Where nobody works any more the program ends.
        let _ = self.sender.send(job);
    }

    /// Where they come out; none where somebody has that already.
    pub(crate) fn take(&self) -> Option<mpsc::UnboundedReceiver<ActionJob>> {
        let receiver = self.receiver.lock();
        receiver.unwrap_or_else(PoisonError::into_inner).take()
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
            let planned = Preview {
                ends: ends.map(at),
                ..Preview::default()
            };
            let is_fresh = planned.is_fresh(asked, at(minutes));
            assert_eq!(is_fresh, expected, "{ends:?} {minutes}");
        }
    }
}
