//! The `spec` of a workload, of a file or of a live object: its count, its volume retention and the
//! requests of its pods.
//!
//! A custom kind can have any value under the same names. Then they count as missing.

use std::{borrow::Cow, mem};

use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::{
    fields::{FieldReader, Member, Scalar, read_fields},
    inputs::effective::VolumeRetention,
    kinds::{CountKind, allows_zero, kind::Kind, table::is_spec_member},
    requests::{PodRequests, ResourceRequests, Resources},
};

/// The members of a `spec` that are read: those that dayshift's own definitions name or, if a user
/// defines the kind, all of them. Of the pod template, only the requests are kept.
#[derive(Clone, Debug, Default)]
pub struct ObjectSpec {
    /// `replicas`, if there are no others, as in most objects: then no map is needed.
    replicas: Value,
    others: Value,
    requests: ResourceRequests,
    members: Option<usize>,
}

impl<'de> Deserialize<'de> for ObjectSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        SpecReader::default().read(deserializer)
    }
}

impl ObjectSpec {
    /// Reads a `spec` with all of its members.
    ///
    /// # Errors
    /// If it is not JSON.
    pub fn deserialize_all<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let reader = SpecReader {
            keeps_all: true,
            ..SpecReader::default()
        };
        reader.read(deserializer)
    }

    /// Reads a `spec` with all of its members.
    pub fn from_value(spec: &Value) -> Self {
        Self::deserialize_all(spec).unwrap_or_default()
    }

    /// The number of members, including unread ones; `None` if there is no `spec`.
    pub const fn members(&self) -> Option<usize> {
        self.members
    }

    /// A member that is kept and not `null`.
    pub fn member(&self, name: &str) -> Option<&Value> {
        match &self.replicas {
            Value::Null => self.others.get(name),
            count => Some(count).filter(|_| name == "replicas"),
        }
    }

    /// An object with the members that are kept.
    pub(crate) fn root(&self) -> Cow<'_, Value> {
        match &self.replicas {
            Value::Null => Cow::Borrowed(&self.others),
            count => Cow::Owned(json!({ "replicas": count })),
        }
    }

    /// Forgets the members that neither a built-in definition nor this kind reads. Of the metrics of an
    /// autoscaler, which can be thousands, it keeps only a type that allows a minimum of 0.
    pub fn trim(&mut self, kind: &Kind) {
        let metric = self.zero_metric().map(|name| json!([{ "type": name }]));
        if let Value::Object(others) = &mut self.others {
            others.retain(|name, _| is_spec_member(name) || kind.reads_spec_member(name));
            if !kind.reads_spec_member("metrics") {
                others.remove("metrics");
                others.extend(metric.map(|metric| ("metrics".to_owned(), metric)));
            }
            if others.keys().all(|name| name == "replicas") {
                self.replicas = others.remove("replicas").unwrap_or_default();
                self.others = Value::Null;
            }
        }
    }

    /// The requests of the pod template.
    pub const fn requests(&self) -> ResourceRequests {
        self.requests
    }

    /// The volume retention when the workload is scaled down.
    pub fn volumes(&self) -> VolumeRetention {
        let [_, policy, when_scaled] = VolumeRetention::PATH;
        let text = self
            .member(policy)
            .and_then(|policy| policy.get(when_scaled)?.as_str());
        VolumeRetention::from_text(text)
    }

    /// The meaning of the count. An autoscaler can have a minimum of 0 if it has a metric that does not
    /// come from pods
    /// (<https://kubernetes.io/docs/concepts/workloads/autoscaling/horizontal-pod-autoscale/>), or if
    /// the API server has already accepted a 0.
    pub fn counts(&self, kind: &Kind) -> CountKind {
        let minimum = self.member("minReplicas").and_then(Value::as_u64);
        if minimum == Some(0) || self.zero_metric().is_some() {
            kind.counts().with_zero_minimum()
        } else {
            kind.counts()
        }
    }

    /// The type of the first metric that allows a minimum of 0.
    fn zero_metric(&self) -> Option<&str> {
        let metrics = self.member("metrics").and_then(Value::as_array);
        let mut types = metrics.into_iter().flatten().map(|metric| &metric["type"]);
        types.find_map(|name| name.as_str().filter(|name| allows_zero(name)))
    }
}

/// The requests of a pod template, or of a value with `resources` of its own.
pub(crate) fn requests_of(value: &Value) -> ResourceRequests {
    let mut reader = SpecReader::default();
    let is_template = value.get("spec").is_some_and(|spec| !spec.is_null());
    let at = match is_template {
        true => Position::Template,
        false => Position::Resources,
    };
    // A `Value` is always JSON.
    let _ = read_fields(&mut reader, at, value);
    match is_template {
        true => reader.pod.total(),
        false => reader.resources.effective(),
    }
}

/// Reads a `spec`, and sums the requests of its pod template. Values of unexpected forms request nothing.
#[derive(Default)]
struct SpecReader {
    keeps_all: bool,
    spec: ObjectSpec,
    pod: PodRequests,
    /// The resources of the container, or of the pod-level list, that is being read.
    resources: Resources,
    is_sidecar: bool,
}

/// A position in a `spec`.
#[derive(Clone, Copy)]
enum Position {
    Spec,
    Template,
    Pod,
    Domain,
    GuestMemory,
    Containers { are_init: bool },
    Container,
    RestartPolicy,
    Resources,
    Quantities { are_limits: bool },
    Quantity { is_limit: bool, of: &'static str },
}

impl SpecReader {
    fn read<'de, D: Deserializer<'de>>(mut self, deserializer: D) -> Result<ObjectSpec, D::Error> {
        read_fields(&mut self, Position::Spec, deserializer)?;
        let mut spec = self.spec;
        if !spec.others.is_null() && !spec.replicas.is_null() {
            spec.others["replicas"] = spec.replicas.take();
        }
        Ok(spec)
    }
}

impl FieldReader for SpecReader {
    type Position = Position;

    fn begin(&mut self, at: Position) {
        if matches!(at, Position::Spec) {
            self.spec.members = Some(0);
        }
    }

    fn member(&mut self, at: Position, name: &str) -> Member<Position> {
        let quantity = |is_limit, of| Position::Quantity { is_limit, of };
        Member::At(match (at, name) {
            (Position::Spec, name) => {
                self.spec.members = self.spec.members.map(|members| members + 1);
                return match name {
                    "template" => Member::At(Position::Template),
                    name if self.keeps_all || is_spec_member(name) => Member::Whole,
                    _ => Member::Skipped,
                };
            }
            (Position::Template, "spec") => Position::Pod,
            (Position::Pod, "containers") => Position::Containers { are_init: false },
            (Position::Pod, "initContainers") => Position::Containers { are_init: true },
            (Position::Pod, "domain") => Position::Domain,
            (Position::Pod | Position::Domain | Position::Container, "resources") => {
                Position::Resources
            }
            (Position::Domain, "memory") => Position::GuestMemory,
            (Position::GuestMemory, "guest") => quantity(false, "memory"),
            (Position::Pod, "overhead") | (Position::Resources, "requests") => {
                Position::Quantities { are_limits: false }
            }
            (Position::Resources, "limits") => Position::Quantities { are_limits: true },
            (Position::Container, "restartPolicy") => Position::RestartPolicy,
            (Position::Quantities { are_limits }, "cpu") => quantity(are_limits, "cpu"),
            (Position::Quantities { are_limits }, "memory") => quantity(are_limits, "memory"),
            _ => return Member::Skipped,
        })
    }

    fn item(&self, list: Position) -> Option<Position> {
        matches!(list, Position::Containers { .. }).then_some(Position::Container)
    }

    fn scalar(&mut self, at: Position, scalar: &Scalar<'_>) {
        let list = match at {
            Position::RestartPolicy => {
                self.is_sidecar = scalar.text() == Some("Always");
                return;
            }
            Position::Quantity { is_limit: true, .. } => &mut self.resources.limits,
            _ => &mut self.resources.requests,
        };
        if let Position::Quantity { of, .. } = at {
            match scalar {
                Scalar::Text(text) => list.insert(of, text),
                Scalar::Number(number) => list.insert(of, &number.to_string()),
            }
        }
    }

    fn end(&mut self, within: Position, at: Position) {
        match (within, at) {
            (Position::Spec, Position::Template) => self.spec.requests = self.pod.total(),
            (Position::Pod | Position::Domain, Position::Resources) => {
                self.pod.resources = mem::take(&mut self.resources);
            }
            (Position::Pod, Position::Quantities { .. }) => {
                self.pod.overhead = mem::take(&mut self.resources).requests;
            }
            (Position::Domain, Position::GuestMemory) => {
                self.pod.guest = mem::take(&mut self.resources).requests;
            }
            (Position::Containers { are_init }, _) => {
                let resources = mem::take(&mut self.resources);
                match (are_init, mem::take(&mut self.is_sidecar)) {
                    (true, true) => self.pod.sidecar(resources),
                    (true, false) => self.pod.init_container(resources),
                    (false, _) => self.pod.container(resources),
                }
            }
            _ => {}
        }
    }

    fn keep(&mut self, name: &str, value: Value) {
        match name {
            _ if value.is_null() => {}
            "replicas" => self.spec.replicas = value,
            name => self.spec.others[name] = value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> ObjectSpec {
        let spec: ObjectSpec = serde_json::from_str(text).unwrap();
        let value: Result<Value, _> = serde_json::from_str(text);
        // `serde_json` rejects text with values below 128 levels.
        if let Ok(value) = value {
            let from_value = ObjectSpec::deserialize(&value).unwrap();
            assert_eq!(format!("{from_value:?}"), format!("{spec:?}"));
            assert_eq!(ObjectSpec::from_value(&value).requests(), spec.requests());
        }
        spec
    }

    fn count(spec: &ObjectSpec) -> Option<u64> {
        spec.member("replicas").and_then(Value::as_u64)
    }

    #[test]
    fn unexpected_values_do_not_make_the_count_unreadable() {
        for odd in [
            json!("no"),
            json!(-1),
            json!([7]),
            json!({"name": 7}),
            Value::Null,
        ] {
            let spec = json!({
                "replicas": 3, "suspend": odd, "minReplicas": odd, "metrics": odd, "template": odd,
                "persistentVolumeClaimRetentionPolicy": odd,
            });
            let spec = read(&spec.to_string());
            assert_eq!(count(&spec), Some(3), "{odd}");
            assert_eq!(spec.volumes(), VolumeRetention::from_text(None), "{odd}");
            let autoscaler = Kind::HORIZONTAL_POD_AUTOSCALER;
            assert_eq!(spec.counts(&autoscaler), autoscaler.counts(), "{odd}");
            assert_eq!(spec.requests(), ResourceRequests::default(), "{odd}");
            assert_eq!(read(&odd.to_string()).member("replicas"), None, "{odd}");
        }
    }

    #[test]
    fn deeply_nested_values_do_not_make_the_count_unreadable() {
        let deep = format!("{}7{}", "[".repeat(5_000), "]".repeat(5_000));
        for name in [
            "suspend",
            "metrics",
            "scaleTargetRef",
            "template",
            "shutdown",
            "unread",
        ] {
            let spec = read(&format!(r#"{{"{name}":{deep},"replicas":3}}"#));
            assert_eq!(count(&spec), Some(3), "{name}");
        }
        let spec = read(&format!(r#"{{"replicas":{deep}}}"#));
        assert!(spec.member("replicas").is_some_and(Value::is_array));
    }

    #[test]
    fn an_autoscaler_with_an_external_metric_scales_to_zero() {
        for (spec, expected) in [
            (json!({"minReplicas": 1}), false),
            (
                json!({"metrics": [{"type": "Resource"}, {"type": "Pods"}]}),
                false,
            ),
            (
                json!({"metrics": [{"type": "Resource"}, {"type": "External"}]}),
                true,
            ),
            (json!({"metrics": [{"type": "Object"}]}), true),
            (json!({"minReplicas": 0}), true),
            (json!({"metrics": "none"}), false),
        ] {
            let autoscaler = Kind::HORIZONTAL_POD_AUTOSCALER;
            let mut read = read(&spec.to_string());
            let expected = CountKind::Minimum {
                may_be_zero: expected,
            };
            assert_eq!(read.counts(&autoscaler), expected, "{spec}");
            read.trim(&autoscaler);
            assert_eq!(read.counts(&autoscaler), expected, "{spec}, trimmed");
        }
    }

    #[test]
    fn a_trimmed_autoscaler_is_small() {
        let metric = json!({"type": "External", "external": {"metric": {"name": "queue"}}});
        let spec = json!({"minReplicas": 1, "metrics": vec![metric; 1_000]});
        let mut spec = read(&spec.to_string());
        spec.trim(&Kind::HORIZONTAL_POD_AUTOSCALER);
        let bytes = format!("{spec:?}").len();
        assert!(bytes < 1_000, "{bytes} bytes");
    }

    #[test]
    fn members_outside_the_kind_table_are_skipped() {
        let text = r#"{"shutdown": true, "storage": [{"name": "one"}], "pause": null}"#;
        let spec = read(text);
        assert_eq!(spec.member("shutdown"), Some(&json!(true)));
        assert_eq!(spec.member("pause"), None);
        assert_eq!(spec.member("storage"), None);
        assert_eq!(spec.members(), Some(3));
        assert_eq!(read("{}").members(), Some(0));
        assert_eq!(read("null").members(), None);
        let mut all = ObjectSpec::from_value(&serde_json::from_str(text).unwrap());
        assert!(all.member("storage").is_some());
        all.trim(&Kind::DEPLOYMENT);
        assert_eq!(format!("{all:?}"), format!("{spec:?}"));

        let count = json!({"replicas": 3, "selector": {}});
        let mut spec = ObjectSpec::from_value(&count);
        spec.trim(&Kind::DEPLOYMENT);
        assert_eq!(
            format!("{spec:?}"),
            format!("{:?}", read(&count.to_string()))
        );
    }

    #[test]
    fn unexpected_values_in_a_template_request_nothing() {
        let requests =
            |template: &Value| read(&json!({ "template": template }).to_string()).requests();
        let number = json!({"spec": {"containers": [{"resources": {"requests": {
            "cpu": 0.5, "memory": 1_000_000, "ephemeral-storage": -1,
        }}}]}});
        let expected = ResourceRequests {
            cpu_nanos: 500_000_000,
            memory_bytes: 1_000_000,
        };
        assert_eq!(requests(&number), expected);
        for odd in [
            json!(null),
            json!(7),
            json!("template"),
            json!([{"spec": {}}]),
            json!({"spec": null}),
            json!({"spec": ["containers"]}),
            json!({"spec": {"containers": {"web": {"resources": {"requests": {"cpu": "1"}}}}}}),
            json!({"spec": {"containers": ["web", null, 7, [], {"resources": 3}]}}),
            json!({"spec": {"containers": [{"resources": {"requests": "cpu", "limits": [1]}}]}}),
            json!({"spec": {"containers": [{"resources": {"requests": {
                "cpu": {"value": 1}, "memory": true,
            }}}]}}),
            json!({"spec": {"initContainers": [{"restartPolicy": {"is": "Always"}}], "overhead": 1}}),
        ] {
            assert_eq!(requests(&odd), ResourceRequests::default(), "{odd}");
        }
    }
}
