//! The status of one workload: its schedule, state, count, readiness and conditions, the other controllers
//! that set its count, and the one that has reverted it.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::{
    decode::WithManagers,
    read::{Autoscalers, CorrectionLimits, Services},
};
use dayshift_manifest::plan::CountedWith;
use dayshift_schedule::{Action, Direction, Since, StopAfter, Zone};
use dayshift_text::quote;
use dayshift_workload::{
    Author, ChangeKind, Dependency, Duty, Enforce, IgnoredDependency, Kind, OVERDUE_GRACE,
    Observed, Origin, Overdue, Override, ParseContext, ParsedInputs, Phase, Prefix, Problem,
    Readiness, Replicas, RequestCoverage, ResourceRequests, ScheduleSpec, State, WorkloadRef,
    events::{Condition, Message, RevertEnd, Subject, restore_command},
    is_stopped_against_schedule,
    other_controllers::{FieldManager, ManagerKind, OtherController, REVERT_WINDOW, revert_words},
    predicted_action, requests_ignored_until,
    savings::{StoppedCapacity, stopped_capacity},
    waiting_start,
};

use crate::{
    live_view::{EventNeeds, LiveView, has_wake_on_request},
    status::{
        conditions::{count_condition, nothing_saved, stays_at_zero, stop_notice},
        dependencies::{DependencyChecks, DependencyLookup, ignored_dependencies},
    },
};

/// The status of one workload.
#[derive(Clone, Debug)]
pub struct WorkloadStatus {
    /// The workload.
    pub object: WorkloadRef,
    /// The current count.
    pub replicas: Replicas,
    /// The most important fact.
    pub condition: ScheduleStatus,
    /// The last action; `None` if no controller has observed the workload.
    pub phase: Option<Phase>,
    /// The time of the last action, in whole seconds.
    pub since: Option<DateTime<Utc>>,
    /// The requests of one replica.
    pub requests: ResourceRequests,
    /// The readiness.
    pub readiness: Readiness,
    /// The capacity that is stopped now. It is zero if another object's capacity includes it.
    pub stopped_capacity: StoppedCapacity,
    /// The object whose capacity and savings include those of the workload.
    pub counted_with: CountedWith,
    /// The saved count.
    pub saved: Option<Replicas>,
    /// The next boundary, or the end of the active override.
    pub next: Option<DateTime<Utc>>,
    /// The action at that time, if it is known and there is one.
    pub next_action: Option<Action>,
    /// What makes the next action later.
    pub next_unless: Option<&'static str>,
    /// Its `stop-after`, and the last start from which that counts, if it is known.
    pub stop_after: Option<(StopAfter, Option<DateTime<Utc>>)>,
    /// The active override and where it is defined.
    pub active_override: Option<(Origin, Override)>,
    /// The author of the active override.
    pub author: Author,
    /// Where the schedule is defined.
    pub origin: Origin,
    /// The named schedule that it follows.
    pub schedule: Option<String>,
    /// The time zone of the schedule.
    pub zone: Zone,
    /// The errors in its annotations.
    pub problems: Vec<Problem>,
    /// The text of the errors, or of an error that a controller has recorded.
    pub error: Option<String>,
    /// The other controllers that set the count, in order.
    pub owners: BTreeSet<OtherController>,
    /// The controller that has reverted dayshift's last change.
    pub reverted_by: Option<RevertedBy>,
    /// Whether the schedule leaves the count to an HPA: a start sets 1, and a stop sets 0, at which an
    /// HPA is inactive.
    pub leaves_count_to_hpa: bool,
    /// Whether it runs although `enforce` should have stopped it.
    pub is_enforced: bool,
    /// The Services that wake the workload, if it has wake-on-request and the Services are known.
    pub on_request: Option<RequestCoverage>,
    /// Its conditions.
    pub notes: Vec<Condition>,
}

/// The most important fact about a workload. More urgent ones come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScheduleStatus {
    /// The schedule is rejected.
    Rejected,
    /// A boundary or an override is overdue.
    Overdue,
    /// The schedule was removed, and more is saved than runs.
    Removed,
    /// No controller has observed the workload yet.
    Unseen,
    /// A controller follows the schedule.
    Followed,
}

impl WorkloadStatus {
    /// The status of a workload; `None` if it has no schedule and nothing is saved.
    pub fn new(kind: &Kind, managed: &WithManagers, context: &StatusContext<'_>) -> Option<Self> {
        let parse = |observed: &Observed| Arc::new(observed.read(context.parse_context));
        let (status, ..) = Self::with_inputs(kind, managed, context, parse)?;
        Some(status)
    }

    /// As [`Self::new`], with the workload and its annotations, which `parse` reads.
    pub fn with_inputs(
        kind: &Kind,
        managed: &WithManagers,
        context: &StatusContext<'_>,
        parse: impl FnOnce(&Observed) -> Arc<ParsedInputs>,
    ) -> Option<(Self, Observed, Arc<ParsedInputs>)> {
        let StatusContext {
            live,
            parse_context,
            checks,
            now,
        } = *context;
        let prefix = &live.prefix;
        let seen = managed.workload.observe(kind, prefix);
        let is_namespace_ahead = live.defaults.are_ahead_of(&seen);
        let observed = live.defaults.applied(seen);
        let parsed = parse(&observed);
        let is_scheduled = parsed.spec().is_some();
        let changed = is_scheduled.then(|| managed.changed()).flatten();
        let zone = parse_context.default_zone;
        let mut status = Self::from_parsed(&observed, &parsed, changed, prefix, zone, now)?;
        // The API server records no manager of a removed annotation, so nothing shows when an override
        // was removed.
        let has_ended = observed.state().next_at().is_some_and(|end| end <= now);
        for note in &mut status.notes {
            if let Condition::Overdue {
                overdue,
                is_explained,
            } = note
            {
                *is_explained = is_namespace_ahead;
                if matches!(overdue.duty, Duty::End(_)) && !has_ended {
                    overdue.since = None;
                }
            }
        }
        let owner = scheduled_owner(&observed, managed, context);
        if owner.is_some() && observed.inputs.is_excluded() {
            return None;
        }
        let namespace = &observed.object.namespace;
        if status.has_overdue_start() && live.waiting_starts.wait_in(namespace, now) {
            status = status.waiting_for_slot();
        }
        if is_namespace_ahead {
            status.notes.push(Condition::NamespaceAhead);
        }
        status.owners = owners(&status.object, managed, &live.autoscalers);
        status.on_request = coverage(&observed, managed, &live.services);
        let reasons = status
            .on_request
            .as_ref()
            .map(|coverage| &coverage.not_covered);
        let reasons = reasons.filter(|reasons| !reasons.is_empty()).cloned();
        status.notes.extend(reasons.map(Condition::NotCovered));
        if has_wake_on_request(&observed)
            && matches!(status.active_override, Some((_, Override::Sleep(_))))
        {
            let until = requests_ignored_until(&observed.inputs, status.zone, now);
            let note = until.map(|until| Condition::RequestsIgnored { until });
            status.notes.extend(note);
        }
        if is_scheduled {
            let within = parsed.ready_within();
            let due = observed.ready_due(within).filter(|due| *due <= now);
            if let Some(since) = due.and(status.since) {
                status.notes.push(Condition::NotReady {
                    replicas: observed.replicas,
                    readiness: observed.readiness,
                    since,
                    within,
                    why: managed.health_problem().map(str::to_owned),
                });
            }
            let look_up = |needed: &Dependency| {
                DependencyLookup::find(live, namespace, needed, parse_context)
            };
            status = status.with_ignored_dependencies(ignored_dependencies(
                &observed.object,
                &parsed,
                now,
                checks,
                look_up,
            ));
            if owner.is_none() {
                status.find_revert(managed, &observed);
                let operated_by = managed.operated_by(&parse_context.kinds);
                let operated = operated_by.map(|by| Condition::Operated { by });
                status.notes.extend(operated);
            }
            status.notes.extend(target_not_lowered(&observed, managed));
        }
        let status = match owner {
            Some((owner, counted_with)) => {
                status.set_by_operator(owner, counted_with, is_scheduled)
            }
            None => status,
        };
        let status = status.with_correction_limits(&live.correction_limits);
        Some((status, observed, parsed))
    }

    /// The status of a workload whose count is set by the operator of its scheduled owner. No other note
    /// about its count is correct.
    fn set_by_operator(
        mut self,
        owner: Condition,
        counted_with: CountedWith,
        is_scheduled: bool,
    ) -> Self {
        self.counted_with = counted_with;
        if counted_with == CountedWith::Owner {
            self.stopped_capacity = StoppedCapacity::default();
        }
        self.notes
            .retain(|note| !note.explains_count() && !matches!(note, Condition::NoSchedule { .. }));
        if !is_scheduled {
            // The labels are those of the owner.
            (self.condition, self.origin) = (ScheduleStatus::Followed, Origin::Own);
            (self.next, self.next_action) = (None, None);
        }
        self.notes.push(owner);
        self
    }

    /// The status from parsed inputs, without the field managers. `changed` is the same as for
    /// [`Overdue::find`](dayshift_workload::Overdue::find).
    pub fn from_parsed(
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
            stopped_capacity: stopped_capacity(observed, parsed),
            counted_with: CountedWith::Itself,
            saved: state.saved,
            next: None,
            next_action: None,
            next_unless: None,
            stop_after: None,
            active_override: None,
            author: Author::default(),
            origin: observed.inputs.schedule_origin().unwrap_or(Origin::Own),
            schedule: observed.inputs.schedule_name().map(str::to_owned),
            zone: default_zone,
            problems: Vec::new(),
            error: None,
            owners: BTreeSet::new(),
            reverted_by: None,
            leaves_count_to_hpa: false,
            is_enforced: false,
            on_request: None,
            notes: Vec::new(),
        };
        match parsed {
            ParsedInputs::Invalid(refusal) => {
                status.error = Some(refusal.text(prefix));
                status.problems = refusal.problems().to_vec();
                status.condition = ScheduleStatus::Rejected;
            }
            ParsedInputs::Scheduled(spec) => {
                status.error = observed.error.as_deref().map(str::to_owned);
                status.follow(spec, parsed, observed, changed, now);
            }
            // If a schedule is removed, the label is removed too. So there is a schedule that is not
            // visible here.
            ParsedInputs::Unscheduled if state.phase.is_some() => {
                status.next = state.next_at();
                status.origin = Origin::Controller;
                let saved = state.saved.filter(|saved| *saved > observed.replicas);
                let overdue = state.next_at().filter(|next| *next + OVERDUE_GRACE <= now);
                if overdue.is_some() {
                    status.condition = ScheduleStatus::Overdue;
                }
                status.notes.push(Condition::NoSchedule { saved, overdue });
            }
            // Only the controller has the file of schedules.
            ParsedInputs::Unscheduled if observed.inputs.names_unknown_schedule() => {
                status.notes.push(status.unseen());
                status.condition = ScheduleStatus::Unseen;
            }
            ParsedInputs::Unscheduled => {
                let saved = state.saved.filter(|saved| *saved > observed.replicas)?;
                let replicas = observed.replicas;
                status
                    .notes
                    .push(Condition::LeftStopped { replicas, saved });
                status.condition = ScheduleStatus::Removed;
            }
        }
        Some(status)
    }

    /// The next action as text before and after its time: `wake ends 22:00, runs on`.
    pub fn next_text(&self) -> (String, &'static str) {
        match (self.next_action, self.phase, self.replicas) {
            (Some(action), ..) => {
                let action = action.text_from(self.replicas.get());
                (format!("{action} "), self.next_unless.unwrap_or_default())
            }
            (None, Some(Phase::Woken), Replicas::ZERO) => ("wake ends ".to_owned(), ", stays at 0"),
            (None, Some(Phase::Woken), _) => ("wake ends ".to_owned(), ", runs on"),
            (None, ..) => (String::new(), ""),
        }
    }

    /// Fills in the facts that depend on a valid schedule.
    fn follow(
        &mut self,
        spec: &ScheduleSpec,
        parsed: &ParsedInputs,
        observed: &Observed,
        changed: Option<DateTime<Utc>>,
        now: DateTime<Utc>,
    ) {
        let state = &observed.state();
        self.zone = spec.schedule.zone();
        self.stop_after = spec
            .stop_after
            .map(|after| (after, state.started.map(|started| started.at)));
        self.leaves_count_to_hpa = spec.replicas == Some(Replicas::ONE)
            && spec.stop_replicas == Replicas::ZERO
            && spec.largest_count().is_none();
        let is_up = observed.replicas > spec.stop_replicas;
        self.is_enforced = is_up
            && spec.overrides.enforce != Enforce::No
            && state.phase.is_some_and(Phase::follows_a_stop);
        self.active_override = observed.overrides(spec, state, now).with_origin_at(now);
        let author = self
            .active_override
            .map(|(origin, _)| observed.inputs.author(origin));
        self.author = author.unwrap_or_default();
        if observed.deleting {
            self.condition = self.usual_condition(state);
            self.notes.push(Condition::Deleting);
            return;
        }
        if state.phase.is_some() {
            self.next = state.next_at();
            let next = self.next;
            self.next_action = next.and_then(|next| predicted_action(parsed, observed, next));
        } else {
            let next = spec.next_after(&observed.object, state.started, now);
            self.next = next.map(|boundary| boundary.at);
            self.next_action = next.map(|boundary| boundary.action);
        }
        if observed.labels.are_from_later_version() {
            self.condition = self.usual_condition(state);
            self.notes.push(Condition::LaterVersion);
            return;
        }
        self.show_next_change(spec, observed, state, now);
        let is_timed = self.next.is_some() && self.next == spec.timed_stop(state.started);
        let since_start = spec
            .stop_after
            .is_some_and(|after| after.since == Since::Start);
        if is_timed && since_start && self.next_action == Some(Action::Stop) {
            self.next_unless = Some(", unless it is used again");
        }
        self.add_notes(spec, parsed, observed, changed, now);
    }

    /// Finds an overdue boundary and the conditions of the count.
    fn add_notes(
        &mut self,
        spec: &ScheduleSpec,
        parsed: &ParsedInputs,
        observed: &Observed,
        changed: Option<DateTime<Utc>>,
        now: DateTime<Utc>,
    ) {
        let state = &observed.state();
        let overdue = Overdue::find(parsed, observed, changed, now);
        self.condition = match self.usual_condition(state) {
            ScheduleStatus::Rejected => ScheduleStatus::Rejected,
            _ if overdue.is_some() => ScheduleStatus::Overdue,
            usual => usual,
        };
        if self.condition == ScheduleStatus::Unseen {
            self.notes.push(self.unseen());
        }
        self.notes.extend(overdue.map(|overdue| Condition::Overdue {
            overdue,
            is_explained: false,
        }));
        let waiting = waiting_start(parsed, observed, changed, now);
        self.notes.extend(waiting.map(|waiting| Condition::Waits {
            needed: waiting.needed,
            until: waiting.until,
        }));
        self.notes.extend(nothing_saved(spec, observed, state, now));
        let before = self.notes.len();
        // A boundary that is due right now might be applied in the next moment.
        let is_due = state.next_at().is_some_and(|next| next <= now)
            || matches!(self.active_override, Some((_, active)) if !active.holds(state));
        let (object, inputs, replicas) = (&observed.object, &observed.inputs, observed.replicas);
        let next_start = || spec.next_boundary(Direction::Up, object, None, now);
        let is_against_schedule =
            || is_stopped_against_schedule(object, inputs, replicas, state, parsed);
        if !is_due && overdue.is_none() && is_against_schedule() {
            let until = next_start().map(|boundary| boundary.at);
            self.notes
                .push(Condition::StoppedAgainstSchedule { replicas, until });
        } else if !is_due && overdue.is_none_or(|overdue| overdue.duty == Duty::Adopt) {
            self.notes
                .extend(count_condition(spec, observed, state, now));
        }
        if self.active_override.is_none() {
            let is_idle = matches!(state.phase, Some(Phase::Stopped | Phase::Adopted));
            let is_explained = self.notes.iter().any(Condition::explains_count);
            let stays = is_idle && self.next.is_some() && !is_explained;
            if stays && stays_at_zero(spec, observed, state) {
                let is_adopted = state.phase == Some(Phase::Adopted);
                self.notes.push(Condition::StaysAtZero { is_adopted });
            }
            let is_down = observed.replicas <= spec.stop_replicas
                && state.saved.is_some_and(|saved| saved > observed.replicas);
            if is_down && next_start().is_none() {
                self.notes.push(Condition::NoStart);
            }
        }
        self.notes.extend(stop_notice(parsed, observed, now));
        if !spec.schedule.has_all_calendars() && self.notes.len() > before {
            // The conditions of the schedule can be wrong if its calendars are unknown.
            self.notes.truncate(before);
            self.notes.push(Condition::UnknownCalendars);
        }
    }
}

impl WorkloadStatus {
    /// Skips a next boundary that changes nothing, for example the stop of a stopped workload on an
    /// excluded date: the next change is more useful.
    fn show_next_change(
        &mut self,
        spec: &ScheduleSpec,
        observed: &Observed,
        state: &State,
        now: DateTime<Utc>,
    ) {
        let is_due = self.next.is_some_and(|next| next <= now);
        // The timer makes the same times change something on one day and not on another.
        let is_variable = spec.largest_count().is_some() || spec.stop_after.is_some();
        if self.active_override.is_some() || is_due || is_variable {
            return;
        }
        let is_stopped = observed.replicas <= spec.stop_replicas;
        let direction = match (state.phase, self.next_action) {
            (Some(Phase::Stopped), None | Some(Action::Stop)) if is_stopped => Direction::Up,
            (Some(Phase::Running), None | Some(Action::Start))
                if spec.count_after_start(observed.replicas, state.remembered())
                    == observed.replicas =>
            {
                Direction::Down
            }
            _ => return,
        };
        let started = state.started;
        let change = spec.next_boundary(direction, &observed.object, started, now);
        self.next = change.map(|boundary| boundary.at);
        self.next_action = change.map(|boundary| boundary.action);
    }

    /// The most important fact if nothing is overdue.
    const fn usual_condition(&self, state: &State) -> ScheduleStatus {
        if self.error.is_some() {
            ScheduleStatus::Rejected
        } else if state.phase.is_none() {
            ScheduleStatus::Unseen
        } else {
            ScheduleStatus::Followed
        }
    }

    /// The state in one or two words.
    pub const fn state_name(&self) -> &'static str {
        match (self.condition, self.phase) {
            (ScheduleStatus::Rejected, _) => "error",
            (ScheduleStatus::Removed, _) => "left stopped",
            (_, None) => "unseen",
            (_, Some(phase)) => phase.word(),
        }
    }

    /// The current count, with the saved count if that is larger. A smaller saved count restores
    /// nothing.
    pub fn count(&self) -> String {
        let counts = self.object.kind.counts();
        let now = counts.short_text(self.replicas);
        match self.saved.filter(|saved| *saved > self.replicas) {
            Some(saved) if !counts.is_switch() => format!("{now} of {saved}"),
            _ => now,
        }
    }

    /// Whether all replicas are ready; `None` if that is unknown.
    pub fn is_ready(&self) -> Option<bool> {
        self.readiness.is_ready(self.replicas)
    }

    /// The ready replicas of all, or `yes` or `no`; `None` if that is unknown.
    pub fn ready(&self) -> Option<String> {
        self.readiness.short_text(self.replicas)
    }

    /// Whether the schedule was removed, so that nothing restores the saved count.
    pub fn is_left_stopped(&self) -> bool {
        self.condition == ScheduleStatus::Removed
    }

    /// Whether the user should act, because of an error or a warning.
    pub fn has_problem(&self) -> bool {
        self.error.is_some() || self.notes.iter().any(Condition::is_warning)
    }

    /// The command that restores the saved count.
    pub fn restore(&self, prefix: &Prefix) -> String {
        restore_command(&self.object, prefix)
    }

    const fn unseen(&self) -> Condition {
        Condition::Unseen {
            is_inherited: matches!(self.origin, Origin::Namespace),
        }
    }
}

impl WorkloadStatus {
    /// The status of a workload whose start waits for a start slot, according to the controller.
    #[must_use]
    pub fn waiting_for_slot(mut self) -> Self {
        let is_overdue = |note: &Condition| matches!(note, Condition::Overdue { .. });
        self.notes.retain(|note| !is_overdue(note));
        self.notes.insert(0, Condition::WaitsForSlot);
        if self.condition == ScheduleStatus::Overdue {
            self.condition = ScheduleStatus::Followed;
        }
        self
    }

    /// The status with ignored dependencies.
    #[must_use]
    pub fn with_ignored_dependencies(
        mut self,
        ignored_dependencies: Vec<IgnoredDependency>,
    ) -> Self {
        if self.waits_for().is_none() && !ignored_dependencies.is_empty() {
            let ignored = Condition::IgnoresDependencies(ignored_dependencies);
            self.notes.push(ignored);
        }
        self
    }

    /// Whether a start is overdue. It might wait for a start slot.
    pub fn has_overdue_start(&self) -> bool {
        self.overdue().is_some_and(|overdue| overdue.is_start)
    }

    /// Whether the start waits for a start slot.
    pub fn waits_for_slot(&self) -> bool {
        self.notes.contains(&Condition::WaitsForSlot)
    }

    /// Whether its count should have been lowered by `enforce`: the correction limit might be reached.
    pub const fn is_to_be_enforced(&self) -> bool {
        self.is_enforced
    }

    /// The status with a note if an Event reports that the correction limit was reached since the last
    /// transition.
    #[must_use]
    pub fn with_correction_limits(self, limits: &CorrectionLimits) -> Self {
        let is_reached = |since| limits.is_reached(&self.object, since);
        match self.since.is_some_and(is_reached) {
            true => self.at_correction_limit(),
            false => self,
        }
    }

    /// The status of a workload for which the correction limit is reached.
    #[must_use]
    pub fn at_correction_limit(mut self) -> Self {
        if self.is_enforced {
            self.notes
                .retain(|note| !matches!(note, Condition::StopsSoon(_)));
            let until = self.next;
            self.notes.push(Condition::CorrectionLimitReached { until });
        }
        self
    }

    /// The dependencies for which its start waits, and the latest time of the start.
    pub fn waits_for(&self) -> Option<(&[Dependency], DateTime<Utc>)> {
        self.notes.iter().find_map(|note| match note {
            Condition::Waits { needed, until } => Some((&**needed, *until)),
            _ => None,
        })
    }

    fn overdue(&self) -> Option<Overdue> {
        self.notes.iter().find_map(|note| match note {
            Condition::Overdue { overdue, .. } => Some(*overdue),
            _ => None,
        })
    }

    /// Since when a boundary or an override is overdue, if that is known.
    pub fn overdue_since(&self) -> Option<DateTime<Utc>> {
        self.overdue()?.since
    }

    /// The message of a condition, with times in the time zone of the workload.
    pub fn message(&self, condition: &Condition, prefix: &Prefix, now: DateTime<Utc>) -> Message {
        condition.message(&Subject {
            object: &self.object,
            prefix,
            zone: self.zone,
            now: Some(now),
        })
    }
}

/// The inputs of a status beside the workload.
#[derive(Clone, Copy, Debug)]
pub struct StatusContext<'a> {
    /// The workloads and the objects that explain their statuses.
    pub live: &'a LiveView,
    /// The context for parsing annotations, with the default time zone.
    pub parse_context: &'a ParseContext,
    /// The checked dependencies of all workloads.
    pub checks: &'a DependencyChecks,
    /// The time, according to the clock that schedules follow.
    pub now: DateTime<Utc>,
}

impl EventNeeds {
    /// The Events that can explain these statuses.
    pub fn of<'s>(statuses: impl IntoIterator<Item = &'s WorkloadStatus>) -> Self {
        let mut needs = Self {
            waiting_starts: false,
            correction_limits: false,
        };
        for status in statuses {
            needs.waiting_starts |= status.has_overdue_start() || status.waits_for_slot();
            needs.correction_limits |= status.is_to_be_enforced();
        }
        needs
    }
}

/// The coverage by Services, if the workload has wake-on-request and the Services are known.
pub(super) fn coverage(
    observed: &Observed,
    managed: &WithManagers,
    services: &Services,
) -> Option<RequestCoverage> {
    let services = services.in_namespace(&observed.object.namespace)?;
    RequestCoverage::new(&observed.inputs, &managed.pod_labels, services)
}

impl WorkloadStatus {
    /// The Services that wake the workload: `Service web, Service api`; `None` if there are none.
    pub fn woken_by(&self) -> Option<String> {
        let coverage = self.on_request.as_ref()?;
        let names: Vec<_> = coverage
            .services
            .iter()
            .map(|service| format!("Service {service}"))
            .collect();
        let prolongs = if coverage.while_used {
            "; use prolongs the wake"
        } else {
            ""
        };
        (!names.is_empty()).then(|| names.join(", ") + prolongs)
    }
}

/// The condition of the custom resource that owns the workload, if it has a schedule itself, and whether the
/// savings of that resource include those of the workload. The fingerprint in copied labels shows the
/// schedule too if the resource was not read.
pub fn scheduled_owner(
    observed: &Observed,
    managed: &WithManagers,
    context: &StatusContext<'_>,
) -> Option<(Condition, CountedWith)> {
    let owner = managed.controller_owner()?;
    let fingerprint = observed.state().fingerprint;
    let has_its_labels = fingerprint.is_some_and(|fingerprint| fingerprint.belongs_to(&owner.uid));
    let kinds = &context.parse_context.kinds;
    let kind = kinds.from_owner(&owner.api_version, &owner.kind);
    let read = kind.and_then(|kind| {
        let live = context.live;
        let managed = live.find(&observed.object.namespace, &kind, &owner.name)?;
        Some(live.observe_workload(&kind, managed))
    });
    let read = read.filter(|resource| resource.inputs.is_scheduled());
    let has_its_schedule = || {
        let copied = |owner: &Observed| observed.inputs.copies_schedule_of(&owner.inputs);
        read.as_ref().is_some_and(copied)
    };
    let is_owned = read.is_some() && observed.inputs.has_schedule();
    let has_size = |resource: &Observed| resource.footprint.replicas > 0;
    let counted_with = match read.as_ref().is_some_and(has_size) {
        true => CountedWith::Owner,
        false => CountedWith::Itself,
    };
    let condition = || Condition::OwnerScheduled {
        owner: format!("{} {}", quote(&owner.kind), quote(&owner.name)),
        is_copy: has_its_labels || has_its_schedule(),
    };
    (has_its_labels || is_owned).then(|| (condition(), counted_with))
}

/// The condition of a stopped autoscaler that keeps its target above the minimum.
fn target_not_lowered(observed: &Observed, managed: &WithManagers) -> Option<Condition> {
    let is_autoscaler = observed.object.kind == Kind::HORIZONTAL_POD_AUTOSCALER;
    let is_stopped = observed.phase().is_some_and(Phase::follows_a_stop);
    let replicas = managed
        .kept_target()
        .filter(|_| is_autoscaler && is_stopped)?;
    (replicas > observed.replicas.get()).then_some(Condition::TargetNotLowered { replicas })
}

/// The other controllers that set the count repeatedly: those that have set it, and the autoscalers of
/// the workload.
pub fn owners(
    object: &WorkloadRef,
    managed: &WithManagers,
    autoscalers: &Autoscalers,
) -> BTreeSet<OtherController> {
    let managers = managed.managers(&object.kind).into_iter();
    let have_set = managers.filter_map(|manager| match manager.kind() {
        ManagerKind::OtherController(owner) => Some(owner).filter(|owner| owner.reapplies()),
        _ => None,
    });
    let scaled_by = autoscalers.owners(&object.kind, &object.namespace, &object.name);
    have_set.chain(scaled_by).collect()
}

/// Another program that has set the count since dayshift did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevertedBy {
    /// The field manager.
    pub manager: FieldManager,
    /// The time of its last write, in whole seconds. The API server does not record that of the `scale`
    /// subresource.
    pub at: Option<DateTime<Utc>>,
    /// How long after dayshift's change it was.
    pub after: Option<Duration>,
}

impl RevertedBy {
    /// The program that has set the count since `last`. `None` if it was a person or dayshift, or if the
    /// object has no record of it.
    pub(super) fn find(
        managed: &WithManagers,
        observed: &Observed,
        last: DateTime<Utc>,
    ) -> Option<Self> {
        let manager = managed.last_manager(&observed.object.kind)?;
        let at = manager.at;
        // A manager can own the count by an older write. It has not changed the count since.
        if at.is_some_and(|at| at < last) {
            return None;
        }
        match manager.kind() {
            // dayshift owns the count, and the count is not the one that it wrote: an admission webhook
            // changed it. A 0 proves nothing, because the API server keeps no field manager of a 0 that
            // is written through the subresource `scale`.
            ManagerKind::Dayshift
                if observed.replicas > Replicas::ZERO && is_untouched(managed, at, last) =>
            {
                Some(Self {
                    manager: FieldManager::admission(at),
                    at,
                    after: at.map(|at| (at - last).to_std().unwrap_or_default()),
                })
            }
            ManagerKind::Dayshift | ManagerKind::Person => None,
            ManagerKind::OtherController(_) | ManagerKind::Unknown => Some(Self {
                after: at.map(|at| (at - last).to_std().unwrap_or_default()),
                manager,
                at,
            }),
        }
    }
}

/// How long after the time in the `last` label, which is in whole seconds, dayshift's patch can be
/// recorded.
const WRITTEN_WITHIN: TimeDelta = TimeDelta::seconds(2);

/// Whether the object is unchanged since dayshift's patch at `last`, so that its annotations are those
/// of the patch. `dayshift restore` counts as a change too.
fn is_untouched(managed: &WithManagers, at: Option<DateTime<Utc>>, last: DateTime<Utc>) -> bool {
    at.is_some_and(|at| {
        at - last <= WRITTEN_WITHIN && managed.changed().is_none_or(|changed| changed <= at)
    })
}

impl WorkloadStatus {
    /// Finds the program that has reverted the count, if the count differs from dayshift's last change.
    pub(super) fn find_revert(&mut self, managed: &WithManagers, observed: &Observed) {
        let is_manual = |note: &Condition| matches!(note, Condition::SetManually { .. });
        let manual = self.notes.iter().position(is_manual);
        let is_down = self.phase.is_some_and(Phase::follows_a_stop);
        let is_up = observed.replicas > observed.inputs.stop_replicas();
        // After an adoption, dayshift has set no count that another controller could revert.
        let has_set = self.phase != Some(Phase::Adopted);
        let is_other = manual.is_some() || is_down && is_up;
        let Some(last) = self.since.filter(|_| has_set && is_other) else {
            return;
        };
        let Some(by) = RevertedBy::find(managed, observed, last) else {
            return;
        };
        let is_by_load = match by.manager.kind() {
            ManagerKind::OtherController(owner) => owner.scales_by_load(),
            _ => false,
        };
        if let ManagerKind::OtherController(owner) = by.manager.kind() {
            self.owners.insert(owner);
        }
        let until = match manual.map(|at| self.notes.remove(at)) {
            Some(Condition::SetManually { until, .. }) => until,
            _ => self.next,
        };
        let is_stop = |note: &Condition| matches!(note, Condition::StopsSoon(_));
        let end = match self.notes.iter().any(is_stop) {
            true => RevertEnd::Undecided,
            false => RevertEnd::Stays(until),
        };
        let soon = by.after.is_none_or(|after| after <= REVERT_WINDOW) && (is_down || !is_by_load);
        self.notes.push(Condition::Reverted {
            manager: Some(by.manager.clone()),
            words: self.revert_words(&by),
            soon,
            end,
        });
        self.reverted_by = Some(by);
    }

    /// The text of a revert, such as `argocd-controller set 3 again 12 s after the stop`.
    pub fn revert_text(&self) -> Option<String> {
        let by = self.reverted_by.as_ref()?;
        Some(format!("{} {}", by.manager.name(), self.revert_words(by)))
    }

    fn revert_words(&self, by: &RevertedBy) -> String {
        let change = match self.phase {
            Some(Phase::Slept) => ChangeKind::Sleep,
            Some(Phase::Stopped) => ChangeKind::Stop,
            Some(Phase::Woken) => ChangeKind::Wake,
            _ => ChangeKind::Start,
        };
        let saved = self.saved.unwrap_or_default();
        revert_words(&self.object.kind, change, saved, self.replicas, by.after)
    }

    /// The setting that keeps the other controller from changing the count; `None` if the controller is
    /// unknown.
    pub fn fix(&self, prefix: &Prefix) -> Option<String> {
        match self.reverted_by.as_ref()?.manager.kind() {
            ManagerKind::OtherController(owner) => {
                Some(owner.fix(std::slice::from_ref(&self.object.kind), prefix))
            }
            _ => None,
        }
    }
}
