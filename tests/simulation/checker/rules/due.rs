//! Which boundary is due.

use crate::checker::rules::{outcome::Outcome, rule_inputs::RuleInputs};

impl RuleInputs<'_> {
    /// The newest boundary, if it is due: it was not considered before, and it is not before the next
    /// boundary that the object's label or this controller's last write specifies.
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
