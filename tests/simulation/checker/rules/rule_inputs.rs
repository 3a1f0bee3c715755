//! What the documentation (`docs/concepts/behavior.md`) has a scaler do with an object at an
//! instant, without memory, as all the outcomes that are legal. No code is shared with `decide`.
//!
//! There is one outcome but where something counts that only the scaler knows: when it saw the
//! annotations for the first time, and what `stop-replicas` was when it was stopped.

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
    story::{calendar::BoundaryAction, intent::Intent},
};

pub(crate) const HOUR: i64 = 3600;

/// What the rules decide from, at one instant. Times are in seconds since 1970 by the scaler's
/// clock.
pub struct RuleInputs<'a> {
    pub object: &'a Object,
    /// The newest state that the scaler can know of.
    pub state: &'a State,
    /// What is wrong with the annotations.
    pub complaint: Option<&'a str>,
    /// Whether that is about its Namespace alone.
    pub is_inherited: bool,
    /// What the annotations ask for, without overrides that ended before.
    pub intent: &'a Intent,
    /// The overrides that have ended before.
    pub ended: &'a [&'static str],
    pub timeline: &'a Timeline,
    pub now: i64,
    /// Milliseconds of `now`.
    pub fraction: i64,
    /// When these annotations were seen first: between these two.
    pub seen: (i64, i64),
    /// When its count was last seen to rise, likewise.
    pub risen: Option<(i64, i64)>,
    /// When it was told last that it is stopped after a grace.
    pub told: Told,
    /// What was to come by its own last write, if that was by this schedule and these dates.
    pub planned: Option<i64>,
    /// Whether its last write was of something else than what is wrong now: it is told with a write,
    /// also where an undo has brought back all that the write says.
    pub is_refusal_news: bool,
    pub stop_count: u32,
    /// `--catch-up`, in hours.
    pub catch_up: u32,
}

/// When a process has said that it stops an object after a grace, in seconds by its clock.
#[derive(Clone, Copy)]
pub struct Told {
    /// As its last Event came.
    pub heard: Option<i64>,
    /// At the latest, where the Event may have been lost.
    pub latest: Option<i64>,
}

impl RuleInputs<'_> {
    /// The allowed outcomes; `None` is to do nothing.
    pub fn outcomes(&self) -> Vec<Option<Outcome>> {
        // What a later version has written is left alone.
        if self.object.deleting || self.object.state.is_of_later_version() {
            return vec![None];
        }
        let outcomes = match (self.complaint, self.intent.plan) {
            (Some(_), _) if self.is_inherited => return vec![self.leave_alone()],
            (Some(complaint), _) => vec![self.refuse(complaint)],
            (None, None) => vec![self.remove()],
            (None, Some(_)) => self.follow(),
        };
        // What runs or not has no larger count, whatever somebody wrote into the labels.
        let most = if self.object.is_switch() { 1 } else { u32::MAX };
        let outcomes = outcomes.into_iter().map(|outcome| Outcome {
            replicas: outcome.replicas.min(most),
            ..outcome
        });
        let owned = |outcome: Outcome| match outcome.kind {
            WriteKind::Refuse | WriteKind::Remove => outcome,
            // What a pause keeps from being taken up stays as it was.
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
            // Another has begun the same override in this second.
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

    /// Whether the state is that of this schedule on this object.
    fn is_ours(&self) -> bool {
        let (texts, uid) = (self.object.in_force(), &self.object.uid);
        let is_of = |owner: &String| texts::is_fingerprint(owner, &texts, uid);
        self.state.last.is_some() && self.state.owner.as_ref().is_some_and(is_of)
    }

    fn fingerprint(&self) -> String {
        texts::fingerprint(&self.object.in_force(), &self.object.uid)
    }

    /// Whether the object may lack what is to come beyond what is known here of its schedule, or show
    /// what that is in another zone.
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

    /// An outcome that leaves everything as it is known to be, but for the error.
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

    /// The Namespace's schedule is refused: what inherits it stays as it is, but for an error of its
    /// own that was put right.
    fn leave_alone(&self) -> Option<Outcome> {
        let is_in_error = self.object.error.is_some();
        is_in_error.then(|| self.keep(WriteKind::Refuse))
    }

    /// A bad schedule changes nothing but what says so.
    fn refuse(&self, complaint: &str) -> Outcome {
        Outcome {
            error: Some(complaint.to_owned()),
            ..self.keep(WriteKind::Refuse)
        }
    }

    /// The schedule was removed: nothing is scaled, and a saved count stays where fewer run.
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
            let from = if let_go { self.let_go() } else { self.seen };
            return vec![self.take_up(self.considered(from), held)];
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

    /// What is known of the count where the object is taken up anew. What is up has nothing
    /// to do with what was saved for the object that it is a copy of, or before its schedule was
    /// removed.
    pub(crate) fn remembered(&self) -> Option<u32> {
        if self.is_another() {
            let is_down = self.object.replicas <= self.stop_count;
            return self.state.saved.filter(|_| is_down);
        }
        self.state.remembered()
    }

    /// Whether what is known is of another object, or of another time.
    pub fn is_another(&self) -> bool {
        let owner = self.state.owner.as_ref();
        let is_ours = owner.and_then(|it| texts::is_of_object(it, &self.object.uid));
        is_ours == Some(false) || self.state.is_only_saved()
    }

    /// The annotations that go with a write.
    pub(crate) fn over(&self) -> Vec<&'static str> {
        let mut over = self.intent.over(self.now);
        over.extend(self.ended);
        over
    }

    /// Whether the clock explains it: a boundary is considered that was not before, or what was
    /// considered is from the future now.
    pub(crate) fn considers(&self, last: i64) -> bool {
        let is_ahead = |at: i64| at > self.now + HOUR;
        let was_ahead = self.state.last.is_some_and(is_ahead);
        let newest = self.timeline.newest(self.now);
        let is_new = |at: i64| self.state.last.is_none_or(|known| at > known) && last >= at;
        was_ahead && !is_ahead(last) || newest.is_some_and(|(at, _)| is_new(at))
    }

    /// Not before what was considered already.
    pub(crate) fn considered(&self, (from, to): (i64, i64)) -> (i64, i64) {
        let known = self.state.last.filter(|last| *last <= self.now);
        let at = |at: i64| known.map_or(at, |last| last.max(at)).min(self.now.max(at));
        (at(from.min(self.now)), at(to.min(self.now)))
    }

    /// The count after a start.
    pub(crate) fn count_of_start(&self) -> u32 {
        let (seen, texts) = (self.object.replicas, &self.object.texts);
        let remembered = self.object.remembered(self.state);
        let is_wish = texts::has_schedule(texts) || texts.contains_key("replicas");
        match (remembered, self.intent.replicas) {
            // A Namespace's schedule is no wish to run what somebody keeps at 0.
            (None | Some(0), _) if seen == 0 && !is_wish => 0,
            (_, Some(exact)) => exact,
            (remembered, None) => seen.max(remembered.unwrap_or(1)),
        }
    }

    /// A boundary is due, unless it was missed for longer than the catch-up.
    pub(crate) fn boundary(&self, at: i64, action: BoundaryAction) -> Outcome {
        let catch_up = i64::from(self.catch_up) * HOUR;
        if (self.now - at) * 1000 + self.fraction > catch_up * 1000 {
            return self.take_up((self.now, self.now), None);
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
                let saved = self.worth_saving(self.object.remembered(self.state));
                (
                    WriteKind::Stop,
                    Phase::Stopped,
                    seen.min(self.stop_count),
                    saved,
                )
            }
            // Exactly so many, and nothing is saved.
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

    /// What a stop saves: the larger of what is known and seen.
    pub(crate) fn worth_saving(&self, known: Option<u32>) -> Option<u32> {
        let seen = self.object.replicas;
        known.max((seen > 0).then_some(seen))
    }
}
