//! How a schedule is taken up, and what comes back with it.

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
    story::calendar::BoundaryAction,
};

impl RuleInputs<'_> {
    /// The schedule is taken up as it is: nothing is scaled before the next boundary.
    pub(crate) fn adopt(
        &self,
        (from, to): (i64, i64),
        held: Option<(Phase, Option<i64>)>,
    ) -> Outcome {
        let (phase, next) = held.unwrap_or((Phase::Adopted, None));
        // A wake that goes on says by itself that a start came before.
        let is_said = |saved: u32| phase == Phase::Woken && saved == 0;
        Outcome {
            state: State {
                phase: Some(phase),
                last: Some(from),
                next: Some(next.unwrap_or(NEVER)),
                saved: self.remembered().filter(|saved| !is_said(*saved)),
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

    /// The schedule that is edited, goes on, or was missed for too long is taken up. What was saved of
    /// this very object comes back with it, where more is saved than runs and the schedule says running
    /// by now.
    pub(crate) fn take_up(&self, since: (i64, i64), held: Option<(Phase, Option<i64>)>) -> Outcome {
        let adoption = self.adopt(since, held);
        let (seen, saved) = (self.object.replicas, self.state.saved);
        let owner = self.state.owner.as_deref();
        let is_same = owner.is_some_and(|it| it.contains(&texts::digits(&self.object.uid)));
        if held.is_some() || !is_same || saved.is_none_or(|saved| saved <= seen) {
            return adoption;
        }
        let (kind, count) = match self.timeline.says(self.now) {
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
