//! The requests and responses that the observer sees, and other inputs of a controller.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    checker::{
        objects::object::Object,
        observer::{Observer, Sent},
        scalers::{
            request::{Request, name_of},
            shown::version_of,
        },
    },
    scenario::{fault::Trouble, holidays::Holidays},
};

/// The maximum number of requests while no time passes.
const MAX_REQUESTS: u32 = 2_000;

/// The time after a suspend or a clock change after which no version queries are sent, in
/// milliseconds.
const CALM: i64 = 5 * 60_000;

impl Observer {
    /// A request leaves a process; returns whether requests repeat endlessly while no time passes.
    pub fn asks(&mut self) -> bool {
        let now = self.truth.now().timestamp_millis();
        let count = if self.requests.0 == now {
            self.requests.1 + 1
        } else {
            1
        };
        self.requests = (now, count);
        let is_endless = count > MAX_REQUESTS;
        if is_endless {
            self.fail(now, "the requests have no end");
        }
        is_endless
    }

    /// Namespaces are requested.
    pub fn asks_for_namespaces(&mut self, by: &str) {
        if !self.processes[by].shown.asks_for_namespaces() {
            let now = self.truth.now().timestamp_millis();
            self.fail(
                now,
                &format!("{by} asks for Namespaces, which it was told not to"),
            );
        }
    }

    /// A patch leaves a process; returns its number.
    pub fn sends(&mut self, by: &str, path: &str) -> usize {
        let at = self.instants(by);
        let (namespace, name) = name_of(path).unwrap();
        let shown = &self.processes[by].shown;
        let known = shown.known(namespace, name, at.truth);
        let knows_namespaces = shown.knows_namespaces();
        self.sent.push(Sent {
            by: by.to_owned(),
            at,
            known,
            knows_namespaces,
            done: None,
            is_answered: false,
        });
        self.sent.len() - 1
    }

    /// A list of one object is requested, for the server's time or its latest version. This must
    /// not happen without faults.
    pub fn asks_how_far(&mut self, by: &str) {
        let at = self.instants(by);
        let process = &self.processes[by];
        let calm = [self.recovered, self.woke.0 + CALM, process.clock_set + CALM];
        let is_calm = calm.iter().all(|since| *since <= at.truth);
        if is_calm && !at.unsure && !self.troubled.any_hangs(at.truth - CALM) {
            self.fail(
                at.truth,
                &format!("{by} asks for a list, and nothing happened"),
            );
        }
    }

    /// A single object is read.
    pub fn reads_object(&mut self, by: &str, path: &str) {
        let Some((namespace, name)) = name_of(path) else {
            return;
        };
        let at = self.instants(by);
        let process = self.process(by);
        let known = process.shown.known(namespace, name, at.truth);
        let clock_set = process.clock_set;
        let read = process.reads.read((namespace, name), &known, at, clock_set);
        match read {
            Ok(true) => self.reports.looks_up(by, path),
            Ok(false) => {}
            Err(why) => self.fail(at.truth, &format!("{by}: {namespace}/{name}: {why}")),
        }
    }

    /// The server has another object than the one that a patch was decided from. Its sender must
    /// not have been shown the current one, or the conflict would repeat forever.
    pub fn conflicted(&mut self, number: usize, object: Option<&Value>) {
        let (Some(object), known) = (object, &self.sent[number].known) else {
            return;
        };
        let version = version_of(object);
        if !known.is_empty() && known.iter().all(|it| it.version == version) {
            let by = self.sent[number].by.clone();
            let name = Object::shown(object).full_name();
            let at = self.truth.now().timestamp_millis();
            let why = format!("{by} was shown {name} as it is, and its patch conflicts");
            self.fail(at, &why);
        }
    }

    /// An attempt to write to an object meets its fault, which the server reports if `answered`.
    pub fn meets_trouble(&mut self, by: &str, patch: Option<usize>, answered: Option<Trouble>) {
        let at = self.truth.now().timestamp_millis();
        let Some(sent) = patch.map(|number| &mut self.sent[number]) else {
            return;
        };
        // After a 500 or no response it is unknown whether it took effect.
        sent.is_answered = matches!(
            answered,
            Some(Trouble::Denies | Trouble::Forbidden | Trouble::Busy)
        );
        if let Some(known) = sent.known.first() {
            self.reports.failed(by, &known.object.uid, answered, at);
        }
    }

    /// A patch is answered with a conflict.
    pub fn conflicts(&mut self, by: &str, path: &str) {
        if let Some((namespace, name)) = name_of(path) {
            self.process(by).reads.conflicted(namespace, name);
        }
    }

    pub fn opens(&mut self, by: &str, request: &Request) {
        self.process(by).shown.opens(request);
    }

    pub fn tells(&mut self, by: &str, request: &Request, lines: &[u8]) {
        let at = self.instants(by);
        self.process(by).shown.tells(request, lines, at);
    }

    pub fn answers(&mut self, by: &str, request: &Request, code: u16, body: &[u8]) {
        let at = self.instants(by);
        let done = request
            .patch
            .and_then(|number| self.sent[number].done.clone());
        if code == 200
            && let Ok(object) = serde_json::from_slice::<Value>(body)
        {
            self.reports.looked_up(by, &request.path, &object, at.truth);
        }
        if let Some(number) = request.patch {
            self.sent[number].is_answered = true;
            if matches!(code, 409 | 422) {
                self.conflicts(by, &request.path);
            }
        }
        let shown = &mut self.process(by).shown;
        shown.answers(request, code, body, done.as_ref(), at);
    }

    /// A response of the server arrived this many milliseconds late.
    pub fn heard_late(&mut self, by: &str, time: u32) {
        let process = self.process(by);
        process.late = process.late.max(time.into());
    }

    /// The clock of a controller was set, possibly back.
    pub fn clock_set(&mut self, by: &str) {
        let at = self.instants(by);
        let process = self.process(by);
        process.clock_set = at.truth;
        process.shown.set_back(at);
    }

    /// A controller read the current calendars.
    pub fn reads(&mut self, by: &str, holidays: &Arc<Holidays>) {
        let at = self.instants(by);
        let process = self.process(by);
        if process.shown.reads(holidays, at) {
            process.calendars_read = at.truth;
        }
    }
}
