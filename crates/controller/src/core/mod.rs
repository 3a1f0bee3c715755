//! The controller as a state machine: takes one input, changes the state, and returns the effects to
//! carry out. Reads no clock, sends nothing and waits for nothing.
//!
//! This file contains the state, the step and the queues of a step. `evaluate` decides about one object,
//! `observe` applies watch events, and `responses` applies responses.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::{read::ObservedNamespace, write::Unavailable};
use dayshift_workload::{Dependency, Kind};

use crate::{
    clock::{
        guard::{ClockGuard, Now},
        scheduler::Scheduler,
    },
    core::{
        frequent_edits::{FrequentEdits, TeamEdit},
        io::{Effect, Input, Purpose, Request, Response},
    },
    events::Events,
    followups::{jobs::Jobs, readiness::ReadinessTracker, reverts::Reverts, stops::Stops},
    gate::Gate,
    ids::Id,
    object::{
        Backlog,
        work::{Class, WorkPhase},
    },
    outbox::{
        Outbox,
        fair_queue::FairQueue,
        flight::{Flight, SLOW},
        limits,
    },
    settings::Settings,
    store::{ObservationOrigin, Store},
    telemetry::{metrics::Telemetry, readiness::Condition, shapes::gauge_value},
    throttle::Throttle,
};

mod evaluate;
mod frequent_edits;
pub(crate) mod io;
mod observe;
mod responses;
#[cfg(test)]
mod tests;

/// In one step, at most this many boundaries, retries and deadlines of each kind are processed.
const MAX_DUE: usize = 64;

/// The maximum number of decisions per step that send no request, or that are about dependencies. It applies
/// to the agenda and to the queues separately, so that a long agenda does not delay queued objects.
const MAX_DECISIONS: usize = 32;

/// How many edits of a Namespace take effect at once in each period. Scripts often edit one several times.
const NAMESPACE_EDITS: (u32, Duration) = (10, Duration::from_secs(10));

/// How many edits of the ConfigMap of a team take effect at once in each period.
const TEAM_EDITS: (u32, Duration) = (1, Duration::from_secs(1));

/// The maximum number of objects per step that are taken from the backlog.
const MAX_UPDATES: usize = 256;

/// How many bytes of annotations are parsed per step for objects from the backlog, before the last one. Users can
/// make thousands of objects inherit a long text, and edit it again and again.
const MAX_PARSED: usize = 32 << 10;

/// Why `evaluate` is called for an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// The object, or something that affects it, has changed.
    Agenda,
    /// The object was in the queue of this class, which has a free slot.
    Queue(Class),
}

/// A running controller. Each component owns its own state, and the store contains all state of an
/// object.
///
/// [`Core::step`] takes one input, changes the state, and returns the effects; it should be
/// called again at [`Core::next_wake`]. With the same settings, the same inputs at the same times have
/// the same effects.
pub(crate) struct Core {
    pub(crate) settings: Settings,
    pub(crate) telemetry: Arc<Telemetry>,
    pub(crate) clock: ClockGuard,
    /// The next boundary of each object, or the end of its override.
    pub(crate) boundaries: Scheduler<Id, DateTime<Utc>>,
    /// When the write of each object is retried.
    retries: Scheduler<Id, Duration>,
    pub(crate) store: Store,
    pub(crate) outbox: Outbox,
    pub(crate) flight: Flight<Purpose>,
    pub(crate) throttle: Throttle,
    pub(crate) gate: Gate,
    pub(crate) readiness: ReadinessTracker,
    pub(crate) reverts: Reverts,
    pub(crate) jobs: Jobs,
    pub(crate) stops: Stops,
    pub(crate) events: Events,
    namespace_edits: FrequentEdits<(ObservedNamespace, ObservationOrigin)>,
    team_edits: FrequentEdits<TeamEdit>,
    /// The objects that should be decided about, in order.
    agenda: VecDeque<Id>,
    /// Objects of which many were affected at once. They are put on the agenda when it is short, and namespaces
    /// take turns, so that the changes of one namespace do not delay those of another.
    backlog: FairQueue<Id>,
    /// The time of this step.
    now: Now,
    /// The effects of this step.
    effects: Vec<Effect>,
    /// The remaining budget of this step.
    budget: StepBudget,
    /// Whether work remains that should be done in a step immediately after this one.
    more: bool,
    /// Whether the process should end.
    is_ending: bool,
    /// Whether the log has reported readiness.
    pub(crate) is_ready_logged: bool,
    /// The empty namespace, for requests that do not belong to a namespace.
    no_namespace: Arc<str>,
}

/// The work that a step can still do.
#[derive(Clone, Copy, Debug, Default)]
struct StepBudget {
    /// Decisions that send no request.
    agenda: usize,
    queues: usize,
    /// Objects to take from the backlog, and the bytes to parse for them.
    updates: usize,
    parsed: usize,
}

impl Core {
    /// Creates a controller that has not observed anything yet.
    pub(crate) fn new(settings: Settings, telemetry: Arc<Telemetry>) -> Self {
        let slots = settings.max_in_flight.get();
        let store = Store::new(&settings);
        store.watches.publish(&telemetry);
        let events = Events::new(&settings, Arc::clone(&telemetry));
        Self {
            clock: ClockGuard::new(settings.max_clock_skew),
            boundaries: Scheduler::new(),
            retries: Scheduler::new(),
            store,
            outbox: Outbox::default(),
            flight: Flight::new(slots),
            throttle: Throttle::new(slots, settings.seed),
            // In a dry run, no workload is started, so none would become ready and free its slot.
            gate: Gate::new(
                settings.max_starting.filter(|_| !settings.dry_run),
                settings.ready_within,
                events.logs.clone(),
            ),
            readiness: ReadinessTracker::new(Arc::clone(&telemetry)),
            reverts: Reverts::new(settings.revert_window),
            jobs: Jobs::new(settings.seed, Arc::clone(&telemetry)),
            stops: Stops::default(),
            events,
            namespace_edits: FrequentEdits::new(NAMESPACE_EDITS.0, NAMESPACE_EDITS.1),
            team_edits: FrequentEdits::new(TEAM_EDITS.0, TEAM_EDITS.1),
            agenda: VecDeque::new(),
            backlog: FairQueue::default(),
            now: Now::default(),
            effects: Vec::new(),
            budget: StepBudget::default(),
            more: false,
            is_ending: false,
            is_ready_logged: false,
            no_namespace: "".into(),
            telemetry,
            settings,
        }
    }

    /// Applies one input, then carries out due work.
    pub(crate) fn step(&mut self, now: Now, input: Input, effects: &mut Vec<Effect>) {
        self.now = now;
        self.store.seen_at = self.clock.seen_at(now);
        let is_response = matches!(input, Input::Response(..));
        match input {
            Input::Tick => {}
            Input::Watch(watch, input) => {
                self.check_clock();
                self.observe(watch, input);
            }
            Input::Response(id, response) => {
                // An aborted request was already removed from `flight`.
                if let Some(purpose) = self.flight.end(id) {
                    self.apply_response(purpose, response);
                }
            }
            Input::Calendars(calendars) => {
                self.check_clock();
                self.calendars_changed(calendars);
            }
            Input::Schedules(schedules) => {
                self.check_clock();
                self.schedules_changed(schedules);
            }
            Input::Shutdown => {
                self.is_ending = true;
                self.telemetry.shutting_down();
            }
        }
        if !self.is_ending {
            self.act();
        } else if is_response {
            // Queued work is left to the next controller. Only Events are still sent.
            self.events.recorder.set_busy(false, self.now);
            self.send_events();
        }
        self.publish_gauges();
        effects.append(&mut self.effects);
    }

    /// Carries out due work, within the bounds of one step.
    fn act(&mut self) {
        self.more = false;
        self.budget = StepBudget {
            agenda: MAX_DECISIONS,
            queues: MAX_DECISIONS,
            updates: MAX_UPDATES,
            parsed: MAX_PARSED,
        };
        if self.store.history.take_relist(self.now.elapsed) {
            self.store.watches.relist();
            tracing::warn!(
                "the resourceVersion went back (was etcd restored from a backup?); listing \
                    everything again"
            );
            self.effects.push(Effect::Relist);
        }
        self.check_clock();
        self.release_slow_requests();
        self.send_version_question();
        self.run_agenda();
        if self.clock.is_wrong() {
            return;
        }
        if self.send_first() {
            self.effects.push(Effect::Flush);
            self.more = true;
            return;
        }
        self.fire();
        self.run_agenda();
        self.grant_slots();
        self.dispatch();
    }

    /// If no transition is in flight, sends the first due transition before other objects are evaluated,
    /// so that it is not late. Returns whether it was sent.
    fn send_first(&mut self) -> bool {
        let taken = |core: &Self| core.flight.slots().taken(Class::Transition);
        if taken(self) > 0 || !self.queue_due() {
            return false;
        }
        self.dispatch_class(Class::Transition);
        taken(self) > 0
    }

    /// Queues one object whose boundary is due. Returns `false` if no boundary is due.
    fn queue_due(&mut self) -> bool {
        let Some((id, at)) = self.boundaries.take_due(self.now.wall) else {
            return false;
        };
        if let Some(object) = self.store.get_mut(id)
            && object.work.mark_due(at, self.now)
        {
            let class = object.work.class(Class::Transition);
            self.outbox.push(id, object, class);
        }
        true
    }

    /// Carries out due work that needs no request: boundaries, deadlines of objects, and reports.
    fn fire(&mut self) {
        let now = self.now;
        repeat(|| self.queue_due());
        repeat(|| self.retry_due());
        repeat(|| self.jobs.queue_due(now));
        repeat(|| self.readiness.queue_due(&self.store, now));
        repeat(|| self.gate.end_slot(&mut self.store, now.wall));
        repeat(|| self.retry_permission());
        repeat(|| self.reverts.forget_ended(&mut self.store, now));
        self.apply_frequent_edits();
        let (store, events) = (&mut self.store, &mut self.events);
        self.gate.report_waits(store, events, now);
        let (stops, telemetry) = (&mut self.stops, &self.telemetry);
        repeat(|| stops.announce_due(store, events, telemetry, now));
    }

    /// Retries one write whose backoff has ended. Returns `false` if there is none.
    fn retry_due(&mut self) -> bool {
        let Some((id, _)) = self.retries.take_due(self.now.elapsed) else {
            return false;
        };
        let object = self.store.get(id);
        if object.is_some_and(|object| object.work.phase() == WorkPhase::BackingOff) {
            self.release([id]);
        }
        true
    }

    /// Lets one object retry that waits for a permission. Returns `false` if there is none.
    fn retry_permission(&mut self) -> bool {
        let retrying = self.throttle.permissions.pop_due(self.now);
        self.release(retrying);
        retrying.is_some()
    }

    /// Puts an object on the agenda: it is decided about in this step or the next.
    pub(crate) fn add_to_agenda(&mut self, id: Id) {
        if let Some(object) = self.store.get_unpublished(id)
            && !std::mem::replace(&mut object.is_on_agenda, true)
        {
            self.agenda.push_back(id);
        }
    }

    /// Ends the wait of objects for a retry or a permission, and puts them on the agenda.
    pub(crate) fn release(&mut self, ids: impl IntoIterator<Item = Id>) {
        for id in ids {
            if let Some(object) = self.store.get_mut(id) {
                object.work.release();
                self.add_to_agenda(id);
            }
        }
    }

    /// Puts all starts on the agenda that wait for dependencies, because a dependency might have changed.
    pub(crate) fn add_waiting_starts_to_agenda(&mut self) {
        for id in self.gate.waiting_for_dependencies() {
            self.add_to_agenda(id);
        }
    }

    /// Puts an object into the backlog: it is put on the agenda later if it should be decided about.
    pub(crate) fn add_to_backlog(&mut self, id: Id, why: Backlog) {
        let Some(object) = self.store.get_unpublished(id) else {
            return;
        };
        if object.backlog == Backlog::Absent {
            self.backlog.push(&object.observed.object.namespace, id);
        }
        object.backlog = object.backlog.max(why);
    }

    /// Updates objects from the backlog while the agenda is short, and puts those on the agenda that should be
    /// decided about.
    fn update_backlog(&mut self) {
        while self.agenda.len() < MAX_DECISIONS
            && self.budget.updates > 0
            && self.budget.parsed > 0
            && let Some(id) = self.backlog.pop(|_| true)
        {
            self.budget.updates -= 1;
            let Some(object) = self.store.get_unpublished(id) else {
                continue;
            };
            let why = std::mem::replace(&mut object.backlog, Backlog::Absent);
            let before = self.store.parse_cache.parsed_bytes;
            let is_affected = self.store.update_definitions(id);
            let parsed = self.store.parse_cache.parsed_bytes.wrapping_sub(before);
            self.budget.parsed = self.budget.parsed.saturating_sub(parsed);
            if is_affected || why == Backlog::Undecided {
                self.add_to_agenda(id);
            }
        }
    }

    /// Decides about the objects on the agenda until the budget of the step is exhausted.
    fn run_agenda(&mut self) {
        for id in self.store.settle_texts() {
            self.add_to_backlog(id, Backlog::Undecided);
        }
        self.update_backlog();
        while self.budget.agenda > 0
            && let Some(id) = self.agenda.pop_front()
        {
            if let Some(object) = self.store.get_unpublished(id) {
                object.is_on_agenda = false;
                let decisions = self.evaluate_counted(id, Trigger::Agenda);
                self.budget.agenda = self.budget.agenda.saturating_sub(decisions);
            }
        }
        self.more |= !self.agenda.is_empty() || !self.backlog.is_empty();
    }

    /// Gives free start slots to waiting starts.
    fn grant_slots(&mut self) {
        while self.budget.agenda > 0
            && let Some(id) = self.gate.grant(&mut self.store)
        {
            self.add_to_agenda(id);
            self.run_agenda();
        }
        self.more |= self.budget.agenda == 0;
    }

    /// Sends queued work while there are slots for it.
    fn dispatch(&mut self) {
        let may_send = self.throttle.server.may_send(self.now);
        if may_send {
            for class in [Class::Transition, Class::Slow, Class::Adoption] {
                self.dispatch_class(class);
            }
            self.send_lookups();
            self.send_jobs();
        }
        let is_busy = self.outbox.has_transitions();
        if may_send {
            self.events.recorder.set_busy(is_busy, self.now);
            self.send_events();
            self.send_not_ready();
        }
        self.more |= self.budget.queues == 0;
    }

    /// Evaluates the queued objects of a class while there are free slots.
    fn dispatch_class(&mut self, class: Class) {
        while self.budget.queues > 0 && self.throttle.server.may_send(self.now) {
            let window = self.throttle.server.window();
            let Some(id) = self.outbox.pop(class, self.flight.slots(), window) else {
                return;
            };
            let object = self.store.get_mut(id);
            // The object might have moved to another queue since.
            if object.is_some_and(|object| object.work.take_from(class)) {
                let decisions = self.evaluate_counted(id, Trigger::Queue(class));
                self.budget.queues = self.budget.queues.saturating_sub(decisions);
            }
        }
    }

    /// Evaluates an object. Returns the number of decisions that have sent no request, with those about its
    /// dependencies: users can give thousands of workloads 16 dependencies each.
    fn evaluate_counted(&mut self, id: Id, trigger: Trigger) -> usize {
        let before = self.store.dependency_decisions.get();
        let has_sent = self.evaluate(id, trigger);
        let of_dependencies = self.store.dependency_decisions.get().wrapping_sub(before);
        of_dependencies + usize::from(!has_sent)
    }

    fn has_slot(&self, class: Class) -> bool {
        let waiting = self.outbox.waiting_transitions();
        let limits = limits(class, 0, waiting);
        self.flight.slots().has_free_slot(class, limits)
    }

    /// Reads reverted objects, to find the field manager that has set the count. Then reports due
    /// summaries of reverts.
    fn send_lookups(&mut self) {
        while self.has_slot(Class::Managers)
            && let Some(lookup) = self.reverts.pop(self.now)
        {
            let request = Request::Managers(lookup.object.clone());
            let purpose = Purpose::Revert(Box::new(lookup));
            self.send_request(Class::Managers, purpose, request);
        }
        let events = &mut self.events;
        while let Some((object, event)) = events.digest.take_due(&self.settings.prefix, self.now) {
            tracing::warn!(namespace = &*object.namespace, "{}", event.text);
            events.announce(object, event, self.now);
        }
    }

    /// Sends the checks of Jobs that are due.
    fn send_jobs(&mut self) {
        while self.has_slot(Class::Jobs)
            && let Some(pass) = self.jobs.pop()
        {
            if self.settings.dry_run {
                self.jobs.log_dry_run(pass, self.now);
                continue;
            }
            self.send_request(Class::Jobs, Purpose::Jobs, Request::Jobs(pass));
        }
    }

    /// Sends Events. While starts or stops are queued, the recorder limits the rate of Events.
    fn send_events(&mut self) {
        while let Some(attempt) = self.events.recorder.pop(self.flight.slots(), self.now) {
            let request = Request::Event(Arc::clone(&attempt.event));
            self.send_request(Class::Event, Purpose::Event(attempt), request);
        }
    }

    /// Reads objects that are not ready in time.
    fn send_not_ready(&mut self) {
        while self.has_slot(Class::NotReady)
            && let Some(not_ready) = self.readiness.pop()
        {
            if self.settings.dry_run {
                continue;
            }
            let request = Request::Managers(not_ready.object.clone());
            self.send_request(Class::NotReady, Purpose::NotReady(not_ready), request);
        }
    }

    /// Sends a request, which occupies a slot of its class.
    pub(crate) fn send_request(&mut self, class: Class, purpose: Purpose, request: Request) {
        let namespace = request.namespace().unwrap_or(&self.no_namespace);
        let begun = self.now.elapsed;
        let id = self.flight.begin(class, namespace, purpose, begun);
        self.effects.push(Effect::Send(id, request));
    }

    /// Moves slow requests to the slow class. If it is full, aborts its oldest request, which then
    /// counts as timed out.
    fn release_slow_requests(&mut self) {
        while let Some(id) = self.flight.mark_slow(self.now.elapsed) {
            let Some(purpose) = self.flight.end(id) else {
                continue;
            };
            self.effects.push(Effect::Abort(id));
            let mut why = Unavailable::timed_out(SLOW);
            why.reason += ", and others wait";
            let response = match &purpose {
                Purpose::Patch(_) => Response::Patch(Box::new(Err(why.into()))),
                _ => Response::Read(Box::new(Err(why.into()))),
            };
            self.apply_response(purpose, response);
        }
    }

    /// Requests the server's current version if a watch was resumed earlier than usual, to detect a
    /// resourceVersion rollback.
    fn send_version_question(&mut self) {
        if let Some(question) = self.store.history.take_question(self.now.elapsed) {
            let request = Request::Version {
                kind: question.kind.clone(),
                namespace: question.namespace.as_deref().map(Into::into),
            };
            self.send_request(Class::Server, Purpose::History(question), request);
        }
    }

    fn request_server_time(&mut self) {
        let scope = &self.settings.scope;
        let is_known = |kind: &&Kind| !kind.version().is_empty();
        let Some(kind) = scope.kinds.iter().find(is_known).cloned() else {
            return;
        };
        let namespace = scope.namespaces.first().map(|name| name.as_str().into());
        let request = Request::Version { kind, namespace };
        self.send_request(Class::Server, Purpose::Time, request);
    }

    /// Checks the clock. While it is wrong, no boundary is due and no workload is changed.
    fn check_clock(&mut self) {
        let change = self.clock.check(self.now);
        self.store.seen_at = self.clock.seen_at(self.now);
        if change.was_set_back {
            // Evaluate all objects now. If a state is now too far in the future, it must be corrected
            // even if the next boundary of the object is far away.
            self.store.refresh_memories(self.now.wall);
            self.add_all_to_backlog();
        }
        let Some(skew) = self.clock.skew().map(TimeDelta::as_seconds_f64) else {
            return;
        };
        self.telemetry.clock_skew.set(Some(skew));
        if change.validity_changed && self.clock.is_wrong() {
            self.telemetry.set(Condition::Clock, false);
            tracing::error!(
                skew,
                "the clock differs too much from that of the API server: dayshift scales nothing \
                    until it is corrected"
            );
        } else if change.validity_changed {
            self.telemetry.set(Condition::Clock, true);
            tracing::info!(skew, "the clock is right again");
            self.store.redate_observations(self.now);
            self.store.refresh_memories(self.now.wall);
            self.add_all_to_backlog();
        }
        if self.clock.take_time_request(self.now) {
            self.request_server_time();
        }
    }

    fn add_all_to_backlog(&mut self) {
        for id in self.store.ids_in(None) {
            self.add_to_backlog(id, Backlog::Undecided);
        }
    }

    /// Removes an object, and its deadlines, waits and slots.
    pub(crate) fn remove(&mut self, id: Id) {
        let Some(mut object) = self.store.remove(id) else {
            return;
        };
        self.boundaries.cancel(&id);
        self.retries.cancel(&id);
        self.readiness.remove(id);
        self.throttle.remove(object.name(), id);
        self.gate.remove(id, &mut object);
        self.stops.leave(id, &mut object);
        self.jobs.remove(id);
        let name = object.name();
        self.unblock(&name.namespace, || Dependency::from_workload(name));
    }

    /// Releases the starts that waited only for an object, which has changed or was removed.
    fn unblock(&mut self, namespace: &Arc<str>, needed: impl FnOnce() -> Dependency) {
        if self.gate.waiting() == 0 {
            return;
        }
        let (store, now) = (&mut self.store, self.now.wall);
        // They are queued like due boundaries, so the first of them is sent before the others are
        // evaluated.
        for id in self.gate.take_unblocked(namespace, &needed(), store, now) {
            self.boundaries.set(id, now);
        }
    }

    /// Sets or changes the next boundary of an object. `None` cancels it.
    fn set_boundary(&mut self, id: Id, at: Option<DateTime<Utc>>) {
        match at {
            Some(at) => self.boundaries.set(id, at),
            None => self.boundaries.cancel(&id),
        }
    }

    /// When the next step should be made if there is no input before.
    pub(crate) fn next_wake(&self, now: Now) -> DateTime<Utc> {
        if self.more {
            return now.wall;
        }
        // Requests to the server are also sent while the clock is wrong.
        let always = [
            self.flight.next_slow(),
            self.store.history.next_question(),
            self.clock.next_time_request(now),
        ];
        let always = always.into_iter().flatten().min();
        let usual = self.next_due(now).filter(|_| !self.clock.is_wrong());
        let next = always.map(|at| now.wall_at(at)).into_iter().chain(usual);
        next.min().unwrap_or(now.wall + TimeDelta::days(1))
    }

    /// When an object or a component has work to do, if the clock is right.
    fn next_due(&self, now: Now) -> Option<DateTime<Utc>> {
        let server = self.throttle.server.until();
        let server = server.filter(|until| *until > now.elapsed);
        // Summaries should be reported only if requests can be sent.
        let digest = self.events.digest.next();
        let elapsed = [
            server,
            digest.map(|at| server.map_or(at, |until| at.max(until))),
            self.throttle.permissions.next(),
            self.events.recorder.next(now),
            self.reverts.next_end(),
            self.retries.next(),
            self.jobs.next(),
            self.namespace_edits.next(),
            self.team_edits.next(),
        ];
        let elapsed = elapsed.into_iter().flatten().min();
        let wall = [
            self.boundaries.next(),
            self.readiness.next(),
            elapsed.map(|at| now.wall_at(at)),
            self.gate.next(),
            self.stops.next(),
        ];
        wall.into_iter().flatten().min()
    }

    /// Publishes the gauges of the core, such as the lengths of the queues.
    fn publish_gauges(&self) {
        let telemetry = &self.telemetry;
        let is_permitted = self.throttle.permissions.has_all();
        telemetry.set(Condition::Permitted, is_permitted);
        for (class, depth) in self.outbox.depths() {
            telemetry.queue_depth(class, depth);
        }
        telemetry.queue_depth("event", self.events.recorder.len());
        let next = self.boundaries.next();
        telemetry.next_boundary.set(next.map(|at| at.timestamp()));
        for (gauge, count) in [
            (&telemetry.waiting_starts, self.gate.waiting()),
            (
                &telemetry.invalid_namespaces,
                self.store.namespaces.invalid(),
            ),
        ] {
            gauge.set(gauge_value(count));
        }
    }

    /// Returns `true` once: when the controller is ready and all objects are published.
    pub(crate) fn take_ready(&mut self) -> bool {
        let is_due = !self.is_ready_logged
            && self.telemetry.is_ready()
            && self.backlog.is_empty()
            && !self.store.has_unpublished();
        self.is_ready_logged |= is_due;
        is_due
    }

    /// Whether shutdown is complete: no request is in flight anymore.
    pub(crate) fn is_done(&self) -> bool {
        self.is_ending && self.flight.len() == 0
    }
}

/// Processes due items with a function that processes one and returns `false` if there is none.
fn repeat(mut process_one: impl FnMut() -> bool) {
    for _ in 0..MAX_DUE {
        if !process_one() {
            return;
        }
    }
}
