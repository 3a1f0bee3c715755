//! Following a good schedule: boundaries, what is laid over them, and what lies between.

use chrono::{DateTime, Utc};

use crate::schedule::{Action, Boundary};

use super::{
    change::{Adoption, Change, ChangeKind},
    counts,
    fingerprint::Fingerprint,
    notice::Notice,
    observed::ObjectRef,
    overrides::Override,
    reading::Timetable,
    replicas::Replicas,
    situation::{Decision, Situation},
    state::{Phase, State, is_from_future, whole_second},
};

/// One object with a good schedule, at one moment.
pub(super) struct Follow<'a> {
    situation: &'a Situation<'a>,
    timetable: &'a Timetable,
    /// The newest known.
    state: State,
    /// What holds now, whether it has begun or not.
    over: Option<Override>,
    ours: Option<Fingerprint>,
    now: DateTime<Utc>,
}

impl<'a> Follow<'a> {
    pub(super) fn new(
        situation: &'a Situation<'a>,
        timetable: &'a Timetable,
        state: State,
        now: DateTime<Utc>,
    ) -> Self {
        let observed = situation.observed;
        Self {
            over: timetable.overrides.at(now),
            ours: Some(Fingerprint::of(&observed.inputs, &observed.object.uid)),
            situation,
            timetable,
            state,
            now,
        }
    }

    pub(super) fn decide(&self) -> Decision {
        match (self.over, self.unknown()) {
            (Some(over), why) if self.state.phase != Some(over.phase()) => self.begin(over, why),
            (Some(Override::Pause(_)), _) => self.between(),
            (_, Some(why)) => self.adopt(why),
            (Some(_), None) => self.between(),
            (None, None) => match self.state.phase {
                Some(Phase::Paused) => self.after_pause(),
                Some(Phase::Woken | Phase::Slept) => self.after_override(),
                _ => self.follow(),
            },
        }
    }

    /// Rules 3, 10 and 13: why the state is not that of this schedule on this object by now.
    fn unknown(&self) -> Option<Adoption> {
        match self.state.last {
            Some(last) if self.state.fingerprint == self.ours => {
                is_from_future(last, self.now).then_some(Adoption::FromFuture)
            }
            _ if self.state.is_empty() => Some(Adoption::New),
            _ => Some(Adoption::Changed),
        }
    }

    /// Rule 1: the newest boundary since `last` is due, if it is not before the object's own next.
    fn follow(&self) -> Decision {
        let is_due = |boundary: &Boundary| {
            self.state.last.is_none_or(|last| boundary.at > last)
                && self.state.next.is_none_or(|next| boundary.at >= next)
        };
        match self.newest().filter(is_due) {
            Some(due) => self.carry_out(due),
            None => self.between(),
        }
    }

    /// Rule 7: the beginning of `wake-until` is a start, that of `sleep-until` a stop; a pause
    /// leaves everything as it is.
    fn begin(&self, over: Override, unknown: Option<Adoption>) -> Decision {
        let seen = self.situation.observed.replicas;
        let State { phase, saved, .. } = self.state;
        let is_pause = matches!(over, Override::Pause(_));
        let saved = saved.filter(|_| is_pause || unknown.is_none() || self.is_down());
        let (kind, replicas, saved) = match over {
            Override::Pause(_) => (ChangeKind::Pause, seen, saved),
            Override::Wake(_) => {
                let count = counts::woken(seen, saved, self.timetable.replicas);
                (ChangeKind::Wake, count, None)
            }
            Override::Sleep(_) => {
                let (count, saved) =
                    counts::stopped(seen, saved, phase, self.timetable.stop_replicas);
                (ChangeKind::Sleep, count, saved)
            }
        };
        let state = State {
            phase: Some(over.phase()),
            last: Some(self.considered_now()),
            next: over.until(),
            saved,
            fingerprint: self.ours.clone(),
        };
        Decision::Write(Change {
            replicas,
            notice: Some(Notice::begun(over, self.timetable, seen, replicas)),
            ..self.keep(kind, state)
        })
    }

    /// Rule 7: once an override is over the newest boundary decides, even one before it began.
    /// What an override has stopped comes back where the schedule says nothing.
    fn after_override(&self) -> Decision {
        let newest = self.newest();
        let slept = self.state.phase == Some(Phase::Slept);
        let said = self.timetable.says(self.object(), self.now);
        let Some(action) = said.or(slept.then_some(Action::Start)) else {
            return self.adopt(Adoption::Over);
        };
        let ended = whole_second(self.ended());
        let at = newest.map_or(ended, |newest| newest.at.max(ended));
        self.carry_out(Boundary { at, action })
    }

    /// Rule 7: the end of a pause adopts; what the schedule says since then is done.
    fn after_pause(&self) -> Decision {
        let ended = self.ended();
        match self.newest().filter(|newest| newest.at > ended) {
            Some(due) => self.carry_out(due),
            None => self.adopt(Adoption::Over),
        }
    }

    /// When what held came to its end: as it was to, or, cut short by a hand, when that was seen;
    /// and not before it began.
    fn ended(&self) -> DateTime<Utc> {
        let key = self.state.phase.and_then(Override::key);
        let written = key.and_then(|key| self.timetable.overrides.until(key));
        // As the label has it: another scaler may have put it off since we last wrote it.
        let known = self.situation.observed.state().next;
        let ended = match written.max(known) {
            Some(end) if end <= self.now => end,
            _ => self.situation.seen.min(self.now),
        };
        let begun = self.state.last.map(|last| last.min(self.now));
        begun.map_or(ended, |begun| begun.max(ended))
    }

    /// Rules 1 and 4: a start or a stop is due, or was for too long.
    fn carry_out(&self, due: Boundary) -> Decision {
        if self.now - due.at > self.situation.catch_up {
            return self.adopt(Adoption::Missed);
        }
        let seen = self.situation.observed.replicas;
        let State { phase, saved, .. } = self.state;
        let (kind, new_phase, replicas, saved) = match due.action {
            Action::Start => {
                let count = counts::started(seen, saved, phase, self.timetable.replicas);
                (ChangeKind::Start, Phase::Running, count, None)
            }
            Action::Stop => {
                let (count, saved) =
                    counts::stopped(seen, saved, phase, self.timetable.stop_replicas);
                (ChangeKind::Stop, Phase::Stopped, count, saved)
            }
        };
        let last = self.state.last.map_or(due.at, |last| last.max(due.at));
        let next = self.next_after(last);
        let state = State {
            phase: Some(new_phase),
            last: Some(last),
            next: next.map(|next| next.at),
            saved,
            fingerprint: self.state.fingerprint.clone(),
        };
        Decision::Write(Change {
            boundary: Some(due),
            replicas,
            notice: Notice::scaled(due, phase, self.timetable, (seen, replicas), next),
            ..self.keep(kind, state)
        })
    }

    /// Rules 3 and 10: the schedule is taken up as it is from now on; nothing is scaled.
    fn adopt(&self, why: Adoption) -> Decision {
        let last = whole_second(self.adopted_from(why));
        let next = self.next_after(last);
        let state = State {
            phase: Some(self.over.map_or(Phase::Adopted, Override::phase)),
            last: Some(last),
            next: self.over.map_or(next.map(|it| it.at), Override::until),
            saved: self.state.saved.filter(|_| self.is_down()),
            fingerprint: self.ours.clone(),
        };
        Decision::Write(Change {
            notice: self.notice(why, next),
            ..self.keep(ChangeKind::Adopt(why), state)
        })
    }

    /// Since when the schedule counts: what has been missed is past, all else is from when it
    /// was seen, or from the end of what held.
    fn adopted_from(&self, why: Adoption) -> DateTime<Utc> {
        if matches!(why, Adoption::Missed | Adoption::FromFuture) {
            return self.now;
        }
        // The clock may have been set back since: what is to come is not considered yet.
        let from = match (self.over, self.state.phase) {
            (None, Some(Phase::Paused | Phase::Woken | Phase::Slept)) => self.ended(),
            _ => self.situation.seen.min(self.now),
        };
        let known = self.state.last.filter(|last| *last <= self.now);
        known.map_or(from, |last| last.max(from))
    }

    fn notice(&self, why: Adoption, next: Option<Boundary>) -> Option<Notice> {
        let Situation {
            observed, prefix, ..
        } = self.situation;
        let (timetable, now) = (self.timetable, self.now);
        match why {
            Adoption::New => None,
            Adoption::Changed => Some(match self.over {
                Some(over) => Notice::changed_below(over, timetable),
                None => Notice::changed(observed, timetable, prefix, now),
            }),
            Adoption::Over => Some(Notice::resumed(observed, timetable, prefix, now)),
            Adoption::Missed => timetable
                .latest_at(&observed.object, now)
                .map(|missed| Notice::missed(timetable, missed, next)),
            Adoption::FromFuture => self
                .state
                .last
                .map(|ahead| Notice::from_future(timetable, ahead, next)),
        }
    }

    /// Rule 2: nothing is due. The labels are put right where they are not what they should be,
    /// and so is the count where that is enforced.
    fn between(&self) -> Decision {
        let observed = self.situation.observed;
        let (last, next) = self.course();
        let enforced = self.enforced();
        // While an override holds, another that is over goes when it ends.
        let lifted = match self.over {
            Some(_) => Vec::new(),
            None => self.timetable.overrides.over_at(self.now),
        };
        let kind = if enforced.is_some() {
            ChangeKind::Enforce
        } else if observed.error.is_some() {
            ChangeKind::Resume
        } else if !lifted.is_empty() {
            ChangeKind::Lift
        } else if self.state.next != next && !self.situation.memory.knows_next(next) {
            ChangeKind::Reschedule
        } else {
            ChangeKind::Heal
        };
        let notice = match enforced {
            Some((count, _)) => Some(Notice::enforced(observed.replicas, count)),
            None => lifted.first().map(|key| Notice::expired(*key)),
        };
        let (replicas, saved) = enforced.unwrap_or((observed.replicas, self.state.saved));
        let state = State {
            phase: self.state.phase.or(Some(Phase::Adopted)),
            last: Some(last),
            next,
            saved,
            fingerprint: self.state.fingerprint.clone(),
        };
        let corrective = match kind {
            ChangeKind::Resume => self.situation.memory.knows_error(None),
            ChangeKind::Reschedule => false,
            _ => true,
        };
        let change = Change {
            replicas,
            lifted,
            notice,
            corrective,
            ..self.situation.keep(kind, state)
        };
        self.situation.write(change, next)
    }

    /// What `last` and `next` are to be while nothing is due: while something holds, its end is
    /// next.
    fn course(&self) -> (DateTime<Utc>, Option<DateTime<Utc>>) {
        let last = self.state.last.unwrap_or_else(|| self.considered_now());
        if let Some(over) = self.over {
            return (last, over.until());
        }
        let following = |after| self.next_after(after).map(|next| next.at);
        match following(last) {
            // A boundary has gone by that was not the object's own next: it is not made up for.
            Some(next) if next <= self.now => (whole_second(self.now), following(self.now)),
            next => (last, next),
        }
    }

    /// Where enforcing has something to put back: the count and the saved count of a stop.
    fn enforced(&self) -> Option<(Replicas, Option<Replicas>)> {
        let State { phase, saved, .. } = self.state;
        let (seen, most) = (
            self.situation.observed.replicas,
            self.timetable.stop_replicas,
        );
        let is_down_by_us = matches!(phase, Some(Phase::Stopped | Phase::Slept));
        (self.timetable.overrides.enforce && is_down_by_us && seen > most)
            .then(|| counts::stopped(seen, saved, phase, most))
    }

    /// A change that leaves the count as it is, and takes what is over with it.
    fn keep(&self, kind: ChangeKind, state: State) -> Change {
        let lifted = match self.over {
            Some(Override::Pause(_)) => Vec::new(),
            _ => self.timetable.overrides.over_at(self.now),
        };
        Change {
            lifted,
            ..self.situation.keep(kind, state)
        }
    }

    /// Now, but not before what was considered already by a clock that has been set back since.
    fn considered_now(&self) -> DateTime<Utc> {
        let now = whole_second(self.now);
        let known = self
            .state
            .last
            .filter(|last| !is_from_future(*last, self.now));
        known.map_or(now, |last| last.max(now))
    }

    fn newest(&self) -> Option<Boundary> {
        self.timetable.latest_at(self.object(), self.now)
    }

    fn next_after(&self, after: DateTime<Utc>) -> Option<Boundary> {
        self.timetable.next_after(self.object(), after)
    }

    fn is_down(&self) -> bool {
        let observed = self.situation.observed;
        observed.replicas <= self.situation.memory.stopped_count(observed)
    }

    fn object(&self) -> &ObjectRef {
        &self.situation.observed.object
    }
}
