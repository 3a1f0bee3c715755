//! Between boundaries: corrections, and stops by `enforce`.

use crate::{
    checker::{
        objects::{object::NEVER, phase::Phase},
        rules::{
            outcome::{Outcome, WriteKind},
            rule_inputs::RuleInputs,
        },
    },
    scenario::{calendar::BoundaryAction, intent::Enforce},
};

impl RuleInputs<'_> {
    /// No boundary is due: deviations of the labels are corrected.
    pub(crate) fn tidy(&self, held: Option<(Phase, Option<i64>)>) -> Vec<Outcome> {
        let outcomes = self.enforced(held.is_some()).into_iter();
        outcomes.map(|due| self.tidied(held, due)).collect()
    }

    /// Whether `enforce` corrects the count, and since when that is due, in seconds; `None` means not due.
    /// Both are possible if only the controller knows when the grace period began: it begins with the
    /// announcement, which failed writes might have delayed.
    fn enforced(&self, is_held: bool) -> Vec<Option<Option<i64>>> {
        let phase = self.state.phase.unwrap_or(Phase::Adopted);
        let is_down = matches!(phase, Phase::Stopped | Phase::Slept);
        if self.object.replicas <= self.stop_count {
            return vec![None];
        }
        match self.intent.enforce {
            Some(Enforce::AtOnce) if is_down => vec![Some(None)],
            Some(Enforce::After(grace))
                if is_down || !is_held && self.was_adopted_running(phase) =>
            {
                let seen = self.seen;
                let (from, to) = self.raised_ranges.map_or(seen, |raised_ranges| {
                    (raised_ranges.0.max(seen.0), raised_ranges.1.max(seen.1))
                });
                let last = self.state.last.unwrap_or(i64::MIN);
                let since = |at: i64| at.max(last).min(self.now);
                let (from, to) = (since(from), since(to));
                let announced = self
                    .announced
                    .arrived
                    .filter(|announced| *announced >= from);
                let begun = [Some(to), announced, self.announced.latest]
                    .into_iter()
                    .flatten();
                let due = |begun: i64| begun.min(self.now) + i64::from(grace);
                let dues: Vec<_> = begun.map(due).collect();
                let is_due = due(from) <= self.now;
                let put_back = dues.iter().filter(|_| is_due);
                let put_back = put_back.map(|due| Some(Some(*due.min(&self.now))));
                let not_yet = dues.iter().any(|due| *due > self.now).then_some(None);
                put_back.chain(not_yet).collect()
            }
            _ => vec![None],
        }
    }

    /// Whether it was adopted while running, although its schedule requires it to be stopped.
    fn was_adopted_running(&self, phase: Phase) -> bool {
        let expected = self.timeline.action_at(self.now);
        phase == Phase::Adopted
            && matches!(expected, Some(BoundaryAction::Off | BoundaryAction::To(0)))
    }

    fn tidied(&self, held: Option<(Phase, Option<i64>)>, enforced: Option<Option<i64>>) -> Outcome {
        let mut state = self.state.clone();
        let last = state.last.unwrap_or(self.now);
        let following = self.timeline.after(last);
        (state.last, state.next) = match (held, following) {
            (Some((_, until)), _) => (Some(last), Some(until.unwrap_or(NEVER))),
            // A boundary earlier than the label `next` has passed.
            (None, next) if next <= self.now => {
                (Some(self.now), Some(self.timeline.after(self.now)))
            }
            (None, next) => (Some(last), Some(next)),
        };
        let last = state.last.unwrap_or(self.now);
        let newest = self.timeline.newest(self.now).map(|(at, _)| at);
        let due = newest.filter(|_| self.considers(last));
        state.phase = state.phase.or(Some(Phase::Adopted));
        let expired = if held.is_some() {
            Vec::new()
        } else {
            self.over()
        };
        let outcome = Outcome {
            state,
            expired,
            considers: self.considers(last),
            due,
            ..self.keep(WriteKind::Tidy)
        };
        let Some(since) = enforced else {
            return outcome;
        };
        let mut state = outcome.state;
        state.saved = self.worth_saving(self.object.wanted(state.saved));
        if state.phase == Some(Phase::Adopted) {
            state.phase = Some(Phase::Stopped);
        }
        Outcome {
            kind: WriteKind::Enforce,
            state,
            replicas: self.stop_count,
            due: outcome.due.max(since),
            ..outcome
        }
    }
}
