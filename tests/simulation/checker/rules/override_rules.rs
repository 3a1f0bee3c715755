//! How pauses and overrides begin and end.

use crate::{
    checker::{
        objects::{
            object::{NEVER, State},
            phase::Phase,
        },
        rules::{
            outcome::{Outcome, WriteKind},
            rule_inputs::{HOUR, RuleInputs},
        },
    },
    scenario::calendar::BoundaryAction,
};

impl RuleInputs<'_> {
    /// An override or a pause begins.
    pub(crate) fn begin(&self, phase: Phase, until: Option<i64>) -> Outcome {
        let (seen, known) = (self.object.replicas, self.object.wanted(self.remembered()));
        let (kind, replicas, saved) = match phase {
            Phase::Woken => {
                let known = known.filter(|count| *count > 0).or(Some(self.last_running));
                let count = self
                    .timeline
                    .largest
                    .or(known)
                    .unwrap_or(1)
                    .max(seen)
                    .max(1);
                (WriteKind::Wake, self.intent.replicas.unwrap_or(count), None)
            }
            Phase::Slept => (
                WriteKind::Sleep,
                seen.min(self.stop_count),
                self.worth_saving(known),
            ),
            _ => (WriteKind::Pause, seen, self.remembered()),
        };
        let ahead = self.state.last.filter(|last| *last <= self.now + HOUR);
        let last = ahead.map_or(self.now, |ahead| ahead.max(self.now));
        Outcome {
            state: State {
                phase: Some(phase),
                last: Some(last),
                next: Some(until.unwrap_or(NEVER)),
                saved,
                ..State::default()
            },
            replicas,
            // During a pause, only overrides that have ended are removed: otherwise they would apply again
            // after the pause.
            expired: if phase == Phase::Paused {
                self.ended.to_vec()
            } else {
                self.over()
            },
            considers: self.considers(last),
            ..self.keep(kind)
        }
    }

    /// A pause has ended, and the boundaries since its end are carried out. If it was removed early, it ended
    /// at an unknown time within a second: only the controller knows whether that was before a boundary of
    /// the same second.
    pub(crate) fn after_pause(&self) -> Vec<Outcome> {
        let ended = self.end_of_override();
        let is_cut_short = self.own_end().is_none();
        let newest = self.timeline.newest(self.now);
        let newest = newest.filter(|(at, _)| Some(*at) > self.state.last);
        let mut outcomes = Vec::new();
        for (from, to) in [(ended.0, ended.0), (ended.1, ended.1), ended] {
            let due = newest.filter(|(at, _)| *at >= to);
            outcomes.extend(due.map(|(at, action)| self.boundary(at, action)));
            if due.is_none_or(|(at, _)| at == to && is_cut_short) {
                outcomes.push(self.adopt_or_restore(self.considered((from, to)), None));
            }
        }
        outcomes
    }

    /// An override has ended. The newest boundary decides the count, even one before the end of the override.
    pub(crate) fn after_override(&self) -> Vec<Outcome> {
        let ended = self.end_of_override();
        let slept = self.state.phase == Some(Phase::Slept);
        let newest = self.timeline.newest(self.now);
        let said = newest.map(|(_, action)| action).or(self.timeline.before);
        let Some(action) = said.or(slept.then_some(BoundaryAction::On)) else {
            return vec![self.adopt(self.considered(ended), None)];
        };
        let at = |ended: i64| newest.map_or(ended, |(at, _)| at.max(ended));
        let (from, to) = (at(ended.0), at(ended.1));
        let latest = self.boundary(to, action);
        let mut outcomes = vec![self.boundary(from, action), latest.clone()];
        if from < to && latest.kind != WriteKind::Adopt {
            let last = self.state.last.map_or(from, |last| last.max(from));
            let state = State {
                last: Some(last),
                ..latest.state.clone()
            };
            outcomes.push(Outcome {
                last_until: latest.state.last,
                state,
                ..latest
            });
        }
        outcomes
    }

    /// When the override or pause ended: at its end time, or when its removal was observed.
    pub(crate) fn end_of_override(&self) -> (i64, i64) {
        let (from, to) = self.own_end().map_or(self.seen, |end| (end, end));
        let begun = self.state.last.map(|last| last.min(self.now));
        let not_before = |at: i64| begun.map_or(at, |begun| begun.max(at)).min(self.now);
        (not_before(from), not_before(to))
    }

    /// The end time of the override or pause, if it has passed.
    fn own_end(&self) -> Option<i64> {
        let written = self.state.phase.and_then(|phase| self.intent.end_of(phase));
        let known = self.object.state.next.filter(|next| *next != NEVER);
        written.max(known).filter(|end| *end <= self.now)
    }
}
