//! The REST paths of each kind, and where its count or on/off field is. Both are read from the kind
//! table.
//!
//! [`KindApi::read`] gets the count of a decoded `spec`, [`KindApi::patch`] makes the part of a JSON
//! Patch that tests and changes it.

use std::collections::BTreeMap;

use chrono::SecondsFormat;
use dayshift_schedule::cut_beyond;
use dayshift_text::quote;
use dayshift_workload::{
    Change, CountField, CountForm, Key, Kind, ObjectSpec, Observed, Replicas, Shape, Switch,
    SwitchConstant, SwitchField, SwitchValue, WorkloadRef,
};
use serde_json::{Value, json};

/// How the objects of one kind are addressed, read and written.
#[derive(Debug)]
pub(crate) struct KindApi<'k> {
    kind: &'k Kind,
}

/// The protobuf message of a kind, by the count field that it contains.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ProtobufMessage {
    /// `spec.replicas`.
    Deployment,
    /// `spec.replicas` and the volume retention policy.
    StatefulSet,
    /// `spec.suspend`.
    CronJob,
    /// `spec.minReplicas`.
    Autoscaler,
}

/// The part of a patch that concerns the count. Paths are lists of JSON pointer tokens.
pub(crate) struct CountPatch<'p> {
    /// The fields that must not have changed since the decision, with their values. Empty if the field
    /// contains no count.
    pub(crate) tests: Vec<(Path<'p>, Value)>,
    /// The new value; `None` removes the field.
    pub(crate) write: (Path<'p>, Option<Value>),
}

type Path<'p> = &'p [String];

impl<'k> KindApi<'k> {
    pub(crate) const fn new(kind: &'k Kind) -> Self {
        Self { kind }
    }

    /// The protobuf message of the kind; `None` if it is only read as JSON.
    pub(crate) fn message(&self) -> Option<ProtobufMessage> {
        match self.kind.shape() {
            Shape::Pods if self.kind.has_claim_policy() => Some(ProtobufMessage::StatefulSet),
            Shape::Pods => Some(ProtobufMessage::Deployment),
            Shape::Jobs => Some(ProtobufMessage::CronJob),
            Shape::Autoscaler => Some(ProtobufMessage::Autoscaler),
            Shape::Custom => None,
        }
    }

    /// Reads the count of an object in a namespace, and the content of its field.
    pub(crate) fn read(
        &self,
        namespace: &str,
        spec: &ObjectSpec,
        annotations: Option<&BTreeMap<String, String>>,
    ) -> (Replicas, CountField) {
        let name = self.kind.field();
        let annotation = || annotations.and_then(|annotations| annotations.get(name));
        let form = self.kind.form();
        let count = match form {
            CountForm::Suspended => spec.member(name).and_then(|value| form.count(value)),
            CountForm::PausedReplicas => {
                return match annotation() {
                    Some(text) => (Replicas::ZERO, CountField::Text(kept(text))),
                    None => (Replicas::ONE, CountField::Absent),
                };
            }
            CountForm::Switch(switch) => {
                let found = if self.count_is_annotation() {
                    Ok(annotated(annotation()))
                } else {
                    in_spec(spec, &self.count()[1..])
                };
                return self.switched(switch, namespace, spec, found);
            }
            &CountForm::Number(absent) => match spec.member(name) {
                Some(value) => {
                    // The field exists, so the schema allows it by now.
                    self.kind.record_count(namespace);
                    let Some(count) = form.count(value) else {
                        return (Replicas::ONE, CountField::Invalid(quoted(value)));
                    };
                    Some(count)
                }
                None if self.kind.lacks_count(namespace) => {
                    return (Replicas::ONE, CountField::Missing);
                }
                None if self.kind.shape() == Shape::Custom && spec.members().is_none() => {
                    return (Replicas::new(absent), CountField::WithoutSpec);
                }
                None => return (Replicas::new(absent), CountField::Absent),
            },
        };
        let field = match count {
            Some(_) => CountField::Present,
            None => CountField::Absent,
        };
        (count.unwrap_or(Replicas::ONE), field)
    }

    /// Reads the count of a kind with an on/off field.
    fn switched(
        &self,
        switch: &Switch,
        namespace: &str,
        spec: &ObjectSpec,
        found: Result<SwitchField, Box<str>>,
    ) -> (Replicas, CountField) {
        let beside = switch
            .not_beside
            .as_deref()
            .map(|path| in_spec(spec, &path[1..]));
        let beside_missing = match beside.map(|field| field.map(|field| field.value)) {
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
            self.kind.record_count(namespace);
        } else if self.kind.lacks_count(namespace) {
            return (Replicas::ONE, CountField::Missing);
        }
        let has_its_form = matches!(
            (&field.value, &switch.stopped),
            (SwitchValue::Absent(_), _)
                | (SwitchValue::Flag(_), SwitchConstant::Flag(_))
                | (
                    SwitchValue::Text(_),
                    SwitchConstant::Text(_) | SwitchConstant::Instant
                )
        );
        if !has_its_form {
            let value = json_of(&field.value).unwrap_or_default();
            return (Replicas::ONE, CountField::Invalid(quoted(&value)));
        }
        let count = u32::from(!switch.is_stopped(&field.value));
        (Replicas::new(count), CountField::Switch(field))
    }

    /// Makes the tests and the write for a change of the count.
    pub(crate) fn patch(&self, observed: &Observed, change: &Change) -> CountPatch<'k> {
        let path = self.count();
        if let (Some(switch), CountField::Switch(field)) =
            (self.kind.switch(), &observed.count_field)
        {
            return switch_patch(path, switch, field, change);
        }
        let value = |count: Replicas| match self.kind.form() {
            CountForm::Suspended => Some(json!(count == Replicas::ZERO)),
            CountForm::PausedReplicas => (count == Replicas::ZERO).then(|| {
                json!(
                    observed
                        .inputs
                        .text(Key::StopReplicas)
                        .unwrap_or("0")
                        .trim()
                )
            }),
            CountForm::Number(_) => Some(json!(count.get())),
            // An object with an unreadable field is never written to.
            CountForm::Switch(_) => None,
        };
        let test = match &observed.count_field {
            CountField::Present => Some(value(observed.replicas).unwrap_or_default()),
            CountField::Absent | CountField::WithoutSpec => Some(Value::Null),
            // Only the beginning of such a long text was kept, so it cannot be tested.
            CountField::Text(text) if is_cut(text) => None,
            CountField::Text(text) => Some(json!(text)),
            // Only the reason of the rejection is written, and the field might not exist.
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
            write: (at, value(change.replicas).map(|value| nested(below, value))),
        }
    }

    /// The path of the count, as JSON pointer tokens.
    pub(crate) fn count(&self) -> Path<'k> {
        self.kind.path()
    }

    /// Whether the count is an annotation.
    pub(crate) fn count_is_annotation(&self) -> bool {
        self.count()
            .first()
            .is_some_and(|token| token == "metadata")
    }

    /// The path of the count in a manager's `fieldsV1` (structured merge diff v4), as a JSON pointer.
    pub(crate) fn managed_count(&self) -> String {
        self.count()
            .iter()
            .map(|token| format!("/f:{}", token.replace('~', "~0").replace('/', "~1")))
            .collect()
    }

    /// The path of a collection: `/apis/apps/v1/namespaces/dev/deployments`, or that of all namespaces.
    pub(crate) fn path(&self, namespace: Option<&str>) -> String {
        collection_path(&self.kind.root(), namespace, self.kind.plural())
    }

    /// Whether the path belongs to an object or a collection of this kind.
    pub(crate) fn is_above(&self, path: &str) -> bool {
        let Some(rest) = path.strip_prefix(&*self.kind.root()) else {
            return false;
        };
        // Jobs are in the same group as CronJobs and must not be decoded as CronJobs.
        let in_namespace = rest.strip_prefix("namespaces/");
        let collection = in_namespace.and_then(|rest| rest.split_once('/'));
        let collection = collection.map_or(rest, |(_, rest)| rest);
        collection.split('/').next() == Some(self.kind.plural())
    }

    /// The path of one object.
    pub(crate) fn path_of(object: &WorkloadRef) -> String {
        let collection = KindApi::new(&object.kind).path(Some(&object.namespace));
        format!("{collection}/{}", object.name)
    }
}

/// The path of a collection in one namespace or in all, below the path of an API group and version.
pub(crate) fn collection_path(root: &str, namespace: Option<&str>, plural: &str) -> String {
    match namespace {
        Some(namespace) => format!("{root}namespaces/{namespace}/{plural}"),
        None => format!("{root}{plural}"),
    }
}

/// Makes the tests and the write for an on/off field.
fn switch_patch<'p>(
    path: Path<'p>,
    switch: &'p Switch,
    field: &SwitchField,
    change: &Change,
) -> CountPatch<'p> {
    let is_stop = change.replicas == Replicas::ZERO;
    let wanted = if is_stop {
        let at = change.state.last.unwrap_or_default();
        match &switch.stopped {
            SwitchConstant::Flag(flag) => SwitchValue::Flag(*flag),
            SwitchConstant::Text(text) => SwitchValue::Text(text.as_str().into()),
            SwitchConstant::Instant => {
                SwitchValue::Text(at.to_rfc3339_opts(SecondsFormat::Secs, true).into())
            }
        }
    } else {
        let saved = change.value.as_deref();
        let saved = saved.and_then(|text| switch.from_label(text));
        saved.unwrap_or_else(|| switch.default_running())
    };
    // The number of members to write together: those that are missing, or those that contain only the
    // field.
    let above = match (&field.value, &wanted) {
        (SwitchValue::Absent(missing), _) => *missing,
        (_, SwitchValue::Absent(missing)) => field.alone.min(*missing),
        _ => 0,
    };
    let (at, below) = path.split_at(path.len().saturating_sub(above.into()));
    let nested = |value| nested(below, value);
    let seen = json_of(&field.value);
    // Only the beginning of such a long text was kept, so it cannot be tested.
    let is_cut = matches!(&field.value, SwitchValue::Text(text) if is_cut(text));
    let test = (!is_cut).then(|| (at, seen.map_or(Value::Null, nested)));
    let beside = switch.not_beside.as_deref().map(|path| {
        let missing = usize::from(field.beside_missing);
        (&path[..path.len().saturating_sub(missing)], Value::Null)
    });
    CountPatch {
        tests: test.into_iter().chain(beside).collect(),
        write: (at, json_of(&wanted).map(nested)),
    }
}

/// Wraps a value in objects with these member names.
fn nested(names: &[String], value: Value) -> Value {
    names
        .iter()
        .rfold(value, |inner, name| json!({ name: inner }))
}

/// The value as JSON; `None` if the field is absent.
fn json_of(value: &SwitchValue) -> Option<Value> {
    match value {
        SwitchValue::Absent(_) => None,
        SwitchValue::Flag(flag) => Some(json!(flag)),
        SwitchValue::Text(text) => Some(json!(text)),
    }
}

/// Whether a path is that of a collection of workloads, in one namespace or in all. Any resource of a
/// custom group can be one; the groups of Kubernetes itself have others too.
pub(crate) fn is_collection(path: &str) -> bool {
    let mut parts = path.split('/').skip(1);
    let (Some("apis"), Some(group), Some(version)) = (parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let plural = match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(only), None, None, None) => only,
        (Some("namespaces"), Some(_), Some(last), None) => last,
        _ => return false,
    };
    let is_custom = group.contains('.') && !group.ends_with(".k8s.io");
    let is_built_in =
        |kind: &Kind| (kind.group(), &*kind.version(), kind.plural()) == (group, version, plural);
    is_custom || Kind::BUILT_IN.iter().any(is_built_in)
}

/// An on/off field in an annotation. The patch writes a missing annotation map separately.
pub(crate) fn annotated(text: Option<&String>) -> SwitchField {
    let value = text.map_or(SwitchValue::Absent(0), |text| SwitchValue::Text(kept(text)));
    observed_field(value, 0)
}

/// The maximum length of a string in the field for the count that is kept whole, in bytes. Values of operators are
/// shorter, and users can write strings of megabytes in objects without a schedule, too.
const MAX_COUNT: usize = 128;

/// The part of a string in the field for the count that is kept. A longer one is cut to a prefix that is
/// [recognizable](is_cut).
fn kept(text: &str) -> Box<str> {
    cut_beyond(text, MAX_COUNT).into()
}

const fn is_cut(text: &str) -> bool {
    text.len() > MAX_COUNT
}

/// The JSON of a value, quoted.
fn quoted(value: &Value) -> Box<str> {
    quote(&value.to_string()).into()
}

/// Reads the on/off field at `path` below a `spec`.
///
/// # Errors
/// If the field or a member above it contains a value that is neither a flag nor a string: that value,
/// quoted.
pub(crate) fn in_spec(spec: &ObjectSpec, path: &[String]) -> Result<SwitchField, Box<str>> {
    let absent = |missing| SwitchValue::Absent(u8::try_from(missing).unwrap_or(u8::MAX));
    let mut alone = match spec.members() {
        None => return Ok(observed_field(absent(path.len()), 0)),
        Some(members) => u8::from(members == 1),
    };
    let mut found: Option<&Value> = None;
    for (depth, name) in path.iter().enumerate() {
        let next = match found {
            None => spec.member(name),
            Some(Value::Object(members)) => {
                alone = if members.len() == 1 { alone + 1 } else { 0 };
                members.get(name).filter(|value| !value.is_null())
            }
            Some(other) => return Err(quoted(other)),
        };
        if next.is_none() {
            return Ok(observed_field(absent(path.len() - 1 - depth), 0));
        }
        found = next;
    }
    let value = match found {
        Some(Value::Bool(flag)) => SwitchValue::Flag(*flag),
        Some(Value::String(text)) => SwitchValue::Text(kept(text)),
        other => return Err(quoted(other.unwrap_or(&Value::Null))),
    };
    Ok(observed_field(value, alone))
}

/// A field without the state of the other member that excludes it.
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
    fn only_collections_of_workloads_are_recognized() {
        for (path, expected) in [
            ("/apis/apps/v1/deployments", true),
            ("/apis/apps/v1/namespaces/dev/statefulsets", true),
            ("/apis/batch/v1/cronjobs", true),
            ("/apis/batch/v1/jobs", false),
            ("/apis/apps/v1/namespaces/dev/deployments/web", false),
            ("/apis/apps/v1/namespaces/a/statefulsets/deployments", false),
            ("/apis/apps/v1/namespaces/deployments", false),
            ("/apis/apps/v1beta1/deployments", false),
            ("/api/v1/namespaces", false),
        ] {
            assert_eq!(is_collection(path), expected, "{path}");
        }
    }

    /// Objects without a schedule are kept too, and the limits of text do not include these strings.
    #[test]
    fn long_text_of_a_count_is_cut() {
        let long = "x".repeat(4_000);
        let kinds = dayshift_workload::KindTable::default();
        let machine = kinds.resource("virtualmachines", "kubevirt.io");
        let paused = BTreeMap::from([(
            "autoscaling.keda.sh/paused-replicas".to_owned(),
            long.clone(),
        )]);
        let strategy = ObjectSpec::from_value(&json!({"runStrategy": long}));
        for (kind, spec, annotations) in [
            (machine, strategy, None),
            (Kind::SCALED_OBJECT, ObjectSpec::default(), Some(&paused)),
        ] {
            let (_, field) = KindApi::new(&kind).read("dev", &spec, annotations);
            let shown = format!("{field:?}");
            assert!(shown.contains("xxx") && shown.len() < 300, "{shown}");
        }
    }

    #[test]
    fn paths_match_those_of_the_api_server() {
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
            KindApi::new(&Kind::DEPLOYMENT).managed_count(),
            "/f:spec/f:replicas"
        );
        assert_eq!(
            KindApi::new(&Kind::SCALED_OBJECT).managed_count(),
            "/f:metadata/f:annotations/f:autoscaling.keda.sh~1paused-replicas"
        );
    }
}
