//! Between boundaries: manual changes stay, and dayshift's own labels are corrected.

use chrono::{DateTime, Utc};

use super::change::{Adoption, Change, ChangeKind};
use super::context::Decision;
use super::event_note::EventNote;
use super::scheduled::ScheduledDecision;
use crate::inputs::overrides::{Enforce, Override};
use crate::replicas::Replicas;
use crate::state::{Next, Phase, State, is_from_future, whole_second};

impl ScheduledDecision<'_> {
    /// Nothing is due. Labels that differ from the expected ones are corrected, and so is the count
    /// if it is enforced.
    pub(crate) fn between_boundaries(&self) -> Decision {
        let expected = self.expected_labels();
        let enforced = self.enforced();
        let change = match enforced {
            Enforced::Now { replicas, saved } => self.enforce(expected, replicas, saved),
            Enforced::Never | Enforced::Soon(_) | Enforced::At(_) => self.put_right(expected),
        };
        let decision = if self.context.is_in_place(&change) {
            Decision::Wait {
                due: expected.next.at(),
            }
        } else if self.is_shown_from_future() {
            return self.adopt(Adoption::FromFuture);
        } else {
            self.decide_write(change)
        };
        // `enforce` acts before the next boundary or not at all: that boundary decides anew.
        let is_next = |due: &DateTime<Utc>| Next::At(*due) < expected.next;
        match (decision, enforced) {
            (Decision::Wait { .. }, Enforced::Soon(due)) if is_next(&due) => {
                let zone = self.spec.schedule.zone();
                let note = EventNote::StopsSoon { due, zone };
                Decision::StopsSoon { due, note }
            }
            (Decision::Wait { .. }, Enforced::At(due)) if is_next(&due) => {
                Decision::Wait { due: Some(due) }
            }
            (decision, _) => decision,
        }
    }

    /// The change that corrects the labels and leaves the count.
    fn put_right(&self, expected: ExpectedLabels) -> Change {
        let state = State {
            phase: Some(self.state.phase.unwrap_or(Phase::Adopted)),
            last: Some(expected.last),
            next: Some(expected.next),
            saved: self.state.saved,
            saved_value: self.state.saved_value.clone(),
            fingerprint: self.state.fingerprint,
        };
        let mut change = self.without_scaling(ChangeKind::Heal, state);
        if self.active.is_some() {
            // While an override holds, another that is over goes when it ends.
            (change.expired, change.note) = (Vec::new(), None);
        }
        let expired = || Some(EventNote::Expired(*change.expired.first()?));
        change.note = change.note.or_else(expired);
        change.kind = if self.context.observed.error.is_some() {
            ChangeKind::Resume
        } else if !change.expired.is_empty() {
            ChangeKind::RemoveExpiredOverride
        } else if self.state.next != Some(expected.next) {
            ChangeKind::Reschedule
        } else {
            ChangeKind::Heal
        };
        change
    }

    /// The same change, with the count of a stop.
    fn enforce(
        &self,
        expected: ExpectedLabels,
        replicas: Replicas,
        saved: Option<Replicas>,
    ) -> Change {
        let change = self.put_right(expected);
        let phase = match change.state.phase {
            Some(Phase::Adopted) => Some(Phase::Stopped),
            phase => phase,
        };
        let raised = self.context.observed.replicas;
        Change {
            kind: ChangeKind::Enforce,
            replicas,
            state: State {
                phase,
                saved,
                ..change.state
            },
            note: Some(EventNote::Enforced {
                from: raised,
                to: replicas,
            }),
            ..change
        }
    }

    /// Whether the object shows a `last` that is too far ahead, and better is known.
    fn is_shown_from_future(&self) -> bool {
        let shown = self.context.observed.state().last;
        let is_paused = matches!(self.active, Some(Override::Pause(_)));
        !is_paused && shown.is_some_and(|last| is_from_future(last, self.now))
    }

    /// The labels `last` and `next` while nothing is due. While an override holds, its end is next.
    fn expected_labels(&self) -> ExpectedLabels {
        let last = self.state.last.unwrap_or_else(|| self.considered_now());
        if let Some(active) = self.active {
            let next = Next::or_never(active.until());
            return ExpectedLabels { last, next };
        }
        let following = |after| Next::or_never(self.next_after(after).map(|next| next.at));
        match following(last) {
            // A boundary before the object's own next has passed: it is not caught up.
            next if next <= Next::At(self.now) => ExpectedLabels {
                last: whole_second(self.now),
                next: following(self.now),
            },
            next => ExpectedLabels { last, next },
        }
    }

    /// Whether and when `enforce` stops what runs.
    fn enforced(&self) -> Enforced {
        let State { phase, saved, .. } = self.state;
        let (seen, most) = (self.context.observed.replicas, self.spec.stop_replicas);
        let is_down_by_us = phase.is_some_and(Phase::follows_a_stop);
        if seen <= most {
            return Enforced::Never;
        }
        let now = || {
            let (replicas, saved) = self.spec.stopped(seen, saved);
            Enforced::Now { replicas, saved }
        };
        match self.overrides.enforce {
            Enforce::AtOnce if is_down_by_us => now(),
            Enforce::After(grace) if is_down_by_us || self.is_adopted_outside_hours() => {
                match self.grace_began().map(|at| whole_second(at) + grace) {
                    None => Enforced::Soon(whole_second(self.now) + grace),
                    Some(due) if due <= self.now => now(),
                    Some(due) => Enforced::At(due),
                }
            }
            _ => Enforced::Never,
        }
    }

    /// Whether the object was adopted as it is, and its schedule says stopped.
    fn is_adopted_outside_hours(&self) -> bool {
        let is_adopted = matches!(self.state.phase, Some(Phase::Adopted)) && self.active.is_none();
        let says = || self.spec.says(self.object(), self.now);
        is_adopted && says().is_some_and(|says| !says.brings_up())
    }

    /// When the grace began. The grace begins when `StopsSoon` is sent; a restart begins it anew.
    /// `None` if that was sent before the object began to run against its schedule.
    fn grace_began(&self) -> Option<DateTime<Utc>> {
        let told = self.context.memory.told_stop_at();
        told.filter(|told| (self.since_when_up()..=self.now).contains(told))
    }

    /// Since when the object runs against its schedule with these annotations, as far as this process
    /// knows.
    fn since_when_up(&self) -> DateTime<Utc> {
        let seen = self.context.seen;
        let raised = self.context.memory.raised_at().unwrap_or(seen);
        let considered = self.state.last.unwrap_or(seen);
        seen.max(raised).max(considered).min(self.now)
    }
}

/// The action of `enforce` on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Enforced {
    /// Nothing.
    Never,
    /// Stop it at that time, and tell the user first.
    Soon(DateTime<Utc>),
    /// Stop it at that time, as the user was told.
    At(DateTime<Utc>),
    /// Stop it now, with this count and this saved count.
    Now {
        replicas: Replicas,
        saved: Option<Replicas>,
    },
}

/// The labels `last` and `next` as they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ExpectedLabels {
    last: DateTime<Utc>,
    next: Next,
}
