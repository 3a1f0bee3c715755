//! Adoption of a schedule, and the count that it restores.

use crate::{
    checker::{
        objects::{
            object::{NEVER, State},
            phase::Phase,
            texts,
        },
        rules::{
            outcome::{Outcome, WriteKind},
            rule_inputs::RuleInputs,
        },
    },
    scenario::calendar::BoundaryAction,
};

impl RuleInputs<'_> {
    /// Adopts the schedule in the current state: nothing is scaled before the next boundary.
    pub(crate) fn adopt(
        &self,
        (from, to): (i64, i64),
        held: Option<(Phase, Option<i64>)>,
    ) -> Outcome {
        let (phase, next) = held.unwrap_or((Phase::Adopted, None));
        // A wake that continues shows that a start came before, so a saved 0 adds nothing.
        let is_implied = |saved: u32| phase == Phase::Woken && saved == 0;
        Outcome {
            state: State {
                phase: Some(phase),
                last: Some(from),
                next: Some(next.unwrap_or(NEVER)),
                saved: self.remembered().filter(|saved| !is_implied(*saved)),
                ..State::default()
            },
            last_until: (from < to).then_some(to),
            follows: held.is_none(),
            expired: self.over(),
            considers: self.considers(to.max(from)),
            adopts: true,
            ..self.keep(WriteKind::Adopt)
        }
    }

    /// Adopts a schedule that was edited, resumed, or missed for longer than the catch-up limit. If the
    /// schedule requires the object to run and its saved count exceeds the current one, the saved count is
    /// restored.
    pub(crate) fn adopt_or_restore(
        &self,
        since: (i64, i64),
        held: Option<(Phase, Option<i64>)>,
    ) -> Outcome {
        let adoption = self.adopt(since, held);
        let (seen, saved) = (self.object.replicas, self.state.saved);
        let owner = self.state.owner.as_deref();
        let is_same = owner.is_some_and(|it| it.contains(&texts::digits(&self.object.uid)));
        if held.is_some() || !is_same || saved.is_none_or(|saved| saved <= seen) {
            return adoption;
        }
        let (kind, count) = match self.timeline.action_at(self.now) {
            Some(BoundaryAction::On) => (WriteKind::Start, self.count_of_start()),
            Some(BoundaryAction::To(count)) => (WriteKind::Scale, count),
            Some(BoundaryAction::Off) | None => return adoption,
        };
        if count <= seen {
            return adoption;
        }
        Outcome {
            kind,
            replicas: count,
            state: State {
                phase: Some(Phase::Running),
                saved: None,
                ..adoption.state
            },
            ..adoption
        }
    }
}
