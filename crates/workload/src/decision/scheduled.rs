//! The decision for a workload with a valid schedule: carry out a boundary, begin or end an override,
//! adopt, or correct labels and counts between two boundaries.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_schedule::{Action, Boundary};

use crate::{
    decision::{
        change::{AdoptedSchedule, Adoption, Cause, Change, ChangeKind, EventNote},
        context::{Decision, DecisionContext},
        timer::{Starts, Timer},
    },
    inputs::{
        annotations::Origin,
        overrides::{Author, Enforce, Override, Overrides},
        spec::ScheduleSpec,
    },
    keys::Key,
    replicas::Replicas,
    state::{Fingerprint, Next, Phase, Started, State, is_from_future, whole_second},
    workload_ref::WorkloadRef,
};

/// One object with a valid schedule at one time.
pub(crate) struct ScheduledDecision<'a> {
    pub(crate) context: &'a DecisionContext<'a>,
    pub(crate) spec: &'a ScheduleSpec,
    /// The newest known state.
    pub(crate) state: State,
    /// The overrides, without those that `kubectl rollout undo` restored.
    pub(crate) overrides: Overrides,
    /// The override that is active at `now`, even if the state does not have it yet.
    pub(crate) active: Option<Override>,
    /// The fingerprint of this schedule on this object.
    pub(crate) fingerprint: Fingerprint,
    /// The timer of `stop-after` on a state of this schedule.
    pub(crate) timer: Timer,
    pub(crate) now: DateTime<Utc>,
}

impl<'a> ScheduledDecision<'a> {
    pub(crate) fn new(
        context: &'a DecisionContext<'a>,
        spec: &'a ScheduleSpec,
        state: State,
        now: DateTime<Utc>,
    ) -> Self {
        let observed = context.observed;
        let overrides = observed.overrides(spec, &state, now);
        let active = overrides.at(now);
        Self {
            overrides,
            active,
            timer: Timer::evaluate(spec, &state, observed, active, now),
            fingerprint: observed.inputs.fingerprint(&observed.object.uid),
            context,
            spec,
            state,
            now,
        }
    }

    /// Where the active override is written.
    fn active_origin(&self) -> Origin {
        let active = self.overrides.with_origin_at(self.now);
        active.map_or(Origin::Own, |(origin, _)| origin)
    }

    /// The author of the active override.
    fn active_author(&self) -> Author {
        self.context.observed.inputs.author(self.active_origin())
    }

    pub(crate) fn decide(&self) -> Decision {
        if let Some(active) = self.active {
            if self.state.phase != Some(active.phase()) {
                return self.begin(active);
            }
            if let Override::Pause(_) = active {
                // During a pause, not even a new schedule is adopted.
                return self.between_boundaries();
            }
        }
        if let Some(why) = self.adoption_reason() {
            return self.adopt(why);
        }
        match (self.active, self.state.phase) {
            (Some(_), _) => self.between_boundaries(),
            (None, Some(Phase::Paused)) => self.after_pause(),
            (None, Some(Phase::Woken | Phase::Slept)) => self.after_override(),
            (None, _) => self.apply_latest_boundary(),
        }
    }

    /// Whether the state belongs to this schedule on this object.
    pub(crate) fn is_of_this_schedule(&self) -> bool {
        self.state.fingerprint == Some(self.fingerprint)
    }

    /// Applies the latest boundary if it is due. There is no override, and the state is known.
    fn apply_latest_boundary(&self) -> Decision {
        match self
            .latest_boundary()
            .filter(|boundary| self.is_due(boundary))
        {
            Some(due) => self.scale_by_boundary(due, Cause::Clock(due.at)),
            None => self.between_boundaries(),
        }
    }

    /// Whether a boundary is later than `last`, and not earlier than the planned next boundary. That
    /// is the earlier one of the label `next` and the one in memory. If both are unknown, only `last`
    /// is checked.
    fn is_due(&self, boundary: &Boundary) -> bool {
        let calendars = self.context.parsed.calendar_digest();
        let planned = self.context.memory.planned(self.fingerprint, calendars);
        let next = [self.state.next, planned].into_iter().flatten().min();
        Some(Next::At(boundary.at)) >= next && Some(boundary.at) > self.state.last
    }

    /// `wake-until` begins like a start and `sleep-until` like a stop. A pause changes nothing.
    fn begin(&self, active: Override) -> Decision {
        let seen = self.context.observed.replicas;
        let remembered = self.carried_over();
        let (kind, replicas, saved) = match active {
            Override::Pause(_) => (ChangeKind::Pause, seen, remembered),
            Override::Wake(_) => {
                let count = match self.spec.largest_count() {
                    Some(largest) => seen.max(largest).max(Replicas::ONE),
                    None => self.spec.woken(seen, self.worth_restoring(remembered)),
                };
                (ChangeKind::Wake, self.spec.counts.capped(count), None)
            }
            Override::Sleep(_) => {
                let (count, saved) = self.spec.stopped(seen, remembered);
                (ChangeKind::Sleep, count, saved)
            }
        };
        let last = self.considered_now();
        let started = match active {
            Override::Wake(_) => self.starts().after_wake(whole_second(self.now)),
            Override::Sleep(_) | Override::Pause(_) => self.starts().known(),
        };
        let state = State {
            phase: Some(active.phase()),
            last: Some(last),
            next: Some(Next::or_never(active.until())),
            saved,
            saved_value: self.state.saved_value.clone(),
            fingerprint: Some(self.fingerprint),
            started,
        };
        // This override might have been hidden by another one that has just ended.
        let has_hidden = |ended: &DateTime<Utc>| {
            let before = self
                .overrides
                .with_origin_at(*ended - TimeDelta::nanoseconds(1));
            *ended >= self.context.seen && before != self.overrides.with_origin_at(self.now)
        };
        let hidden_until = self.past_override_end().filter(has_hidden);
        self.decide_write(Change {
            cause: hidden_until.map_or(self.request(), Cause::Clock),
            replicas,
            note: Some(EventNote::Began {
                active,
                from: seen,
                to: replicas,
                zone: self.spec.schedule.zone(),
                author: self.active_author().into(),
            }),
            ..self.without_scaling(kind, state)
        })
    }

    /// The count that a wake restores: a user wants the workload now, so after a 0 the last count
    /// that this process has observed running.
    fn worth_restoring(&self, remembered: Option<Replicas>) -> Option<Replicas> {
        let is_zero = remembered.unwrap_or_default() == Replicas::ZERO;
        let last_running = self.context.memory.last_running().filter(|_| is_zero);
        last_running.or(remembered)
    }

    /// After an override the latest boundary decides, even if it was before the override. If the
    /// schedule requires nothing, a workload that the override stopped is started.
    fn after_override(&self) -> Decision {
        let newest = self.latest_boundary();
        // Without times, only a workload that was running when the sleep began is started.
        let is_asleep = self.state.phase == Some(Phase::Slept)
            && (self.spec.has_times() || self.timer.started.is_some());
        let started = self.timer.started;
        let required = self.spec.required_action(self.object(), started, self.now);
        let Some(action) = required.or(is_asleep.then_some(Action::Start)) else {
            return self.adopt(Adoption::Over);
        };
        let ended = whole_second(self.override_ended());
        let at = newest.map_or(ended, |newest| newest.at.max(ended));
        let is_by_clock = at > ended || self.past_override_end().is_some();
        let cause = if is_by_clock {
            Cause::Clock(at)
        } else {
            self.request()
        };
        self.scale_by_boundary(Boundary { at, action }, cause)
    }

    /// The end of a pause adopts the schedule, but a boundary at the same time or later is carried
    /// out.
    fn after_pause(&self) -> Decision {
        let ended = self.override_ended();
        let is_since =
            |boundary: &Boundary| boundary.at >= ended && Some(boundary.at) > self.state.last;
        match self.latest_boundary().filter(is_since) {
            Some(due) => self.scale_by_boundary(due, Cause::Clock(due.at)),
            None => self.adopt(Adoption::Over),
        }
    }

    /// When the override ended: at its time, or when its removal was observed, but not before it
    /// began.
    pub(crate) fn override_ended(&self) -> DateTime<Utc> {
        let removed_at = || self.context.seen.min(self.now);
        let ended = self.past_override_end().unwrap_or_else(removed_at);
        let begun = self.state.last.map(|last| last.min(self.now));
        begun.map_or(ended, |begun| begun.max(ended))
    }

    /// When the override in the labels ended; `None` if it has not.
    pub(crate) fn past_override_end(&self) -> Option<DateTime<Utc>> {
        let key = self.state.phase.and_then(Override::key)?;
        let written = self.overrides.until(key);
        // Another controller might have extended the override since our last write.
        let known = self.context.observed.state().next_at();
        written.max(known).filter(|end| *end <= self.now)
    }

    /// The count that the next start should restore, if known. Before the first boundary after an
    /// adoption, the labels do not show whether a user has set a count of 0, but the memory does.
    fn remembered(&self) -> Option<Replicas> {
        let is_manual_zero = self.state.phase == Some(Phase::Adopted)
            && self.context.observed.replicas == Replicas::ZERO
            && self.context.memory.ran_since_change();
        let known = self.state.remembered();
        known.or(is_manual_zero.then_some(Replicas::ZERO))
    }

    /// Carries out a boundary, or adopts the schedule if the boundary was missed for too long.
    fn scale_by_boundary(&self, due: Boundary, cause: Cause) -> Decision {
        if self.now - due.at > self.context.catch_up {
            return self.adopt(Adoption::Missed);
        }
        let seen = self.context.observed.replicas;
        let (kind, phase, replicas, saved) = match due.action {
            Action::Start => {
                let count = self.spec.started(seen, self.remembered());
                (ChangeKind::Start, Phase::Running, count, None)
            }
            Action::Stop => {
                let (count, saved) = self.spec.stopped(seen, self.remembered());
                (ChangeKind::Stop, Phase::Stopped, count, saved)
            }
            Action::Scale(count) => {
                let count = Replicas::new(count).max(self.spec.counts.least());
                let runs = due.action.is_up();
                let phase = if runs { Phase::Running } else { Phase::Stopped };
                (ChangeKind::Scale(count), phase, count, None)
            }
        };
        let last = self.state.last.map_or(due.at, |last| last.max(due.at));
        let started = match due.action {
            Action::Start => self.starts().after_boundary(due.at),
            // It stays if it is the reason for the stop.
            Action::Stop => self.starts().expired(due.at),
            Action::Scale(_) => None,
        };
        let next = self.spec.next_after(self.object(), started, last);
        let state = State {
            phase: Some(phase),
            last: Some(last),
            next: Some(Next::or_never(next.map(|next| next.at))),
            saved,
            saved_value: self.state.saved_value.clone(),
            fingerprint: Some(self.fingerprint),
            started,
        };
        let change = self.without_scaling(kind, state);
        let before = self.state.phase;
        let scaled = EventNote::scaled(due, before, self.spec, seen, replicas, next);
        self.decide_write(Change {
            cause,
            boundary: Some(due),
            replicas,
            note: scaled.or(change.note),
            ..change
        })
    }

    /// A change that keeps the count and removes ended overrides.
    pub(crate) fn without_scaling(&self, kind: ChangeKind, state: State) -> Change {
        let (expired, note) = self.expired();
        Change {
            expired,
            note,
            ..self.context.without_scaling(kind, state)
        }
    }

    /// The override annotations that a change removes, and a note about them. If a rollout undo has
    /// restored overrides, these are all own overrides; otherwise, those that have ended. During a
    /// pause, ended overrides are kept. When the last override is removed, so are `override-by` and
    /// `reason`.
    fn expired(&self) -> (Vec<Key>, Option<EventNote>) {
        let own = self.spec.overrides.own_keys();
        let (mut over, note) = if self.overrides == self.spec.overrides {
            let over = match self.active {
                Some(Override::Pause(_)) => Vec::new(),
                _ => self.overrides.expired_at(self.now),
            };
            (over, None)
        } else {
            let note = own.first().map(|key| EventNote::EndedBefore(*key));
            (own.clone(), note)
        };
        if !over.is_empty() && own.iter().all(|key| over.contains(key)) {
            let own = self.context.observed.inputs.own();
            over.extend(
                Key::AUTHOR
                    .into_iter()
                    .filter(|key| own.text(*key).is_some()),
            );
        }
        (over, note)
    }

    /// Returns the change, or waits until the next boundary if nothing would change.
    pub(crate) fn decide_write(&self, change: Change) -> Decision {
        let considered = change.state.last;
        let due = match change.state.next_at() {
            Some(next) if next <= self.now => self.next_after(self.now).map(|next| next.at),
            next => next,
        };
        let due = self.with_timer(due);
        let is_by_clock = || self.clock_explains(considered);
        self.context
            .decide_write(change, self.now, due, is_by_clock)
    }

    /// Whether a change is caused by the clock and not by a user: a boundary was reached since the last
    /// write, or the clock was set back and the state is too far ahead. `considered` is the `last` of
    /// the change.
    fn clock_explains(&self, considered: Option<DateTime<Utc>>) -> bool {
        let last = self.state.last;
        let is_ahead =
            |last: Option<DateTime<Utc>>| last.is_some_and(|last| is_from_future(last, self.now));
        if is_ahead(last) && !is_ahead(considered) {
            return true;
        }
        let latest = self.latest_boundary().map(|boundary| boundary.at);
        latest > last && considered >= latest
    }

    /// The cause of a change that annotations request.
    fn request(&self) -> Cause {
        Cause::Request {
            seen: self.context.seen.min(self.now),
        }
    }

    /// The `last` of a change that considers all boundaries until now. If the clock was set back, `last`
    /// stays at its later value, unless that is too far ahead.
    pub(crate) fn considered_now(&self) -> DateTime<Utc> {
        let now = whole_second(self.now);
        let known = self
            .state
            .last
            .filter(|last| !is_from_future(*last, self.now));
        known.map_or(now, |last| last.max(now))
    }

    fn latest_boundary(&self) -> Option<Boundary> {
        self.spec
            .latest_at(self.object(), self.timer.started, self.now)
    }

    pub(crate) fn next_after(&self, after: DateTime<Utc>) -> Option<Boundary> {
        self.spec
            .next_after(self.object(), self.timer.started, after)
    }

    /// The time until which a decision waits: not later than the next restart of the timer.
    fn with_timer(&self, due: Option<DateTime<Utc>>) -> Option<DateTime<Utc>> {
        due.into_iter().chain(self.timer.restarts_at).min()
    }

    fn starts(&self) -> Starts<'_> {
        Starts {
            spec: self.spec,
            state: &self.state,
            observed: self.context.observed,
            timer: self.timer.started,
            now: self.now,
        }
    }

    pub(crate) fn object(&self) -> &WorkloadRef {
        &self.context.observed.object
    }
}

impl ScheduledDecision<'_> {
    /// Why the schedule must be adopted: the state belongs to another schedule or object, or is too
    /// far ahead. `None` if the state is valid for this schedule.
    pub(crate) fn adoption_reason(&self) -> Option<Adoption> {
        match self.state.last {
            Some(last) if self.is_of_this_schedule() => {
                is_from_future(last, self.now).then_some(Adoption::FromFuture)
            }
            _ if self.state.is_empty() => Some(Adoption::New),
            _ => Some(Adoption::Changed),
        }
    }

    /// Adopts the schedule. If dayshift has stopped the object and the schedule requires it to run,
    /// the same change starts it.
    pub(crate) fn adopt(&self, why: Adoption) -> Decision {
        let last = whole_second(self.adopted_from(why));
        let started = self.starts().after_adoption(why, self.active, last);
        let next = self.spec.next_after(self.object(), started, last);
        let phase = self.active.map_or(Phase::Adopted, Override::phase);
        // The phases `running` and `woken` already imply a saved 0.
        let is_implied = |count: &Replicas| phase.follows_a_start() && *count == Replicas::ZERO;
        let until = self
            .active
            .map_or(next.map(|boundary| boundary.at), Override::until);
        let state = State {
            phase: Some(phase),
            last: Some(last),
            next: Some(Next::or_never(until)),
            saved: self.carried_over().filter(|count| !is_implied(count)),
            saved_value: self.state.saved_value.clone(),
            fingerprint: Some(self.fingerprint),
            started,
        };
        let change = self.without_scaling(ChangeKind::Adopt(why), state);
        if let Some((action, replicas)) = self.restoring_start(why, started) {
            return self.adopt_with_start(why, action, replicas, change);
        }
        self.decide_write(Change {
            note: self.adoption_note(why, started, next).or(change.note),
            ..change
        })
    }

    /// The start with which an adoption restores a workload that dayshift has stopped, if the
    /// schedule requires it to run now. A copy is not started, because its count was saved for
    /// another object. If the state is too far ahead, the object is not started either: a controller
    /// whose clock is ahead might have written it, and would stop the object again.
    fn restoring_start(
        &self,
        why: Adoption,
        started: Option<Started>,
    ) -> Option<(Action, Replicas)> {
        let is_resumed = matches!(why, Adoption::Changed | Adoption::Over | Adoption::Missed);
        let object = self.object();
        let fingerprint = self.state.fingerprint.as_ref();
        let is_own = fingerprint.is_some_and(|fingerprint| fingerprint.belongs_to(&object.uid));
        if !is_resumed || !is_own || self.active.is_some() {
            return None;
        }
        let seen = self.context.observed.replicas;
        let state = State {
            saved: self.state.saved,
            started,
            ..State::default()
        };
        self.spec.restoring_action(object, seen, &state, self.now)
    }

    /// An adoption that also starts the object.
    fn adopt_with_start(
        &self,
        why: Adoption,
        action: Action,
        replicas: Replicas,
        adoption: Change,
    ) -> Decision {
        let kind = match action {
            Action::Scale(_) => ChangeKind::Scale(replicas),
            Action::Start | Action::Stop => ChangeKind::Start,
        };
        let last = adoption.state.last.unwrap_or(self.now);
        let cause = match self.past_override_end() {
            Some(ended) if why == Adoption::Over => Cause::Clock(ended),
            // The schedule was observed before, but could not be adopted until its next start.
            _ => match self.latest_boundary() {
                Some(latest) if latest.at > last => Cause::Clock(latest.at),
                _ => adoption.cause,
            },
        };
        let from = self.context.observed.replicas;
        let started = self.starts().started_at(whole_second(self.now));
        let next = self.spec.next_after(self.object(), started, last);
        self.decide_write(Change {
            kind,
            cause,
            replicas,
            state: State {
                phase: Some(Phase::Running),
                next: Some(Next::or_never(next.map(|next| next.at))),
                saved: None,
                started,
                ..adoption.state
            },
            note: Some(EventNote::Restored {
                why,
                from,
                to: replicas,
                next,
                zone: self.spec.schedule.zone(),
            }),
            ..adoption
        })
    }

    /// The saved count that an adoption keeps. A running copy drops the count of the original. If the
    /// schedule was removed while the object was stopped, and the object runs again, the old saved
    /// count is dropped.
    pub(crate) fn carried_over(&self) -> Option<Replicas> {
        let (state, observed) = (&self.state, self.context.observed);
        let is_ours = |fingerprint: Fingerprint| fingerprint.belongs_to(&observed.object.uid);
        let is_copy = state
            .fingerprint
            .is_some_and(|fingerprint| !is_ours(fingerprint));
        if is_copy || state.is_only_saved() {
            let is_down = observed.replicas <= self.spec.stop_replicas;
            state.saved.filter(|_| is_down)
        } else {
            state.remembered()
        }
    }

    /// The time from which the schedule is followed: now if a boundary was missed or the state is
    /// too far ahead. Otherwise, when the schedule was first observed or the override ended.
    fn adopted_from(&self, why: Adoption) -> DateTime<Utc> {
        if matches!(why, Adoption::Missed | Adoption::FromFuture) {
            return self.now;
        }
        // The clock might have been set back since, so never use a time after `now`.
        let from = match (self.active, self.state.phase) {
            (None, Some(Phase::Paused | Phase::Woken | Phase::Slept)) => self.override_ended(),
            _ => self.context.seen.min(self.now),
        };
        let known = self.state.last.filter(|last| *last <= self.now);
        known.map_or(from, |last| last.max(from))
    }

    fn adoption_note(
        &self,
        why: Adoption,
        started: Option<Started>,
        next: Option<Boundary>,
    ) -> Option<EventNote> {
        let observed = self.context.observed;
        let (spec, now, zone) = (self.spec, self.now, self.spec.schedule.zone());
        let adopted = || AdoptedSchedule::new(observed, spec, started, now);
        match why {
            Adoption::New if self.active.is_some() => None,
            Adoption::New => EventNote::adopted(observed, spec, started, now),
            Adoption::Changed => Some(match self.active {
                Some(active) => EventNote::ChangedDuringOverride { active, zone },
                None => EventNote::ScheduleChanged(adopted()),
            }),
            Adoption::Over => Some(EventNote::Resumed(adopted())),
            Adoption::Missed => self.latest_boundary().map(|boundary| EventNote::Missed {
                boundary,
                next,
                zone,
            }),
            Adoption::FromFuture => {
                observed
                    .state()
                    .last
                    .map(|last| EventNote::FromFuture { last, next, zone })
            }
        }
    }
}

impl ScheduledDecision<'_> {
    /// No boundary is due. Labels that are not as they should be are corrected, and so is the count
    /// if it is enforced.
    pub(crate) fn between_boundaries(&self) -> Decision {
        let expected = self.expected_labels();
        let enforced = self.enforced();
        let change = match enforced {
            Enforced::Now { replicas, saved } => self.enforce(expected, replicas, saved),
            Enforced::Never | Enforced::Soon(_) | Enforced::At(_) => self.correct_labels(expected),
        };
        let decision = if self.context.is_in_place(&change) {
            Decision::Wait {
                due: self.with_timer(expected.next.at()),
            }
        } else if self.shows_future_state() {
            return self.adopt(Adoption::FromFuture);
        } else {
            self.decide_write(change)
        };
        // A stop by `enforce` at or after the next boundary is not planned yet: that boundary might
        // start or stop the object.
        let is_next = |due: &DateTime<Utc>| Next::At(*due) < expected.next;
        let memory = self.context.memory;
        match (decision, enforced) {
            (decision, Enforced::Never) => decision,
            // No stop is announced that never comes.
            (Decision::Wait { .. } | Decision::CorrectionLimitReached { .. }, _)
                if memory.is_at_limit() =>
            {
                let next = expected.next.at();
                Decision::CorrectionLimitReached {
                    due: next
                        .into_iter()
                        .chain([memory.next_limit_report(self.now)])
                        .min(),
                    note: EventNote::CorrectionLimitReached,
                }
            }
            (Decision::Wait { .. }, Enforced::Soon(due)) if is_next(&due) => {
                let zone = self.spec.schedule.zone();
                let note = EventNote::StopsSoon { due, zone };
                Decision::StopsSoon { due, note }
            }
            (Decision::Wait { .. }, Enforced::At(due)) if is_next(&due) => {
                Decision::Wait { due: Some(due) }
            }
            (decision, _) => decision,
        }
    }

    /// The change that corrects the labels and keeps the count.
    fn correct_labels(&self, expected: ExpectedLabels) -> Change {
        let state = State {
            phase: Some(self.state.phase.unwrap_or(Phase::Adopted)),
            last: Some(expected.last),
            next: Some(expected.next),
            saved: self.state.saved,
            saved_value: self.state.saved_value.clone(),
            fingerprint: self.state.fingerprint,
            started: self.timer.started,
        };
        let mut change = self.without_scaling(ChangeKind::Correct, state);
        if self.active.is_some() {
            // While an override is active, ended ones are kept. They are removed when it ends.
            (change.expired, change.note) = (Vec::new(), None);
        }
        let expired = || Some(EventNote::Expired(*change.expired.first()?));
        change.note = change
            .note
            .or_else(expired)
            .or_else(|| self.shortened(expected));
        change.kind = if self.context.observed.error.is_some() {
            ChangeKind::Resume
        } else if !change.expired.is_empty() {
            ChangeKind::RemoveExpiredOverride
        } else if self.state.next != Some(expected.next) || self.state.started != self.timer.started
        {
            ChangeKind::Reschedule
        } else {
            ChangeKind::Correct
        };
        change
    }

    /// The note if the active override ends earlier than its recorded end.
    fn shortened(&self, expected: ExpectedLabels) -> Option<EventNote> {
        let active = self.active?;
        let before = self.state.next?;
        (expected.next < before).then(|| EventNote::Shortened {
            active,
            before: before.at(),
            zone: self.spec.schedule.zone(),
            author: self.active_author().into(),
        })
    }

    /// Corrects the labels like [`Self::correct_labels`], and stops the object.
    fn enforce(
        &self,
        expected: ExpectedLabels,
        replicas: Replicas,
        saved: Option<Replicas>,
    ) -> Change {
        let change = self.correct_labels(expected);
        let phase = match change.state.phase {
            Some(Phase::Adopted) => Some(Phase::Stopped),
            phase => phase,
        };
        let raised = self.context.observed.replicas;
        // The stop ends the timer that the increase began.
        let started = self.starts().expired(expected.last);
        let next = match self.active {
            Some(_) => expected.next,
            None => {
                let next = self.spec.next_after(self.object(), started, expected.last);
                Next::or_never(next.map(|next| next.at))
            }
        };
        Change {
            kind: ChangeKind::Enforce,
            replicas,
            state: State {
                next: Some(next),
                started,
                phase,
                saved,
                ..change.state
            },
            note: Some(EventNote::Enforced {
                from: raised,
                to: replicas,
            }),
            ..change
        }
    }

    /// Whether the label `last` is too far ahead. The newest known state can be valid nevertheless.
    fn shows_future_state(&self) -> bool {
        let shown = self.context.observed.state().last;
        let is_paused = matches!(self.active, Some(Override::Pause(_)));
        !is_paused && shown.is_some_and(|last| is_from_future(last, self.now))
    }

    /// The labels `last` and `next` between boundaries. While an override is active, its end is
    /// next.
    fn expected_labels(&self) -> ExpectedLabels {
        let last = self.state.last.unwrap_or_else(|| self.considered_now());
        if let Some(active) = self.active {
            let next = Next::or_never(active.until());
            return ExpectedLabels { last, next };
        }
        let following = |after| Next::or_never(self.next_after(after).map(|next| next.at));
        match following(last) {
            // A boundary earlier than the label `next` was reached, for example after a calendar
            // change. It is skipped.
            next if next <= Next::At(self.now) => ExpectedLabels {
                last: whole_second(self.now),
                next: following(self.now),
            },
            next => ExpectedLabels { last, next },
        }
    }

    /// Whether and when `enforce` stops the object.
    fn enforced(&self) -> Enforced {
        let State { phase, saved, .. } = self.state;
        let (seen, most) = (self.context.observed.replicas, self.spec.stop_replicas);
        let is_stopped_by_dayshift = phase.is_some_and(Phase::follows_a_stop);
        if seen <= most {
            return Enforced::Never;
        }
        let now = || {
            let (replicas, saved) = self.spec.stopped(seen, saved);
            Enforced::Now { replicas, saved }
        };
        match self.overrides.enforce {
            Enforce::AtOnce if is_stopped_by_dayshift => now(),
            Enforce::After(grace) if is_stopped_by_dayshift || self.is_adopted_outside_hours() => {
                match self.grace_began().map(|at| whole_second(at) + grace) {
                    None => Enforced::Soon(whole_second(self.now) + grace),
                    Some(due) if due <= self.now => now(),
                    Some(due) => Enforced::At(due),
                }
            }
            _ => Enforced::Never,
        }
    }

    /// Whether the object was adopted while running, and its schedule requires it to be stopped.
    fn is_adopted_outside_hours(&self) -> bool {
        let is_adopted = matches!(self.state.phase, Some(Phase::Adopted)) && self.active.is_none();
        let started = self.timer.started;
        let required = || self.spec.required_action(self.object(), started, self.now);
        is_adopted && required().is_some_and(|action| !action.is_up())
    }

    /// When the grace period began: at the last `StopsSoon` of this process, so a restarted controller
    /// begins it again. `None` if that Event is older than the current violation of the schedule.
    fn grace_began(&self) -> Option<DateTime<Utc>> {
        let sent = self.context.memory.stop_notice_sent_at();
        sent.filter(|sent| (self.running_since()..=self.now).contains(sent))
    }

    /// Since when the object violates its schedule, as far as this process has observed it: the latest
    /// time at which its annotations, its count or its state changed.
    fn running_since(&self) -> DateTime<Utc> {
        let seen = self.context.seen;
        let raised = self.context.memory.raised_at().unwrap_or(seen);
        let considered = self.state.last.unwrap_or(seen);
        seen.max(raised).max(considered).min(self.now)
    }
}

/// The effect of `enforce` on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Enforced {
    /// None.
    Never,
    /// Stop it at this time, and send an Event first.
    Soon(DateTime<Utc>),
    /// Stop it at this time. The Event was already sent.
    At(DateTime<Utc>),
    /// Stop it now, with this count and this saved count.
    Now {
        replicas: Replicas,
        saved: Option<Replicas>,
    },
}

/// The values that the labels `last` and `next` should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ExpectedLabels {
    last: DateTime<Utc>,
    next: Next,
}
