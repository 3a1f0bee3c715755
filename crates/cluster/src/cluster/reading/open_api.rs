//! The schemas of a group and version that the API server publishes at `/openapi/v3/apis/…`.
//! Every ServiceAccount may read it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

/// The schemas of one group and version; parts that nobody asks for are skipped.
#[derive(Debug, Deserialize)]
pub(super) struct OpenApi {
    #[serde(default)]
    components: Components,
}

#[derive(Debug, Default, Deserialize)]
struct Components {
    #[serde(default)]
    schemas: BTreeMap<String, Schema>,
}

#[derive(Debug, Deserialize)]
struct Schema {
    properties: Option<BTreeMap<String, Schema>>,
    #[serde(default, rename = "x-kubernetes-preserve-unknown-fields")]
    keeps_unknown: bool,
    #[serde(default, rename = "x-kubernetes-group-version-kind")]
    kinds: Vec<GroupVersionKind>,
    /// Each of these may add properties.
    #[serde(rename = "additionalProperties")]
    additional: Option<IgnoredAny>,
    #[serde(rename = "allOf")]
    all_of: Option<IgnoredAny>,
    #[serde(rename = "$ref")]
    reference: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
struct GroupVersionKind {
    kind: String,
}

impl Schema {
    /// Its properties, where it has no others.
    fn all_properties(&self) -> Option<&BTreeMap<String, Self>> {
        let may_have_others = self.keeps_unknown
            || self.additional.is_some()
            || self.all_of.is_some()
            || self.reference.is_some();
        self.properties.as_ref().filter(|_| !may_have_others)
    }

    /// Whether it does not allow a field.
    fn lacks(&self, path: &[&str]) -> bool {
        let (Some((name, below)), Some(properties)) = (path.split_first(), self.all_properties())
        else {
            return false;
        };
        properties.get(*name).is_none_or(|it| it.lacks(below))
    }
}

impl OpenApi {
    /// Whether the schema of a kind is known and does not allow a field, such as `spec.replicas`:
    /// the API server drops writes to it. Every object has metadata.
    pub(super) fn lacks(&self, kind: &str, path: &[&str]) -> bool {
        let mut schemas = self.components.schemas.values();
        let schema = schemas.find(|it| it.kinds.iter().any(|it| it.kind == kind));
        path.first() != Some(&"metadata") && schema.is_some_and(|it| it.lacks(path))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn lacks(properties: &Value, more: &Value) -> bool {
        let mut schema = json!({
            "type": "object",
            "properties": properties,
            "x-kubernetes-group-version-kind": [{"group": "g", "kind": "Plane", "version": "v1"}],
        });
        let more = more.as_object().unwrap().clone();
        schema.as_object_mut().unwrap().extend(more);
        let all = json!({"openapi": "3.0.0", "components": {"schemas": {
            "com.example.v1.Plane": schema,
            "com.example.v1.PlaneList": {"type": "object", "required": ["items"]},
        }}});
        let read: OpenApi = serde_json::from_value(all).unwrap();
        let count = ["spec", "replicas"];
        assert!(!read.lacks("Boat", &count));
        assert!(!read.lacks("Plane", &["metadata", "annotations", "a/b"]));
        read.lacks("Plane", &count)
    }

    #[test]
    fn a_count_is_missing_only_where_a_schema_leaves_no_room_for_it() {
        let none = json!({});
        let keeps = json!({"x-kubernetes-preserve-unknown-fields": true});
        let spec = |spec: Value| json!({"metadata": {"type": "object"}, "spec": spec});
        let folds = json!({"type": "object", "properties": {"folds": {"type": "integer"}}});
        for (properties, more, expected) in [
            (spec(folds.clone()), &none, true),
            (json!({"metadata": {}, "data": {}}), &none, true),
            (spec(folds), &keeps, false),
            (
                spec(json!({"properties": {"replicas": {"type": "integer"}}})),
                &none,
                false,
            ),
            (
                spec(
                    json!({"properties": {"folds": {}}, "x-kubernetes-preserve-unknown-fields": true}),
                ),
                &none,
                false,
            ),
            (
                spec(json!({"type": "object", "additionalProperties": {"type": "integer"}})),
                &none,
                false,
            ),
            (spec(json!({"type": "object"})), &none, false),
            (
                spec(json!({"$ref": "#/components/schemas/Spec"})),
                &none,
                false,
            ),
            (
                spec(json!({"allOf": [{"$ref": "#/components/schemas/Spec"}]})),
                &none,
                false,
            ),
        ] {
            assert_eq!(lacks(&properties, more), expected, "{properties} {more}");
        }
    }
}
