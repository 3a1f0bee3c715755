//! The ConfigMap in which a team writes the defaults of the workloads in its namespace.

use std::collections::BTreeMap;

use dayshift_workload::{Annotations, Key, Prefix, TEAM_CONFIG_MAP};
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use serde::{Deserialize, Deserializer, de::IgnoredAny};

use crate::decode::{
    metadata::{Part, decode_part},
    protobuf::{CONFIG_MAPS, CORE_ROOT},
    workload::{Texts, Version, trimmed},
};

/// A ConfigMap, of which only the values of known keys are kept. Any user of a namespace can write one of
/// a megabyte.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TeamConfigMap {
    #[serde(deserialize_with = "trimmed")]
    metadata: ObjectMeta,
    #[serde(default, deserialize_with = "known_texts")]
    data: BTreeMap<String, String>,
    /// The keys, without the values.
    #[serde(default)]
    binary_data: Option<BTreeMap<String, IgnoredAny>>,
}

decode_part!(TeamConfigMap);

impl Part for TeamConfigMap {
    const ROOT: &'static str = CORE_ROOT;
    const PLURAL: &'static str = CONFIG_MAPS;
}

/// A team's defaults, as the API server sent them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedTeamDefaults {
    /// The UID of the ConfigMap.
    pub uid: Box<str>,
    /// Its `resourceVersion`.
    pub version: Version,
    /// Its keys and values.
    pub annotations: Annotations,
}

impl ObservedTeamDefaults {
    /// Reads a ConfigMap; `None` if it is another one. A server that ignores field selectors would send
    /// all of them.
    pub fn read(config_map: &TeamConfigMap) -> Option<Self> {
        let meta = &config_map.metadata;
        let is_read = meta.name.as_deref() == Some(TEAM_CONFIG_MAP);
        let binary = config_map.binary_data.iter().flat_map(BTreeMap::keys);
        is_read.then(|| Self {
            uid: meta.uid.as_deref().unwrap_or_default().into(),
            version: Version::parse(meta.resource_version.as_deref().unwrap_or_default()),
            annotations: team_annotations(&config_map.data, binary),
        })
    }
}

/// The whole ConfigMap of a team, as commands read and write it.
#[derive(Clone, Debug)]
pub struct WholeTeamDefaults(pub(crate) ConfigMap);

impl WholeTeamDefaults {
    /// Its keys and values.
    pub fn annotations(&self) -> Annotations {
        let none = BTreeMap::new();
        let binary = self.0.binary_data.iter().flat_map(BTreeMap::keys);
        team_annotations(self.0.data.as_ref().unwrap_or(&none), binary)
    }
}

fn team_annotations<'c>(
    data: &BTreeMap<String, String>,
    binary: impl Iterator<Item = &'c String>,
) -> Annotations {
    let prefix = Prefix::default();
    // A value that is not text is no value of ours.
    let binary = binary.map(|key| (prefix.full(&format!("binaryData/{key}")), ""));
    let texts = data.iter();
    let texts = texts.map(|(key, text)| (prefix.full(key), &**text));
    let texts: Vec<_> = texts.chain(binary).collect();
    let texts = texts.iter().map(|(key, text)| (&**key, *text));
    Annotations::under(&prefix, texts)
}

/// Reads the values of known keys, and the beginnings of other keys.
fn known_texts<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    let texts = deserializer.deserialize_any(Texts(|key| Key::from_name(key).is_some()))?;
    Ok(texts.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(name: &str, content: &Value) -> Option<ObservedTeamDefaults> {
        let mut object = json!({
            "metadata": {
                "name": name, "namespace": "shop", "uid": "u", "resourceVersion": "7",
                "annotations": {"a": "b"}, "managedFields": [{"manager": "kubectl"}],
            },
        });
        for (key, value) in content.as_object().unwrap() {
            object[key] = value.clone();
        }
        ObservedTeamDefaults::read(&serde_json::from_value(object).unwrap())
    }

    #[test]
    fn keys_are_those_of_annotations_without_the_prefix() {
        let data = json!({"hours": "09:00-19:00", "hour": "x", "error": "y"});
        let observed = read(
            "dayshift",
            &json!({"data": data, "binaryData": {"stop": "AA=="}}),
        );
        let annotations = observed.unwrap().annotations;
        assert_eq!(annotations.text(Key::Hours), Some("09:00-19:00"));
        assert!(!annotations.has(Key::Stop));
        let unknown: Vec<_> = annotations.unknown().iter().map(|key| &*key.name).collect();
        assert_eq!(unknown, ["binaryData/stop", "hour"]);
    }

    #[test]
    fn only_the_config_map_with_the_name_is_read() {
        let content = json!({"data": {"hours": "09:00-19:00"}});
        assert!(read("dayshift", &content).is_some());
        for name in ["dayshift-schedules", "Dayshift", "kube-root-ca.crt"] {
            assert_eq!(read(name, &content), None, "{name}");
        }
        let none = Annotations::default();
        for content in [json!({}), json!({"data": null, "binaryData": null})] {
            assert_eq!(read("dayshift", &content).unwrap().annotations, none);
        }
    }

    /// A user can write a megabyte, in one value or in many keys.
    #[test]
    fn values_of_unknown_keys_and_texts_that_are_too_long_are_not_kept() {
        let long = "x".repeat(1 << 20);
        let many: serde_json::Map<_, _> = (0..10_000)
            .map(|number| (format!("key-{number}"), json!("value")))
            .collect();
        for data in [json!({"notes": long}), json!({"hours": long}), many.into()] {
            let annotations = read("dayshift", &json!({"data": data}))
                .unwrap()
                .annotations;
            assert!(
                annotations.kept_bytes() < 64,
                "{}",
                annotations.kept_bytes()
            );
            assert!(!annotations.is_empty());
        }
    }
}
