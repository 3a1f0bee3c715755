//! Whether a write is what the rules ask for, there and then.

use std::sync::Arc;

use chrono_tz::Tz;

use crate::{
    asked::{Asked, Bad},
    calendar::show,
    given::{self, Given},
    object::{Object, State},
    outcome::{Outcome, What},
    rules::Moment,
    texts,
    timeline::Timeline,
    witness::{BLIND, Process, Record, Witness, Write},
};

/// How long a scaler that has woken up may be without a `Date` of the server, in milliseconds.
const UNHEARD: i64 = 60 * 1000;

impl Witness {
    /// The legal outcomes that it is: more than one where they come to the same.
    pub(crate) fn judge(
        &self,
        write: &Write<'_>,
        old: &Object,
        new: &Object,
    ) -> Result<Vec<Outcome>, String> {
        self.judge_by(write, old, new, false)
    }

    /// The same, by the annotations as they were before the last edit if `is_before`.
    fn judge_by(
        &self,
        write: &Write<'_>,
        old: &Object,
        new: &Object,
        is_before: bool,
    ) -> Result<Vec<Outcome>, String> {
        let process = &self.processes[write.by];
        let record = &self.records[&old.uid];
        let off = write.sent - write.sent_in_truth;
        // The server's `Date` has whole seconds. A clock that is behind by as much as a machine has
        // just slept looks right until the next `Date` is heard: what is due is only late by it.
        let (woke, slept) = self.woke;
        let hidden = if write.at < woke + UNHEARD { slept } else { 0 };
        if process.guarded && !(-32_000 - hidden..=32_000).contains(&off) {
            return Err(format!("rule 13: written by a clock {off} ms off"));
        }
        if old.deleting {
            return Err("it is being deleted, and was patched".into());
        }
        if let Some(left) = record.left
            && (self.exact && write.sent_in_truth > left || write.at > left + BLIND)
        {
            return Err("it is out of scope, and was patched".into());
        }
        if old.rest != new.rest || old.uid != new.uid {
            return Err(format!(
                "more was written than is ours: {} -> {}",
                old.rest, new.rest
            ));
        }
        let legal = self.outcomes(write.by, old, write.sent, record);
        let legal: Vec<_> = legal.into_iter().flatten().collect();
        let mut found = legal.clone();
        found.retain(|outcome| self.is(outcome, old, new, process));
        let is_news =
            write.sent_in_truth <= record.edited || !self.exact && write.at < record.edited + BLIND;
        if found.is_empty() && is_news && !is_before {
            // A patch tests no annotation whose name nobody knows: it may be decided from what was
            // there before one came, or went. What is right now follows.
            let [old, new] = [old, new].map(|object| {
                let mut before = object.clone();
                if before.texts.remove(Bad::UNKNOWN_KEY).is_none() {
                    let (key, text) = (Bad::UNKNOWN_KEY.to_owned(), String::new());
                    before.texts.insert(key, text);
                }
                before
            });
            if let Ok(found) = self.judge_by(write, &old, &new, true) {
                return Ok(found);
            }
        }
        let Some(outcome) = found.first() else {
            return Err(format!(
                "{} is not what the rules ask for{}",
                told(old, new),
                all(&legal)
            ));
        };
        self.keeps_the_count(outcome, old, new, record)?;
        if self.exact {
            self.is_punctual(write, outcome, old, process, record)?;
        }
        Ok(found)
    }

    fn given(&self, object: &Object, zone: Tz) -> Arc<Given> {
        let key = (object.full_name(), object.texts.clone(), zone);
        let mut known = self.readings.lock().unwrap();
        known
            .entry(key)
            .or_insert_with(|| Arc::new(given::of(object, zone)))
            .clone()
    }

    /// What may be done with an object as it is, at a time of the scaler's clock.
    pub(crate) fn outcomes(
        &self,
        by: &str,
        old: &Object,
        at: i64,
        record: &Record,
    ) -> Vec<Option<Outcome>> {
        let process = &self.processes[by];
        let given = self.given(old, process.zone);
        let asked = match given.complaint {
            Some(_) => Asked::default(),
            None => Asked::of(&old.texts, &self.plans),
        };
        let timeline = asked.plan.map_or_else(
            || Arc::new(Timeline::empty()),
            |plan| {
                self.timelines
                    .of(&self.plans, plan, process.zone, given.delay)
            },
        );
        let now = at.div_euclid(1000);
        let first = record.edited.max(process.started).div_euclid(1000);
        let seen = if self.exact {
            (first, first)
        } else {
            (first - self.margin, now)
        };
        let stop_count = texts::stop_count(&old.texts);
        let fingerprint = texts::fingerprint(&old.texts, &old.uid);
        let mut outcomes = Vec::new();
        for down in [stop_count, stop_count.max(record.stop_count)] {
            for state in self.states(process, old, record, down) {
                let moment = Moment {
                    object: old,
                    state: &state,
                    complaint: given.complaint.as_deref(),
                    asked: &asked,
                    timeline: &timeline,
                    fingerprint: &fingerprint,
                    now,
                    fraction: at.rem_euclid(1000),
                    seen,
                    down,
                    stop_count,
                    catch_up: process.catch_up,
                };
                outcomes.extend(moment.outcomes());
            }
        }
        outcomes
    }

    /// Rule 9: the states that a running scaler can know to be the newest. Where nobody has
    /// changed the labels that is the object's own; and where nothing goes wrong, who has run all
    /// the while knows what was written last.
    fn states(&self, by: &Process, old: &Object, record: &Record, down: u32) -> Vec<State> {
        let own = &old.state;
        if let Some((known, at)) = &record.known
            && self.exact
            && by.started <= *at
        {
            return vec![newer(own, known, old.replicas <= down)];
        }
        let mut states = vec![own.clone()];
        if record.tampered || self.margin >= 3600 {
            for known in &record.states {
                let newer = newer(own, known, old.replicas <= down);
                if !states.contains(&newer) {
                    states.push(newer);
                }
            }
        }
        states
    }

    fn is(&self, outcome: &Outcome, old: &Object, new: &Object, process: &Process) -> bool {
        let mut texts = old.texts.clone();
        texts.retain(|key, _| !outcome.lifted.contains(&&**key));
        let last = (outcome.state.last, outcome.last_until);
        let in_time = match last {
            (Some(from), Some(to)) => new.state.last.is_some_and(|at| (from..=to).contains(&at)),
            (last, _) => new.state.last == last,
        };
        let given = self.given(old, process.zone);
        let plan = if given.complaint.is_some() {
            None
        } else {
            Asked::of(&old.texts, &self.plans).plan
        };
        let timeline = plan.map(|plan| {
            self.timelines
                .of(&self.plans, plan, process.zone, given.delay)
        });
        let next = match (&timeline, new.state.last) {
            (Some(timeline), Some(last)) if outcome.follows => timeline.after(last),
            _ => outcome.state.next,
        };
        let same_next = timeline.map_or(next == new.state.next, |it| it.same(next, new.state.next));
        in_time
            && same_next
            && texts == new.texts
            && outcome.replicas == new.replicas
            && outcome.error == new.error
            && outcome.state.phase == new.state.phase
            && outcome.state.saved == new.state.saved
            && outcome.state.owner == new.state.owner
    }

    /// No count is ever lost: said without rules, by what could be brought back before and after.
    fn keeps_the_count(
        &self,
        outcome: &Outcome,
        old: &Object,
        new: &Object,
        record: &Record,
    ) -> Result<(), String> {
        let exact =
            old.texts.contains_key("replicas") && matches!(outcome.what, What::Start | What::Wake);
        // What is up by more than it would be after a stop is what the user wants.
        let is_up = old.replicas > texts::stop_count(&old.texts).max(record.stop_count)
            || old.replicas > texts::stop_count(&old.texts);
        let floor = if is_up {
            old.replicas
        } else {
            old.recoverable()
        };
        if exact || new.recoverable() >= floor {
            return Ok(());
        }
        Err(format!(
            "a count was lost: {} of {floor}",
            new.recoverable()
        ))
    }

    fn is_punctual(
        &self,
        write: &Write<'_>,
        outcome: &Outcome,
        old: &Object,
        process: &Process,
        record: &Record,
    ) -> Result<(), String> {
        let known = process.started.max(record.touched);
        let ends = ["pause", "wake-until", "sleep-until"].map(|key| {
            let end = chrono::DateTime::parse_from_rfc3339(old.texts.get(key)?);
            end.ok().map(|end| end.timestamp_millis())
        });
        let due = outcome.due.map(|due| due * 1000);
        let awaited = due.into_iter().chain(ends.into_iter().flatten());
        let passed = awaited.filter(|at| *at <= write.at).max();
        let right = passed.map_or(known, |at| at.max(known));
        if write.at == right {
            return Ok(());
        }
        Err(format!("written {} ms after its time", write.at - right))
    }
}

/// What is known, where that is newer than what the object says; a saved count is kept from either
/// side while the object is down.
fn newer(own: &State, known: &State, is_down: bool) -> State {
    if known.last > own.last {
        let saved = own.saved.filter(|_| is_down);
        return State {
            saved: known.saved.or(saved),
            ..known.clone()
        };
    }
    let is_same = known.last == own.last && (own.phase.is_none() || own.phase == known.phase);
    if !is_same || known.last.is_none() {
        return own.clone();
    }
    State {
        phase: own.phase.or(known.phase),
        last: own.last,
        next: own.next.or(known.next),
        saved: own.saved.or(known.saved),
        owner: own.owner.clone().or_else(|| known.owner.clone()),
    }
}

/// What the rules allow, each once.
pub fn all(outcomes: &[Outcome]) -> String {
    let mut texts: Vec<_> = outcomes
        .iter()
        .map(|it| format!("\n    allowed: {it}"))
        .collect();
    texts.sort();
    texts.dedup();
    texts.concat()
}

/// What was made of an object.
pub fn told(old: &Object, new: &Object) -> String {
    let at = |at: Option<i64>| at.map_or_else(|| "-".to_owned(), show);
    let state = &new.state;
    let lifted = if old.texts == new.texts {
        ""
    } else {
        ", lifts"
    };
    let error = if new.error.is_some() { ", error" } else { "" };
    let phase = state
        .phase
        .map_or_else(|| "-".to_owned(), |phase| format!("{phase:?}"));
    format!(
        "{}: {} -> {}, {phase}, last {}, next {}, saved {:?}{lifted}{error}",
        new.full_name(),
        old.replicas,
        new.replicas,
        at(state.last),
        at(state.next),
        state.saved,
    )
}
