//! `metadata.managedFields`: the field manager of each field.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};

use crate::objects::{Resource, metadata::timestamp};

/// A field manager, and the subresource through which it writes.
#[derive(Clone, Copy, Debug)]
pub struct Writer<'a> {
    pub(crate) manager: &'a str,
    /// `scale`, or empty for the main resource.
    pub(crate) subresource: &'a str,
}

impl<'a> Writer<'a> {
    /// A field manager that writes the main resource.
    pub const fn new(manager: &'a str) -> Self {
        Self {
            manager,
            subresource: "",
        }
    }

    /// A field manager that writes the `scale` subresource.
    pub const fn scaling(manager: &'a str) -> Self {
        Self {
            manager,
            subresource: "scale",
        }
    }
}

/// A tree of field names as in `fieldsV1`. A leaf is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Fields(BTreeMap<String, Fields>);

/// Fields of `metadata` that no manager owns.
const UNOWNED: &str = "name namespace uid resourceVersion generation creationTimestamp \
    deletionTimestamp deletionGracePeriodSeconds managedFields";

/// Records in `new` that `writer` set the fields that differ from `old`.
pub(crate) fn record(
    new: &mut Value,
    old: Option<&Value>,
    resource: &Resource,
    writer: Writer<'_>,
    now: DateTime<Utc>,
) {
    let nothing = Value::Null;
    let (changed, gone) = difference(new, old.unwrap_or(&nothing), true);
    if changed.0.is_empty() && gone.0.is_empty() {
        return;
    }
    let mut entries: Vec<Value> = match new["metadata"]["managedFields"].take() {
        Value::Array(entries) => entries,
        _ => Vec::new(),
    };
    let own = |entry: &Value| {
        entry["manager"] == writer.manager
            && entry["operation"] == "Update"
            && entry["subresource"].as_str().unwrap_or_default() == writer.subresource
    };
    let mut found = false;
    for entry in &mut entries {
        let mut fields = Fields::read(&entry["fieldsV1"]);
        fields.subtract(&gone);
        if own(entry) {
            found = true;
            fields.join(&changed);
            if !changed.0.is_empty() {
                entry["time"] = json!(timestamp(now));
            }
        } else {
            fields.subtract(&changed);
        }
        entry["fieldsV1"] = fields.write();
    }
    if !found && !changed.0.is_empty() {
        let mut entry = json!({
            "manager": writer.manager, "operation": "Update", "apiVersion": resource.api_version(),
            "time": timestamp(now), "fieldsType": "FieldsV1", "fieldsV1": changed.write(),
        });
        if !writer.subresource.is_empty() {
            entry["subresource"] = json!(writer.subresource);
        }
        entries.push(entry);
    }
    entries.retain(|entry| entry["fieldsV1"] != json!({}));
    new["metadata"]["managedFields"] = Value::Array(entries);
}

/// The fields of `new` that differ from `old`, and the fields of `old` that `new` lacks.
fn difference(new: &Value, old: &Value, top: bool) -> (Fields, Fields) {
    let (mut changed, mut gone) = (Fields::default(), Fields::default());
    let (new, old) = (children(new), children(old));
    for (key, value) in &new {
        let before = old.get(key).copied();
        if top && key == "f:status" || before == Some(*value) {
            continue;
        }
        let mut below = difference(value, before.unwrap_or(&Value::Null), false);
        if top && key == "f:metadata" {
            for name in UNOWNED.split(' ') {
                below.0.0.remove(&format!("f:{name}"));
            }
            if below.0.0.is_empty() && below.1.0.is_empty() {
                continue;
            }
        }
        let leaf = children(value).is_empty();
        if leaf || !below.0.0.is_empty() {
            changed.0.insert(key.clone(), below.0);
        }
        if !below.1.0.is_empty() {
            gone.0.insert(key.clone(), below.1);
        }
    }
    for (key, value) in old {
        if !new.contains_key(&key) {
            gone.0.insert(key, difference(value, &Value::Null, false).0);
        }
    }
    (changed, gone)
}

fn children(value: &Value) -> BTreeMap<String, &Value> {
    match value {
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| (format!("f:{key}"), value))
            .collect(),
        Value::Array(items) if items.iter().all(|item| item["name"].is_string()) => items
            .iter()
            .map(|item| (format!("k:{}", json!({"name": item["name"]})), item))
            .collect(),
        _ => BTreeMap::new(),
    }
}

impl Fields {
    fn read(value: &Value) -> Self {
        let members = value.as_object().into_iter().flatten();
        let fields = members.map(|(key, value)| (key.clone(), Self::read(value)));
        Self(fields.collect())
    }

    fn write(&self) -> Value {
        let members = self.0.iter();
        let members = members.map(|(key, below)| (key.clone(), below.write()));
        Value::Object(members.collect::<Map<_, _>>())
    }

    fn join(&mut self, other: &Self) {
        for (key, below) in &other.0 {
            self.0.entry(key.clone()).or_default().join(below);
        }
    }

    fn subtract(&mut self, other: &Self) {
        for (key, below) in &other.0 {
            let Some(own) = self.0.get_mut(key) else {
                continue;
            };
            own.subtract(below);
            if own.0.is_empty() || below.0.is_empty() {
                self.0.remove(key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::DEPLOYMENTS;

    fn owner(object: &Value, path: &str) -> Vec<String> {
        let entries = object["metadata"]["managedFields"].as_array().unwrap();
        let owns = |entry: &&Value| entry["fieldsV1"].pointer(path).is_some();
        let name = |entry: &Value| entry["manager"].as_str().unwrap().to_owned();
        entries.iter().filter(owns).map(name).collect()
    }

    fn writer(manager: &str) -> Writer<'_> {
        Writer {
            manager,
            subresource: "",
        }
    }

    #[test]
    fn last_writer_of_a_field_owns_it() {
        let now = Utc::now();
        let mut first = json!({
            "metadata": {"name": "web", "uid": "1", "labels": {"app": "web"}},
            "spec": {"replicas": 1, "template": {"spec": {"containers": [{"name": "nginx"}]}}},
        });
        record(&mut first, None, DEPLOYMENTS, writer("kubectl"), now);
        assert_eq!(owner(&first, "/f:spec/f:replicas"), ["kubectl"]);
        assert_eq!(owner(&first, "/f:metadata/f:labels/f:app"), ["kubectl"]);
        assert!(owner(&first, "/f:metadata/f:uid").is_empty());

        let mut second = first.clone();
        second["spec"]["replicas"] = json!(0);
        second["metadata"]["labels"]["dayshift/state"] = json!("stopped");
        record(
            &mut second,
            Some(&first),
            DEPLOYMENTS,
            writer("dayshift"),
            now,
        );
        assert_eq!(owner(&second, "/f:spec/f:replicas"), ["dayshift"]);
        assert_eq!(
            owner(&second, "/f:metadata/f:labels/f:dayshift~1state"),
            ["dayshift"]
        );
        assert_eq!(owner(&second, "/f:metadata/f:labels/f:app"), ["kubectl"]);

        let mut third = second.clone();
        third["metadata"]["labels"]
            .as_object_mut()
            .unwrap()
            .remove("dayshift/state");
        record(
            &mut third,
            Some(&second),
            DEPLOYMENTS,
            writer("kubectl"),
            now,
        );
        assert!(owner(&third, "/f:metadata/f:labels/f:dayshift~1state").is_empty());
    }
}
