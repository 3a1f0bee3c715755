//! Taking up a schedule that is new or edited, or that goes on: as it is from then on. Nothing is
//! stopped or lowered; what dayshift itself holds down comes back.

use chrono::{DateTime, Utc};
use dayshift_schedule::{Action, Boundary};

use super::change::{Adoption, Cause, Change, ChangeKind};
use super::context::Decision;
use super::event_note::{EventNote, TakenUp};
use super::scheduled::ScheduledDecision;
use crate::inputs::fingerprint::Fingerprint;
use crate::inputs::overrides::Override;
use crate::replicas::Replicas;
use crate::state::{Next, Phase, State, is_from_future, whole_second};

impl ScheduledDecision<'_> {
    /// Why the schedule is to be adopted: the state belongs to another schedule or object, or is from
    /// the future. `None` if the state tells what was done last.
    pub(crate) fn why_to_adopt(&self) -> Option<Adoption> {
        match self.state.last {
            Some(last) if self.is_of_this_schedule() => {
                is_from_future(last, self.now).then_some(Adoption::FromFuture)
            }
            _ if self.state.is_empty() => Some(Adoption::New),
            _ => Some(Adoption::Changed),
        }
    }

    /// The schedule is taken up as it is from now on. The same change starts what dayshift holds
    /// down against it.
    pub(crate) fn adopt(&self, why: Adoption) -> Decision {
        let last = whole_second(self.adopted_from(why));
        let next = self.next_after(last);
        let phase = self.active.map_or(Phase::Adopted, Override::phase);
        // `running` and `woken` already imply a saved 0.
        let is_said = |count: &Replicas| phase.follows_a_start() && *count == Replicas::ZERO;
        let until = self.active.map_or(next.map(|it| it.at), Override::until);
        let state = State {
            phase: Some(phase),
            last: Some(last),
            next: Some(Next::or_never(until)),
            saved: self.carried_over().filter(|count| !is_said(count)),
            saved_value: self.state.saved_value.clone(),
            fingerprint: Some(self.fingerprint),
        };
        let change = self.without_scaling(ChangeKind::Adopt(why), state);
        if let Some((action, replicas)) = self.brings_back(why) {
            return self.bring_back(why, action, replicas, change, next);
        }
        self.decide_write(Change {
            note: self.adoption_note(why, next).or(change.note),
            ..change
        })
    }

    /// What starts an object that dayshift holds down, where the schedule says running by now. A
    /// copy is not started: its count was saved for another object. Nor is one whose state is from
    /// the future: another scaler, by another clock, would stop it again.
    fn brings_back(&self, why: Adoption) -> Option<(Action, Replicas)> {
        let is_resumed = matches!(why, Adoption::Changed | Adoption::Over | Adoption::Missed);
        let object = self.object();
        let fingerprint = self.state.fingerprint.as_ref();
        let is_own = fingerprint.is_some_and(|it| it.is_of_object(&object.uid));
        if !is_resumed || !is_own || self.active.is_some() {
            return None;
        }
        let seen = self.context.observed.replicas;
        self.spec
            .brings_back(object, seen, self.state.saved, self.now)
    }

    /// The adoption, with a start.
    fn bring_back(
        &self,
        why: Adoption,
        action: Action,
        replicas: Replicas,
        adoption: Change,
        next: Option<Boundary>,
    ) -> Decision {
        let kind = match action {
            Action::Scale(_) => ChangeKind::Scale(replicas),
            Action::Start | Action::Stop => ChangeKind::Start,
        };
        let cause = match self.override_ran_out() {
            Some(ended) if why == Adoption::Over => Cause::Clock(ended),
            _ => adoption.cause,
        };
        let from = self.context.observed.replicas;
        self.decide_write(Change {
            kind,
            cause,
            replicas,
            state: State {
                phase: Some(Phase::Running),
                saved: None,
                ..adoption.state
            },
            note: Some(EventNote::BroughtBack {
                why,
                from,
                to: replicas,
                next,
                zone: self.spec.schedule.zone(),
            }),
            ..adoption
        })
    }

    /// Saved count kept on adoption. A running copy drops the original's, and a running object whose
    /// schedule had been removed drops the count that was left on it.
    pub(crate) fn carried_over(&self) -> Option<Replicas> {
        let (state, observed) = (&self.state, self.context.observed);
        let is_ours = |it: Fingerprint| it.is_of_object(&observed.object.uid);
        let is_copy = state.fingerprint.is_some_and(|it| !is_ours(it));
        if is_copy || state.is_only_saved() {
            let is_down = observed.replicas <= self.spec.stop_replicas;
            state.saved.filter(|_| is_down)
        } else {
            state.remembered()
        }
    }

    /// The instant from which the schedule is followed: now if a boundary was missed or the state is
    /// from the future, else when the schedule was seen or the override ended.
    fn adopted_from(&self, why: Adoption) -> DateTime<Utc> {
        if matches!(why, Adoption::Missed | Adoption::FromFuture) {
            return self.now;
        }
        // The clock may have been set back since: no instant after `now` is considered yet.
        let from = match (self.active, self.state.phase) {
            (None, Some(Phase::Paused | Phase::Woken | Phase::Slept)) => self.override_ended(),
            _ => self.context.seen.min(self.now),
        };
        let known = self.state.last.filter(|last| *last <= self.now);
        known.map_or(from, |last| last.max(from))
    }

    fn adoption_note(&self, why: Adoption, next: Option<Boundary>) -> Option<EventNote> {
        let observed = self.context.observed;
        let (spec, now, zone) = (self.spec, self.now, self.spec.schedule.zone());
        let taken_up = || TakenUp::of(observed, spec, now);
        match why {
            Adoption::New if self.active.is_some() => None,
            Adoption::New => EventNote::adopted(observed, spec, now),
            Adoption::Changed => Some(match self.active {
                Some(active) => EventNote::ChangedBelow { active, zone },
                None => EventNote::ScheduleChanged(taken_up()),
            }),
            Adoption::Over => Some(EventNote::Resumed(taken_up())),
            Adoption::Missed => {
                spec.latest_at(&observed.object, now)
                    .map(|boundary| EventNote::Missed {
                        boundary,
                        next,
                        zone,
                    })
            }
            Adoption::FromFuture => {
                observed
                    .state()
                    .last
                    .map(|last| EventNote::FromFuture { last, next, zone })
            }
        }
    }
}
