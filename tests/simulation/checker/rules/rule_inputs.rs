//! The writes of a controller on an object at a time, as all outcomes that the documentation
//! (`docs/concepts/behavior.md`) allows. It shares no code with `decide`.
//!
//! There is one outcome, unless it depends on something that only the controller knows: when it first
//! observed the annotations, and the value of `stop-replicas` at the stop.

use crate::{
    checker::{
        objects::{
            object::{NEVER, Object, State},
            phase::Phase,
            texts,
        },
        rules::{
            outcome::{Outcome, WriteKind},
            timeline::Timeline,
        },
    },
    scenario::{calendar::BoundaryAction, intent::Intent},
};

pub(crate) const HOUR: i64 = 3600;

/// The inputs of the rules at one time. Times are in seconds since 1970 by the controller's clock.
pub struct RuleInputs<'a> {
    pub object: &'a Object,
    /// The newest state that the controller can know.
    pub state: &'a State,
    /// The error in the annotations.
    pub annotation_error: Option<&'a str>,
    /// Whether the error is only in the annotations of its Namespace.
    pub is_inherited: bool,
    /// The intent of the annotations, without overrides that ended earlier.
    pub intent: &'a Intent,
    /// The overrides that ended earlier.
    pub ended: &'a [&'static str],
    pub timeline: &'a Timeline,
    pub now: i64,
    /// The milliseconds of the current second.
    pub fraction: i64,
    /// When these annotations were first observed: the earliest and the latest possible time.
    pub seen: (i64, i64),
    /// When the count was last observed to rise: the earliest and the latest possible time.
    pub raised_ranges: Option<(i64, i64)>,
    /// The last count above 0 that the process has observed or written; 0 if there was none.
    pub last_running: u32,
    /// Whether the process has observed a count above 0 since its last adoption or transition.
    pub ran_since_change: bool,
    /// When a stop after a grace period was last announced.
    pub announced: Reported,
    /// The next boundary of the controller's last write, if that write had the same schedule and the same
    /// excluded dates.
    pub planned: Option<i64>,
    /// Whether the last write reported another error. A new error is reported with a write, even if a rollout
    /// undo already restored all values of that write.
    pub is_refusal_news: bool,
    pub stop_count: u32,
    /// `--catch-up`, in hours.
    pub catch_up: u32,
}

/// When a process announced that it stops an object after a grace, in seconds by its clock.
#[derive(Clone, Copy)]
pub struct Reported {
    /// When its last Event arrived.
    pub arrived: Option<i64>,
    /// The latest time, if the Event might have been lost.
    pub latest: Option<i64>,
}

impl RuleInputs<'_> {
    /// The allowed outcomes; `None` means no write.
    pub fn outcomes(&self) -> Vec<Option<Outcome>> {
        // A controller does not change an object that a later version wrote.
        if self.object.deleting || self.object.state.is_of_later_version() {
            return vec![None];
        }
        let outcomes = match (self.annotation_error, self.intent.plan) {
            (Some(_), _) if self.is_inherited => return vec![self.leave_alone()],
            (Some(annotation_error), _) => vec![self.refuse(annotation_error)],
            (None, None) => vec![self.remove()],
            (None, Some(_)) => self.follow(),
        };
        // An object with an on/off field has at most 1 replica, even if a user wrote a larger number into the
        // labels.
        let most = if self.object.is_switch() { 1 } else { u32::MAX };
        let outcomes = outcomes.into_iter().map(|outcome| Outcome {
            replicas: outcome.replicas.min(most),
            ..outcome
        });
        let owned = |outcome: Outcome| match outcome.kind {
            WriteKind::Refuse | WriteKind::Remove => outcome,
            // If a pause prevents the adoption of an edited schedule, the fingerprint stays that of the
            // earlier schedule.
            WriteKind::Tidy | WriteKind::Enforce if !self.is_ours() => outcome,
            _ => Outcome {
                state: State {
                    owner: Some(self.fingerprint()),
                    ..outcome.state
                },
                ..outcome
            },
        };
        let news = |outcome: Outcome| {
            // Another controller might have begun the same override in the same second.
            let has_begun = matches!(
                outcome.kind,
                WriteKind::Wake | WriteKind::Sleep | WriteKind::Pause
            ) && self.is_so_already(&owned(outcome.clone()));
            let is_so = has_begun || self.is_so_already(&outcome);
            let may_be_news = !is_so
                || self.may_have_lost_next(&outcome)
                || self.is_refusal_news && outcome.kind == WriteKind::Refuse;
            let news = may_be_news.then_some(Some(outcome));
            is_so.then_some(None).into_iter().chain(news)
        };
        let outcomes = outcomes.flat_map(news);
        outcomes.map(|outcome| outcome.map(owned)).collect()
    }

    /// Whether the labels belong to this schedule on this object.
    fn is_ours(&self) -> bool {
        let (texts, uid) = (self.object.in_force(), &self.object.uid);
        let is_of = |owner: &String| texts::is_fingerprint(owner, &texts, uid);
        self.state.last.is_some() && self.state.owner.as_ref().is_some_and(is_of)
    }

    fn fingerprint(&self) -> String {
        texts::fingerprint(&self.object.in_force(), &self.object.uid)
    }

    /// Whether the object might show an older next boundary than the controller knows, or one in another
    /// zone.
    fn may_have_lost_next(&self, outcome: &Outcome) -> bool {
        let shown = &self.object.state;
        let is_scheduled =
            outcome.follows || matches!(outcome.kind, WriteKind::Tidy | WriteKind::Enforce);
        let is_held = shown.phase.is_some_and(Phase::is_held);
        let is_beyond =
            outcome.state.next == Some(NEVER) && self.timeline.same(shown.next, Some(NEVER));
        is_scheduled && !is_held && is_beyond
    }

    fn is_so_already(&self, outcome: &Outcome) -> bool {
        outcome.expired.is_empty() && outcome.last_until.is_none() && {
            let mut state = outcome.state.clone();
            if outcome.follows {
                state.next = Some(self.timeline.after(state.last.unwrap()));
            }
            let began = match outcome.kind {
                WriteKind::Refuse => self.object.began.clone(),
                _ => state.began(),
            };
            let same = |a: Option<i64>, b: Option<i64>| self.timeline.same(a, b);
            same(state.next, self.object.state.next)
                && State {
                    next: None,
                    ..state
                } == State {
                    next: None,
                    ..self.object.state.clone()
                }
                && outcome.replicas == self.object.replicas
                && outcome.error == self.object.error
                && began == self.object.began
        }
    }

    /// An outcome that changes at most the error annotation.
    pub(crate) fn keep(&self, kind: WriteKind) -> Outcome {
        Outcome {
            kind,
            state: self.state.clone(),
            last_until: None,
            follows: false,
            replicas: self.object.replicas,
            expired: Vec::new(),
            error: None,
            due: None,
            considers: false,
            adopts: false,
        }
    }

    /// The Namespace's schedule is invalid: workloads that inherit it do not change, except that their own
    /// corrected error is removed.
    fn leave_alone(&self) -> Option<Outcome> {
        let is_in_error = self.object.error.is_some();
        is_in_error.then(|| self.keep(WriteKind::Refuse))
    }

    /// An invalid schedule only changes the error annotation.
    fn refuse(&self, annotation_error: &str) -> Outcome {
        Outcome {
            error: Some(annotation_error.to_owned()),
            ..self.keep(WriteKind::Refuse)
        }
    }

    /// The schedule was removed: nothing is scaled, and the saved count remains if it exceeds the current
    /// one.
    fn remove(&self) -> Outcome {
        let ours = [&self.object.error, &self.object.began];
        let is_gone = *self.state == State::default() || self.state.is_only_saved();
        if is_gone && ours.iter().all(|it| it.is_none()) {
            return Outcome {
                state: self.object.state.clone(),
                ..self.keep(WriteKind::Remove)
            };
        }
        Outcome {
            state: self.state.after_removal(self.object.replicas),
            ..self.keep(WriteKind::Remove)
        }
    }

    fn follow(&self) -> Vec<Outcome> {
        let state = self.state;
        let is_ours = self.is_ours();
        let is_ahead = |state: &State| state.last.is_some_and(|last| last > self.now + HOUR);
        let held = self.intent.held(self.now);
        if let Some((phase, until)) = held {
            if state.phase != Some(phase) {
                return vec![self.begin(phase, until)];
            }
            if phase == Phase::Paused {
                return self.tidy(held);
            }
        }
        if is_ours && is_ahead(state) {
            return vec![self.adopt((self.now, self.now), held)];
        }
        if !is_ours {
            let let_go = held.is_none() && state.phase.is_some_and(Phase::is_held);
            let from = if let_go {
                self.end_of_override()
            } else {
                self.seen
            };
            return vec![self.adopt_or_restore(self.considered(from), held)];
        }
        let quiet = || {
            if is_ahead(&self.object.state) {
                vec![self.adopt((self.now, self.now), held)]
            } else {
                self.tidy(held)
            }
        };
        if held.is_some() {
            return quiet();
        }
        match state.phase {
            Some(Phase::Paused) => self.after_pause(),
            Some(Phase::Woken | Phase::Slept) => self.after_override(),
            _ => self.due().map_or_else(quiet, |due| vec![due]),
        }
    }

    /// The known count at a new adoption. A running workload does not restore the count of the object that it
    /// was copied from, or of a removed schedule.
    pub(crate) fn remembered(&self) -> Option<u32> {
        if self.is_another() {
            let is_down = self.object.replicas <= self.stop_count;
            return self.state.saved.filter(|_| is_down);
        }
        self.state.remembered()
    }

    /// Whether the labels belong to another object, or to a time in the future.
    pub fn is_another(&self) -> bool {
        let owner = self.state.owner.as_ref();
        let is_ours = owner.and_then(|it| texts::is_of_object(it, &self.object.uid));
        is_ours == Some(false) || self.state.is_only_saved()
    }

    /// The annotations that the write removes.
    pub(crate) fn over(&self) -> Vec<&'static str> {
        let mut over = self.intent.over(self.now);
        over.extend(self.ended);
        over
    }

    /// Whether the clock explains the write: a new boundary is considered, or the last considered boundary is
    /// in the future.
    pub(crate) fn considers(&self, last: i64) -> bool {
        let is_ahead = |at: i64| at > self.now + HOUR;
        let was_ahead = self.state.last.is_some_and(is_ahead);
        let newest = self.timeline.newest(self.now);
        let is_new = |at: i64| self.state.last.is_none_or(|known| at > known) && last >= at;
        was_ahead && !is_ahead(last) || newest.is_some_and(|(at, _)| is_new(at))
    }

    /// Never before the last considered time.
    pub(crate) fn considered(&self, (from, to): (i64, i64)) -> (i64, i64) {
        let known = self.state.last.filter(|last| *last <= self.now);
        let at = |at: i64| known.map_or(at, |last| last.max(at)).min(self.now.max(at));
        (at(from.min(self.now)), at(to.min(self.now)))
    }

    /// The known count at a boundary. An adopted workload that ran and now has a count of 0 was set to it by
    /// a user.
    fn remembered_at_boundary(&self) -> Option<u32> {
        let is_adopted = self.state.phase == Some(Phase::Adopted);
        let is_manual = is_adopted && self.object.replicas == 0 && self.ran_since_change;
        let known = self.object.remembered(self.state);
        known.or(is_manual.then_some(0))
    }

    /// The count after a start.
    pub(crate) fn count_of_start(&self) -> u32 {
        let (seen, texts) = (self.object.replicas, &self.object.texts);
        let remembered = self.remembered_at_boundary();
        let is_wish = texts::has_schedule(texts) || texts.contains_key("replicas");
        match (remembered, self.intent.replicas) {
            // A Namespace's schedule does not start a workload that a user set to 0.
            (None | Some(0), _) if seen == 0 && !is_wish => 0,
            (_, Some(exact)) => exact,
            (remembered, None) => seen.max(remembered.unwrap_or(1)),
        }
    }

    /// A boundary is due, unless it is older than the catch-up limit.
    pub(crate) fn boundary(&self, at: i64, action: BoundaryAction) -> Outcome {
        let catch_up = i64::from(self.catch_up) * HOUR;
        if (self.now - at) * 1000 + self.fraction > catch_up * 1000 {
            return self.adopt_or_restore((self.now, self.now), None);
        }
        let seen = self.object.replicas;
        let (kind, phase, replicas, saved) = match action {
            BoundaryAction::On => (
                WriteKind::Start,
                Phase::Running,
                self.count_of_start(),
                None,
            ),
            BoundaryAction::Off => {
                let saved = self.worth_saving(self.remembered_at_boundary());
                (
                    WriteKind::Stop,
                    Phase::Stopped,
                    seen.min(self.stop_count),
                    saved,
                )
            }
            // The count is exact, so nothing is saved.
            BoundaryAction::To(0) => (WriteKind::Scale, Phase::Stopped, 0, None),
            BoundaryAction::To(count) => (WriteKind::Scale, Phase::Running, count, None),
        };
        let last = self.state.last.map_or(at, |last| last.max(at));
        Outcome {
            state: State {
                phase: Some(phase),
                last: Some(last),
                saved,
                ..self.state.clone()
            },
            follows: true,
            replicas,
            expired: self.over(),
            due: Some(at),
            considers: self.considers(last),
            ..self.keep(kind)
        }
    }

    /// The count that a stop saves: the larger one of the known count and the observed count.
    pub(crate) fn worth_saving(&self, known: Option<u32>) -> Option<u32> {
        let seen = self.object.replicas;
        known.max((seen > 0).then_some(seen))
    }
}
