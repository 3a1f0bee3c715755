//! What a process can know of one object. Each of its writes is checked against that.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    checker::{
        objects::{
            object::{Object, State},
            phase::Phase,
            texts,
        },
        rules::outcome::{Outcome, WriteKind},
    },
    story::{holidays::Holidays, intent::Bad},
};

/// How far from the server's clock one may be that looks right, in seconds: 30, and what is lost
/// because a `Date` has whole seconds.
pub const LOOKS_RIGHT: i64 = 32;

/// The longest text of an annotation that is kept whole, in bytes.
const MAX_TEXT: usize = 4096;

/// The most corrections between two boundaries.
pub const MAX_CORRECTIONS: u8 = 3;

/// How long after the one before the last of them comes, in milliseconds.
const LAST_CORRECTION_AFTER: i64 = 30_000;

/// A process's own clock at an instant of the server's; in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Instants {
    pub truth: i64,
    pub clock: i64,
    /// How long all machines have slept until then.
    pub slept: i64,
    /// Whether the process may take its clock to be wrong.
    pub unsure: bool,
}

/// What a process knows of one object.
#[derive(Clone, Debug)]
pub struct Known {
    /// The object as it was shown last.
    pub object: Object,
    pub(crate) version: u64,
    /// When its annotations were first shown as they are.
    pub seen: Instants,
    /// The count as it was shown or written last, and when it was last shown to have risen above
    /// that of a stop.
    count: u32,
    risen: Option<Instants>,
    /// The newest state of all that it was shown.
    pub state: State,
    /// What applied at its last write here.
    pub applied: Option<Applied>,
    /// What was to come by that write.
    planned: Option<i64>,
    /// A write since, perhaps its own, whose answer it has not had.
    unanswered: Option<Unanswered>,
    /// How often it has put something right since the last boundary: surely, and perhaps.
    pub corrections: (u8, u8),
    /// When it perhaps did so last, by its own clock in milliseconds.
    pub corrected: Option<i64>,
    /// How often the user was told that it does so no more.
    pub told: usize,
    /// The calendars as it has read them.
    pub holidays: Arc<Holidays>,
}

/// What applied to an object when it was written to: what somebody changes besides is put right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    owner: Option<String>,
    /// The calendars that it names.
    holidays: Option<Arc<Holidays>>,
    held: Option<(Phase, Option<i64>)>,
    error: Option<String>,
}

/// A write that was accepted, and whose sender may never have an answer: it takes what it is shown
/// for its own.
#[derive(Clone, Debug)]
struct Unanswered {
    applied: Applied,
    /// What it wrote; `None` where it is another's.
    state: Option<State>,
}

/// What a write has done, as far as the limit of corrections goes.
#[derive(Clone, Debug)]
pub struct Done {
    pub applied: Applied,
    /// Whether it puts something right: surely, and perhaps.
    pub corrective: (bool, bool),
    /// Whether corrections count from here again.
    pub begins_anew: bool,
    /// What it can be, and whether that takes the schedule up as it is.
    pub kinds: Vec<(WriteKind, bool)>,
}

impl Known {
    pub(crate) fn first(
        object: Object,
        version: u64,
        at: Instants,
        holidays: Arc<Holidays>,
    ) -> Self {
        Self {
            holidays,
            state: first_state(&object.state),
            applied: None,
            planned: None,
            unanswered: None,
            corrections: (0, 0),
            corrected: None,
            told: 0,
            seen: at,
            count: object.replicas,
            risen: None,
            version,
            object,
        }
    }

    /// It has read other calendars.
    pub(crate) fn reads(mut self, holidays: Arc<Holidays>) -> Self {
        self.holidays = holidays;
        self
    }

    /// What applies as it writes this state.
    pub(crate) fn applied(&self, state: &State, error: Option<&String>) -> Applied {
        if error.is_some() {
            return Applied {
                owner: None,
                holidays: None,
                held: None,
                error: error.cloned(),
            };
        }
        let phase = state.phase.filter(|phase| phase.is_held());
        Applied {
            owner: state.owner.clone(),
            holidays: self.named_holidays(),
            held: phase.map(|phase| (phase, state.next)),
            error: None,
        }
    }

    /// Whether it has written here last while something else was wrong, or nothing.
    pub(crate) fn is_refusal_news(&self, complaint: Option<&str>) -> bool {
        let applied = self.applied.as_ref();
        applied.is_some_and(|applied| applied.error.as_deref() != complaint)
    }

    fn named_holidays(&self) -> Option<Arc<Holidays>> {
        let names = texts::names_calendars(&self.object.in_force());
        names.then(|| self.holidays.clone())
    }

    /// What was to come by its last write, if that was by this schedule and these calendars.
    pub(crate) fn planned(&self) -> Option<i64> {
        let applied = self.applied.as_ref()?;
        let owner = texts::fingerprint(&self.object.in_force(), &self.object.uid);
        let is_same = applied.owner == Some(owner) && applied.holidays == self.named_holidays();
        self.planned.filter(|_| is_same)
    }

    pub(crate) fn shown(mut self, object: Object, version: u64, at: Instants) -> Self {
        if object.inputs() != self.object.inputs() {
            self.seen = at;
        }
        let stopped = object.stop_count();
        if self.count <= stopped && object.replicas > stopped {
            self.risen = Some(at);
        }
        self.count = object.replicas;
        self.version = version;
        self.object = object;
        if self.object.state.is_of_later_version() {
            return self;
        }
        let newest = self.newest(at.clock.div_euclid(1000));
        let is_gone = !texts::is_scheduled(&self.object.in_force())
            && self.object.state.read() == newest.after_removal(self.object.replicas);
        let written = self.unanswered.as_ref().and_then(|it| it.state.as_ref());
        let is_written = written.is_some_and(|it| *it == self.object.state);
        self.state = if is_gone || is_written {
            self.object.state.read()
        } else {
            newest
        };
        self
    }

    /// What it knows, where the object's own state went backwards, too far ahead or
    /// vanished.
    pub fn newest(&self, now: i64) -> State {
        let (own, uid) = (&self.object.state.read(), &self.object.uid);
        let known = &self.state;
        let Some(known_last) = known.last else {
            return own.clone();
        };
        let is_ahead = |last: i64| last > now + 3600;
        let is_ours = |state: &State| {
            let owner = state.owner.as_ref();
            owner.and_then(|owner| texts::is_of_object(owner, uid)) == Some(true)
        };
        let in_force = self.object.in_force();
        let is_of = |owner: &String| texts::is_fingerprint(owner, &in_force, uid);
        let is_of_schedule = |state: &State| state.owner.as_ref().is_some_and(is_of);
        // Another scaler has put right what is from the future, or adopted what is a copy, or an edit
        // of what is from the next hour.
        let is_right = is_ahead(known_last) && own.last.is_some_and(|last| !is_ahead(last));
        let is_adopted = own.owner != known.owner && is_ours(own) && !is_ours(known);
        let has_come = known_last > now && own.last.is_some_and(|last| last <= now);
        if is_right || is_adopted || has_come && is_of_schedule(own) && !is_of_schedule(known) {
            return own.clone();
        }
        let mut own = own.clone();
        if own.last == known.last && known.owner.as_ref().is_some_and(is_of) {
            own.owner.clone_from(&known.owner);
        }
        let too_far = own.last.is_some_and(is_ahead) && !is_ahead(known_last);
        if own.last < known.last || too_far {
            let is_down = self.object.replicas <= self.object.stop_count();
            // A 0 says no more than that a start came before.
            let more = known.saved.filter(|saved| *saved > 0);
            let saved = more.or(own.saved.filter(|_| is_down));
            return State {
                saved: saved.or(known.saved),
                ..known.clone()
            };
        }
        // In the same second another scaler may have done something else: that shows in more than
        // one label, which anybody can change.
        let alike = State {
            phase: known.phase,
            ..own.clone()
        };
        let is_other = own.phase.is_some() && own.phase != known.phase && alike != *known;
        if own.last > known.last || is_other {
            return own;
        }
        State {
            phase: known.phase.or(own.phase),
            last: own.last,
            next: own.next.or(known.next),
            saved: own.saved.or(known.saved),
            owner: own.owner.or_else(|| known.owner.clone()),
            ..State::default()
        }
    }

    /// Whether an outcome puts right what somebody else has changed: surely, and perhaps. It does
    /// not where a boundary explains it, or calendars that are others since, or what applies now and
    /// did not when something was written last. To a schedule that is refused other dates are no
    /// news: one that names what no calendar is called goes on doing so.
    pub fn is_corrective(&self, outcome: &Outcome, applied: &Applied) -> (bool, bool) {
        let is_explained = outcome.considers;
        let is_as_answered = self.applied.as_ref() == Some(applied);
        let is_as_shown = match &self.unanswered {
            Some(unanswered) => unanswered.applied == *applied,
            None => is_as_answered,
        };
        let is_corrective = |is_it: bool| is_it && !is_explained;
        (
            is_corrective(is_as_answered && is_as_shown),
            is_corrective(is_as_answered || is_as_shown),
        )
    }

    /// A write was accepted that it may take for its own, and it has no answer yet; what it wrote,
    /// where it is its own.
    pub(crate) fn waits_for_answer(&mut self, done: &Done, own: Option<&Object>) {
        self.unanswered = Some(Unanswered {
            applied: done.applied.clone(),
            state: own.map(|written| written.state.clone()),
        });
        if done.begins_anew {
            self.corrections.0 = 0;
        }
    }

    /// When the last correction between two boundaries is made, where this outcome may be that: half a
    /// minute after the one before; by its own clock in milliseconds. What changes the count waits for
    /// nothing.
    pub fn last_correction(&self, outcome: &Outcome) -> Option<i64> {
        let is_next_to_last = self.corrections.1 + 1 >= MAX_CORRECTIONS;
        let corrected = self.corrected.filter(|_| is_next_to_last)?;
        (outcome.replicas == self.object.replicas).then_some(corrected + LAST_CORRECTION_AFTER)
    }

    /// Its own write was accepted, and it knows.
    pub(crate) fn wrote_it(mut self, done: &Done, written: &Object, at: Instants) -> Self {
        self.state.clone_from(&written.state);
        self.planned = written.state.next;
        self.count = written.replicas;
        self.applied = Some(done.applied.clone());
        self.unanswered = None;
        let (surely, perhaps) = done.corrective;
        self.corrections.0 += u8::from(surely);
        self.corrections.1 += u8::from(perhaps);
        self.corrected = perhaps.then_some(at.clock).or(self.corrected);
        if done.begins_anew && !surely {
            self.corrections = (0, if perhaps { self.corrections.1 } else { 0 });
            self.told = 0;
        }
        self
    }

    /// Whether a patch that was decided from this may be made of the object as it is: all that it
    /// rests on is still so, but for annotations that it does not test.
    pub fn is_still(&self, object: &Object) -> bool {
        let known = &self.object;
        let tested = |object: &Object| {
            let mut texts = object.texts.clone();
            texts.retain(|key, _| self.is_tested(key));
            texts
        };
        tested(known) == tested(object)
            && (known.replicas, &known.switch, &known.state)
                == (object.replicas, &object.switch, &object.state)
            && (&known.uid, &known.error, &known.began)
                == (&object.uid, &object.error, &object.began)
    }

    /// Not one whose name nobody knows, nor one whose text is too long to be kept.
    fn is_tested(&self, key: &str) -> bool {
        let text = self.object.texts.get(key);
        key != Bad::UNKNOWN_KEY && text.is_none_or(|text| text.len() <= MAX_TEXT)
    }

    /// What a write made of the object, had it been as it is known.
    pub fn wrote(&self, old: &Object, new: &Object) -> Object {
        let mut new = new.clone();
        let keys: BTreeSet<_> = old.texts.keys().chain(self.object.texts.keys()).collect();
        for key in keys.into_iter().filter(|key| !self.is_tested(key)) {
            if old.texts.get(key) == new.texts.get(key) {
                new.texts.remove(key);
                let known = self.object.texts.get_key_value(key);
                new.texts
                    .extend(known.map(|(key, text)| (key.clone(), text.clone())));
            }
        }
        new
    }

    /// When its annotations were first seen, by its clock: the ranges that this can be in, in
    /// seconds.
    pub fn seen(&self, slept: i64) -> Vec<(i64, i64)> {
        self.seen.ranges(slept)
    }

    /// Whether its calendars are others than at its last write.
    pub fn has_other_calendars(&self) -> bool {
        let applied = self.applied.as_ref();
        applied.is_some_and(|applied| {
            applied.error.is_none() && applied.holidays != self.named_holidays()
        })
    }

    /// When its count was last seen to rise above that of a stop, likewise; nothing where it was not.
    pub fn risen(&self, slept: i64) -> Vec<(i64, i64)> {
        self.risen
            .map_or_else(Vec::new, |risen| risen.ranges(slept))
    }
}

impl Instants {
    /// The ranges that this can be in by the process's clock, in seconds. What was seen by a wrong
    /// clock is known by how long ago it was, without the time that the machine has `slept` since.
    fn ranges(self, slept: i64) -> Vec<(i64, i64)> {
        let clock = self.clock.div_euclid(1000);
        let mut ranges = vec![(clock, clock)];
        if self.unsure {
            let truth = self.truth.div_euclid(1000);
            let slept = (slept - self.slept).div_euclid(1000);
            ranges.push((truth - LOOKS_RIGHT, truth + LOOKS_RIGHT + slept));
        }
        ranges
    }
}

/// The state that a process knows when it first sees an object.
fn first_state(state: &State) -> State {
    if state.is_of_later_version() {
        State::default()
    } else {
        state.read()
    }
}
