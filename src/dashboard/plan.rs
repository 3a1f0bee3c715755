//! A requested action from its preview to its result.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_operations::{
    AnnotatedNamespace, AnnotatedWorkload, EditedWorkload, FormerOverrides, OverrideReport,
    OverrideRequest, ReplacedOverride, RequestedOverride, Restore, ScheduleEdit, Selection,
    Shorten, failure_text,
};
use dayshift_workload::{
    Key, Observed, Prefix, Replicas, WorkloadRef, other_controllers::OtherController,
    savings::StoppedCapacity,
};
use kube::Client;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};

use crate::dashboard::{entrance::Identity, view::View};

/// A preview can be confirmed for this long.
const MAX_AGE: TimeDelta = TimeDelta::minutes(5);
/// The maximum number of result lines.
const MAX_LINES: usize = 2_100;

/// The request that a form makes.
pub(crate) struct ActionRequest {
    /// Acts with the permissions of the user.
    pub(crate) client: Client,
    pub(crate) operation: Operation,
    pub(crate) selection: Selection,
    pub(crate) missing: Vec<String>,
    pub(crate) namespaces: Vec<String>,
    /// The number of starts in the cluster that wait for a start slot.
    pub(crate) waiting_starts: usize,
}

/// The operation on the chosen workloads.
pub(crate) enum Operation {
    Override(OverrideRequest),
    Restore(Restore),
    Schedule(ScheduleRequest),
}

/// A request to write another schedule on one workload.
pub(crate) struct ScheduleRequest {
    pub(crate) edit: ScheduleEdit,
    pub(crate) prefix: Prefix,
    pub(crate) now: DateTime<Utc>,
}

impl Operation {
    /// The time of the request.
    const fn now(&self) -> DateTime<Utc> {
        match self {
            Self::Override(request) => request.now,
            Self::Restore(restore) => restore.now,
            Self::Schedule(request) => request.now,
        }
    }

    /// The name of the command.
    pub(crate) const fn command(&self) -> &'static str {
        match self {
            Self::Override(request) => request.requested.command(),
            Self::Restore(_) => "restore",
            Self::Schedule(_) => "schedule",
        }
    }

    /// The label of the operation, for example `Put to sleep`.
    pub(crate) const fn verb(&self) -> &'static str {
        match self {
            Self::Override(request) => match request.requested {
                RequestedOverride::Wake(_) => "Wake",
                RequestedOverride::Sleep(..) => "Put to sleep",
                RequestedOverride::Pause(_) => "Pause",
                RequestedOverride::Resume => "Resume",
                RequestedOverride::Sync => "Sync",
                RequestedOverride::Undo(_) => "Undo",
            },
            Self::Restore(_) => "Restore",
            Self::Schedule(_) => "New schedule",
        }
    }

    /// For example `not woken`.
    pub(crate) const fn failure(&self) -> &'static str {
        match self {
            Self::Override(request) => failure_text(&request.requested),
            Self::Restore(_) => "not restored",
            Self::Schedule(_) => "not scheduled",
        }
    }

    /// Whether it starts workloads, whose readiness a user waits for.
    pub(crate) const fn is_start(&self) -> bool {
        match self {
            Self::Override(request) => matches!(request.requested, RequestedOverride::Wake(_)),
            Self::Restore(_) => true,
            Self::Schedule(_) => false,
        }
    }

    /// Whether `resume` ends its effect.
    pub(crate) const fn begins_override(&self) -> bool {
        match self {
            Self::Override(request) => matches!(
                request.requested,
                RequestedOverride::Wake(_)
                    | RequestedOverride::Sleep(..)
                    | RequestedOverride::Pause(_)
            ),
            Self::Restore(_) | Self::Schedule(_) => false,
        }
    }
}

/// A previewed action and its progress.
pub(crate) struct ActionPlan {
    pub(crate) id: u64,
    pub(crate) asked: Arc<ActionRequest>,
    pub(crate) planned: Preview,
    progress: Mutex<PlanProgress>,
}

/// The changes that an action would make.
#[derive(Debug, Default)]
pub(crate) struct Preview {
    pub(crate) changes: Vec<PreviewedChange>,
    /// The names of the objects that the user may not change, by namespace.
    pub(crate) denied: BTreeMap<Arc<str>, Vec<String>>,
    /// A line for each object that stays unchanged, with the reason.
    pub(crate) others: Vec<String>,
    /// The edited schedule, if a schedule is edited.
    pub(crate) edit: Option<PreviewedEdit>,
}

/// An edited schedule.
#[derive(Debug)]
pub(crate) struct PreviewedEdit {
    pub(crate) workload: EditedWorkload,
    /// The program that applies the workload from Git or a chart. The annotations must be written there.
    pub(crate) managed_by: Option<OtherController>,
}

#[derive(Debug)]
pub(crate) struct PreviewedChange {
    pub(crate) subject: ChangeSubject,
    /// The capacity that starts and that stops.
    pub(crate) starts: StoppedCapacity,
    pub(crate) stops: StoppedCapacity,
    /// The number of its workloads that start only after others (`dayshift/after`).
    pub(crate) delayed: usize,
    /// The count before and after, if they are known and numbers of replicas.
    pub(crate) counts: Option<(Replicas, Replicas)>,
    /// The effect, for example `awake until 22:00 CET`.
    pub(crate) outcome: String,
    /// The end of the effect; `None` without one, or if it is the next boundary of the schedule.
    pub(crate) until: Option<DateTime<Utc>>,
    /// The arguments of the equivalent `kubectl annotate` or `kubectl scale`.
    pub(crate) written: String,
    /// The active override that the change replaces.
    pub(crate) replaced: Option<ReplacedOverride>,
}

/// The object of a change, as it was observed for the preview.
#[derive(Debug)]
pub(crate) enum ChangeSubject {
    Workload(Arc<Observed>),
    Namespace(String, Box<AnnotatedNamespace>),
}

impl PreviewedChange {
    /// A change of a workload to which nothing is written yet.
    pub(crate) fn of_workload(observed: &Arc<Observed>, outcome: String, written: String) -> Self {
        let subject = ChangeSubject::Workload(Arc::clone(observed));
        Self::new(subject, outcome, written)
    }

    /// A change of a Namespace.
    pub(crate) fn of_namespace(
        name: &str,
        annotated: AnnotatedNamespace,
        outcome: String,
        written: String,
    ) -> Self {
        let subject = ChangeSubject::Namespace(name.to_owned(), Box::new(annotated));
        Self::new(subject, outcome, written)
    }

    fn new(subject: ChangeSubject, outcome: String, written: String) -> Self {
        Self {
            subject,
            starts: StoppedCapacity::default(),
            stops: StoppedCapacity::default(),
            delayed: 0,
            counts: None,
            outcome,
            until: None,
            written,
            replaced: None,
        }
    }

    /// Adds the capacity between two counts of a workload.
    pub(crate) fn count(&mut self, observed: &Observed, (before, after): (Replicas, Replicas)) {
        let between = |more: Replicas, less: Replicas| {
            let count = Replicas::new(more.get().saturating_sub(less.get()));
            StoppedCapacity::new(count, observed.footprint)
        };
        let added = |sum: StoppedCapacity, more| [sum, more].into_iter().sum();
        self.starts = added(self.starts, between(after, before));
        self.stops = added(self.stops, between(before, after));
        let is_start = after > before;
        self.delayed += usize::from(is_start && observed.inputs.text(Key::After).is_some());
    }

    /// The name of the object, for example `dev/web` or `namespace/dev`.
    pub(crate) fn name(&self) -> String {
        match &self.subject {
            ChangeSubject::Workload(observed) => observed.object.to_string(),
            ChangeSubject::Namespace(name, _) => format!("namespace/{name}"),
        }
    }

    /// The name with the kind unless it is a Deployment, for example `dev/sts/db`.
    pub(crate) fn full_name(&self) -> String {
        match &self.subject {
            ChangeSubject::Workload(observed) => observed.object.full_name(),
            ChangeSubject::Namespace(..) => self.name(),
        }
    }

    /// The workload, unless the change is one of a Namespace.
    pub(crate) fn workload(&self) -> Option<&WorkloadRef> {
        match &self.subject {
            ChangeSubject::Workload(observed) => Some(&observed.object),
            ChangeSubject::Namespace(..) => None,
        }
    }

    /// The workloads to which the override of a Namespace applies.
    pub(crate) fn in_namespace(&self) -> &[AnnotatedWorkload] {
        match &self.subject {
            ChangeSubject::Workload(_) => &[],
            ChangeSubject::Namespace(_, annotated) => &annotated.affected,
        }
    }

    /// All workloads that change, as they were before.
    pub(crate) fn observed(&self) -> impl Iterator<Item = &Observed> {
        let own = match &self.subject {
            ChangeSubject::Workload(observed) => Some(&**observed),
            ChangeSubject::Namespace(..) => None,
        };
        let in_namespace = self.in_namespace().iter().map(|workload| &*workload.now);
        own.into_iter().chain(in_namespace)
    }

    /// The references of all workloads that change.
    fn workloads(&self) -> impl Iterator<Item = &WorkloadRef> {
        self.observed().map(|observed| &observed.object)
    }

    /// Whether the change ends an active override earlier.
    pub(crate) fn shortens(&self) -> bool {
        self.replaced
            .as_ref()
            .is_some_and(|replaced| replaced.is_shortened)
    }

    /// Whether the change is made.
    pub(crate) fn is_allowed(&self, shorten: Shorten) -> bool {
        shorten == Shorten::Allowed || !self.shortens()
    }
}

impl Preview {
    /// The capacity that starts and that stops.
    pub(crate) fn capacity(&self) -> (StoppedCapacity, StoppedCapacity) {
        let changes = self.changes.iter();
        let starts = changes.clone().map(|change| change.starts).sum();
        (starts, changes.map(|change| change.stops).sum())
    }

    /// The number of workloads whose replicas do not request both CPU and memory.
    pub(crate) fn without_all_requests(&self) -> usize {
        let observed = self.changes.iter().flat_map(PreviewedChange::observed);
        let footprints = observed.map(|observed| observed.footprint);
        let counted = footprints.filter(|footprint| footprint.replicas > 0);
        counted
            .filter(|footprint| !footprint.requests.are_complete())
            .count()
    }

    /// The number of workloads that start only after others.
    pub(crate) fn delayed(&self) -> usize {
        self.changes.iter().map(|change| change.delayed).sum()
    }

    /// The distinct workloads that change, also those of Namespaces.
    pub(crate) fn workloads(&self, shorten: Shorten) -> HashSet<&WorkloadRef> {
        let changes = self.changes.iter();
        let changes = changes.filter(|change| change.is_allowed(shorten));
        changes.flat_map(PreviewedChange::workloads).collect()
    }

    /// The number of distinct workloads that change, also those of Namespaces.
    pub(crate) fn count(&self, shorten: Shorten) -> usize {
        let changes = self.changes.iter();
        // Each workload is selected once, and can also be one of a Namespace.
        if changes.clone().any(|change| change.workload().is_none()) {
            return self.workloads(shorten).len();
        }
        changes.filter(|change| change.is_allowed(shorten)).count()
    }

    /// The different ends of the changes that are made; `None` is a change without an end.
    pub(crate) fn ends(&self, shorten: Shorten) -> BTreeSet<Option<DateTime<Utc>>> {
        let changes = self.changes.iter();
        let changes = changes.filter(|change| change.is_allowed(shorten));
        changes.map(|change| change.until).collect()
    }
}

/// Whether a preview from `asked` can be confirmed at `now`. `ends` is the earliest end of its changes.
fn is_fresh(asked: DateTime<Utc>, ends: Option<DateTime<Utc>>, now: DateTime<Utc>) -> bool {
    now - asked <= MAX_AGE && ends.is_none_or(|ends| ends > now)
}

/// The phase of an action, and its result lines.
#[derive(Clone, Debug)]
pub(crate) struct PlanProgress {
    pub(crate) phase: PlanPhase,
    /// The user's decision about overrides that would end earlier.
    pub(crate) shorten: Shorten,
    pub(crate) lines: Vec<ResultLine>,
}

impl PlanProgress {
    pub(crate) fn errors(&self) -> usize {
        self.lines.iter().filter(|line| line.is_error).count()
    }
}

/// A line as the command prints it.
#[derive(Clone, Debug)]
pub(crate) struct ResultLine {
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlanPhase {
    /// Not confirmed yet.
    Preview,
    /// In progress.
    UnderWay {
        /// Objects that a controller has acted on.
        done: usize,
        all: usize,
    },
    Done,
}

impl ActionPlan {
    pub(crate) fn new(id: u64, asked: Arc<ActionRequest>, planned: Preview) -> Self {
        Self {
            id,
            asked,
            planned,
            progress: Mutex::new(PlanProgress {
                phase: PlanPhase::Preview,
                shorten: Shorten::Forbidden,
                lines: Vec::new(),
            }),
        }
    }

    /// The active overrides that the action has replaced.
    pub(crate) fn former_overrides(&self) -> FormerOverrides {
        let shorten = self.progress().shorten;
        let mut former = FormerOverrides::default();
        let changes = self.planned.changes.iter();
        for change in changes.filter(|change| change.is_allowed(shorten)) {
            let Some(replaced) = &change.replaced else {
                continue;
            };
            let over = replaced.former.clone();
            match &change.subject {
                ChangeSubject::Workload(observed) => {
                    former.workloads.insert(observed.object.clone(), over);
                }
                ChangeSubject::Namespace(name, _) => {
                    former.namespaces.insert(name.clone(), over);
                }
            }
        }
        former
    }

    /// The number of objects in memory.
    pub(crate) fn objects(&self) -> usize {
        let changed = self.planned.changes.iter();
        let changed: usize = changed.map(|change| change.workloads().count()).sum();
        self.asked.selection.workloads.len() + changed
    }

    /// Starts the action. Returns false if it was started before.
    pub(crate) fn begin(&self, shorten: Shorten) -> bool {
        let mut progress = self.locked();
        let begins = progress.phase == PlanPhase::Preview;
        if begins {
            progress.phase = PlanPhase::UnderWay { done: 0, all: 0 };
            progress.shorten = shorten;
        }
        begins
    }

    /// Whether the preview can still be confirmed.
    pub(crate) fn is_fresh(&self, now: DateTime<Utc>) -> bool {
        let ends = self.planned.ends(Shorten::Allowed).into_iter().flatten();
        is_fresh(self.asked.operation.now(), ends.min(), now)
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

    pub(crate) fn progress(&self) -> PlanProgress {
        self.locked().clone()
    }

    fn locked(&self) -> MutexGuard<'_, PlanProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The maximum number of plans of a visitor.
const MAX_PLANS: usize = 16;
/// The maximum number of visitors with plans.
const MAX_VISITORS: usize = 16;

/// The maximum number of objects in all plans. Each uses about 2 kB.
const MAX_OBJECTS: usize = 6_000;

/// The plans of all visitors and the queue of jobs.
#[derive(Default)]
pub(crate) struct Actions {
    pub(crate) jobs: JobQueue,
    plans: Mutex<VisitorPlans>,
}

/// The plans by visitor, the most recent visitor last.
#[derive(Default)]
struct VisitorPlans {
    last_id: u64,
    by_visitor: VecDeque<(Identity, VecDeque<Arc<ActionPlan>>)>,
}

impl VisitorPlans {
    /// Forgets plans until at most this many objects, or one plan, are left.
    fn forget_beyond(&mut self, objects: usize) {
        loop {
            let sizes = self.by_visitor.iter().map(|(_, own)| {
                let sizes = own.iter().map(|plan| plan.objects());
                sizes.collect()
            });
            let Some(at) = displaced(&sizes.collect::<Vec<_>>(), objects) else {
                return;
            };
            if let Some((_, own)) = self.by_visitor.get_mut(at) {
                own.pop_front();
            }
            self.by_visitor.retain(|(_, own)| !own.is_empty());
        }
    }
}

/// The visitor whose oldest plan is forgotten, given the number of objects in each plan of each visitor: the
/// one whose plans have the most objects, so that one user cannot displace the plans of others. `None` if at
/// most this many objects, or one plan, are left.
fn displaced(visitors: &[Vec<usize>], objects: usize) -> Option<usize> {
    let held: Vec<usize> = visitors.iter().map(|plans| plans.iter().sum()).collect();
    let plans: usize = visitors.iter().map(Vec::len).sum();
    if held.iter().sum::<usize>() <= objects || plans <= 1 {
        return None;
    }
    // The least recent of several.
    let visitors = held.iter().enumerate().rev();
    visitors.max_by_key(|(_, held)| **held).map(|(at, _)| at)
}

impl Actions {
    /// Stores a plan. If the visitor has too many, the oldest is forgotten.
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

    /// A plan of this visitor.
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

pub(crate) enum ActionJob {
    /// Preview the changes, given the permit of a user.
    Plan(
        Arc<ActionRequest>,
        oneshot::Sender<Preview>,
        Option<OwnedSemaphorePermit>,
    ),
    /// Carry out the changes, given the view at the confirmation, and the permit of a user.
    CarryOut(Arc<ActionPlan>, Arc<View>, Option<OwnedSemaphorePermit>),
}

/// The queue from connections to the worker.
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
    pub(crate) fn send(&self, job: ActionJob) {
        // If the worker is gone, the program is about to exit.
        let _ = self.sender.send(job);
    }

    /// The receiving end, once.
    pub(crate) fn take(&self) -> Option<mpsc::UnboundedReceiver<ActionJob>> {
        let receiver = self.receiver.lock();
        receiver.unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_of_a_visitor_with_many_objects_do_not_displace_those_of_others() {
        for (visitors, expected) in [
            (&[vec![100], vec![2_000, 2_000, 1_900]][..], None),
            (&[vec![100], vec![2_000, 2_000, 2_000]], Some(1)),
            (&[vec![2_000, 2_000, 2_000], vec![100]], Some(0)),
            (&[vec![3_000], vec![3_000], vec![1]], Some(0)),
            (&[vec![9_000]], None),
            (&[], None),
        ] {
            assert_eq!(displaced(visitors, MAX_OBJECTS), expected, "{visitors:?}");
        }
    }

    #[test]
    fn preview_is_valid_for_five_minutes_or_until_the_override_ends() {
        let asked = DateTime::UNIX_EPOCH;
        let at = |minutes: i64| asked + TimeDelta::minutes(minutes);
        for (ends, minutes, expected) in [
            (None, 5, true),
            (None, 6, false),
            (Some(3), 2, true),
            (Some(3), 3, false),
            (Some(9), 6, false),
        ] {
            let is_fresh = is_fresh(asked, ends.map(at), at(minutes));
            assert_eq!(is_fresh, expected, "{ends:?} {minutes}");
        }
    }
}
