//! The metadata of Namespaces, Services and EndpointSlices, without fields that dayshift does not read.
//!
//! Users can write managed fields with a time such as the year 10000, and with any nesting, which parsers
//! reject. If these fields were parsed, one such object would make the list of all objects unreadable.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference, Time};
use serde::{Deserialize, Deserializer};

use crate::decode::views::Decode;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Metadata {
    name: Option<String>,
    namespace: Option<String>,
    uid: Option<String>,
    resource_version: Option<String>,
    creation_timestamp: Option<Time>,
    deletion_timestamp: Option<Time>,
    labels: Option<BTreeMap<String, String>>,
    annotations: Option<BTreeMap<String, String>>,
    owner_references: Option<Vec<OwnerReference>>,
}

/// Reads the metadata of an object.
pub(crate) fn metadata<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ObjectMeta, D::Error> {
    let meta = Metadata::deserialize(deserializer)?;
    Ok(ObjectMeta {
        name: meta.name,
        namespace: meta.namespace,
        uid: meta.uid,
        resource_version: meta.resource_version,
        creation_timestamp: meta.creation_timestamp,
        deletion_timestamp: meta.deletion_timestamp,
        labels: meta.labels,
        annotations: meta.annotations,
        owner_references: meta.owner_references,
        ..ObjectMeta::default()
    })
}

/// A part of an API object that every server has.
pub trait Part: Decode {
    /// The API path of its group and version, for example `/api/v1/`.
    const ROOT: &'static str;
    /// The plural of its kind, as in API paths.
    const PLURAL: &'static str;
    /// Whether it has only metadata, which the API server can send without the rest.
    const IS_METADATA_ONLY: bool = false;
}

/// Implements [`Decode`] for a struct with a field `metadata`.
macro_rules! decode_part {
    ($type:ty) => {
        impl crate::decode::views::Decode for $type {
            type Full = Self;

            fn meta(&self) -> &k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                &self.metadata
            }
        }
    };
}

pub(crate) use decode_part;

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, Deserialize)]
    struct Named {
        #[serde(deserialize_with = "metadata")]
        metadata: ObjectMeta,
    }

    decode_part!(Named);

    /// kube-apiserver 1.36 stores all of these (`tests/cluster/e2e/security/odd_objects.rs`).
    #[test]
    fn odd_managed_fields_do_not_make_the_object_unreadable() {
        let deep = format!("{}{{}}{}", r#"{"f:a":"#.repeat(5_000), "}".repeat(5_000));
        for entry in [
            r#"{"time": "-0001-12-31T23:00:00Z"}"#,
            r#"{"time": "10000-01-01T00:59:59Z"}"#,
            &format!(r#"{{"fieldsV1": {deep}}}"#),
        ] {
            let object = format!(
                r#"{{"metadata": {{"managedFields": [{entry}], "name": "web", "labels": {{"a": "b"}}}}}}"#
            );
            let part: Named = serde_json::from_str(&object).unwrap();
            assert_eq!(part.meta().name.as_deref(), Some("web"));
            assert_eq!(part.meta().labels.as_ref().unwrap()["a"], "b");
        }
    }
}
