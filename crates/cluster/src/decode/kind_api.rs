//! Paths of each kind's objects, and how their counts are read and written, as its row says.
//!
//! What stands in the field of a switch.

use std::collections::BTreeMap;

use chrono::SecondsFormat;
use dayshift_schedule::is_too_long;
use dayshift_text::quote;
use dayshift_workload::{
    Change, CountField, CountForm, Key, Kind, Observed, Replicas, Shape, Switch, SwitchConstant,
    SwitchField, SwitchValue, WorkloadRef,
};
use serde_json::{Value, json};

use crate::decode::spec::{Count, Spec};

/// How one kind is read and written.
#[derive(Debug)]
pub(crate) struct KindApi {
    kind: Kind,
}

/// The messages of `encoding::messages`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ProtobufMessage {
    /// With `spec.replicas`.
    Deployment,
    /// With that, and what becomes of volumes.
    StatefulSet,
    /// With `spec.suspend`.
    CronJob,
    /// With `spec.minReplicas`.
    Autoscaler,
}

/// The effect of a patch on a count. Each path is the tokens of a JSON pointer.
pub(crate) struct CountPatch {
    /// The value of the field at the decision; `None` if it is no count, and says nothing of one.
    pub(crate) tests: Vec<(Path, Value)>,
    /// The new value; `None` removes the field.
    pub(crate) write: (Path, Option<Value>),
}

type Path = &'static [&'static str];

impl KindApi {
    /// How a kind is read and written.
    pub(crate) const fn new(kind: Kind) -> Self {
        Self { kind }
    }

    /// The protobuf message of the kind; `None` if it has none.
    pub(crate) const fn message(&self) -> Option<ProtobufMessage> {
        match self.kind.shape() {
            Shape::Pods if self.kind.has_claim_policy() => Some(ProtobufMessage::StatefulSet),
            Shape::Pods => Some(ProtobufMessage::Deployment),
            Shape::Jobs => Some(ProtobufMessage::CronJob),
            Shape::Autoscaler => Some(ProtobufMessage::Autoscaler),
            Shape::Custom => None,
        }
    }

    /// The count of such an object, and the value of the field.
    pub(crate) fn read(
        &self,
        spec: &Spec,
        annotations: Option<&BTreeMap<String, String>>,
    ) -> (Replicas, CountField) {
        let name = self.count().last().copied().unwrap_or_default();
        let annotation = || annotations.and_then(|it| it.get(name));
        let count = match self.kind.form() {
            CountForm::Suspended => {
                let is_suspended = spec.member("suspend").and_then(Value::as_bool);
                is_suspended.map(|is_suspended| u32::from(!is_suspended))
            }
            CountForm::RestsAt => {
                return match annotation() {
                    Some(text) => (Replicas::ZERO, CountField::Text(text.as_str().into())),
                    None => (Replicas::ONE, CountField::Absent),
                };
            }
            CountForm::Switch(switch) => {
                let found = if self.count_is_annotation() {
                    Ok(annotated(annotation()))
                } else {
                    in_spec(spec, &self.count()[1..])
                };
                return self.switched(switch, spec, found);
            }
            CountForm::Number(_) if self.kind.shape() == Shape::Autoscaler => spec.min_replicas,
            CountForm::Number(absent) => {
                let found = match name {
                    "replicas" => spec.replicas.clone(),
                    name => spec.member(name).map(Count::new),
                };
                if found.is_some() {
                    // The schema may allow the field by now.
                    self.kind.note_lacks_count(false);
                }
                match found {
                    Some(Count::Invalid(text)) => {
                        return (Replicas::ONE, CountField::Invalid(text));
                    }
                    Some(Count::Number(number)) => Some(number),
                    None if self.kind.lacks_count() => return (Replicas::ONE, CountField::Missing),
                    None if self.kind.shape() == Shape::Custom && spec.members.is_none() => {
                        return (Replicas::new(absent), CountField::WithoutSpec);
                    }
                    None => return (Replicas::new(absent), CountField::Absent),
                }
            }
        };
        let field = match count {
            Some(_) => CountField::Present,
            None => CountField::Absent,
        };
        (Replicas::new(count.unwrap_or(1)), field)
    }

    /// The same of a switch.
    fn switched(
        &self,
        switch: &Switch,
        spec: &Spec,
        found: Result<SwitchField, Box<str>>,
    ) -> (Replicas, CountField) {
        let beside = switch.not_beside.map(|path| in_spec(spec, &path[1..]));
        let beside_missing = match beside.map(|it| it.map(|it| it.value)) {
            None => 0,
            Some(Ok(SwitchValue::Absent(missing))) => missing,
            Some(_) => return (Replicas::ONE, CountField::Beside),
        };
        let field = match found {
            Ok(field) => SwitchField {
                beside_missing,
                ..field
            },
            Err(text) => return (Replicas::ONE, CountField::Invalid(text)),
        };
        let is_absent = matches!(field.value, SwitchValue::Absent(_));
        if !is_absent {
            self.kind.note_lacks_count(false);
        } else if self.kind.lacks_count() {
            return (Replicas::ONE, CountField::Missing);
        }
        let has_its_form = matches!(
            (&field.value, switch.stopped),
            (SwitchValue::Absent(_), _)
                | (SwitchValue::Flag(_), SwitchConstant::Flag(_))
                | (
                    SwitchValue::Text(_),
                    SwitchConstant::Text(_) | SwitchConstant::Instant
                )
        );
        if !has_its_form {
            let text = quote(&json_of(&field.value).unwrap_or_default().to_string());
            return (Replicas::ONE, CountField::Invalid(text.into()));
        }
        let count = u32::from(!switch.is_stopped(&field.value));
        (Replicas::new(count), CountField::Switch(field))
    }

    /// The effect of a change on the object's count.
    pub(crate) fn patch(&self, observed: &Observed, change: &Change) -> CountPatch {
        let path = self.count();
        if let (Some(switch), CountField::Switch(field)) =
            (self.kind.switch(), &observed.count_field)
        {
            return switch_patch(path, switch, field, change);
        }
        let value = |count: Replicas| match self.kind.form() {
            CountForm::Suspended => Some(json!(count == Replicas::ZERO)),
            CountForm::RestsAt => (count == Replicas::ZERO).then(|| {
                json!(
                    observed
                        .inputs
                        .text(Key::StopReplicas)
                        .unwrap_or("0")
                        .trim()
                )
            }),
            CountForm::Number(_) => Some(json!(count.get())),
            // An object whose field cannot be read is never written to.
            CountForm::Switch(_) => None,
        };
        let test = match &observed.count_field {
            CountField::Present => Some(value(observed.replicas).unwrap_or_default()),
            CountField::Absent | CountField::WithoutSpec => Some(Value::Null),
            // The end of the text was not kept.
            CountField::Text(text) if is_too_long(text) => None,
            CountField::Text(text) => Some(json!(text)),
            // Nothing but why it is refused is written, and there need be nothing that would hold a count.
            CountField::Missing
            | CountField::UnknownSwitch
            | CountField::Invalid(_)
            | CountField::Switch(_)
            | CountField::Beside => None,
        };
        let (at, below) = match observed.count_field {
            CountField::WithoutSpec => path.split_at(1),
            _ => (path, &[][..]),
        };
        CountPatch {
            tests: test.map(|value| (at, value)).into_iter().collect(),
            write: (at, value(change.replicas).map(|it| nested(below, it))),
        }
    }

    /// The path of the count, as the tokens of a JSON pointer.
    pub(crate) const fn count(&self) -> &'static [&'static str] {
        self.kind.path()
    }

    /// Whether the count is an annotation.
    pub(crate) fn count_is_annotation(&self) -> bool {
        self.count().first() == Some(&"metadata")
    }

    /// The path of the count in the `fieldsV1` of a manager (structured merge diff v4), as the
    /// tokens of a JSON pointer.
    pub(crate) fn managed_count(&self) -> String {
        self.count()
            .iter()
            .map(|token| format!("/f:{}", token.replace('~', "~0").replace('/', "~1")))
            .collect()
    }

    /// `/apis/apps/v1/namespaces/dev/deployments`; without a namespace, all of the cluster.
    pub(crate) fn path(&self, namespace: Option<&str>) -> String {
        let (root, plural) = (self.kind.root(), self.kind.plural());
        match namespace {
            Some(namespace) => format!("{root}namespaces/{namespace}/{plural}"),
            None => format!("{root}{plural}"),
        }
    }

    /// Whether a path leads to objects of this kind.
    pub(crate) fn is_above(&self, path: &str) -> bool {
        let Some(rest) = path.strip_prefix(self.kind.root()) else {
            return false;
        };
        // Jobs are in the same group as CronJobs, and are not decoded as those.
        let in_namespace = rest.strip_prefix("namespaces/");
        let collection = in_namespace.and_then(|it| it.split_once('/'));
        let collection = collection.map_or(rest, |(_, it)| it);
        collection.split('/').next() == Some(self.kind.plural())
    }

    /// The path of one object.
    pub(crate) fn path_of(object: &WorkloadRef) -> String {
        let collection = Self::new(object.kind).path(Some(&object.namespace));
        format!("{collection}/{}", object.name)
    }
}

/// The effect of a patch on a switch with this value.
fn switch_patch(path: Path, switch: &Switch, field: &SwitchField, change: &Change) -> CountPatch {
    let is_stop = change.replicas == Replicas::ZERO;
    let wanted = if is_stop {
        let at = change.state.last.unwrap_or_default();
        match switch.stopped {
            SwitchConstant::Flag(flag) => SwitchValue::Flag(flag),
            SwitchConstant::Text(text) => SwitchValue::Text(text.into()),
            SwitchConstant::Instant => {
                SwitchValue::Text(at.to_rfc3339_opts(SecondsFormat::Secs, true).into())
            }
        }
    } else {
        let saved = change.value.as_deref();
        let saved = saved.and_then(|text| switch.from_label(text));
        saved.unwrap_or_else(|| switch.default_running())
    };
    // The highest member that is missing, or that goes together with the field.
    let above = match (&field.value, &wanted) {
        (SwitchValue::Absent(missing), _) => *missing,
        (_, SwitchValue::Absent(missing)) => field.alone.min(*missing),
        _ => 0,
    };
    let (at, below) = path.split_at(path.len().saturating_sub(above.into()));
    let nested = |value| nested(below, value);
    let seen = json_of(&field.value);
    // The end of a text that is too long was not kept.
    let is_cut = matches!(&field.value, SwitchValue::Text(text) if is_too_long(text));
    let test = (!is_cut).then(|| (at, seen.map_or(Value::Null, nested)));
    let beside = switch.not_beside.map(|path| {
        let missing = usize::from(field.beside_missing);
        (&path[..path.len().saturating_sub(missing)], Value::Null)
    });
    CountPatch {
        tests: test.into_iter().chain(beside).collect(),
        write: (at, json_of(&wanted).map(nested)),
    }
}

/// A value in the members of these names.
fn nested(names: &[&str], value: Value) -> Value {
    names.iter().rfold(value, |it, name| json!({ *name: it }))
}

/// A value as JSON; `None` for none.
fn json_of(value: &SwitchValue) -> Option<Value> {
    match value {
        SwitchValue::Absent(_) => None,
        SwitchValue::Flag(flag) => Some(json!(flag)),
        SwitchValue::Text(text) => Some(json!(text)),
    }
}

/// The kind whose collection has this path, in one namespace or in all; `None` for every other
/// path, such as that of one object.
pub(crate) fn kind_of_collection(path: &str) -> Option<Kind> {
    let is_of = |kind: &Kind| {
        let plural = kind.plural();
        let root = kind.root();
        let rest = path.strip_prefix(root).filter(|_| !root.is_empty());
        rest.is_some_and(|rest| {
            let mut parts = rest.split('/');
            match (parts.next(), parts.next(), parts.next(), parts.next()) {
                (Some(only), None, None, None) => only == plural,
                (Some("namespaces"), Some(_), Some(last), None) => last == plural,
                _ => false,
            }
        })
    };
    Kind::known().find(is_of)
}

/// The value of a switch in an annotation. Its map is written apart.
pub(crate) fn annotated(text: Option<&String>) -> SwitchField {
    let value = text.map_or(SwitchValue::Absent(0), |it| {
        SwitchValue::Text(it.as_str().into())
    });
    observed_field(value, 0)
}

/// The value of the field at `path` below a `spec`.
///
/// # Errors
/// The value, quoted, if the field or a member above it holds what no switch does.
pub(crate) fn in_spec(spec: &Spec, path: &[&str]) -> Result<SwitchField, Box<str>> {
    let absent = |missing| SwitchValue::Absent(u8::try_from(missing).unwrap_or(u8::MAX));
    let mut alone = match spec.members {
        None => return Ok(observed_field(absent(path.len()), 0)),
        Some(members) => u8::from(members == 1),
    };
    let mut found: Option<&Value> = None;
    for (depth, name) in path.iter().enumerate() {
        let next = match found {
            None if *name == "replicas" && spec.replicas.is_some() => {
                return Err("a count".into());
            }
            None => spec.member(name),
            Some(Value::Object(members)) => {
                alone = if members.len() == 1 { alone + 1 } else { 0 };
                members.get(*name).filter(|it| !it.is_null())
            }
            Some(other) => return Err(quote(&other.to_string()).into()),
        };
        if next.is_none() {
            return Ok(observed_field(absent(path.len() - 1 - depth), 0));
        }
        found = next;
    }
    let value = match found {
        Some(Value::Bool(flag)) => SwitchValue::Flag(*flag),
        Some(Value::String(text)) => SwitchValue::Text(text.as_str().into()),
        other => return Err(quote(&other.unwrap_or(&Value::Null).to_string()).into()),
    };
    Ok(observed_field(value, alone))
}

/// What is said of the field alone.
const fn observed_field(value: SwitchValue, alone: u8) -> SwitchField {
    SwitchField {
        value,
        alone,
        beside_missing: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collection_is_told_from_everything_else() {
        for (path, expected) in [
            ("/apis/apps/v1/deployments", Some(Kind::DEPLOYMENT)),
            (
                "/apis/apps/v1/namespaces/dev/statefulsets",
                Some(Kind::STATEFUL_SET),
            ),
            ("/apis/batch/v1/cronjobs", Some(Kind::CRON_JOB)),
            ("/apis/batch/v1/jobs", None),
            ("/apis/apps/v1/namespaces/dev/deployments/web", None),
            ("/apis/apps/v1/namespaces/a/statefulsets/deployments", None),
            ("/apis/apps/v1/namespaces/deployments", None),
            ("/apis/apps/v1beta1/deployments", None),
            ("/api/v1/namespaces", None),
        ] {
            assert_eq!(kind_of_collection(path), expected, "{path}");
        }
    }

    #[test]
    fn paths_are_those_of_the_api_server() {
        let object = WorkloadRef {
            kind: Kind::DEPLOYMENT,
            namespace: "dev".into(),
            name: "db".into(),
            uid: "u".into(),
        };
        assert_eq!(
            KindApi::path_of(&object),
            "/apis/apps/v1/namespaces/dev/deployments/db"
        );
        assert_eq!(
            KindApi::new(Kind::DEPLOYMENT).managed_count(),
            "/f:spec/f:replicas"
        );
        assert_eq!(
            KindApi::new(Kind::SCALED_OBJECT).managed_count(),
            "/f:metadata/f:annotations/f:autoscaling.keda.sh~1paused-replicas"
        );
    }
}
