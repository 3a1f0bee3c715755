//! What to do with one object now: the heart of dayshift.

use chrono::{DateTime, Utc};

use super::{
    change::{Change, ChangeKind},
    follow::Follow,
    memory::Applied,
    notice::{Notice, Reason},
    problem::Refusal,
    reading::Reading,
    situation::{Decision, Situation},
    state::State,
};

/// Decides what to do with one object at `now`.
///
/// It is pure, and it may be asked again at any time: with nothing new it says the same, and
/// once its change is made it says to wait.
pub fn decide(situation: &Situation<'_>, now: DateTime<Utc>) -> Decision {
    let observed = situation.observed;
    let state = situation.memory.newest(observed, now);
    if observed.deleting || state.is_of_a_later_version() {
        return Decision::Wait { due: None };
    }
    match situation.reading {
        Reading::Unscheduled => situation.unscheduled(&state),
        Reading::Refused(refusal) => situation.refused(state, refusal),
        Reading::Scheduled(timetable) => Follow::new(situation, timetable, state, now).decide(),
    }
}

impl Situation<'_> {
    /// Rule 11: removing the schedule scales nothing, and keeps the count where more was saved
    /// than runs.
    fn unscheduled(&self, state: &State) -> Decision {
        let (observed, running) = (self.observed, self.observed.replicas);
        let ours = [&observed.error, &observed.override_began];
        if (state.is_empty() || state.is_only_saved()) && ours.iter().all(|it| it.is_none()) {
            return Decision::Wait { due: None };
        }
        let left = state.after_removal(running);
        let notice = left
            .saved
            .map(|saved| Notice::removed(&observed.object, running, saved));
        let change = Change {
            notice,
            ..self.keep(ChangeKind::Remove, left)
        };
        self.write(change, false, None)
    }

    /// Rule 8: a bad schedule changes nothing but what says so.
    fn refused(&self, state: State, refusal: &Refusal) -> Decision {
        let text = refusal.text(self.prefix);
        let mut change = Change {
            error: Some(text.as_str().into()),
            // What has ended is known for it when the schedule is good again.
            override_began: self.observed.override_began.clone(),
            ..self.keep(
                ChangeKind::Refuse,
                State {
                    next: None,
                    ..state
                },
            )
        };
        // A rollout undo brings the error back together with the text that it is about.
        let is_news = self.observed.error != change.error
            || self.memory.has_written() && !self.memory.knows(&Applied::by(&change));
        change.notice = is_news.then(|| Notice::new(Reason::InvalidSchedule, text));
        self.write(change, false, None)
    }
}
