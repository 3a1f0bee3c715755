//! How objects of a kind are asked for, and how their counts are read and written, as its row says.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::{Value, json};

use super::pod_template::requests;
use crate::schedule::is_too_long;
use crate::text::quote;
use crate::workload::{
    CountField, CountForm, Key, Kind, Observed, Replicas, ResourceRequests, Shape, VolumeRetention,
    WorkloadRef,
};

/// How one kind is read and written.
#[derive(Debug)]
pub(super) struct Resource {
    kind: Kind,
}

/// The messages of `encoding::messages`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Message {
    /// With `spec.replicas`.
    Workload,
    /// With `spec.suspend`.
    CronJob,
    /// With `spec.minReplicas`.
    Autoscaler,
}

/// The fields in which the kinds hold their counts. Each object has those of its own kind.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Spec {
    #[serde(default)]
    replicas: Option<Count>,
    /// What its pod template requests.
    #[serde(default, deserialize_with = "requests")]
    pub(super) template: ResourceRequests,
    #[serde(default, deserialize_with = "readable")]
    suspend: Option<bool>,
    #[serde(default, deserialize_with = "readable")]
    min_replicas: Option<u32>,
    /// What becomes of a StatefulSet's volumes.
    #[serde(default, deserialize_with = "readable")]
    persistent_volume_claim_retention_policy: Option<ClaimRetention>,
    /// What a ScaledObject scales.
    #[serde(default, deserialize_with = "readable")]
    pub(super) scale_target_ref: Option<Box<ScaleTarget>>,
}

/// A field, where it holds what its own kind has in it. A custom kind may have anything under the
/// same name, and one object is no reason not to read the list it comes in.
fn readable<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(T::deserialize(value).ok())
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClaimRetention {
    #[serde(default)]
    when_scaled: Option<Box<str>>,
}

impl Spec {
    /// What becomes of its volumes when it is scaled down.
    pub(super) fn volumes(&self) -> VolumeRetention {
        let policy = self.persistent_volume_claim_retention_policy.as_ref();
        VolumeRetention::of(policy.and_then(|it| it.when_scaled.as_deref()))
    }
}

/// What an object scales.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ScaleTarget {
    pub(super) kind: Option<String>,
    pub(super) name: Option<String>,
}

/// A count, or what a custom kind has in its place: one object that is wrong is no reason not to read the
/// list it comes in.
#[derive(Clone, Debug, PartialEq)]
enum Count {
    Number(u32),
    /// Quoted.
    Invalid(Box<str>),
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let number = value.as_u64().and_then(|it| i32::try_from(it).ok());
        let number = number.map(i32::unsigned_abs);
        Ok(number.map_or_else(
            || Self::Invalid(quote(&value.to_string()).into()),
            Self::Number,
        ))
    }
}

/// What a patch does about a count.
pub(super) struct CountPatch {
    /// What the field holds that it is decided from; `None` where that is no count, and says
    /// nothing of one.
    pub(super) test: Option<Value>,
    /// What it is to hold; `None` where it is to go.
    pub(super) write: Option<Value>,
}

impl Resource {
    /// How a kind is read and written.
    pub(super) const fn of(kind: Kind) -> Self {
        Self { kind }
    }

    /// The message that the API server sends of it where it is asked for protobuf; `None` where it
    /// has none.
    pub(super) const fn message(&self) -> Option<Message> {
        match self.kind.shape() {
            Shape::Pods => Some(Message::Workload),
            Shape::Jobs => Some(Message::CronJob),
            Shape::Autoscaler => Some(Message::Autoscaler),
            Shape::Custom => None,
        }
    }

    /// The count of such an object, and what stands where it holds it.
    pub(super) fn read(
        &self,
        spec: &Spec,
        annotations: Option<&BTreeMap<String, String>>,
    ) -> (Replicas, CountField) {
        let count = match self.kind.form() {
            CountForm::Suspended => spec.suspend.map(|is_suspended| u32::from(!is_suspended)),
            CountForm::RestsAt => {
                let name = self.count().last().copied().unwrap_or_default();
                return match annotations.and_then(|it| it.get(name)) {
                    Some(text) => (Replicas::ZERO, CountField::Text(text.as_str().into())),
                    None => (Replicas::ONE, CountField::Absent),
                };
            }
            CountForm::Number if self.kind.shape() == Shape::Autoscaler => spec.min_replicas,
            CountForm::Number => match &spec.replicas {
                Some(Count::Invalid(text)) => {
                    self.kind.note_lacks_count(false);
                    return (Replicas::ONE, CountField::Invalid(text.clone()));
                }
                Some(Count::Number(number)) => {
                    // Its schema may have got the field since.
                    self.kind.note_lacks_count(false);
                    Some(*number)
                }
                None if self.kind.lacks_count() => return (Replicas::ONE, CountField::Missing),
                None => None,
            },
        };
        let field = match count {
            Some(_) => CountField::Present,
            None => CountField::Absent,
        };
        (Replicas::new(count.unwrap_or(1)), field)
    }

    /// What a patch does about the count of an object that is to have `wanted`.
    pub(super) fn patch(&self, observed: &Observed, wanted: Replicas) -> CountPatch {
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
            CountForm::Number => Some(json!(count.get())),
        };
        let test = match &observed.count_field {
            CountField::Present => Some(value(observed.replicas).unwrap_or_default()),
            CountField::Absent | CountField::Missing => Some(Value::Null),
            // Its end was not kept.
            CountField::Text(text) if is_too_long(text) => None,
            CountField::Text(text) => Some(json!(text)),
            CountField::Invalid(_) => None,
        };
        CountPatch {
            test,
            write: value(wanted),
        }
    }

    /// Where the count lies, as the tokens of a JSON pointer.
    pub(super) const fn count(&self) -> &'static [&'static str] {
        self.kind.path()
    }

    /// Whether the count is an annotation.
    pub(super) fn count_is_annotation(&self) -> bool {
        self.count().first() == Some(&"metadata")
    }

    /// Where the count lies in the `fieldsV1` of a manager (structured merge diff v4), as the
    /// tokens of a JSON pointer.
    pub(super) fn managed_count(&self) -> String {
        self.count()
            .iter()
            .map(|token| format!("/f:{}", token.replace('~', "~0").replace('/', "~1")))
            .collect()
    }

    /// `/apis/apps/v1/namespaces/dev/deployments`; without a namespace, all of the cluster.
    pub(super) fn path(&self, namespace: Option<&str>) -> String {
        let (root, plural) = (self.kind.root(), self.kind.plural());
        match namespace {
            Some(namespace) => format!("{root}namespaces/{namespace}/{plural}"),
            None => format!("{root}{plural}"),
        }
    }

    /// Whether a path leads to objects of this kind or of others beside it.
    pub(super) fn is_above(&self, path: &str) -> bool {
        path.starts_with(self.kind.root())
    }

    /// The path of one object.
    pub(super) fn path_of(object: &WorkloadRef) -> String {
        let collection = Self::of(object.kind).path(Some(&object.namespace));
        format!("{collection}/{}", object.name)
    }
}

/// The kind whose collection has this path, in one namespace or in all; none for every other path,
/// such as that of one object.
pub fn kind_of_collection(path: &str) -> Option<Kind> {
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
    fn what_another_kind_has_under_the_same_name_hides_no_count() {
        for odd in [
            json!("no"),
            json!(-1),
            json!([7]),
            json!({"name": 7}),
            Value::Null,
        ] {
            let spec = json!({
                "replicas": 3, "suspend": odd, "minReplicas": odd, "scaleTargetRef": odd,
            });
            let spec = Spec::deserialize(spec).unwrap();
            assert_eq!(spec.replicas, Some(Count::Number(3)));
            assert_eq!((spec.suspend, spec.min_replicas), (None, None), "{odd}");
            assert!(spec.scale_target_ref.is_none(), "{odd}");
        }
        let good = json!({"suspend": true, "minReplicas": 2, "scaleTargetRef": {"name": "web"}});
        let spec = Spec::deserialize(good).unwrap();
        assert_eq!((spec.suspend, spec.min_replicas), (Some(true), Some(2)));
        let target = spec.scale_target_ref.unwrap();
        assert_eq!((target.kind, target.name.as_deref()), (None, Some("web")));
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
            Resource::path_of(&object),
            "/apis/apps/v1/namespaces/dev/deployments/db"
        );
        assert_eq!(
            Resource::of(Kind::DEPLOYMENT).managed_count(),
            "/f:spec/f:replicas"
        );
        assert_eq!(
            Resource::of(Kind::SCALED_OBJECT).managed_count(),
            "/f:metadata/f:annotations/f:autoscaling.keda.sh~1paused-replicas"
        );
    }

    #[test]
    fn what_is_no_count_is_quoted() {
        let odd = |text: &str| Some(Count::Invalid(text.into()));
        for (spec, expected) in [
            (json!({}), None),
            (json!({"replicas": null}), None),
            (json!({"replicas": 3}), Some(Count::Number(3))),
            (json!({"replicas": "3"}), odd("\"3\"")),
            (json!({"replicas": -1}), odd("-1")),
            (
                json!({"replicas": i32::MAX}),
                Some(Count::Number(0x7fff_ffff)),
            ),
            // A test for the count as it would be cut never holds.
            (json!({"replicas": 2_147_483_648_u64}), odd("2147483648")),
            (json!({"replicas": {"min": 1}}), odd("{\"min\":1}")),
        ] {
            let read: Spec = serde_json::from_value(spec.clone()).unwrap();
            assert_eq!(read.replicas, expected, "{spec}");
        }
    }
}
