//! The `spec` of a workload in JSON: its count fields, its volume retention and its resource requests.
//!
//! A custom kind can have any value under the same names, nested to any depth, and any number of values.
//! No such value makes an object, and with it the whole list, unreadable, or needs much memory.

use std::{borrow::Cow, cell::Cell, fmt};

use dayshift_text::quote;
use dayshift_workload::{ResourceRequests, SpecMember, SpecNode, VolumeRetention, allows_zero};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};

use crate::decode::pod_template::requests_in_json;

/// The count fields of all kinds. An object has those of its own kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spec {
    pub(crate) replicas: Option<Count>,
    /// The requests of the pod template.
    pub(crate) template: ResourceRequests,
    pub(crate) suspend: Option<Value>,
    pub(crate) min_replicas: Option<u32>,
    /// Whether an autoscaler has a metric that does not come from pods.
    has_outer_metric: bool,
    /// The volume retention policy of a StatefulSet.
    claim_retention: Option<ClaimRetention>,
    /// The target of a ScaledObject.
    pub(crate) scale_target_ref: Option<Box<ScaleTarget>>,
    /// The members in which other kinds have their counts.
    others: Vec<(Cow<'static, str>, Value)>,
    /// The number of members, including unread ones; `None` if there is no `spec`.
    pub(crate) members: Option<usize>,
}

impl Spec {
    /// The volume retention when the workload is scaled down.
    pub(crate) fn volumes(&self) -> VolumeRetention {
        let policy = self.claim_retention.as_ref();
        VolumeRetention::from_text(policy.and_then(|policy| policy.when_scaled.as_deref()))
    }

    /// Whether an autoscaler can have a minimum of 0: it has a metric that does not come from pods
    /// (<https://kubernetes.io/docs/concepts/workloads/autoscaling/horizontal-pod-autoscale/>), or the
    /// API server has already accepted a 0.
    pub(crate) const fn scales_to_zero(&self) -> bool {
        self.has_outer_metric || matches!(self.min_replicas, Some(0))
    }

    /// A non-null member that the kind table names.
    pub(crate) fn member(&self, name: &str) -> Option<&Value> {
        let value = match name {
            "suspend" => self.suspend.as_ref(),
            name => {
                let mut others = self.others.iter();
                others
                    .find(|(known, _)| *known == name)
                    .map(|member| &member.1)
            }
        };
        value.filter(|value| !value.is_null())
    }
}

/// A `spec`, or a value in it.
#[derive(Clone, Copy)]
pub(crate) enum LiveNode<'a> {
    Spec(&'a Spec),
    Replicas(&'a Count),
    Value(&'a Value),
}

impl SpecNode for LiveNode<'_> {
    fn member(self, name: &str) -> Option<Self> {
        match self {
            Self::Spec(spec) if name == "replicas" => spec.replicas.as_ref().map(Self::Replicas),
            Self::Spec(spec) => spec.member(name).map(Self::Value),
            Self::Replicas(_) => None,
            Self::Value(value) => value
                .get(name)
                .filter(|value| !value.is_null())
                .map(Self::Value),
        }
    }

    fn items(self) -> impl Iterator<Item = Self> {
        let items = match self {
            Self::Value(Value::Array(items)) => &items[..],
            _ => &[],
        };
        items.iter().map(Self::Value)
    }

    fn number(self) -> Option<u32> {
        match self {
            Self::Replicas(Count::Number(number)) => Some(*number),
            Self::Value(value) => u32::try_from(value.as_u64()?).ok(),
            Self::Replicas(Count::Invalid(_)) | Self::Spec(_) => None,
        }
    }

    fn flag(self) -> Option<bool> {
        match self {
            Self::Value(value) => value.as_bool(),
            _ => None,
        }
    }

    fn written<R>(self, read: impl FnOnce(&str) -> R) -> Option<R> {
        match self {
            Self::Value(Value::String(text)) => Some(read(text)),
            Self::Value(Value::Number(number)) => Some(read(&number.to_string())),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClaimRetention {
    #[serde(default)]
    when_scaled: Option<Box<str>>,
}

#[derive(Deserialize)]
struct Metric {
    #[serde(rename = "type")]
    kind: Box<str>,
}

/// The target of an object that scales another.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ScaleTarget {
    pub(crate) kind: Option<String>,
    pub(crate) name: Option<String>,
}

/// A count, or the value that a custom kind has in its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Count {
    Number(u32),
    /// Any other value, quoted.
    Invalid(Box<str>),
}

impl Count {
    pub(crate) fn new(value: &Value) -> Self {
        let number = value.as_u64().and_then(|number| i32::try_from(number).ok());
        let number = number.map(i32::unsigned_abs);
        number.map_or_else(
            || Self::Invalid(quote(&value.to_string()).into()),
            Self::Number,
        )
    }
}

/// A `spec` with all of its members. The kinds of a user's own can have their count in any of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct FullSpec(pub(crate) Spec);

impl<'de> Deserialize<'de> for FullSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = MemberReader { keeps_all: true };
        deserializer.deserialize_map(members).map(Self)
    }
}

/// Reads the members of a `spec`: all of them, or those that dayshift's own kinds need.
#[derive(Clone, Copy)]
struct MemberReader {
    keeps_all: bool,
}

/// The name of a member.
enum DecodedMember {
    Known(SpecMember),
    Other(String),
    Unread,
}

impl<'de> DeserializeSeed<'de> for MemberReader {
    type Value = DecodedMember;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<DecodedMember, D::Error> {
        struct Name(MemberReader);

        impl Visitor<'_> for Name {
            type Value = DecodedMember;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a field")
            }

            fn visit_str<E>(self, name: &str) -> Result<DecodedMember, E> {
                Ok(match SpecMember::from_name(name) {
                    Some(member) => DecodedMember::Known(member),
                    None if self.0.keeps_all => DecodedMember::Other(name.to_owned()),
                    None => DecodedMember::Unread,
                })
            }
        }

        deserializer.deserialize_identifier(Name(self))
    }
}

impl<'de> Deserialize<'de> for Spec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MemberReader { keeps_all: false })
    }
}

impl<'de> Visitor<'de> for MemberReader {
    type Value = Spec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a spec")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Spec, A::Error> {
        let mut spec = Spec::default();
        let mut members = 0;
        let left = Cell::new(MAX_VALUES);
        let bounds = Bounds::new(&left);
        while let Some(name) = map.next_key_seed(self)? {
            members += 1;
            let member = match name {
                DecodedMember::Known(member) => member,
                DecodedMember::Other(name) if bounds.has_room() => {
                    let value = map.next_value_seed(bounds)?;
                    spec.others.push((name.into(), value));
                    continue;
                }
                DecodedMember::Other(_) | DecodedMember::Unread => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            match member {
                SpecMember::Replicas => {
                    let value = Some(map.next_value_seed(bounds)?);
                    let value = value.filter(|value| !value.is_null());
                    spec.replicas = value.as_ref().map(Count::new);
                }
                SpecMember::Template => spec.template = map.next_value::<TemplateRequests>()?.0,
                SpecMember::Suspend => spec.suspend = Some(map.next_value_seed(bounds)?),
                SpecMember::MinReplicas => spec.min_replicas = readable(&mut map, bounds)?,
                SpecMember::Metrics => {
                    let metrics: Option<Vec<Metric>> = readable(&mut map, bounds)?;
                    let mut metrics = metrics.iter().flatten();
                    spec.has_outer_metric = metrics.any(|metric| allows_zero(&metric.kind));
                }
                SpecMember::ClaimRetention => spec.claim_retention = readable(&mut map, bounds)?,
                SpecMember::ScaleTarget => spec.scale_target_ref = readable(&mut map, bounds)?,
                SpecMember::Named(name) => {
                    let value = map.next_value_seed(bounds)?;
                    spec.others.push((name.into(), value));
                }
            }
        }
        spec.members = Some(members);
        Ok(spec)
    }
}

/// Reads a field if it has the expected type. Otherwise it is skipped: in a custom kind the same name
/// can mean something else.
fn readable<'de, A: MapAccess<'de>, T: DeserializeOwned>(
    map: &mut A,
    bounds: Bounds<'_>,
) -> Result<Option<T>, A::Error> {
    let value = map.next_value_seed(bounds)?;
    Ok(T::deserialize(value).ok())
}

struct TemplateRequests(ResourceRequests);

impl<'de> Deserialize<'de> for TemplateRequests {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        requests_in_json(deserializer).map(Self)
    }
}

/// The deepest nesting that is kept; no field that dayshift reads is deeper. `serde_json` rejects values
/// below 128 levels, while the API server stores up to 10,000 (Go's `encoding/json`), so one such object
/// would make its whole list unreadable.
const MAX_DEPTH: u8 = 32;

/// The maximum number of values that are kept. A pod template with a thousand environment variables has
/// 4,000. A value can need a hundred times the memory of its text, and a user can write 100,000 of them.
const MAX_VALUES: usize = 10_000;

/// A value with `null` in place of everything that is nested too deeply, and without the values after
/// the first [`MAX_VALUES`].
#[derive(Clone, Debug, Default)]
pub(crate) struct BoundedValue(pub(crate) Value);

impl<'de> Deserialize<'de> for BoundedValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let left = Cell::new(MAX_VALUES);
        Bounds::new(&left).deserialize(deserializer).map(Self)
    }
}

/// The bounds of a value that is read.
#[derive(Clone, Copy)]
struct Bounds<'b> {
    /// The number of levels that are still read.
    depth: u8,
    /// The number of values that are still read, at all levels together.
    left: &'b Cell<usize>,
}

impl<'b> Bounds<'b> {
    const fn new(left: &'b Cell<usize>) -> Self {
        Self {
            depth: MAX_DEPTH,
            left,
        }
    }

    const fn below(self) -> Self {
        Self {
            depth: self.depth - 1,
            ..self
        }
    }

    fn has_room(self) -> bool {
        self.left.get() > 0
    }
}

impl<'de> DeserializeSeed<'de> for Bounds<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        if self.depth == 0 || !self.has_room() {
            return IgnoredAny::deserialize(deserializer).map(|_| Value::Null);
        }
        self.left.set(self.left.get() - 1);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Bounds<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while self.has_room() {
            match seq.next_element_seed(self.below())? {
                Some(item) => items.push(item),
                None => return Ok(Value::Array(items)),
            }
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while self.has_room() {
            match map.next_key()? {
                Some(name) => members.insert(name, map.next_value_seed(self.below())?),
                None => return Ok(Value::Object(members)),
            };
        }
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
                "replicas": 3, "suspend": odd, "minReplicas": odd, "scaleTargetRef": odd,
            });
            let spec = Spec::deserialize(spec).unwrap();
            assert_eq!(spec.replicas, Some(Count::Number(3)));
            assert_eq!(spec.min_replicas, None, "{odd}");
            assert!(spec.scale_target_ref.is_none(), "{odd}");
        }
        let good = json!({"suspend": true, "minReplicas": 2, "scaleTargetRef": {"name": "web"}});
        let spec = Spec::deserialize(good).unwrap();
        let counts = (spec.suspend, spec.min_replicas);
        assert_eq!(counts, (Some(json!(true)), Some(2)));
        let target = spec.scale_target_ref.unwrap();
        assert_eq!((target.kind, target.name.as_deref()), (None, Some("web")));
    }

    /// `serde_json` rejects text with values below 128 levels.
    #[test]
    fn deeply_nested_values_do_not_make_the_count_unreadable() {
        let deep = format!("{}7{}", "[".repeat(5_000), "]".repeat(5_000));
        for name in [
            "suspend",
            "minReplicas",
            "metrics",
            "scaleTargetRef",
            "persistentVolumeClaimRetentionPolicy",
            "template",
            "shutdown",
            "unread",
        ] {
            let spec = format!(r#"{{"{name}":{deep},"replicas":3}}"#);
            let spec: Spec = serde_json::from_str(&spec).unwrap();
            assert_eq!(spec.replicas, Some(Count::Number(3)), "{name}");
        }
        let spec = format!(r#"{{"replicas":{deep}}}"#);
        let spec: Spec = serde_json::from_str(&spec).unwrap();
        assert!(matches!(spec.replicas, Some(Count::Invalid(_))));
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
            let read = Spec::deserialize(&spec).unwrap();
            assert_eq!(read.scales_to_zero(), expected, "{spec}");
        }
    }

    #[test]
    fn a_value_that_is_no_count_is_quoted() {
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
            // A count above `i32::MAX` must not be shortened: the test of a patch would always fail.
            (json!({"replicas": 2_147_483_648_u64}), odd("2147483648")),
            (json!({"replicas": {"min": 1}}), odd("{\"min\":1}")),
        ] {
            let read: Spec = serde_json::from_value(spec.clone()).unwrap();
            assert_eq!(read.replicas, expected, "{spec}");
        }
    }

    #[test]
    fn members_outside_the_kind_table_are_skipped() {
        let spec = json!({"shutdown": true, "storage": [{"name": "one"}], "pause": null});
        let spec = Spec::deserialize(spec).unwrap();
        assert_eq!(spec.member("shutdown"), Some(&json!(true)));
        assert_eq!(spec.member("pause"), None);
        assert_eq!(spec.member("storage"), None);
    }

    #[test]
    fn only_values_below_the_depth_limit_are_dropped() {
        let all = json!({"a": [1, -2, 2.5, "text", true, null, {"b": {}}]});
        let read: BoundedValue = serde_json::from_str(&all.to_string()).unwrap();
        assert_eq!(read.0, all);

        let deep = format!("{}7{}", "[".repeat(5_000), "]".repeat(5_000));
        let read: BoundedValue = serde_json::from_str(&deep).unwrap();
        let shown = format!("{}null{}", "[".repeat(32), "]".repeat(32));
        assert_eq!(read.0.to_string(), shown);
    }

    /// The number of values in a value, itself included.
    fn count(value: &Value) -> usize {
        1 + match value {
            Value::Array(items) => items.iter().map(count).sum(),
            Value::Object(members) => members.values().map(count).sum(),
            _ => 0,
        }
    }

    #[test]
    fn a_value_of_many_values_is_read_in_part() {
        let many = |item: &str| format!("[{}]", vec![item; 100_000].join(","));
        for text in [many("7"), many(r#"{"a":[{}]}"#), many("[[[]]]")] {
            let text = format!(r#"{{"first":1,"many":{text},"last":1}}"#);
            let read: BoundedValue = serde_json::from_str(&text).unwrap();
            assert_eq!(read.0["first"], 1);
            assert_eq!(count(&read.0), MAX_VALUES, "{}", &text[..40]);
        }
    }

    /// A custom kind can have any number of members.
    #[test]
    fn members_of_a_spec_share_the_bound() {
        let many = vec!["[0]"; 1_000].join(",");
        let members = (0..1_000).map(|number| format!(r#""m{number}":[{many}]"#));
        let text = format!(
            r#"{{"replicas":3,{}}}"#,
            members.collect::<Vec<_>>().join(",")
        );
        let FullSpec(spec) = serde_json::from_str(&text).unwrap();
        assert_eq!(spec.replicas, Some(Count::Number(3)));
        let kept: usize = spec.others.iter().map(|(_, value)| count(value)).sum();
        assert_eq!(kept, MAX_VALUES - 1);
    }
}
