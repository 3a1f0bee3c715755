//! The knowledge of a process about one object. Each of its writes is checked against it.

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
    scenario::{
        holidays::{Holidays, NAMES},
        intent::Bad,
    },
};

/// The maximum deviation from the server's clock that a controller accepts, in seconds: 30, and rounding,
/// because a `Date` has whole seconds.
pub const LOOKS_RIGHT: i64 = 32;

/// The longest annotation that a controller keeps completely, in bytes.
const MAX_TEXT: usize = 4096;

/// The maximum number of corrections between two boundaries.
pub const MAX_CORRECTIONS: u8 = 3;

/// A condition that lasts is reported again after this time, in milliseconds.
const REPEATED_AFTER: i64 = 30 * 60_000;

/// The delay of the last correction after the previous one, in milliseconds.
const LAST_CORRECTION_AFTER: i64 = 30_000;

/// The time by a process's own clock and by the server's clock, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Instants {
    pub truth: i64,
    pub clock: i64,
    /// How long all machines had slept until then.
    pub slept: i64,
    /// Whether the process might consider its own clock wrong.
    pub unsure: bool,
}

/// The knowledge of a process about one object.
#[derive(Clone, Debug)]
pub struct Known {
    /// The last observed object.
    pub object: Object,
    pub(crate) version: u64,
    /// When its current annotations were first observed.
    pub seen: Instants,
    /// The count as last observed or written, and when it was last observed to rise above the count of a
    /// stop.
    count: u32,
    /// The last count above 0 that was shown or written; 0 if there was none.
    pub last_running: u32,
    /// Whether a count above 0 was shown or written since its last adoption or transition.
    pub ran_since_change: bool,
    raised_ranges: Option<Instants>,
    /// The newest observed state.
    pub state: State,
    /// The inputs of the process's last write to the object.
    pub applied: Option<Applied>,
    /// The next boundary of that write.
    planned: Option<i64>,
    /// A later write without a response, possibly the process's own.
    unanswered: Option<Unanswered>,
    /// The number of corrections since the last boundary: the certain and the possible ones.
    pub corrections: (u8, u8),
    /// When it last corrected the object, possibly, by its own clock, in milliseconds.
    pub corrected: Option<i64>,
    /// How often the limit of corrections was reported, other than to repeat it.
    pub limit_events: usize,
    /// When it was reported last, by its own clock, in milliseconds.
    limit_event_at: i64,
    /// The calendars as it read them.
    pub holidays: Arc<Holidays>,
}

/// The inputs of an object at the time of a write. Later changes of other clients are corrected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    owner: Option<String>,
    /// The calendars that it names.
    holidays: Option<Arc<Holidays>>,
    held: Option<(Phase, Option<i64>)>,
    error: Option<String>,
}

/// An accepted write for which a process might never receive a response: when it observes the write, it takes
/// it for its own.
#[derive(Clone, Debug)]
struct Unanswered {
    applied: Applied,
    /// The written state; `None` if the write is another process's.
    state: Option<State>,
}

/// The effect of a write on the correction limit.
#[derive(Clone, Debug)]
pub struct Done {
    pub applied: Applied,
    /// Whether the write is a correction: certainly, and possibly.
    pub corrective: (bool, bool),
    /// Whether the number of corrections is reset.
    pub restarts_correction_count: bool,
    /// The possible kinds of the write, each with whether it adopts the current schedule.
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
            limit_events: 0,
            limit_event_at: 0,
            seen: at,
            count: object.replicas,
            last_running: object.replicas,
            ran_since_change: object.replicas > 0,
            raised_ranges: None,
            version,
            object,
        }
    }

    /// The process has read other calendars.
    pub(crate) fn reads(mut self, holidays: Arc<Holidays>) -> Self {
        self.holidays = holidays;
        self
    }

    /// The inputs of a write with this state.
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

    /// Whether its last write to the object reported another error, or none.
    pub(crate) fn is_refusal_news(&self, annotation_error: Option<&str>) -> bool {
        let applied = self.applied.as_ref();
        applied.is_some_and(|applied| applied.error.as_deref() != annotation_error)
    }

    /// The calendars that its schedule names, as the process read them; `None` if it names none.
    fn named_holidays(&self) -> Option<Arc<Holidays>> {
        let in_force = self.object.in_force();
        let is_named = |name: &str| texts::names_calendar(&in_force, name);
        let names_any = NAMES.iter().any(|name| is_named(name));
        names_any.then(|| Arc::new(self.holidays.only(is_named)))
    }

    /// The next boundary of its last write, if that write had this schedule and these calendars.
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
            self.raised_ranges = Some(at);
        }
        self.runs(object.replicas);
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

    /// The state that it relies on if the labels of the object moved back, too far ahead, or were removed.
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
        // Another controller corrected a state from the future, adopted a copy, or adopted an edit of a state
        // that is up to an hour ahead.
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
            // A saved 0 only shows that a start came before.
            let more = known.saved.filter(|saved| *saved > 0);
            let saved = more.or(own.saved.filter(|_| is_down));
            return State {
                saved: saved.or(known.saved),
                ..known.clone()
            };
        }
        // If another controller wrote in the same second, several labels differ. If only the phase differs,
        // another client has changed the label.
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

    /// Whether an outcome corrects the change of another client: certainly, and possibly. It is no correction
    /// if a boundary, other calendars, or inputs that changed since the last write explain it. Other dates do
    /// not matter to a schedule that is rejected for an unknown calendar.
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

    /// A write was accepted while the process waits for a response, so the process might take the write for
    /// its own. `own` is the written object if the process really has sent the write.
    pub(crate) fn record_possible_own_write(&mut self, done: &Done, own: Option<&Object>) {
        self.unanswered = Some(Unanswered {
            applied: done.applied.clone(),
            state: own.map(|written| written.state.clone()),
        });
        if done.restarts_correction_count {
            self.corrections.0 = 0;
        }
    }

    /// The earliest time of this outcome, if it can be the last correction between two boundaries: half a
    /// minute after the previous one, by its own clock in milliseconds. A correction of the count is not
    /// delayed.
    pub fn last_correction(&self, outcome: &Outcome) -> Option<i64> {
        let is_next_to_last = self.corrections.1 + 1 >= MAX_CORRECTIONS;
        let corrected = self.corrected.filter(|_| is_next_to_last)?;
        (outcome.replicas == self.object.replicas).then_some(corrected + LAST_CORRECTION_AFTER)
    }

    /// Its own write was accepted, and the process received the response.
    pub(crate) fn wrote_it(mut self, done: &Done, written: &Object, at: Instants) -> Self {
        self.state.clone_from(&written.state);
        self.planned = written.state.next;
        if done.restarts_correction_count {
            self.ran_since_change = written.replicas > 0;
        }
        self.runs(written.replicas);
        self.applied = Some(done.applied.clone());
        self.unanswered = None;
        let (surely, perhaps) = done.corrective;
        self.corrections.0 += u8::from(surely);
        self.corrections.1 += u8::from(perhaps);
        self.corrected = perhaps.then_some(at.clock).or(self.corrected);
        if done.restarts_correction_count && !surely {
            self.corrections = (0, if perhaps { self.corrections.1 } else { 0 });
            self.limit_events = 0;
        }
        self
    }

    const fn runs(&mut self, count: u32) {
        self.count = count;
        if count > 0 {
            self.last_running = count;
            self.ran_since_change = true;
        }
    }

    /// The limit of corrections was reported. Returns how often, other than to repeat it.
    pub(crate) fn reports_limit(&mut self, clock: i64) -> usize {
        if self.limit_events == 0 || clock - self.limit_event_at < REPEATED_AFTER {
            self.limit_events += 1;
        }
        self.limit_event_at = clock;
        self.limit_events
    }

    /// Whether a patch decided from this knowledge applies to the current object: all its inputs
    /// are unchanged, except annotations that it does not test.
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

    /// Unknown keys, and values too long to be kept, are not tested.
    fn is_tested(&self, key: &str) -> bool {
        let text = self.object.texts.get(key);
        key != Bad::UNKNOWN_KEY && text.is_none_or(|text| text.len() <= MAX_TEXT)
    }

    /// The expected object after a write, if the object was as the process knows it.
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

    /// The possible times at which its annotations were first observed, by its clock, as ranges in seconds.
    pub fn seen(&self, slept: i64) -> Vec<(i64, i64)> {
        self.seen.ranges(slept)
    }

    /// Whether its calendars differ from those of its last write.
    pub fn has_other_calendars(&self) -> bool {
        let applied = self.applied.as_ref();
        applied.is_some_and(|applied| {
            applied.error.is_none() && applied.holidays != self.named_holidays()
        })
    }

    /// The possible times at which the count was last observed to rise above that of a stop, as ranges in
    /// seconds; empty if it never did.
    pub fn raised_ranges(&self, slept: i64) -> Vec<(i64, i64)> {
        self.raised_ranges
            .map_or_else(Vec::new, |raised_ranges| raised_ranges.ranges(slept))
    }
}

impl Instants {
    /// The possible times by the process's clock, as ranges in seconds. If the clock was wrong, only the age
    /// of the observation is known, without the time for which the machine has `slept` since.
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

/// The state that a process knows when it first observes an object.
fn first_state(state: &State) -> State {
    if state.is_of_later_version() {
        State::default()
    } else {
        state.read()
    }
}
