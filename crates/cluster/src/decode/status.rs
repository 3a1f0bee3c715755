//! The `status` of a workload: how many of its replicas are ready, or whether a condition of the kind
//! table is true.

use std::{fmt, marker::PhantomData};

use dayshift_workload::{Kind, Readiness, ReadyForm, Replicas, Revision, ready_condition};
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};

/// The readiness fields of all kinds. A custom kind can have any value under these names, which must not
/// make the whole list unreadable.
#[derive(Clone, Debug, Default)]
pub(crate) struct ObjectStatus {
    ready_replicas: Option<u32>,
    /// The generation of the `spec` that this status describes.
    observed_generation: Option<i64>,
    /// The conditions that the kind table names, and whether each is true.
    conditions: Vec<(&'static str, bool)>,
    /// The revision of the pod template of a StatefulSet.
    pub(crate) update_revision: Option<Revision>,
}

impl ObjectStatus {
    /// The readiness of an object of this kind in a namespace, with this `metadata.generation`.
    pub(crate) fn readiness(
        &self,
        kind: &Kind,
        namespace: &str,
        generation: Option<i64>,
    ) -> Readiness {
        let form = kind.ready_form();
        if form == ReadyForm::ReplicasIfShown && self.ready_replicas.is_some() {
            kind.record_ready_replicas(namespace);
        }
        let is_current = match (self.observed_generation, generation) {
            (Some(observed), Some(generation)) => observed >= generation,
            _ => true,
        };
        let ready = Replicas::new(self.ready_replicas.unwrap_or_default());
        match form {
            // If the controller has not observed the object yet, a missing count does not mean 0.
            ReadyForm::Replicas if self.observed_generation.is_some() => {
                Readiness::Replicas { ready, is_current }
            }
            ReadyForm::ReplicasIfShown if kind.shows_ready_replicas(namespace) => {
                Readiness::Replicas { ready, is_current }
            }
            ReadyForm::Condition(name) => {
                let mut all = self.conditions.iter();
                all.find(|(known, _)| *known == name)
                    .map_or(Readiness::Unknown, |(_, holds)| Readiness::Condition {
                        holds: *holds,
                        is_current,
                    })
            }
            ReadyForm::Replicas | ReadyForm::ReplicasIfShown | ReadyForm::Nowhere => {
                Readiness::Unknown
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum StatusMember {
    ReadyReplicas,
    ObservedGeneration,
    Conditions,
    UpdateRevision,
    #[serde(other)]
    Unread,
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum ConditionMember {
    Type,
    Status,
    #[serde(other)]
    Unread,
}

impl<'de> Deserialize<'de> for ObjectStatus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        AnyForm::deserialize(deserializer).map(|AnyForm(status)| status)
    }
}

impl<'de> FromAnyForm<'de> for ObjectStatus {
    fn from_map<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut status = Self::default();
        while let Some(member) = map.next_key()? {
            match member {
                StatusMember::ReadyReplicas => {
                    let AnyForm(Number(number)) = map.next_value()?;
                    status.ready_replicas = number.and_then(|number| number.try_into().ok());
                }
                StatusMember::ObservedGeneration => {
                    let AnyForm(Number(number)) = map.next_value()?;
                    // Protobuf has a 0 if JSON leaves the field out; the first generation is 1.
                    status.observed_generation = number.filter(|generation| *generation > 0);
                }
                StatusMember::Conditions => {
                    let AnyForm(Conditions(conditions)) = map.next_value()?;
                    status.conditions = conditions;
                }
                StatusMember::UpdateRevision => {
                    let AnyForm(RevisionName(revision)) = map.next_value()?;
                    status.update_revision = revision;
                }
                StatusMember::Unread => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(status)
    }
}

/// A whole number, which Argo Rollouts writes as a string.
#[derive(Default)]
struct Number(Option<i64>);

impl FromAnyForm<'_> for Number {
    fn from_number(number: i64) -> Self {
        Self(Some(number))
    }

    fn from_text(text: &str) -> Self {
        Self(text.parse().ok())
    }
}

/// The name of a revision, such as `web-7d9f8c6b5`. Protobuf has an empty one if there is none.
#[derive(Default)]
struct RevisionName(Option<Revision>);

impl FromAnyForm<'_> for RevisionName {
    fn from_text(text: &str) -> Self {
        Self((!text.is_empty()).then(|| Revision::from_name(text)))
    }
}

/// The conditions that the kind table names. Most objects have none.
#[derive(Default)]
struct Conditions(Vec<(&'static str, bool)>);

impl<'de> FromAnyForm<'de> for Conditions {
    fn from_seq<A: SeqAccess<'de>>(mut seq: A) -> Result<Self, A::Error> {
        let mut conditions = Vec::new();
        while let Some(AnyForm(condition)) = seq.next_element::<AnyForm<Condition>>()? {
            conditions.extend(condition.name.map(|name| (name, condition.holds)));
        }
        Ok(Self(conditions))
    }
}

#[derive(Default)]
struct Condition {
    name: Option<&'static str>,
    holds: bool,
}

impl<'de> FromAnyForm<'de> for Condition {
    fn from_map<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut condition = Self::default();
        while let Some(member) = map.next_key()? {
            match member {
                ConditionMember::Type => {
                    let AnyForm(ConditionType(name)) = map.next_value()?;
                    condition.name = name;
                }
                ConditionMember::Status => {
                    let AnyForm(IsTrue(holds)) = map.next_value()?;
                    condition.holds = holds;
                }
                ConditionMember::Unread => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(condition)
    }
}

/// The condition type, if the kind table names it.
#[derive(Default)]
struct ConditionType(Option<&'static str>);

impl FromAnyForm<'_> for ConditionType {
    fn from_text(text: &str) -> Self {
        Self(ready_condition(text))
    }
}

#[derive(Default)]
struct IsTrue(bool);

impl FromAnyForm<'_> for IsTrue {
    fn from_text(text: &str) -> Self {
        Self(text == "True")
    }
}

/// A type that is read from values of some forms, and ignores values of other forms.
trait FromAnyForm<'de>: Default {
    fn from_number(_: i64) -> Self {
        Self::default()
    }

    fn from_text(_: &str) -> Self {
        Self::default()
    }

    fn from_seq<A: SeqAccess<'de>>(mut seq: A) -> Result<Self, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }

    fn from_map<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

/// A value of any form.
struct AnyForm<T>(T);

impl<'de, T: FromAnyForm<'de>> Deserialize<'de> for AnyForm<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_any(AnyFormVisitor(PhantomData))
            .map(Self)
    }
}

struct AnyFormVisitor<T>(PhantomData<T>);

impl<'de, T: FromAnyForm<'de>> Visitor<'de> for AnyFormVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_i64<E>(self, number: i64) -> Result<T, E> {
        Ok(T::from_number(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<T, E> {
        Ok(i64::try_from(number).map_or_else(|_| T::default(), T::from_number))
    }

    fn visit_f64<E>(self, _: f64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::from_text(text))
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<T, A::Error> {
        T::from_seq(seq)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::from_map(map)
    }
}

#[cfg(test)]
mod tests {
    use dayshift_workload::KindTable;
    use serde_json::{Value, json};

    use super::*;

    fn readiness(kind: &Kind, status: Value, generation: i64) -> Readiness {
        let text = status.to_string();
        let from_text: ObjectStatus = serde_json::from_str(&text).unwrap();
        let from_value = ObjectStatus::deserialize(status).unwrap();
        let readiness = from_text.readiness(kind, "dev", Some(generation));
        assert_eq!(
            from_value.readiness(kind, "dev", Some(generation)),
            readiness
        );
        readiness
    }

    const fn current(ready: u32) -> Readiness {
        Readiness::Replicas {
            ready: Replicas::new(ready),
            is_current: true,
        }
    }

    const fn outdated(ready: u32) -> Readiness {
        Readiness::Replicas {
            ready: Replicas::new(ready),
            is_current: false,
        }
    }

    #[test]
    fn a_deployment_reports_readiness_once_its_controller_has_observed_it() {
        for (status, expected) in [
            (json!({}), Readiness::Unknown),
            (json!({"replicas": 3}), Readiness::Unknown),
            (
                json!({"observedGeneration": 0, "readyReplicas": 0}),
                Readiness::Unknown,
            ),
            (json!({"observedGeneration": 7}), current(0)),
            (
                json!({"observedGeneration": 7, "readyReplicas": 2}),
                current(2),
            ),
            (
                json!({"observedGeneration": 6, "readyReplicas": 3}),
                outdated(3),
            ),
            (
                json!({"observedGeneration": 8, "readyReplicas": 5}),
                current(5),
            ),
            (
                json!({"observedGeneration": 7, "readyReplicas": 5_000_000_000_u64}),
                current(0),
            ),
            (
                json!({"observedGeneration": 7, "readyReplicas": -1}),
                current(0),
            ),
        ] {
            for kind in [Kind::DEPLOYMENT, Kind::STATEFUL_SET] {
                assert_eq!(readiness(&kind, status.clone(), 7), expected, "{status}");
            }
            assert_eq!(readiness(&Kind::CRON_JOB, status, 7), Readiness::Unknown);
        }
    }

    #[test]
    fn a_custom_kind_has_ready_replicas_if_one_of_its_objects_in_the_namespace_shows_them() {
        let kind = KindTable::default().resource("kites", "air.example.com");
        assert_eq!(readiness(&kind, json!({}), 1), Readiness::Unknown);
        assert_eq!(readiness(&kind, json!({"readyReplicas": 1}), 1), current(1));
        assert_eq!(readiness(&kind, json!({}), 1), current(0));
        let elsewhere = ObjectStatus::default().readiness(&kind, "ops", Some(1));
        assert_eq!(elsewhere, Readiness::Unknown);
        let rollout = KindTable::default().resource("rollouts", "argoproj.io");
        let status = json!({"observedGeneration": "4", "readyReplicas": 2});
        assert_eq!(readiness(&rollout, status, 5), outdated(2));
    }

    #[test]
    fn a_kind_with_an_on_off_field_is_ready_by_its_condition() {
        let kind = KindTable::default().resource("virtualmachines", "kubevirt.io");
        let odd = json!([null, "Ready", 7, {"type": 7, "status": "True"}, {"type": "Ready"}]);
        let condition = |text: &str| json!([{"type": "Paused", "status": "True"}, {"status": text, "type": "Ready", "reason": "x"}]);
        for (conditions, holds) in [
            (condition("True"), Some(true)),
            (condition("False"), Some(false)),
            (condition("Unknown"), Some(false)),
            (odd, Some(false)),
            (json!([]), None),
            (json!({"type": "Ready"}), None),
        ] {
            let expected = holds.map_or(Readiness::Unknown, |holds| Readiness::Condition {
                holds,
                is_current: true,
            });
            let status = json!({"conditions": conditions});
            assert_eq!(readiness(&kind, status.clone(), 1), expected, "{status}");
        }
    }

    #[test]
    fn an_unexpected_status_does_not_make_the_object_unreadable() {
        let mut odd = vec![json!("no"), json!(-1), json!(1.5), json!(true), Value::Null];
        odd.extend([json!([{"readyReplicas": 3}]), json!({"a": {"b": []}})]);
        for odd in odd {
            let nested = json!({
                "readyReplicas": odd, "observedGeneration": odd, "conditions": odd, "more": odd,
            });
            assert_eq!(readiness(&Kind::DEPLOYMENT, odd, 1), Readiness::Unknown);
            readiness(&Kind::DEPLOYMENT, nested, 1);
        }
    }
}
