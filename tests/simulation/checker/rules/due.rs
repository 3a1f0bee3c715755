//! Which boundary is due.

use crate::checker::rules::{outcome::Outcome, rule_inputs::RuleInputs};

impl RuleInputs<'_> {
    /// The newest boundary, if that is due: it was not considered yet, and is not before what was to
    /// come, as the object says or as this scaler had written itself.
    pub(crate) fn due(&self) -> Option<Outcome> {
        let last = self.state.last.unwrap();
        let (at, action) = self
            .timeline
            .newest(self.now)
            .filter(|(at, _)| *at > last)?;
        let to_come = [self.state.next, self.planned].into_iter().flatten().min();
        let is_due = to_come.is_none_or(|next| at >= next);
        is_due.then(|| self.boundary(at, action))
    }
}
