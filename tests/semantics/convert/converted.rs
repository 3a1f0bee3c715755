//! The result of a conversion, as `plan` shows it.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_manifest::{
    SourceFile,
    convert::{ChangeTarget, Conversion, Converter, ObjectChange, SpanDefaults},
    plan::{Period, Planner},
};
use dayshift_schedule::Zone;
use dayshift_workload::{Annotations, Inputs, Key, Kind, Prefix, WorkloadRef};
use serde_json::Value;

use super::clocks::utc;

/// A time before all periods, at which files are converted.
pub(crate) fn convert_at(text: &str, now: &str, defaults: SpanDefaults) -> Conversion {
    let converter = Converter {
        now: utc(now),
        prefix: Prefix::default(),
        namespace: "default".to_owned(),
        defaults,
        flags: Vec::new(),
        flagged: Vec::new(),
        keeps: false,
    };
    converter.convert(&[SourceFile::new("test.yaml", text)])
}

pub(crate) fn convert(text: &str) -> Conversion {
    convert_at(text, "2027-01-01T00:00:00Z", SpanDefaults::default())
}

/// An object with these annotations.
pub(crate) fn annotated(kind: &str, annotations: &[(&str, &str)]) -> String {
    let version = if kind == "Namespace" { "v1" } else { "apps/v1" };
    let lines = annotations
        .iter()
        .map(|(name, text)| format!("    downscaler/{name}: '{text}'\n"));
    let lines: String = lines.collect();
    format!("apiVersion: {version}\nkind: {kind}\nmetadata:\n  name: web\n  annotations:\n{lines}")
}

/// The ids of the findings.
pub(crate) fn rule_ids(conversion: &Conversion) -> Vec<&'static str> {
    conversion.findings.iter().map(|it| it.rule.id()).collect()
}

/// The single change of a conversion.
pub(crate) fn change(conversion: &Conversion) -> &ObjectChange {
    let [change] = &conversion.changes[..] else {
        panic!("{conversion:#?}");
    };
    change
}

/// The planned state of a workload, minute by minute: the last action and its count.
pub(crate) struct Planned {
    boundaries: Vec<(DateTime<Utc>, String, Option<u64>)>,
    /// The state that an override keeps until an action is applied.
    held: Option<bool>,
}

impl Planned {
    /// The plan of a workload with the annotations of a change or, if the change is of a Namespace,
    /// with the inherited ones. It begins two weeks before the period.
    pub(crate) fn of(change: &ObjectChange, period: (&str, &str)) -> Self {
        let prefix = Prefix::default();
        let pairs = || change.set.iter().map(|(name, text)| (&**name, &**text));
        let is_namespace =
            matches!(&change.target, ChangeTarget::Object(object) if object.kind == "Namespace");
        let inputs = if is_namespace {
            let defaults = Annotations::under(&prefix, pairs());
            Inputs::default().with_defaults(Some(Arc::new(defaults)))
        } else {
            Inputs::from_annotations(&prefix, pairs())
        };
        Self::of_inputs(&inputs, period)
    }

    /// The plan of a workload with the annotations of one change, in a Namespace with those of
    /// another.
    pub(crate) fn within(
        change: &ObjectChange,
        namespace: &ObjectChange,
        period: (&str, &str),
    ) -> Self {
        let prefix = Prefix::default();
        let pairs = |it: &ObjectChange| it.set.clone();
        let (own, defaults) = (pairs(change), pairs(namespace));
        let defaults = defaults.iter().map(|(name, text)| (&**name, &**text));
        let defaults = Annotations::under(&prefix, defaults);
        let own = own.iter().map(|(name, text)| (&**name, &**text));
        let inputs = Inputs::from_annotations(&prefix, own);
        Self::of_inputs(&inputs.with_defaults(Some(Arc::new(defaults))), period)
    }

    fn of_inputs(inputs: &Inputs, (from, until): (&str, &str)) -> Self {
        let object = WorkloadRef {
            kind: Kind::DEPLOYMENT,
            namespace: "default".into(),
            name: "web".into(),
            uid: "".into(),
        };
        let planner = Planner {
            period: Period::new(utc(from) - TimeDelta::days(14), utc(until)).unwrap(),
            context: Zone::UTC.into(),
            prefix: Prefix::default(),
        };
        let plan = planner.plan(&object, inputs, &[]).unwrap();
        let plan = serde_json::to_value(plan).unwrap();
        assert_eq!(plan["problems"], Value::Array(Vec::new()), "{inputs:?}");
        let boundary = |it: &Value| {
            let at: DateTime<Utc> = it["at"].as_str().unwrap().parse().unwrap();
            (
                at,
                it["action"].as_str().unwrap().to_owned(),
                it["replicas"].as_u64(),
            )
        };
        Self {
            boundaries: plan["boundaries"]
                .as_array()
                .unwrap()
                .iter()
                // Some boundaries are during an override and are not applied.
                .filter(|it| it["applied"] != false)
                .map(boundary)
                .collect(),
            held: [(Key::WakeUntil, true), (Key::SleepUntil, false)]
                .into_iter()
                .find_map(|(key, runs)| inputs.text(key).map(|_| runs)),
        }
    }

    /// The actions and counts.
    pub(crate) fn boundaries(&self) -> &[(DateTime<Utc>, String, Option<u64>)] {
        &self.boundaries
    }

    fn latest(&self, at: DateTime<Utc>) -> Option<&(DateTime<Utc>, String, Option<u64>)> {
        let after = self.boundaries.partition_point(|it| it.0 <= at);
        self.boundaries.get(after.checked_sub(1)?)
    }

    /// Whether it runs; `None` if it had no action for two weeks and no override is active.
    pub(crate) fn runs(&self, at: DateTime<Utc>) -> Option<bool> {
        let latest = self.latest(at).map(|it| it.1 == "start");
        latest.or(self.held)
    }

    /// The planned count, if there is one.
    pub(crate) fn count(&self, at: DateTime<Utc>) -> Option<u64> {
        self.latest(at)?.2
    }
}
