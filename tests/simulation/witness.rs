//! Looks at every write that the API accepts, and at the objects once all is quiet.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex},
};

use chrono_tz::Tz;
use serde_json::Value;

use crate::{
    calendar::{Plan, show},
    given::Given,
    judge::{all, told},
    object::{Object, SCOPE, State},
    outcome::{Outcome, What},
    texts,
    timeline::Timelines,
};

/// How long a scaler may go on with an object that has left its scope: as long as a watch can be
/// blind without anybody noticing, and some pauses before it is open again.
pub const BLIND: i64 = 15 * 60 * 1000;

/// How many writes there may be between two things that happen: some days of boundaries.
const MOST_WRITES: usize = 400;

pub(crate) type Texts = BTreeMap<String, String>;

/// One run of a scaler, from its start to its end.
#[derive(Clone, Debug)]
pub struct Process {
    pub zone: Tz,
    /// Whether it holds its clock against the server's.
    pub guarded: bool,
    /// In hours.
    pub catch_up: u32,
    /// By the server's clock, in milliseconds.
    pub started: i64,
}

/// What is known of one object, from its creation to its end.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// Every state that it has been in.
    pub(crate) states: Vec<State>,
    /// When its annotations, or anything of it, were changed by somebody else, in milliseconds.
    pub(crate) edited: i64,
    pub(crate) touched: i64,
    texts: Option<Texts>,
    /// Somebody else has changed the state.
    pub(crate) tampered: bool,
    /// What a scaler wrote last, and when: who has run since then knows it.
    pub(crate) known: Option<(State, i64)>,
    /// `stop-replicas` when `last` was written.
    pub(crate) stop_count: u32,
    /// When it left the scope.
    pub(crate) left: Option<i64>,
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
    /// When all machines woke up last, by the server's clock, and how long they had slept; in
    /// milliseconds.
    pub woke: (i64, i64),
    pub trace: Vec<String>,
    pub failure: Option<String>,
    pub writes: usize,
    /// Writes since something happened.
    pub since: usize,
    pub(crate) records: HashMap<String, Record>,
    pub(crate) readings: Mutex<HashMap<(String, Texts, Tz), Arc<Given>>>,
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
            woke: (0, 0),
            trace: Vec::new(),
            failure: None,
            writes: 0,
            since: 0,
            records: HashMap::new(),
            readings: Mutex::default(),
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
        if !texts::has_schedule(&object.texts) {
            record.known = None; // nothing is left to know
        }
        if in_scope {
            if record.left.take().is_some() {
                record.edited = at; // it is seen for the first time again
                record.known = None;
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
            record.stop_count = texts::stop_count(&object.texts);
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
        record.known = Some((new.state.clone(), write.at));
        if old.state.last != new.state.last {
            record.stop_count = texts::stop_count(&old.texts);
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
