//! What the oracle makes of what is laid over a schedule, and of what is enforced.

use crate::{
    calendar::Turn,
    labels::{Labels, Owner},
    oracle::{CATCH_UP, Given, Oracle, Question, Write, next_after},
    phase::Phase,
};

/// A phase that holds, and until when.
type Held = (Phase, Option<i64>);

impl<G: Given> Oracle<G> {
    /// Rule 7: a wake begins as a start, and what it wakes runs; a sleep as a stop.
    pub(crate) fn begin(&self, now: i64, held: Held, owner: Owner) -> Write {
        let Some(mind) = &self.mind else {
            unreachable!()
        };
        let (state, seen, wish) = (&mind.known, self.object.replicas, &self.object.wish);
        let (phase, next) = held;
        let saved = self.count_to_keep();
        let (what, replicas, saved) = match phase {
            Phase::Woken => {
                let count = seen.max(saved.unwrap_or(0)).max(1);
                ("wake", wish.replicas.unwrap_or(count), None)
            }
            Phase::Slept => {
                let wanted = (seen > 0).then_some(seen);
                ("sleep", seen.min(wish.stop_count()), saved.max(wanted))
            }
            _ => ("pause", seen, saved),
        };
        let ahead = state.last.filter(|last| *last <= now + 3600);
        Write {
            what,
            labels: Labels {
                phase: Some(phase),
                last: Some(ahead.unwrap_or(now).max(now)),
                next,
                saved,
                owner: Some(owner),
                ..Labels::default()
            },
            replicas,
            fresh: phase != Phase::Paused,
            lifts: phase != Phase::Paused,
            ..Write::default()
        }
    }

    /// Rule 7: nothing holds any more. After a pause what has come since is done; after a wake
    /// or a sleep the object becomes what the schedule says.
    pub(crate) fn release(&self, now: i64, owner: Owner, asked: &Question) -> Write {
        let Some(mind) = &self.mind else {
            unreachable!()
        };
        let (state, calendar) = (&mind.known, &asked.calendar);
        let ended = self.let_go(now).unwrap_or(now);
        let newest = calendar.iter().rev().find(|(at, _)| *at <= now).copied();
        let due = match (state.phase, newest) {
            (Some(Phase::Paused), newest) => newest.filter(|(at, _)| *at > ended),
            (_, Some((at, turn))) => Some((at.max(ended), turn)),
            (phase, None) => {
                // What a sleep alone has put down comes up again.
                let asleep = (phase == Some(Phase::Slept)).then_some(Turn::On);
                let turn = asked.before.or(asleep);
                turn.map(|turn| (ended, turn))
            }
        };
        match due {
            Some((at, _)) if now - at > CATCH_UP => self.adopt(now, owner, None, calendar),
            Some((at, turn)) => self.turn(at, turn, calendar),
            None => {
                let considered = state.last.filter(|last| *last <= now);
                let from = considered.unwrap_or(ended).max(ended);
                self.adopt(from, owner, None, calendar)
            }
        }
    }

    /// When what held the object was over: at its time, or when somebody was seen to cut it
    /// short. Nothing where it still holds, or nothing did.
    pub(crate) fn let_go(&self, now: i64) -> Option<i64> {
        let mind = self.mind.as_ref()?;
        let phase = mind.known.phase.filter(|phase| phase.is_held())?;
        let wish = self.wish_that_counts(now);
        if wish.held(now).is_some() {
            return None;
        }
        let written = wish.end_of(phase);
        let end = written
            .max(self.object.labels.next)
            .filter(|end| *end <= now);
        let end = end.unwrap_or(mind.seen.min(now));
        let begun = mind.known.last.unwrap_or(end).min(now);
        Some(end.max(begun))
    }

    /// Nothing is due: labels, error and annotations are put in order, and a count that is
    /// enforced is too.
    pub(crate) fn tidy(&self, now: i64, held: Option<Held>, asked: &Question) -> Write {
        let Some(mind) = &self.mind else {
            unreachable!()
        };
        let (state, object) = (&mind.known, &self.object);
        let last = state.last.unwrap_or(now);
        let passed = asked
            .calendar
            .iter()
            .any(|(at, _)| last < *at && *at <= now);
        let last = if passed && held.is_none() { now } else { last };
        let next = match held {
            Some((_, until)) => until,
            None => next_after(&asked.calendar, last),
        };
        let down_by_us = matches!(state.phase, Some(Phase::Stopped | Phase::Slept));
        let most = object.wish.stop_count();
        let raised = object.wish.enforce && down_by_us && object.replicas > most;
        let (replicas, saved) = if raised {
            (most, state.saved.max(Some(object.replicas)))
        } else {
            (object.replicas, state.saved)
        };
        Write {
            what: if raised { "enforce" } else { "tidy" },
            labels: Labels {
                phase: state.phase.or(Some(Phase::Adopted)),
                last: Some(last),
                next,
                saved,
                ..state.clone()
            },
            replicas,
            lifts: held.is_none(),
            ..Write::default()
        }
    }
}
