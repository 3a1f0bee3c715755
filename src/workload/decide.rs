//! What to do with one object now: the heart of dayshift.

use chrono::{DateTime, Utc};

use super::{
    change::{Change, ChangeKind},
    follow::Follow,
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
    let state = situation.memory.newest(observed);
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
}
