//! How one workload stands.
//!
//! What a status is made with.
//!
//! What requests to the Services of a workload come to.
//!
//! Who else sets an object's count.
//!
//! Who has set back what dayshift did last, as the object itself tells.
//!
//! What a status says of who has set the count back.

use std::{collections::BTreeSet, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::{Action, Direction, Zone};
use dayshift_workload::{
    Author, Dependency, Duty, Key, Kind, OVERDUE_GRACE, Observed, Origin, Overdue, Override,
    ParseContext, ParsedInputs, Phase, Prefix, Problem, Readiness, Replicas, RequestCoverage,
    ResourceRequests, ScheduleSpec, State, WorkloadRef, is_stopped_against_schedule,
    other_controllers::{FieldManager, ManagerKind, OtherController, REVERT_WINDOW, elapsed_after},
    predicted_action,
    savings::{StoppedCapacity, stopped_capacity},
    waiting_start,
};

use dayshift_cluster::{
    decode::WithManagers,
    read::{Autoscalers, NamespaceDefaults, Services, WaitingStarts},
};

use crate::status::{
    dependencies::{IgnoredDependency, SeenWorkloads, ignored_dependencies},
    note::{Note, count_note, nothing_saved},
};

/// How one workload stands.
#[derive(Clone, Debug)]
pub struct WorkloadStatus {
    /// Which one.
    pub object: WorkloadRef,
    /// `spec.replicas`.
    pub replicas: Replicas,
    /// What is to be known of it first.
    pub condition: ScheduleStatus,
    /// What was done last; `None` before a controller has seen it.
    pub phase: Option<Phase>,
    /// Since when, in whole seconds.
    pub since: Option<DateTime<Utc>>,
    /// What one of its replicas requests.
    pub requests: ResourceRequests,
    /// How much of it is ready.
    pub readiness: Readiness,
    /// What Kubernetes, or its operator, says is wrong with it.
    pub complaint: Option<String>,
    /// What of it is held down now.
    pub held_down: StoppedCapacity,
    /// The count to come back to.
    pub saved: Option<Replicas>,
    /// The next boundary, or the end of the active override.
    pub next: Option<DateTime<Utc>>,
    /// What happens then, as far as that is known and anything does.
    pub next_action: Option<Action>,
    /// What its start waits for that is due.
    pub waits_for: Vec<Dependency>,
    /// What its next starts name in vain.
    pub ignored_dependencies: Vec<IgnoredDependency>,
    /// The active override, and where it is written.
    pub laid_over: Option<(Origin, Override)>,
    /// Whose that override is.
    pub author: Author,
    /// Where its schedule is written.
    pub origin: Origin,
    /// Where its clocks are.
    pub zone: Zone,
    /// What is wrong with its annotations.
    pub problems: Vec<Problem>,
    /// What is wrong, in words: the problems, or what a controller said of others.
    pub error: Option<String>,
    /// Who else sets its count, in order.
    pub owners: BTreeSet<OtherController>,
    /// Which other program has set the count since dayshift did.
    pub reverted_by: Option<RevertedBy>,
    /// Whether its schedule leaves the count to an HPA: a start sets 1, and a stop 0, at which an HPA
    /// rests.
    pub leaves_count_to_hpa: bool,
    /// What requests to its Services come to, where it asks to be woken by them and they are known.
    pub on_request: Option<RequestCoverage>,
    /// What else should be known of it.
    pub notes: Vec<Note>,
}

/// What is to be known of a workload first; the more urgent, the earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScheduleStatus {
    /// Its schedule is refused.
    Refused,
    /// Something should have been done by now.
    Overdue,
    /// Its schedule was removed, and fewer run than are saved.
    Removed,
    /// No controller has seen it yet.
    Unseen,
    /// A controller follows its schedule.
    Followed,
}

impl WorkloadStatus {
    /// How a workload stands. `None` where it has no schedule and nothing is left of one.
    pub fn of(kind: Kind, managed: &WithManagers, context: &StatusContext<'_>) -> Option<Self> {
        let StatusContext {
            defaults,
            autoscalers,
            services,
            waiting_starts,
            workloads,
            prefix,
            parse_context,
            now,
        } = *context;
        let seen = managed.workload.observe(kind, prefix);
        let is_namespace_ahead = defaults.are_ahead_of(&seen);
        let observed = defaults.applied(seen);
        let parsed = observed.read(parse_context);
        let is_scheduled = match parsed {
            ParsedInputs::Unscheduled | ParsedInputs::Invalid(_) => false,
            ParsedInputs::Scheduled(_) => true,
        };
        let changed = is_scheduled.then(|| managed.changed()).flatten();
        let zone = parse_context.default_zone;
        let mut status = Self::of_known(&observed, &parsed, changed, prefix, zone, now)?;
        if status.has_overdue_start() && waiting_starts.wait_in(&status.object.namespace, now) {
            status = status.waiting_for_place();
        }
        if is_namespace_ahead {
            status.notes.push(Note::NamespaceAhead);
        }
        status.owners = owners(&status.object, managed, autoscalers);
        status.on_request = coverage(&observed, managed, services);
        let lacks = status
            .on_request
            .iter()
            .any(|it| !it.not_covered.is_empty());
        status.notes.extend(lacks.then_some(Note::NotCovered));
        if is_scheduled {
            let within = parsed.ready_within();
            let due = observed.ready_due(within).filter(|due| *due <= now);
            if let Some(since) = due.and(status.since) {
                status.complaint = managed.complaint().map(str::to_owned);
                let is_none_ready = observed.readiness.replicas() == Some(Replicas::ZERO);
                let is_problem = is_none_ready || status.complaint.is_some();
                status.notes.push(Note::NotReady { since, is_problem });
            }
            let read = |kind, it: &WithManagers| {
                let seen = defaults.applied(it.workload.observe(kind, prefix));
                let parsed = seen.read(parse_context);
                (seen, parsed)
            };
            let namespace = &observed.object.namespace;
            let seen = |needed: &Dependency| workloads.seen(namespace, needed, read);
            status = status.with_ignored_dependencies(ignored_dependencies(
                &observed.object,
                &parsed,
                now,
                seen,
            ));
            status.find_revert(managed, &observed);
            let operated_by = managed.operated_by();
            status
                .notes
                .extend(operated_by.map(|by| Note::Operated { by }));
        }
        Some(status)
    }

    /// The same of one whose inputs have been read, as far as that can be told without asking who
    /// has set its count. `changed` is as in [`Overdue::of`](dayshift_workload::Overdue::of).
    pub fn of_known(
        observed: &Observed,
        parsed: &ParsedInputs,
        changed: Option<DateTime<Utc>>,
        prefix: &Prefix,
        default_zone: Zone,
        now: DateTime<Utc>,
    ) -> Option<Self> {
        let state = observed.state();
        let mut status = Self {
            object: observed.object.clone(),
            replicas: observed.replicas,
            condition: ScheduleStatus::Followed,
            phase: state.phase,
            since: state.last,
            requests: observed.footprint.requests,
            readiness: observed.readiness,
            complaint: None,
            held_down: stopped_capacity(observed, parsed),
            saved: state.saved,
            next: None,
            next_action: None,
            waits_for: Vec::new(),
            ignored_dependencies: Vec::new(),
            laid_over: None,
            author: Author::default(),
            origin: observed.inputs.schedule_origin().unwrap_or(Origin::Own),
            zone: default_zone,
            problems: Vec::new(),
            error: None,
            owners: BTreeSet::new(),
            reverted_by: None,
            leaves_count_to_hpa: false,
            on_request: None,
            notes: Vec::new(),
        };
        match parsed {
            ParsedInputs::Invalid(refusal) => {
                status.error = Some(refusal.text(prefix));
                status.problems = refusal.problems().to_vec();
                status.condition = ScheduleStatus::Refused;
            }
            ParsedInputs::Scheduled(spec) => {
                status.error = observed.error.as_deref().map(str::to_owned);
                let is_held_down = is_stopped_against_schedule(observed, parsed);
                status.follow(spec, parsed, observed, is_held_down, changed, now);
            }
            // Removing a schedule takes the label away: it has one that is not seen.
            ParsedInputs::Unscheduled if state.phase.is_some() => {
                status.next = state.next_at();
                status.origin = Origin::Scaler;
                let saved = state.saved.filter(|saved| *saved > observed.replicas);
                let overdue = state.next_at().filter(|next| *next + OVERDUE_GRACE <= now);
                if overdue.is_some() {
                    status.condition = ScheduleStatus::Overdue;
                }
                status.notes.push(Note::NoSchedule { saved, overdue });
            }
            ParsedInputs::Unscheduled => {
                let saved = state.saved.filter(|saved| *saved > observed.replicas)?;
                status.notes.push(Note::LeftDown { saved });
                status.condition = ScheduleStatus::Removed;
            }
        }
        Some(status)
    }

    /// What happens next, in words before and after its time: `wake ends 22:00, runs on`.
    pub fn next_words(&self) -> (String, &'static str) {
        match (self.next_action, self.phase, self.replicas) {
            (Some(action), ..) => (format!("{action} "), ""),
            (None, Some(Phase::Woken), Replicas::ZERO) => ("wake ends ".to_owned(), ", stays at 0"),
            (None, Some(Phase::Woken), _) => ("wake ends ".to_owned(), ", runs on"),
            (None, ..) => (String::new(), ""),
        }
    }

    /// Takes in what a good schedule says.
    fn follow(
        &mut self,
        spec: &ScheduleSpec,
        parsed: &ParsedInputs,
        observed: &Observed,
        is_held_down: bool,
        changed: Option<DateTime<Utc>>,
        now: DateTime<Utc>,
    ) {
        let (object, state) = (&observed.object, &observed.state());
        self.zone = spec.schedule.zone();
        self.leaves_count_to_hpa = spec.replicas == Some(Replicas::ONE)
            && spec.stop_replicas == Replicas::ZERO
            && spec.largest_count().is_none();
        let overrides = observed.overrides(spec, state, now);
        self.laid_over = overrides.with_origin_at(now);
        let author = self
            .laid_over
            .map(|(origin, _)| observed.inputs.author(origin));
        self.author = author.unwrap_or_default();
        self.next = if state.phase.is_some() {
            state.next_at()
        } else {
            spec.next_after(object, now).map(|it| it.at)
        };
        if observed.deleting {
            self.next = None;
            self.condition = self.usual_condition(state);
            self.notes.push(Note::Deleting);
            return;
        }
        self.next_action = if state.phase.is_some() {
            let next = state.next_at();
            next.and_then(|next| predicted_action(parsed, observed, next))
        } else {
            spec.next_after(object, now).map(|it| it.action)
        };
        let overdue = Overdue::find(parsed, observed, changed, now);
        self.condition = match self.usual_condition(state) {
            ScheduleStatus::Refused => ScheduleStatus::Refused,
            _ if overdue.is_some() => ScheduleStatus::Overdue,
            usual => usual,
        };
        if self.condition == ScheduleStatus::Unseen {
            self.notes.push(Note::Unseen);
        }
        self.notes.extend(overdue.map(Note::Overdue));
        if let Some(waiting) = waiting_start(parsed, observed, changed, now) {
            let until = waiting.until;
            self.notes.push(Note::Waits { until });
            self.waits_for = waiting.needed;
        }
        self.notes.extend(nothing_saved(spec, observed, state, now));
        let before = self.notes.len();
        // What is due at this moment may be done at the next.
        let is_due = state.next_at().is_some_and(|next| next <= now)
            || overrides.at(now).is_some_and(|it| !it.holds(state));
        if is_held_down && !is_due && overdue.is_none() {
            let until = spec
                .next_boundary(Direction::Up, object, now)
                .map(|it| it.at);
            self.notes.push(Note::HeldDown { until });
        } else if !is_due && overdue.is_none_or(|it| it.duty == Duty::Adopt) {
            self.notes.extend(count_note(spec, observed, state, now));
        }
        let is_down = observed.replicas <= spec.stop_replicas
            && state.saved.is_some_and(|saved| saved > observed.replicas);
        if is_down
            && self.laid_over.is_none()
            && spec.next_boundary(Direction::Up, object, now).is_none()
        {
            self.notes.push(Note::NoStart);
        }
        self.notes.extend(Note::of_stop(parsed, observed, now));
        if !spec.schedule.has_all_calendars() && self.notes.len() > before {
            // What is said of the schedule may be wrong on a date that is not known.
            self.notes.truncate(before);
            self.notes.push(Note::UnknownCalendars);
        }
    }
}

impl WorkloadStatus {
    /// What is to be known of it first where nothing is overdue.
    const fn usual_condition(&self, state: &State) -> ScheduleStatus {
        if self.error.is_some() {
            ScheduleStatus::Refused
        } else if state.phase.is_none() {
            ScheduleStatus::Unseen
        } else {
            ScheduleStatus::Followed
        }
    }

    /// Its state in a word: what was done last, or what is to be known first.
    pub const fn state_name(&self) -> &'static str {
        match (self.condition, self.phase) {
            (ScheduleStatus::Refused, _) => "error",
            (ScheduleStatus::Removed, _) => "left down",
            (_, None) => "unseen",
            (_, Some(phase)) => phase.name(),
        }
    }

    /// How many run, and of how many where more are saved: less that is saved brings nothing back.
    pub fn count(&self) -> String {
        let counts = self.object.kind.counts();
        let now = counts.short_text(self.replicas);
        match self.saved.filter(|saved| *saved > self.replicas) {
            Some(saved) if !counts.is_switch() => format!("{now} of {saved}"),
            _ => now,
        }
    }

    /// Whether all of it is ready; `None` where that is not known.
    pub fn is_ready(&self) -> Option<bool> {
        self.readiness.is_ready(self.replicas)
    }

    /// How many are ready of how many, or `yes` or `no`; `None` where that is not known.
    pub fn ready(&self) -> Option<String> {
        self.readiness.short_text(self.replicas)
    }

    /// Whether nobody will bring it back to the saved count: its schedule was removed.
    pub fn is_left_down(&self) -> bool {
        self.condition == ScheduleStatus::Removed
    }

    /// Whether somebody has to do something: an error, or a warning among the notes.
    pub fn has_problem(&self) -> bool {
        self.error.is_some() || self.notes.iter().any(|it| it.is_warning())
    }

    /// The command that brings it back to its saved count.
    pub fn restore(&self, prefix: &Prefix) -> String {
        self.command("restore", prefix)
    }

    /// The command that keeps it running for two hours.
    pub fn wake(&self, prefix: &Prefix) -> String {
        format!("{} --for 2h", self.command("wake", prefix))
    }

    /// The command that makes it what its schedule says now.
    pub fn sync(&self, prefix: &Prefix) -> String {
        self.command("sync", prefix)
    }

    fn command(&self, command: &str, prefix: &Prefix) -> String {
        format!(
            "dayshift {command} {}{}",
            self.object.argument(),
            prefix.flag()
        )
    }
}

/// What a status is made with, beside the workload.
#[derive(Clone, Copy, Debug)]
pub struct StatusContext<'a> {
    /// What workloads inherit.
    pub defaults: &'a NamespaceDefaults,
    /// Which autoscalers scale them.
    pub autoscalers: &'a Autoscalers,
    /// Which Services select them.
    pub services: &'a Services,
    /// Where starts wait until fewer workloads are starting.
    pub waiting_starts: &'a WaitingStarts,
    /// The workloads that are seen: starts may wait for them.
    pub workloads: &'a SeenWorkloads<'a>,
    /// What stands before the slash of annotations and labels.
    pub prefix: &'a Prefix,
    /// How annotations are read. Local times without a zone of their own are in its zone.
    pub parse_context: &'a ParseContext,
    /// When: by the clock that schedules are followed by.
    pub now: DateTime<Utc>,
}

/// Whether it asks to be woken by requests, by its own annotation or its Namespace's.
pub fn asks_for_wakes(
    kind: Kind,
    managed: &WithManagers,
    defaults: &NamespaceDefaults,
    prefix: &Prefix,
) -> bool {
    asks(&defaults.applied(managed.workload.observe(kind, prefix)))
}

fn asks(observed: &Observed) -> bool {
    observed.inputs.text(Key::WakeOnRequest).is_some()
}

/// What requests come to, where it asks for them and the Services are known.
pub(super) fn coverage(
    observed: &Observed,
    managed: &WithManagers,
    services: &Services,
) -> Option<RequestCoverage> {
    let services = services.of(&observed.object.namespace)?;
    asks(observed).then(|| RequestCoverage::new(&managed.pod_labels, services))
}

impl WorkloadStatus {
    /// The Services to which a request wakes it, where there are any: `Service web, Service api`.
    pub fn woken_by(&self) -> Option<String> {
        let services = self.on_request.as_ref()?.services.iter();
        let names: Vec<_> = services.map(|it| format!("Service {it}")).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }
}

/// Who else sets an object's count, again and again: those that have set it, and the autoscaler that
/// names the object.
pub fn owners(
    object: &WorkloadRef,
    managed: &WithManagers,
    autoscalers: &Autoscalers,
) -> BTreeSet<OtherController> {
    let managers = managed.managers(object.kind).into_iter();
    let have_set = managers.filter_map(|it| match it.kind() {
        ManagerKind::OtherController(owner) => Some(owner).filter(|it| it.reapplies()),
        _ => None,
    });
    let scaled_by = autoscalers.owners(object.kind, &object.namespace, &object.name);
    have_set.chain(scaled_by).collect()
}

/// Another program that has set the count since dayshift did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevertedBy {
    /// Which one.
    pub manager: FieldManager,
    /// When it wrote last, in whole seconds; the API server does not keep that of the subresource
    /// `scale`.
    pub at: Option<DateTime<Utc>>,
    /// How long that was after what dayshift did.
    pub after: Option<Duration>,
}

impl RevertedBy {
    /// Who has set the count of this object since `last`; none where that was a person or dayshift,
    /// and where the object does not tell.
    pub(super) fn of(
        managed: &WithManagers,
        observed: &Observed,
        last: DateTime<Utc>,
    ) -> Option<Self> {
        let manager = managed.last_manager(observed.object.kind)?;
        let at = manager.at;
        // Who has it, though dayshift has set it, has set it since.
        if at.is_some_and(|at| at < last) {
            return None;
        }
        match manager.kind() {
            // It counts as dayshift's, which has not set it: it was changed on the way.
            ManagerKind::Dayshift if is_untouched(managed, at, last) => Some(Self {
                manager: FieldManager::admission(at),
                at,
                after: at.map(|at| (at - last).to_std().unwrap_or_default()),
            }),
            ManagerKind::Dayshift | ManagerKind::Person => None,
            ManagerKind::OtherController(_) | ManagerKind::Unknown => Some(Self {
                after: at.map(|at| (at - last).to_std().unwrap_or_default()),
                manager,
                at,
            }),
        }
    }
}

/// How long after `last`, which is in whole seconds, dayshift has written what it says.
const WRITTEN_WITHIN: TimeDelta = TimeDelta::seconds(2);

/// Whether nobody has changed the object since dayshift wrote at `last`, not even dayshift itself, as
/// `dayshift restore` does: the annotations are those by which it has set the count.
fn is_untouched(managed: &WithManagers, at: Option<DateTime<Utc>>, last: DateTime<Utc>) -> bool {
    at.is_some_and(|at| {
        at - last <= WRITTEN_WITHIN && managed.changed().is_none_or(|changed| changed <= at)
    })
}

impl WorkloadStatus {
    /// Takes in who has set the count back, where it is not what was done last.
    pub(super) fn find_revert(&mut self, managed: &WithManagers, observed: &Observed) {
        let by_hand = self
            .notes
            .iter()
            .position(|it| matches!(it, Note::SetByHand { .. } | Note::SetInOverride { .. }));
        let is_down = self.phase.is_some_and(Phase::follows_a_stop);
        let is_up = observed.replicas > observed.inputs.stop_replicas();
        let Some(last) = self.since.filter(|_| by_hand.is_some() || is_down && is_up) else {
            return;
        };
        let Some(by) = RevertedBy::of(managed, observed, last) else {
            return;
        };
        let is_by_load = match by.manager.kind() {
            ManagerKind::OtherController(owner) => owner.scales_by_load(),
            _ => false,
        };
        if let ManagerKind::OtherController(owner) = by.manager.kind() {
            self.owners.insert(owner);
        }
        let until = match by_hand.map(|at| self.notes.remove(at)) {
            Some(Note::SetByHand { until, .. } | Note::SetInOverride { until }) => until,
            _ => self.next,
        };
        let soon = by.after.is_none_or(|after| after <= REVERT_WINDOW) && (is_down || !is_by_load);
        self.notes.push(Note::Reverted { soon, until });
        self.reverted_by = Some(by);
    }

    /// What has become of the count, as in `argocd-controller set 3 again 12 s after the stop`.
    pub fn revert_words(&self) -> Option<String> {
        let by = self.reverted_by.as_ref()?;
        let was = match self.phase {
            Some(Phase::Slept) => "the sleep",
            Some(Phase::Stopped) => "the stop",
            Some(Phase::Woken) => "the wake",
            _ => "the start",
        };
        let counts = self.object.kind.counts();
        let undone = counts.reverted_to(self.saved.unwrap_or_default(), self.replicas);
        let after = by.after.map_or_else(|| "after".to_owned(), elapsed_after);
        Some(format!("{} {undone} {after} {was}", by.manager.name()))
    }

    /// What makes that program leave the count alone; none where the program is not known.
    pub fn cure(&self, prefix: &Prefix) -> Option<String> {
        match self.reverted_by.as_ref()?.manager.kind() {
            ManagerKind::OtherController(owner) => Some(owner.fix(&[self.object.kind], prefix)),
            _ => None,
        }
    }
}
