//! Following a valid schedule: boundaries, overrides, and the time between them.

use chrono::{DateTime, Utc};
use dayshift_schedule::{Action, Boundary};

use super::change::{Adoption, Cause, Change, ChangeKind};
use super::context::{Decision, DecisionContext};
use super::event_note::EventNote;
use crate::inputs::effective::Origin;
use crate::inputs::fingerprint::Fingerprint;
use crate::inputs::overrides::{Override, Overrides};
use crate::inputs::spec::ScheduleSpec;
use crate::keys::Key;
use crate::replicas::Replicas;
use crate::state::{Next, Phase, State, is_from_future, whole_second};
use crate::workload_ref::WorkloadRef;

/// One object with a valid schedule, at one moment.
pub(crate) struct ScheduledDecision<'a> {
    pub(crate) context: &'a DecisionContext<'a>,
    pub(crate) spec: &'a ScheduleSpec,
    /// The newest known state.
    pub(crate) state: State,
    /// The overrides, without those that `kubectl rollout undo` has brought back.
    pub(crate) overrides: Overrides,
    /// The override that is active now by its time, whether the object already shows it or not.
    pub(crate) active: Option<Override>,
    /// The fingerprint of this schedule on this object.
    pub(crate) fingerprint: Fingerprint,
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
        Self {
            overrides,
            active: overrides.at(now),
            fingerprint: Fingerprint::of(&observed.inputs, &observed.object.uid),
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

    pub(crate) fn decide(&self) -> Decision {
        if let Some(active) = self.active {
            if self.state.phase != Some(active.phase()) {
                return self.begin(active);
            }
            if let Override::Pause(_) = active {
                // Not even another schedule is adopted below it.
                return self.between_boundaries();
            }
        }
        if let Some(why) = self.why_to_adopt() {
            return self.adopt(why);
        }
        match (self.active, self.state.phase) {
            (Some(_), _) => self.between_boundaries(),
            (None, Some(Phase::Paused)) => self.after_pause(),
            (None, Some(Phase::Woken | Phase::Slept)) => self.after_override(),
            (None, _) => self.follow(),
        }
    }

    /// Whether the state is that of this schedule on this object.
    pub(crate) fn is_of_this_schedule(&self) -> bool {
        self.state.fingerprint == Some(self.fingerprint)
    }

    /// No override holds, and the state is known: the last boundary wins, if it is due.
    fn follow(&self) -> Decision {
        match self.latest_boundary().filter(|it| self.is_due(it)) {
            Some(due) => self.scale_by_boundary(due, Cause::Clock(due.at)),
            None => self.between_boundaries(),
        }
    }

    /// Whether a boundary was not considered yet and is not before the object's own next, as the
    /// label has it or as this process had planned it. Where nothing says that, `last` alone tells.
    fn is_due(&self, boundary: &Boundary) -> bool {
        let calendars = self.context.parsed.calendar_digest();
        let planned = self.context.memory.planned(self.fingerprint, calendars);
        let next = [self.state.next, planned].into_iter().flatten().min();
        Some(Next::At(boundary.at)) >= next && Some(boundary.at) > self.state.last
    }

    /// The beginning of `wake-until` is a start, that of `sleep-until` a stop; a pause
    /// leaves everything as it is.
    fn begin(&self, active: Override) -> Decision {
        let seen = self.context.observed.replicas;
        let remembered = self.carried_over();
        let (kind, replicas, saved) = match active {
            Override::Pause(_) => (ChangeKind::Pause, seen, remembered),
            Override::Wake(_) => {
                let count = match self.spec.largest_count() {
                    Some(largest) => seen.max(largest).max(Replicas::ONE),
                    None => self.spec.woken(seen, remembered),
                };
                (ChangeKind::Wake, self.spec.counts.capped(count), None)
            }
            Override::Sleep(_) => {
                let (count, saved) = self.spec.stopped(seen, remembered);
                (ChangeKind::Sleep, count, saved)
            }
        };
        let state = State {
            phase: Some(active.phase()),
            last: Some(self.considered_now()),
            next: Some(Next::or_never(active.until())),
            saved,
            saved_value: self.state.saved_value.clone(),
            fingerprint: Some(self.fingerprint),
        };
        // Another override may have hidden it until it was over.
        let revealed = self.override_ran_out();
        let revealed = revealed.filter(|ended| *ended >= self.context.seen);
        self.decide_write(Change {
            cause: revealed.map_or(self.request(), Cause::Clock),
            replicas,
            note: Some(EventNote::Began {
                active,
                from: seen,
                to: replicas,
                zone: self.spec.schedule.zone(),
                author: self
                    .context
                    .observed
                    .inputs
                    .author(self.active_origin())
                    .into(),
            }),
            ..self.without_scaling(kind, state)
        })
    }

    /// Once an override is over the newest boundary decides, even one before it began.
    /// What an override has stopped comes back where the schedule says nothing.
    fn after_override(&self) -> Decision {
        let newest = self.latest_boundary();
        let slept = self.state.phase == Some(Phase::Slept);
        let said = self.spec.says(self.object(), self.now);
        let Some(action) = said.or(slept.then_some(Action::Start)) else {
            return self.adopt(Adoption::Over);
        };
        let ended = whole_second(self.override_ended());
        let at = newest.map_or(ended, |newest| newest.at.max(ended));
        let is_of_the_clock = at > ended || self.override_ran_out().is_some();
        let cause = if is_of_the_clock {
            Cause::Clock(at)
        } else {
            self.request()
        };
        self.scale_by_boundary(Boundary { at, action }, cause)
    }

    /// The end of a pause adopts; what comes from that very instant on is done.
    fn after_pause(&self) -> Decision {
        let ended = self.override_ended();
        let is_since = |it: &Boundary| it.at >= ended && Some(it.at) > self.state.last;
        match self.latest_boundary().filter(is_since) {
            Some(due) => self.scale_by_boundary(due, Cause::Clock(due.at)),
            None => self.adopt(Adoption::Over),
        }
    }

    /// When the override ended: at its time, or when its removal was seen; never before it began.
    pub(crate) fn override_ended(&self) -> DateTime<Utc> {
        let by_hand = || self.context.seen.min(self.now);
        let ended = self.override_ran_out().unwrap_or_else(by_hand);
        let begun = self.state.last.map(|last| last.min(self.now));
        begun.map_or(ended, |begun| begun.max(ended))
    }

    /// The end of the override by which the state has the object held, if that has come.
    pub(crate) fn override_ran_out(&self) -> Option<DateTime<Utc>> {
        let key = self.state.phase.and_then(Override::key)?;
        let written = self.overrides.until(key);
        // As the label has it: another scaler may have put it off since we last wrote it.
        let known = self.context.observed.state().next_at();
        written.max(known).filter(|end| *end <= self.now)
    }

    /// A start, a stop or a count is due, or was for too long.
    fn scale_by_boundary(&self, due: Boundary, cause: Cause) -> Decision {
        if self.now - due.at > self.context.catch_up {
            return self.adopt(Adoption::Missed);
        }
        let seen = self.context.observed.replicas;
        let (kind, phase, replicas, saved) = match due.action {
            Action::Start => {
                let count = self.spec.started(seen, self.state.remembered());
                (ChangeKind::Start, Phase::Running, count, None)
            }
            Action::Stop => {
                let (count, saved) = self.spec.stopped(seen, self.state.remembered());
                (ChangeKind::Stop, Phase::Stopped, count, saved)
            }
            Action::Scale(count) => {
                let count = Replicas::new(count).max(self.spec.counts.least());
                let runs = due.action.brings_up();
                let phase = if runs { Phase::Running } else { Phase::Stopped };
                (ChangeKind::Scale(count), phase, count, None)
            }
        };
        let last = self.state.last.map_or(due.at, |last| last.max(due.at));
        let next = self.next_after(last);
        let state = State {
            phase: Some(phase),
            last: Some(last),
            next: Some(Next::or_never(next.map(|next| next.at))),
            saved,
            saved_value: self.state.saved_value.clone(),
            fingerprint: Some(self.fingerprint),
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

    /// A change that leaves the count and removes overrides that are over.
    pub(crate) fn without_scaling(&self, kind: ChangeKind, state: State) -> Change {
        let (expired, note) = self.expired();
        Change {
            expired,
            note,
            ..self.context.without_scaling(kind, state)
        }
    }

    /// The override annotations that a change removes, and a note about them. Those restored by a
    /// rollout undo come first, else those that are over. During a pause none is removed. With the
    /// last one goes what says whose it was.
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

    /// Writes the change, or waits until the next boundary where nothing would change.
    pub(crate) fn decide_write(&self, change: Change) -> Decision {
        let considered = change.state.last;
        let due = match change.state.next_at() {
            Some(next) if next <= self.now => self.next_after(self.now).map(|next| next.at),
            next => next,
        };
        let is_of_the_clock = || self.clock_explains(considered);
        self.context
            .decide_write(change, self.now, due, is_of_the_clock)
    }

    /// Whether the clock explains a change that considers everything up to `considered`: a boundary
    /// has come since the last one, or the clock was set back and the state is from the future.
    fn clock_explains(&self, considered: Option<DateTime<Utc>>) -> bool {
        let last = self.state.last;
        let is_ahead =
            |it: Option<DateTime<Utc>>| it.is_some_and(|it| is_from_future(it, self.now));
        if is_ahead(last) && !is_ahead(considered) {
            return true;
        }
        let latest = self.latest_boundary().map(|it| it.at);
        latest > last && considered >= latest
    }

    /// The cause of a change that the annotations ask for.
    fn request(&self) -> Cause {
        Cause::Request {
            seen: self.context.seen.min(self.now),
        }
    }

    /// Now, or the later `last` that was written before the clock was set back.
    pub(crate) fn considered_now(&self) -> DateTime<Utc> {
        let now = whole_second(self.now);
        let known = self
            .state
            .last
            .filter(|last| !is_from_future(*last, self.now));
        known.map_or(now, |last| last.max(now))
    }

    fn latest_boundary(&self) -> Option<Boundary> {
        self.spec.latest_at(self.object(), self.now)
    }

    pub(crate) fn next_after(&self, after: DateTime<Utc>) -> Option<Boundary> {
        self.spec.next_after(self.object(), after)
    }

    pub(crate) fn object(&self) -> &WorkloadRef {
        &self.context.observed.object
    }
}
