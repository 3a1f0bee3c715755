//! The `status` of a workload: how many of its replicas are ready, or whether a condition of the kind
//! table is true.

use dayshift_workload::{
    Kind, Readiness, ReadyForm, Replicas, Revision,
    fields::{FieldReader, Member, Scalar, read_fields},
    ready_condition,
};
use serde::{Deserialize, Deserializer};

/// The readiness fields of all kinds. A custom kind can have any value under these names.
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

impl<'de> Deserialize<'de> for ObjectStatus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut reader = StatusReader::default();
        read_fields(&mut reader, Position::Status, deserializer)?;
        Ok(reader.status)
    }
}

#[derive(Default)]
struct StatusReader {
    status: ObjectStatus,
    /// The type of the condition that is being read, if the kind table names it, and whether it is true.
    condition: (Option<&'static str>, bool),
}

/// A position in a `status`.
#[derive(Clone, Copy)]
enum Position {
    Status,
    ReadyReplicas,
    ObservedGeneration,
    UpdateRevision,
    Conditions,
    Condition,
    ConditionType,
    ConditionStatus,
}

impl FieldReader for StatusReader {
    type Position = Position;

    fn member(&mut self, at: Position, name: &str) -> Member<Position> {
        Member::At(match (at, name) {
            (Position::Status, "readyReplicas") => Position::ReadyReplicas,
            (Position::Status, "observedGeneration") => Position::ObservedGeneration,
            (Position::Status, "updateRevision") => Position::UpdateRevision,
            (Position::Status, "conditions") => Position::Conditions,
            (Position::Condition, "type") => Position::ConditionType,
            (Position::Condition, "status") => Position::ConditionStatus,
            _ => return Member::Skipped,
        })
    }

    fn item(&self, list: Position) -> Option<Position> {
        matches!(list, Position::Conditions).then_some(Position::Condition)
    }

    fn scalar(&mut self, at: Position, scalar: &Scalar<'_>) {
        let status = &mut self.status;
        match at {
            Position::ReadyReplicas => {
                status.ready_replicas = scalar.whole().and_then(|number| number.try_into().ok());
            }
            // Argo Rollouts writes it as a string. Protobuf has a 0 if JSON leaves the field out; the
            // first generation is 1.
            Position::ObservedGeneration => {
                status.observed_generation = scalar.whole().filter(|generation| *generation > 0);
            }
            // Such as `web-7d9f8c6b5`. Protobuf has an empty one if there is none.
            Position::UpdateRevision => {
                let name = scalar.text().filter(|name| !name.is_empty());
                status.update_revision = name.map(Revision::from_name);
            }
            Position::ConditionType => {
                self.condition.0 = scalar.text().and_then(ready_condition);
            }
            Position::ConditionStatus => self.condition.1 = scalar.text() == Some("True"),
            Position::Status | Position::Conditions | Position::Condition => {}
        }
    }

    fn end(&mut self, _: Position, at: Position) {
        if matches!(at, Position::Condition) {
            let (name, holds) = std::mem::take(&mut self.condition);
            let condition = name.map(|name| (name, holds));
            self.status.conditions.extend(condition);
        }
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
