//! The observer: it receives every write that the API accepts, and checks it.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex},
};

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use dayshift_cluster::clock::Clock;
use serde_json::Value;

use crate::{
    checker::{
        assumptions::Assumptions,
        check_settled::CheckResult,
        description::describe,
        objects::object::{Object, SCOPE},
        reporting::{Reports, Unreported},
        rules::timeline::Timelines,
        scalers::{
            known::{Done, Instants, Known},
            reads::Reads,
            shown::Shown,
            troubled::Troubled,
        },
        switches,
    },
    scenario::{
        calendar::{Plan, show},
        holidays::NAMES,
    },
};

/// The maximum time after a wake-up during which a controller has not received the server's `Date`, in
/// milliseconds.
pub const UNHEARD: i64 = 60 * 1000;

/// The maximum number of writes between two steps: some days of boundaries.
const MAX_WRITES: usize = 400;

pub(crate) type Texts = BTreeMap<String, String>;

/// One run of a controller, from its start to its end.
pub struct Process {
    pub zone: Tz,
    /// Whether the controller compares its clock with the server's.
    pub guarded: bool,
    /// The catch-up limit, in hours.
    pub catch_up: u32,
    /// When it started, by the server's clock, in milliseconds.
    pub started: i64,
    /// The controller's own clock.
    pub clock: Clock,
    pub shown: Shown,
    pub reads: Reads,
    /// The maximum delay of a response, and of its `Date`, in milliseconds.
    pub late: i64,
    /// When its clock was last set, by the server's clock, in milliseconds.
    pub clock_set: i64,
    /// When it last read other calendars, by the server's clock, in milliseconds.
    pub calendars_read: i64,
    /// Whether it is a dry run.
    pub is_dry: bool,
}

/// A patch in flight, and the process's knowledge when it decided on the patch.
#[derive(Clone)]
pub struct Sent {
    pub by: String,
    pub at: Instants,
    pub known: Vec<Known>,
    /// Whether its sender had observed all Namespaces.
    pub knows_namespaces: bool,
    pub done: Option<Done>,
    /// Whether its sender received a response.
    pub is_answered: bool,
}

/// The history of one object, from its creation to its end.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// When another client last changed it, in milliseconds.
    pub(crate) touched: i64,
    /// When it left the scope, and how long all machines had slept until then, in milliseconds.
    pub(crate) left: Option<(i64, i64)>,
    /// The value that a stop found in its on/off field.
    pub(crate) held: Option<Value>,
    /// When each process last announced a stop of it, by its clock, in milliseconds.
    pub(crate) warned: HashMap<String, i64>,
}

/// Cached results of parsing: by the annotations of an object and its Namespace, the zone, and the known
/// calendars.
type ParseCache = Mutex<HashMap<(String, [Texts; 2], Tz, Names), Arc<Assumptions>>>;
type Names = [bool; NAMES.len()];

pub struct Observer {
    pub plans: Arc<[Plan]>,
    pub timelines: Timelines,
    pub processes: HashMap<String, Process>,
    /// No faults occur, so that everything happens at its exact millisecond.
    pub exact: bool,
    /// Whether only objects in scope are watched.
    pub scoped: bool,
    pub namespaces: Vec<String>,
    pub excluded: Vec<String>,
    /// The namespace and name of the workload that owns the controllers' pods.
    pub own: Option<(&'static str, String)>,
    /// The Namespaces with the selected labels, if there is a selector.
    pub selected: Option<&'static [&'static str]>,
    pub(crate) troubled: Troubled,
    pub(crate) reports: Reports,
    /// When Events last had a fault.
    pub(crate) event_troubles: i64,
    /// The time since which no fault affects more than single objects, and since which all earlier faults
    /// have been recovered from.
    pub(crate) recovered: i64,
    /// When all machines last woke up, by the server's clock, and how long they had slept, in
    /// milliseconds.
    pub woke: (i64, i64),
    /// The sum of all sleeps.
    pub slept: i64,
    pub trace: Vec<String>,
    pub failure: Option<String>,
    pub writes: usize,
    /// The results of the checks of settled objects.
    pub looks: BTreeMap<CheckResult, usize>,
    /// Writes since the last step of the scenario.
    pub since: usize,
    /// The server's clock, which is always right.
    pub(super) truth: Clock,
    pub sent: Vec<Sent>,
    /// The number of requests in a millisecond.
    pub(super) requests: (i64, u32),
    pub(crate) records: HashMap<String, Record>,
    pub(crate) parse_cache: ParseCache,
    /// The current annotations of each Namespace.
    pub(crate) defaults: HashMap<String, Texts>,
}

/// An accepted write of a controller.
pub struct Write<'a> {
    pub number: usize,
    pub sent: &'a Sent,
    /// When it took effect, by the server's clock, in milliseconds.
    pub at: i64,
    pub old: &'a Value,
    pub new: &'a Value,
}

impl Observer {
    pub fn new(plans: Arc<[Plan]>, timelines: Timelines, truth: Clock, exact: bool) -> Self {
        Self {
            plans,
            timelines,
            processes: HashMap::new(),
            exact,
            scoped: false,
            namespaces: Vec::new(),
            excluded: Vec::new(),
            own: None,
            selected: None,
            troubled: Troubled::default(),
            reports: Reports::default(),
            event_troubles: 0,
            recovered: if exact { 0 } else { i64::MAX },
            woke: (0, 0),
            slept: 0,
            trace: Vec::new(),
            failure: None,
            writes: 0,
            looks: BTreeMap::new(),
            since: 0,
            truth,
            sent: Vec::new(),
            requests: (0, 0),
            records: HashMap::new(),
            parse_cache: Mutex::default(),
            defaults: HashMap::new(),
        }
    }

    pub fn note(&mut self, at: i64, text: &str) {
        if self.failure.is_some() {
            return; // later results add no information
        }
        let second = show(at.div_euclid(1000));
        let fraction = at.rem_euclid(1000);
        self.trace.push(format!("{second} .{fraction:03} {text}"));
    }

    pub(crate) fn fail(&mut self, at: i64, why: &str) {
        self.note(at, "violates the rules");
        self.failure.get_or_insert_with(|| why.to_owned());
    }

    /// Another client changed the object.
    pub fn touched(&mut self, object: &Value, at: i64) {
        let in_scope = self.in_scope(object);
        let object = Object::shown(object);
        self.reports.touched(&object.uid);
        let record = self.records.entry(object.uid.clone()).or_default();
        record.touched = at;
        if in_scope {
            record.left = None;
        } else {
            record.left = record.left.or(Some((at, self.slept)));
        }
    }

    pub(super) fn in_scope(&self, object: &Value) -> bool {
        let namespace = object["metadata"]["namespace"].as_str().unwrap();
        let is_it = |name: &String| name == namespace;
        let is_named = self.namespaces.is_empty() || self.namespaces.iter().any(is_it);
        let is_selected = !self.scoped || object["metadata"]["labels"][SCOPE] == "on";
        let is_of_team = self.selected.is_none_or(|names| names.contains(&namespace));
        let name = object["metadata"]["name"].as_str().unwrap();
        let is_own = |(place, own): &(&str, String)| *place == namespace && own == name;
        is_named
            && is_selected
            && is_of_team
            && !self.excluded.iter().any(is_it)
            && !self.own.as_ref().is_some_and(is_own)
    }

    /// A controller's write: the rules must require it at this time.
    pub fn wrote(&mut self, write: &Write<'_>) {
        if self.failure.is_some() {
            return;
        }
        self.writes += 1;
        self.since += 1;
        if self.since > MAX_WRITES {
            self.fail(write.at, "the writes have no end");
        }
        let (old, new) = (Object::of(write.old), Object::of(write.new));
        let text = describe(&old, &new);
        self.note(
            write.at,
            &format!(
                "{} {text} (sent {} ms before)",
                write.sent.by,
                write.at - write.sent.at.truth
            ),
        );
        let checked = self.check_write(write, &old, &new);
        if let Some(record) = self.records.get_mut(&new.uid) {
            record.touched = record.touched.max(write.at);
            record.held = switches::held(&old, &new).or(record.held.take());
        }
        match checked {
            Ok(done) => {
                self.record_possible_own_write(&write.sent.by, &new, &done);
                let unreported = Unreported::of(write.at, done.kinds.clone(), &old, &new);
                self.reports.wrote(&write.sent.by, &new.uid, unreported);
                self.sent[write.number].done = Some(done);
                if old.replicas != new.replicas {
                    self.sets(&write.sent.by, &old, &new);
                }
            }
            Err(why) => self.fail(write.at, &format!("{}: {why}", new.full_name())),
        }
    }

    /// A write was accepted. A process that waits for a response to its own patch takes this write for its
    /// own when it observes it.
    fn record_possible_own_write(&mut self, by: &str, new: &Object, done: &Done) {
        let of_this = |it: &Known| it.object.uid == new.uid;
        let waits = |it: &&Sent| !it.is_answered && it.known.iter().any(of_this);
        let waiting = self.sent.iter().filter(waits).map(|it| it.by.clone());
        let processes: Vec<_> = waiting.chain([by.to_owned()]).collect();
        for process in processes {
            let shown = &mut self.process(&process).shown;
            shown.record_possible_own_write(new, done, process == by);
        }
    }

    /// A count was set. A process that waits for a response to its own patch takes this write for its own.
    fn sets(&mut self, by: &str, old: &Object, new: &Object) {
        let of_this = |it: &&Known| it.object.uid == new.uid;
        let waiting = self.sent.iter().filter(|it| it.by == by || !it.is_answered);
        let waiting = waiting.filter_map(|it| Some((&it.by, it.known.iter().find(of_this)?)));
        let waiting: HashMap<_, _> = waiting.map(|(by, it)| (by.clone(), it.clone())).collect();
        for (process, known) in waiting {
            let is_own = process == by;
            let at = self.instants(&process);
            let counts = (old.replicas, new.replicas);
            self.process(&process).reads.set(&known, counts, at, is_own);
        }
    }

    /// A Namespace was changed; a controller must never do that.
    pub fn wrote_namespace(&mut self, at: i64) {
        self.fail(at, "a controller has written to a Namespace");
    }

    /// A user changed the annotations of a Namespace.
    pub fn annotated(&mut self, namespace: &Value) {
        let texts = crate::checker::objects::texts::under_prefix(&namespace["metadata"]);
        let name = namespace["metadata"]["name"].as_str().unwrap_or_default();
        self.defaults.insert(name.to_owned(), texts);
    }

    /// An Event was created.
    pub fn event(&mut self, event: &Value, at: i64) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let is_dry = |by: &str| self.processes.get(by).is_some_and(|it| it.is_dry);
        if event["reportingInstance"].as_str().is_some_and(is_dry) {
            return self.fail(at, "an Event of a dry run");
        }
        let (by, uid) = (
            text(&event["reportingInstance"]),
            text(&event["regarding"]["uid"]),
        );
        if event["reason"] == "StopsSoon"
            && let (Some(record), Some(process)) =
                (self.records.get_mut(&uid), self.processes.get(&by))
        {
            let clock = process.clock.now().timestamp_millis();
            record.warned.insert(by.clone(), clock);
        }
        let [reason, kind, note] = ["reason", "type", "note"].map(|key| text(&event[key]));
        if self.exact && self.records.contains_key(&uid) {
            let off = self
                .processes
                .get(&by)
                .map_or(0, |it| it.clock.now().timestamp_millis() - at);
            let made = text(&event["eventTime"]).parse::<DateTime<Utc>>().unwrap();
            let made = made.timestamp_millis() - off;
            let may_skip = self.troubled.is_any();
            let told = self.reports.check_event(
                (&by, &uid),
                (&reason, &kind, &note),
                (made, at),
                may_skip,
            );
            if let Err(why) = told
                && self.lost_answers(&by, Some(&uid)) == 0
            {
                self.fail(at, &why);
            }
        }
        if reason != "CorrectionLimitReached" {
            return;
        }
        self.note(at, &format!("{by}: the correction limit is reached"));
        let Some(process) = self.processes.get_mut(&by) else {
            return;
        };
        // If a response is lost, it is reported again.
        let made = text(&event["eventTime"]).parse::<DateTime<Utc>>();
        let made = made.map_or(at, |made| made.timestamp_millis());
        if process.shown.record_correction_limit_event(&uid, made) > 1 && self.exact {
            self.fail(at, "the limit is reported twice");
        }
    }

    /// The number of missing responses of a process about an object, or about any object. For each of them it
    /// takes an observed write for its own.
    pub fn lost_answers(&self, by: &str, uid: Option<&str>) -> usize {
        let is_it = |known: &Known| uid.is_none_or(|uid| known.object.uid == uid);
        let of_it = |it: &&Sent| it.by == by && !it.is_answered && it.known.iter().any(is_it);
        self.sent.iter().filter(of_it).count()
    }

    /// Events have a fault from now on, or the fault ends.
    pub fn record_event_troubles(&mut self, at: i64) {
        self.troubled.set_events();
        self.event_troubles = at;
    }

    /// All faults have been recovered from at this time.
    pub fn record_recovery(&mut self, at: i64) {
        self.recovered = at;
    }

    pub(super) fn process(&mut self, by: &str) -> &mut Process {
        self.processes.get_mut(by).unwrap()
    }

    pub(super) fn instants(&self, by: &str) -> Instants {
        let process = &self.processes[by];
        let now = |clock: &Clock| clock.now().timestamp_millis();
        let (truth, clock) = (now(&self.truth), now(&process.clock));
        let has_slept = truth < self.woke.0 + UNHEARD;
        let is_off = (clock - truth).abs() >= 29_000 || process.late > 0;
        Instants {
            truth,
            clock,
            slept: self.slept,
            unsure: process.guarded && (is_off || has_slept),
        }
    }
}
