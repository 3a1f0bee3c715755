//! The decision for one object. This is the core of dayshift.

use chrono::{DateTime, Utc};

use crate::{
    decision::{
        change::{Change, ChangeKind, EventNote},
        context::{Decision, DecisionContext},
        memory::Applied,
        scheduled::ScheduledDecision,
    },
    inputs::{InvalidSchedule, parse::ParsedInputs},
    observed::CountField,
    state::State,
};

/// Decides how to change one object at `now`.
///
/// This is a pure function. If the inputs are the same, so is the decision. If its change is
/// applied, the next decision should be to wait.
pub fn decide(context: &DecisionContext<'_>, now: DateTime<Utc>) -> Decision {
    let observed = context.observed;
    if observed.deleting || observed.labels.are_from_later_version() {
        return Decision::Wait { due: None };
    }
    let state = context.memory.newest(observed, now);
    match (context.parsed, &observed.count_field) {
        (ParsedInputs::Unscheduled, _) => context.unscheduled(&state, now),
        (ParsedInputs::Invalid(refusal), _) if refusal.is_inherited() => {
            context.remove_corrected_error(state, now)
        }
        (ParsedInputs::Invalid(refusal), _) => context.reject(&state, refusal, now),
        (ParsedInputs::Scheduled(spec), field) => match observed.count_refusal() {
            None => ScheduledDecision::new(context, spec, state, now).decide(),
            // The API server drops the count from each write, so a state in the labels never took
            // effect.
            Some(refusal) if *field == CountField::Missing => {
                context.reject(&State::default(), &refusal, now)
            }
            Some(refusal) => context.reject(&state, &refusal, now),
        },
    }
}

impl DecisionContext<'_> {
    /// Removing the schedule scales nothing. The saved count is kept if it is larger than the current
    /// count.
    fn unscheduled(&self, state: &State, now: DateTime<Utc>) -> Decision {
        let (observed, replicas) = (self.observed, self.observed.replicas);
        let own_annotations = [&observed.error, &observed.override_began];
        if (state.is_empty() || state.is_only_saved())
            && own_annotations
                .iter()
                .all(|annotation| annotation.is_none())
        {
            return Decision::Wait { due: None };
        }
        let left = state.after_removal(replicas);
        let note = left
            .saved
            .map(|saved| EventNote::Removed { replicas, saved });
        let change = Change {
            note,
            ..self.without_scaling(ChangeKind::Remove, left)
        };
        self.decide_write(change, now, None, || false)
    }

    /// An error on a Namespace is reported once, on the Namespace, and the objects in it are not
    /// changed. The object's own error is removed if it was corrected.
    fn remove_corrected_error(&self, state: State, now: DateTime<Utc>) -> Decision {
        if self.observed.error.is_none() {
            return Decision::Wait { due: None };
        }
        let change = Change {
            override_began: self.observed.override_began.clone(),
            ..self.without_scaling(ChangeKind::Resume, state)
        };
        self.decide_write(change, now, None, || false)
    }

    /// A rejected schedule changes only the annotation `error`. The labels stay, so a corrected
    /// schedule continues from them.
    fn reject(&self, state: &State, refusal: &InvalidSchedule, now: DateTime<Utc>) -> Decision {
        let text: Box<str> = refusal.text(self.prefix).into();
        let mut change = Change {
            error: Some(text.clone()),
            // It is needed to recognize ended overrides when the schedule is corrected.
            override_began: self.observed.override_began.clone(),
            ..self.without_scaling(ChangeKind::Refuse, state.clone())
        };
        // `kubectl rollout undo` can restore the error together with the invalid annotation.
        let is_news = self.observed.error != change.error
            || self.memory.has_written() && !self.memory.knows(&Applied::from_change(&change));
        change.note = is_news.then_some(EventNote::Invalid(text));
        // Events are sent only with a write, so write the same error again.
        if is_news && self.is_in_place(&change) {
            return Decision::Write(change);
        }
        self.decide_write(change, now, None, || false)
    }
}
