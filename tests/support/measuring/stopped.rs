//! A large Deployment that was stopped on a Friday evening.

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::Workload;
use dayshift_schedule::Zone;
use dayshift_workload::{
    Change, Decision, DecisionContext, Kind, Label, Memory, Observed, ParsedInputs, Prefix, decide,
    read,
};
use kube_in_memory::Api;
use serde_json::{Value, json};

use super::large::large;

/// The time of the tests, after the stop.
pub(crate) const NIGHT: &str = "2026-11-20T18:00:00Z";
pub(crate) const MORNING: &str = "2026-11-23T08:00:00Z";

pub(crate) fn at(instant: &str, minutes: i64) -> DateTime<Utc> {
    instant.parse::<DateTime<Utc>>().unwrap() + TimeDelta::minutes(minutes)
}

pub(crate) fn hours() -> Value {
    json!({
        "dayshift/hours": "Mon-Fri 09:00-19:00; Sat 10:00-14:00",
        "dayshift/timezone": "Europe/Berlin",
    })
}

/// A Deployment as the API server returns it, with managed fields.
pub(crate) fn stored_object(annotations: &Value) -> Value {
    let api = Api::new(|| at(NIGHT, 0));
    api.create(large("default", "checkout", annotations))
        .unwrap()
}

/// The observed, parsed and remembered state of a Deployment that was stopped on Friday.
pub(crate) struct Stopped {
    pub(crate) observed: Observed,
    parsed: ParsedInputs,
    memory: Memory,
}

impl Stopped {
    pub(crate) fn observe() -> Self {
        let mut object = stored_object(&hours());
        object["metadata"]["labels"]["dayshift/state"] = "adopted".into();
        let adopted = Self::from_object(object.clone());
        let adopt = adopted.write(at(NIGHT, -60));
        for (label, text) in labels(&adopt) {
            object["metadata"]["labels"][label] = text.into();
        }
        let adopted = Self::from_object(object.clone());
        let stop = adopted.write(at(NIGHT, 0));
        for (label, text) in labels(&stop) {
            object["metadata"]["labels"][label] = text.into();
        }
        object["spec"]["replicas"] = stop.replicas.get().into();
        Self::from_object(object)
    }

    pub(crate) fn from_object(object: Value) -> Self {
        let workload: Workload = serde_json::from_value(object).unwrap();
        let observed = workload.observe(&Kind::DEPLOYMENT, &Prefix::default());
        Self {
            parsed: read(&observed.inputs, &Zone::UTC.into()),
            memory: Memory::new(&observed),
            observed,
        }
    }

    pub(crate) fn decide(&self, now: DateTime<Utc>) -> Decision {
        let situation = DecisionContext {
            parsed: &self.parsed,
            observed: &self.observed,
            memory: &self.memory,
            seen: at(NIGHT, -60),
            catch_up: TimeDelta::hours(72),
            prefix: &Prefix::default(),
        };
        decide(&situation, now)
    }

    pub(crate) fn write(&self, now: DateTime<Utc>) -> Change {
        match self.decide(now) {
            Decision::Write(change) => change,
            other => panic!("{other:?}"),
        }
    }
}

fn labels(change: &Change) -> Vec<(String, String)> {
    let labels = change.state.to_labels();
    let all = Label::ALL.into_iter();
    all.filter_map(|label| {
        let text = labels.text(label)?.to_owned();
        Some((Prefix::default().label(label), text))
    })
    .collect()
}
