//! An object with an on/off field on a server, and a controller that can be killed at any time.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::{Workload, decode::FullWorkload, write::guarded_patch};
use dayshift_workload::{
    Change, Decision, DecisionContext, Kind, KindTable, Memory, ParseContext, Prefix, decide,
};
use json_patch::{Patch, PatchOperation};
use serde_json::{Value, json};

use crate::object::utc;

#[derive(Clone)]
pub(super) struct Live {
    pub(super) kind: Kind,
    pub(super) object: Value,
    pub(super) now: DateTime<Utc>,
    memory: Option<Memory>,
    seen: DateTime<Utc>,
}

const PREFIX: &str = "dayshift/";

impl Live {
    /// An object with office hours, at noon.
    pub(super) fn new(kind: &str, object: Value) -> Self {
        let (plural, group) = kind.split_once('.').unwrap();
        Self::with_kind(KindTable::default().resource(plural, group), object)
    }

    /// The same of this kind.
    pub(super) fn with_kind(kind: Kind, object: Value) -> Self {
        let mut live = Self {
            kind,
            object,
            now: utc("2026-11-19 12:00"),
            memory: None,
            seen: utc("2026-11-19 12:00"),
        };
        live.object["metadata"]["name"] = json!("db");
        live.object["metadata"]["namespace"] = json!("dev");
        live.object["metadata"]["uid"] = json!("u1");
        live.annotate("hours", "09:00-19:00");
        live.obey();
        live
    }

    /// The object as a client decodes it.
    fn decode(&self) -> Workload {
        let object = self.object.clone();
        if self.kind.has_own_spec_members() {
            let full: FullWorkload = serde_json::from_value(object).unwrap();
            full.into()
        } else {
            serde_json::from_value(object).unwrap()
        }
    }

    pub(super) fn annotate(&mut self, key: &str, text: &str) -> &mut Self {
        self.object["metadata"]["annotations"][format!("{PREFIX}{key}")] = json!(text);
        self.seen = self.now;
        self
    }

    /// The change that is due and its patch, if there is one.
    pub(super) fn due(&mut self) -> Result<(Change, Patch), Option<DateTime<Utc>>> {
        let prefix = Prefix::default();
        let workload = self.decode();
        let observed = workload.observe(&self.kind, &prefix);
        let parsed = observed.read(&ParseContext::default());
        let memory = self.memory.get_or_insert_with(|| Memory::new(&observed));
        memory.observe(&observed, self.now);
        let context = DecisionContext {
            parsed: &parsed,
            observed: &observed,
            memory,
            seen: self.seen,
            catch_up: TimeDelta::hours(72),
            prefix: &prefix,
        };
        match decide(&context, self.now) {
            Decision::Write(change) => {
                let patch = as_sent(&guarded_patch(&observed, &change, &prefix));
                memory.wrote(&observed, &change, self.now);
                Ok((change, patch))
            }
            Decision::Wait { due } => Err(due),
            Decision::StopsSoon { due, .. } => Err(Some(due)),
            Decision::CorrectionLimitReached { due, .. } => Err(due),
        }
    }

    /// Applies everything that is due; returns the next due time.
    pub(super) fn obey(&mut self) -> Option<DateTime<Utc>> {
        for _ in 0..5 {
            match self.due() {
                Ok((_, patch)) => apply(&mut self.object, &patch).unwrap(),
                Err(due) => return due,
            }
        }
        panic!("decisions do not converge: {}", self.object);
    }

    pub(super) fn until(&mut self, time: &str) -> &mut Self {
        let until = utc(time);
        while let Some(due) = self.obey().filter(|due| *due <= until) {
            self.now = due.max(self.now);
        }
        self.now = until;
        self.obey();
        self
    }

    pub(super) fn killed(&mut self) -> &mut Self {
        self.memory = None;
        self
    }

    pub(super) fn label(&self, name: &str) -> Option<&str> {
        self.object["metadata"]["labels"][format!("{PREFIX}{name}")].as_str()
    }

    /// The object without dayshift's own annotations and labels.
    pub(super) fn theirs(&self) -> Value {
        let mut object = self.object.clone();
        for map in ["labels", "annotations"] {
            if let Some(texts) = object["metadata"][map].as_object_mut() {
                texts.retain(|key, _| !key.starts_with(PREFIX));
            }
        }
        object["metadata"].as_object_mut().unwrap().remove("labels");
        object
    }

    /// Whether it has the stopped value, or any timestamp if that means stopped.
    pub(super) fn is_stopped(&self, path: &str, stopped: &Value) -> bool {
        let is_instant = |it: &Value| it.as_str().is_some_and(|it| it.starts_with("2026"));
        let found = self.object.pointer(path);
        found.is_some_and(|it| it == stopped || is_instant(it) && is_instant(stopped))
    }

    pub(super) fn error(&self) -> &str {
        let error = &self.object["metadata"]["annotations"]["dayshift/error"];
        error.as_str().unwrap_or_default()
    }
}

/// The patch as its receiver reads it.
pub(super) fn as_sent(patch: &dayshift_cluster::write::Patch) -> Patch {
    serde_json::from_value(serde_json::to_value(patch).unwrap()).unwrap()
}

/// Applies a JSON patch as the API server does: a test for `null` passes if the last field is
/// missing, and fails if a parent is missing.
pub(super) fn apply(object: &mut Value, patch: &Patch) -> Result<(), String> {
    let mut writes = Vec::new();
    for operation in &patch.0 {
        let PatchOperation::Test(test) = operation else {
            writes.push(operation.clone());
            continue;
        };
        let path = test.path.to_string();
        let above = path.rsplit_once('/').unwrap().0;
        if !object.pointer(above).is_some_and(Value::is_object) {
            return Err(format!("{above} is missing"));
        }
        if object.pointer(&path).unwrap_or(&Value::Null) != &test.value {
            return Err(format!("{path} is not {}", test.value));
        }
    }
    json_patch::patch(object, &writes).map_err(|error| error.to_string())
}
