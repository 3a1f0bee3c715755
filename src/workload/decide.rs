//! What to do with one object now: the heart of dayshift.

use chrono::{DateTime, TimeDelta, Utc};

use crate::schedule::{Action, Boundary};

use super::{
    change::{Adoption, Change, ChangeKind},
    counts,
    fingerprint::Fingerprint,
    keys::Prefix,
    memory::Memory,
    notice::{Notice, Reason},
    observed::Observed,
    overrides::Overrides,
    problem::Refusal,
    reading::{Reading, Timetable},
    replicas::Replicas,
    state::{Phase, State, whole_second},
};

/// All that a decision rests on, but for the time.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// What the annotations ask for.
    pub reading: &'a Reading,
    /// The object as the API server showed it.
    pub observed: &'a Observed,
    /// What this process remembers of it: at first sight, just that.
    pub memory: &'a Memory,
    /// When these annotations were first seen on this object.
    pub seen: DateTime<Utc>,
    /// What was missed for longer than this is adopted instead of done.
    pub catch_up: TimeDelta,
    /// What stands before the `/` of every key.
    pub prefix: &'a Prefix,
}

/// What to do with an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Nothing until `due`, the next boundary, or until the object changes.
    Wait {
        /// The next boundary, if there is one.
        due: Option<DateTime<Utc>>,
    },
    /// One patch, now.
    Write(Change),
    /// Something should be put right but has been too often: nothing until `due`.
    HandsOff {
        /// The next boundary, if there is one.
        due: Option<DateTime<Utc>>,
        /// What to tell the user, once.
        notice: Notice,
    },
}

/// How far ahead of the clock a `last` may be before it is not believed.
const AHEAD: TimeDelta = TimeDelta::hours(1);

/// Decides what to do with one object at `now`.
///
/// It is pure, and it may be asked again at any time: with nothing new it says the same, and
/// once its change is made it says to wait.
pub fn decide(situation: &Situation<'_>, now: DateTime<Utc>) -> Decision {
    let observed = situation.observed;
    let state = situation.memory.newest(observed);
    if observed.deleting || state.is_of_a_later_version() {
        return Decision::Wait { due: None };
    }
    match situation.reading {
        Reading::Unscheduled => situation.unscheduled(&state),
        Reading::Refused(refusal) => situation.refused(state, refusal),
        // Until they are obeyed, an object with any is left alone.
        Reading::Scheduled(timetable) if timetable.overrides != Overrides::default() => {
            Decision::Wait { due: None }
        }
        Reading::Scheduled(timetable) => situation.scheduled(state, timetable, now),
    }
}

impl Situation<'_> {
    /// Rule 11: removing the schedule scales nothing, and keeps the count of what is down.
    fn unscheduled(&self, state: &State) -> Decision {
        let running = self.observed.replicas;
        let nothing_of_ours = State {
            saved: None,
            ..state.clone()
        }
        .is_empty()
            && self.observed.error.is_none();
        if nothing_of_ours {
            return Decision::Wait { due: None };
        }
        let saved = self.memory.saved_after_removal(self.observed, state);
        let notice = saved.map(|saved| Notice::removed(&self.observed.object, running, saved));
        self.write(
            Change {
                notice,
                ..self.keep(
                    ChangeKind::Remove,
                    State {
                        saved,
                        ..State::default()
                    },
                )
            },
            None,
        )
    }

    /// Rule 8: a bad schedule changes nothing but what says so.
    fn refused(&self, state: State, refusal: &Refusal) -> Decision {
        let text = refusal.text(self.prefix);
        let corrective = self.memory.knows_error(Some(&text));
        // A rollout undo brings the error back together with the text that it is about.
        let is_news = !corrective || self.observed.error.as_deref() != Some(&*text);
        let notice = is_news.then(|| Notice::new(Reason::InvalidSchedule, text.clone()));
        self.write(
            Change {
                error: Some(text.into()),
                notice,
                corrective,
                ..self.keep(
                    ChangeKind::Refuse,
                    State {
                        next: None,
                        ..state
                    },
                )
            },
            None,
        )
    }

    fn scheduled(&self, state: State, timetable: &Timetable, now: DateTime<Utc>) -> Decision {
        let object = &self.observed.object;
        let ours = Some(Fingerprint::of(&self.observed.inputs, &object.uid));
        let last = match state.last {
            Some(last) if state.fingerprint == ours => last,
            _ if state.is_empty() => return self.adopt(&state, timetable, Adoption::New, now),
            _ => return self.adopt(&state, timetable, Adoption::Changed, now),
        };
        if last - now > AHEAD {
            return self.adopt(&state, timetable, Adoption::FromFuture, now);
        }
        let newest = timetable.latest_at(object, now).filter(|boundary| {
            boundary.at > last && state.next.is_none_or(|next| boundary.at >= next)
        });
        match newest {
            Some(due) if now - due.at > self.catch_up => {
                self.adopt(&state, timetable, Adoption::Missed, now)
            }
            Some(due) => self.transition(state, timetable, due),
            None => self.between(state, timetable, last, now),
        }
    }

    /// Rules 1 and 4: a boundary is due.
    fn transition(&self, state: State, timetable: &Timetable, due: Boundary) -> Decision {
        let seen = self.observed.replicas;
        let (kind, phase, replicas, saved) = match due.action {
            Action::Start => {
                let count = counts::started(seen, state.saved, state.phase, timetable.replicas);
                (ChangeKind::Start, Phase::Running, count, None)
            }
            Action::Stop => {
                let (count, saved) =
                    counts::stopped(seen, state.saved, state.phase, timetable.stop_replicas);
                (ChangeKind::Stop, Phase::Stopped, count, saved)
            }
        };
        let next = timetable.next_after(&self.observed.object, due.at);
        Decision::Write(Change {
            kind,
            boundary: Some(due),
            replicas,
            state: State {
                phase: Some(phase),
                last: Some(due.at),
                next: next.map(|next| next.at),
                saved,
                fingerprint: state.fingerprint,
            },
            error: None,
            notice: Notice::scaled(due, timetable, seen, replicas, next),
            corrective: false,
        })
    }

    /// Rules 3 and 10: the schedule is taken up as it is from now on; nothing is scaled.
    fn adopt(
        &self,
        state: &State,
        timetable: &Timetable,
        why: Adoption,
        now: DateTime<Utc>,
    ) -> Decision {
        let object = &self.observed.object;
        let from = match why {
            Adoption::Missed | Adoption::FromFuture => now,
            Adoption::New | Adoption::Changed => {
                // The clock may have been set back since: what is to come is not considered yet.
                let seen = self.seen.min(now);
                let known = state.last.filter(|last| *last <= now);
                known.map_or(seen, |last| last.max(seen))
            }
        };
        let last = whole_second(from);
        let next = timetable.next_after(object, last);
        let notice = match why {
            Adoption::New => None,
            Adoption::Changed => Some(Notice::changed(
                self.observed,
                timetable,
                state.saved,
                now,
                next,
            )),
            Adoption::Missed => timetable
                .latest_at(object, now)
                .map(|missed| Notice::missed(timetable, missed, next)),
            Adoption::FromFuture => state
                .last
                .map(|ahead| Notice::from_future(timetable, ahead, next)),
        };
        let down = self.observed.replicas <= self.stopped_count();
        Decision::Write(Change {
            notice,
            error: None,
            ..self.keep(
                ChangeKind::Adopt(why),
                State {
                    phase: Some(Phase::Adopted),
                    last: Some(last),
                    next: next.map(|next| next.at),
                    saved: state.saved.filter(|_| down),
                    fingerprint: Some(Fingerprint::of(&self.observed.inputs, &object.uid)),
                },
            )
        })
    }

    /// Rule 2: nothing is due. The labels are put right where they are not what they should be.
    fn between(
        &self,
        state: State,
        timetable: &Timetable,
        last: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Decision {
        let following = |after| timetable.next_after(&self.observed.object, after);
        let (last, next) = match following(last).map(|next| next.at) {
            // A boundary has gone by that was not the object's own next: it is not made up for.
            Some(next) if next <= now => (whole_second(now), following(now).map(|next| next.at)),
            next => (last, next),
        };
        let kind = if self.observed.error.is_some() {
            ChangeKind::Resume
        } else if state.next.is_some_and(|known| Some(known) != next) {
            ChangeKind::Reschedule
        } else {
            ChangeKind::Heal
        };
        let state = State {
            phase: state.phase.or(Some(Phase::Adopted)),
            last: Some(last),
            next,
            ..state
        };
        let corrective = kind != ChangeKind::Resume || self.memory.knows_error(None);
        self.write(
            Change {
                error: None,
                corrective,
                ..self.keep(kind, state)
            },
            next,
        )
    }

    /// A change that leaves count and error as they are.
    fn keep(&self, kind: ChangeKind, state: State) -> Change {
        Change {
            kind,
            boundary: None,
            replicas: self.observed.replicas,
            state,
            error: None,
            notice: None,
            corrective: false,
        }
    }

    /// The change, if it changes anything, and unless it has been made too often (rule 12).
    fn write(&self, change: Change, due: Option<DateTime<Utc>>) -> Decision {
        let same = change.state.to_labels() == self.observed.labels
            && change.error == self.observed.error
            && change.replicas == self.observed.replicas;
        if same {
            Decision::Wait { due }
        } else if change.corrective && self.memory.out_of_patience() {
            Decision::HandsOff {
                due,
                notice: Notice::hands_off(),
            }
        } else {
            Decision::Write(change)
        }
    }

    fn stopped_count(&self) -> Replicas {
        self.memory.stopped_count(self.observed)
    }
}
