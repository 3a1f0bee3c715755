//! The requests and responses that the observer receives, and other inputs of a controller.

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

/// The time after a suspend or a clock change after which no version query is allowed, in milliseconds.
const CALM: i64 = 5 * 60_000;

impl Observer {
    /// A process sends a request. Returns whether it repeats requests endlessly while no time passes.
    pub fn record_request(&mut self) -> bool {
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

    /// A process requests Namespaces.
    pub fn asks_for_namespaces(&mut self, by: &str) {
        if !self.processes[by].shown.asks_for_namespaces() {
            let now = self.truth.now().timestamp_millis();
            self.fail(
                now,
                &format!("{by} requests Namespaces despite --namespace-defaults=false"),
            );
        }
    }

    /// A process sends a patch. Returns the number of the patch.
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

    /// A process lists one object to query the server's time or its latest version. Without faults this must
    /// not happen.
    pub fn record_version_query(&mut self, by: &str) {
        let at = self.instants(by);
        let process = &self.processes[by];
        let calm = [self.recovered, self.woke.0 + CALM, process.clock_set + CALM];
        let is_calm = calm.iter().all(|since| *since <= at.truth);
        if is_calm && !at.unsure && !self.troubled.any_hangs(at.truth - CALM) {
            self.fail(at.truth, &format!("{by} requests a list without a reason"));
        }
    }

    /// A process reads a single object.
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
            Ok(true) => self.reports.begin_lookup(by, path),
            Ok(false) => {}
            Err(why) => self.fail(at.truth, &format!("{by}: {namespace}/{name}: {why}")),
        }
    }

    /// A patch conflicts with the current object. Its sender must not have observed this object before:
    /// otherwise the conflict would repeat forever.
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

    /// A write to an object meets the fault of the object. The server reports the fault if `answered` is set.
    pub fn record_fault(&mut self, by: &str, patch: Option<usize>, answered: Option<Trouble>) {
        let at = self.truth.now().timestamp_millis();
        let Some(sent) = patch.map(|number| &mut self.sent[number]) else {
            return;
        };
        // After a 500 or a lost response, it is unknown whether the patch took effect.
        sent.is_answered = matches!(
            answered,
            Some(Trouble::Denies | Trouble::Forbidden | Trouble::Busy)
        );
        if let Some(known) = sent.known.first() {
            self.reports.failed(by, &known.object.uid, answered, at);
        }
    }

    /// The response to a patch is a conflict.
    pub fn conflicts(&mut self, by: &str, path: &str) {
        if let Some((namespace, name)) = name_of(path) {
            self.process(by).reads.conflicted(namespace, name);
        }
    }

    pub fn opens(&mut self, by: &str, request: &Request) {
        self.process(by).shown.opens(request);
    }

    pub fn receive_events(&mut self, by: &str, request: &Request, lines: &[u8]) {
        let at = self.instants(by);
        self.process(by).shown.receive_events(request, lines, at);
    }

    pub fn receive_response(&mut self, by: &str, request: &Request, code: u16, body: &[u8]) {
        let at = self.instants(by);
        let done = request
            .patch
            .and_then(|number| self.sent[number].done.clone());
        if code == 200
            && let Ok(object) = serde_json::from_slice::<Value>(body)
        {
            self.reports
                .end_lookup(by, &request.path, &object, at.truth);
        }
        if let Some(number) = request.patch {
            self.sent[number].is_answered = true;
            if matches!(code, 409 | 422) {
                self.conflicts(by, &request.path);
            }
        }
        let shown = &mut self.process(by).shown;
        shown.receive_response(request, code, body, done.as_ref(), at);
    }

    /// A response of the server arrived late by this many milliseconds.
    pub fn record_late_response(&mut self, by: &str, time: u32) {
        let process = self.process(by);
        process.late = process.late.max(time.into());
    }

    /// The clock of a controller was set, possibly to an earlier time.
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
