//! Looks at every write that the API accepts, and at the objects once all is quiet.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex},
};

use chrono_tz::Tz;
use serde_json::Value;

use crate::{
    asked::{self, Asked},
    calendar::{Plan, show},
    given::{self, Given},
    object::{Object, SCOPE, State},
    rules::{Moment, Outcome, What},
    timeline::{Timeline, Timelines},
};

/// How long a scaler may go on with an object that has left its scope: as long as a watch can be
/// blind without anybody noticing, and some pauses before it is open again.
pub const BLIND: i64 = 15 * 60 * 1000;

/// How many writes there may be between two things that happen: some days of boundaries.
const MOST_WRITES: usize = 400;

type Texts = BTreeMap<String, String>;

/// One run of a scaler, from its start to its end.
#[derive(Clone, Debug)]
pub struct Process {
    pub zone: Tz,
    /// Whether it holds its clock against the server's.
    pub guarded: bool,
    /// By the server's clock, in milliseconds.
    pub started: i64,
}

/// What is known of one object, from its creation to its end.
#[derive(Debug, Default)]
struct Record {
    /// Every state that it has been in.
    states: Vec<State>,
    /// When its annotations, or anything of it, were changed by somebody else, in milliseconds.
    edited: i64,
    touched: i64,
    texts: Option<Texts>,
    /// Somebody else has changed the state.
    tampered: bool,
    /// `stop-replicas` when `last` was written.
    stop_count: u32,
    /// When it left the scope.
    left: Option<i64>,
    /// How often each process has put something right since its last transition: surely, and
    /// perhaps.
    corrections: HashMap<String, (u32, u32)>,
}

pub struct Witness {
    pub plans: Arc<[Plan]>,
    pub timelines: Timelines,
    pub processes: HashMap<String, Process>,
    /// How far a scaler's clock can have been wrong when it saw an object, in seconds.
    pub margin: i64,
    /// Nothing goes wrong: everything happens at its very millisecond.
    pub exact: bool,
    /// Whether only objects in scope are looked at.
    pub scoped: bool,
    pub trace: Vec<String>,
    pub failure: Option<String>,
    pub writes: usize,
    /// Writes since something happened.
    pub since: usize,
    records: HashMap<String, Record>,
    known: Mutex<HashMap<(String, Texts, Tz), Arc<Given>>>,
}

/// An accepted write of a scaler.
pub struct Write<'a> {
    pub by: &'a str,
    /// When it was sent by the scaler's clock and by the server's, and when it took effect by the
    /// server's, in milliseconds.
    pub sent: i64,
    pub sent_in_truth: i64,
    pub at: i64,
    pub old: &'a Value,
    pub new: &'a Value,
}

impl Witness {
    pub fn new(plans: Arc<[Plan]>, timelines: Timelines, margin: i64, exact: bool) -> Self {
        Self {
            plans,
            timelines,
            processes: HashMap::new(),
            margin,
            exact,
            scoped: false,
            trace: Vec::new(),
            failure: None,
            writes: 0,
            since: 0,
            records: HashMap::new(),
            known: Mutex::default(),
        }
    }

    pub fn note(&mut self, at: i64, text: &str) {
        if self.failure.is_some() {
            return; // what comes of it says no more
        }
        let second = show(at.div_euclid(1000));
        let fraction = at.rem_euclid(1000);
        self.trace.push(format!("{second} .{fraction:03} {text}"));
    }

    fn fail(&mut self, at: i64, why: &str) {
        self.note(at, "which is wrong");
        self.failure.get_or_insert_with(|| why.to_owned());
    }

    /// Somebody else has made the object what it is.
    pub fn touched(&mut self, object: &Value, at: i64) {
        let in_scope = self.in_scope(object);
        let object = Object::of(object);
        let record = self.records.entry(object.uid.clone()).or_default();
        record.touched = at;
        if in_scope {
            if record.left.take().is_some() {
                record.edited = at; // it is seen for the first time again
            }
        } else {
            record.left = record.left.or(Some(at));
        }
        if record.texts.as_ref() != Some(&object.texts) {
            record.edited = at;
            record.texts = Some(object.texts.clone());
        }
        if record.states.last() != Some(&object.state) {
            record.tampered |= !record.states.is_empty();
            record.stop_count = asked::stop_count(&object.texts);
            record.states.push(object.state);
        }
    }

    fn in_scope(&self, object: &Value) -> bool {
        !self.scoped || object["metadata"]["labels"][SCOPE] == "on"
    }

    /// A scaler's write: it has to be what the rules ask for, there and then.
    pub fn wrote(&mut self, write: &Write<'_>) {
        if self.failure.is_some() {
            return;
        }
        self.writes += 1;
        self.since += 1;
        if self.since > MOST_WRITES {
            self.fail(write.at, "the writes have no end");
        }
        let (old, new) = (Object::of(write.old), Object::of(write.new));
        let text = told(&old, &new);
        self.note(
            write.at,
            &format!(
                "{} {text} (sent {} ms before)",
                write.by,
                write.at - write.sent
            ),
        );
        let judged = self.judge(write, &old, &new);
        let record = self.records.entry(new.uid.clone()).or_default();
        record.states.push(new.state.clone());
        if old.state.last != new.state.last {
            record.stop_count = asked::stop_count(&old.texts);
        }
        if old.texts != new.texts {
            record.edited = write.at;
            record.texts = Some(new.texts.clone());
        }
        match judged {
            Ok(found) => {
                let corrections = record.corrections.entry(write.by.to_owned()).or_default();
                let is_sure = |it: &Outcome| it.what == What::Enforce || !it.lifted.is_empty();
                if found.iter().all(|outcome| outcome.what.is_fresh()) {
                    *corrections = (0, 0);
                    return;
                }
                corrections.1 += 1;
                if found.iter().all(|it| !it.what.is_fresh() && is_sure(it)) {
                    corrections.0 += 1;
                    if corrections.0 > 3 {
                        self.fail(write.at, "rule 12: more than three corrections");
                    }
                }
            }
            Err(why) => self.fail(write.at, &format!("{}: {why}", new.full_name())),
        }
    }

    /// The legal outcomes that it is: more than one where they come to the same.
    fn judge(&self, write: &Write<'_>, old: &Object, new: &Object) -> Result<Vec<Outcome>, String> {
        let process = &self.processes[write.by];
        let record = &self.records[&old.uid];
        let off = write.sent - write.sent_in_truth;
        // The server's `Date` has whole seconds.
        if process.guarded && off.abs() > 32_000 {
            return Err(format!("rule 13: written by a clock {off} ms off"));
        }
        if old.deleting {
            return Err("it is being deleted, and was patched".into());
        }
        if let Some(left) = record.left
            && (self.exact || write.at > left + BLIND)
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
        let mut known = self.known.lock().unwrap();
        known
            .entry(key)
            .or_insert_with(|| Arc::new(given::of(object, zone)))
            .clone()
    }

    /// What may be done with an object as it is, at a time of the scaler's clock.
    fn outcomes(&self, by: &str, old: &Object, at: i64, record: &Record) -> Vec<Option<Outcome>> {
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
        let stop_count = asked::stop_count(&old.texts);
        let fingerprint = asked::fingerprint(&old.texts, &old.uid);
        let mut outcomes = Vec::new();
        for down in [stop_count, stop_count.max(record.stop_count)] {
            for state in self.states(old, record, down) {
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
                };
                outcomes.extend(moment.outcomes());
            }
        }
        outcomes
    }

    /// Rule 9: the states that a running scaler can know to be the newest. Where nobody has
    /// changed the labels that is the object's own.
    fn states(&self, old: &Object, record: &Record, down: u32) -> Vec<State> {
        let mut states = vec![old.state.clone()];
        if !record.tampered && self.margin < 3600 {
            return states;
        }
        let own = &old.state;
        for known in record.states.iter().filter(|known| known.last.is_some()) {
            let newer = known.last > own.last;
            let same = known.last == own.last && (own.phase.is_none() || own.phase == known.phase);
            let healed = if newer {
                let saved = own.saved.filter(|_| old.replicas <= down);
                State {
                    saved: known.saved.or(saved),
                    ..known.clone()
                }
            } else if same {
                State {
                    phase: own.phase.or(known.phase),
                    last: own.last,
                    next: own.next.or(known.next),
                    saved: own.saved.or(known.saved),
                    owner: own.owner.clone().or_else(|| known.owner.clone()),
                }
            } else {
                continue;
            };
            if !states.contains(&healed) {
                states.push(healed);
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
        let is_up = old.replicas > asked::stop_count(&old.texts).max(record.stop_count)
            || old.replicas > asked::stop_count(&old.texts);
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

/// What quiet asks for.
impl Witness {
    /// All is quiet: nothing is left to do, whoever of these is asked.
    pub fn is_settled(&mut self, object: &Value, processes: &[String], at: i64) {
        let in_scope = self.in_scope(object);
        let object = Object::of(object);
        let Some(record) = self.records.get(&object.uid) else {
            return;
        };
        if !in_scope || processes.is_empty() {
            return;
        }
        for by in processes {
            if record
                .corrections
                .get(by)
                .is_some_and(|(_, perhaps)| *perhaps >= 3)
            {
                return; // hands off, rule 12
            }
        }
        let outcomes = self.outcomes(&processes[0], &object, at, record);
        if outcomes.iter().any(Option::is_none) {
            return;
        }
        let outcomes: Vec<_> = outcomes.into_iter().flatten().collect();
        let why = format!(
            "{} has not settled{}",
            told(&object, &object),
            all(&outcomes)
        );
        self.fail(at, &why);
    }
}

/// What the rules allow, each once.
fn all(outcomes: &[Outcome]) -> String {
    let mut texts: Vec<_> = outcomes
        .iter()
        .map(|it| format!("\n    allowed: {it}"))
        .collect();
    texts.sort();
    texts.dedup();
    texts.concat()
}

fn told(old: &Object, new: &Object) -> String {
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
