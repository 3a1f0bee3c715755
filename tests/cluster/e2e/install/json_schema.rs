//! JSON schemas for kubeconform, from the API server's own OpenAPI documents and from the
//! definitions of others: tests have no network to download them.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::rendered::objects;
use crate::support::{Assets, ControlPlane, block_on};

/// The path of the schemas in an OpenAPI document.
const COMPONENTS: &str = "components/schemas";

/// The `metadata` of every kind, in the server's document `api/v1`.
const METADATA: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// A directory with a schema for each kind, as `GROUP/VERSION/KIND.json`; the group of `v1` is
/// `v1`.
pub(super) struct Schemas {
    directory: TempDir,
}

impl Schemas {
    /// The schemas of the server's kinds and of the Prometheus Operator's.
    pub(super) fn of(plane: &ControlPlane) -> Self {
        let schemas = Self {
            directory: tempfile::tempdir().unwrap(),
        };
        let index = read(plane, "/openapi/v3");
        let names = index["paths"].as_object().unwrap().keys();
        for name in names.filter(|it| is_own(it)) {
            // Without the hash that the index contains, the server returns the current document.
            let document = read(plane, &format!("/openapi/v3/{name}"));
            schemas.add_document(&name.replace('/', "_"), document);
        }
        let files = Assets::monitoring_definitions().unwrap_or_else(|why| panic!("{why:?}"));
        for file in files {
            let definitions = objects(plane, &fs::read_to_string(file).unwrap());
            for definition in definitions.values() {
                schemas.add_definition(definition);
            }
        }
        schemas
    }

    /// The value of kubeconform's `-schema-location`.
    pub(super) fn location(&self) -> String {
        let directory = self.directory.path().display();
        format!("{directory}/{{{{.Group}}}}/{{{{.ResourceAPIVersion}}}}/{{{{.ResourceKind}}}}.json")
    }

    /// Adds the kinds of an OpenAPI v3 document, which share its schemas.
    fn add_document(&self, name: &str, mut document: Value) {
        let components = document["components"]["schemas"].take();
        let Value::Object(components) = components else {
            return;
        };
        for (component, schema) in &components {
            let kinds = schema["x-kubernetes-group-version-kind"].as_array();
            for kind in kinds.into_iter().flatten() {
                let text = |key: &str| kind[key].as_str().unwrap();
                self.add_kind(
                    text("group"),
                    text("version"),
                    text("kind"),
                    json!({"$ref": reference(name, component)}),
                );
            }
        }
        let strict = components.into_iter().map(|(name, it)| (name, strict(it)));
        let strict: Map<_, _> = strict.collect();
        let document = json!({"components": {"schemas": strict}});
        self.write(Path::new(&format!("{name}.json")), &document);
    }

    /// Adds the versions of a CustomResourceDefinition.
    fn add_definition(&self, definition: &Value) {
        let spec = &definition["spec"];
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        for version in spec["versions"].as_array().unwrap() {
            let mut schema = strict(version["schema"]["openAPIV3Schema"].clone());
            // A CustomResourceDefinition specifies only that `metadata` is an object.
            schema["properties"]["metadata"] = json!({"$ref": reference("api_v1", METADATA)});
            self.add_kind(
                &text(&spec["group"]),
                &text(&version["name"]),
                &text(&spec["names"]["kind"]),
                schema,
            );
        }
    }

    /// kubeconform searches for a kind in lower case, so the schema checks the exact name.
    fn add_kind(&self, group: &str, version: &str, kind: &str, schema: Value) {
        let (directory, api_version) = match group {
            "" => (version, version.to_owned()),
            _ => (group, format!("{group}/{version}")),
        };
        let named = json!({
            "required": ["apiVersion", "kind"],
            "properties": {"apiVersion": {"enum": [api_version]}, "kind": {"enum": [kind]}},
        });
        let file = format!("{directory}/{version}/{}.json", kind.to_lowercase());
        self.write(Path::new(&file), &json!({"allOf": [named, schema]}));
    }

    fn write(&self, file: &Path, schema: &Value) {
        let path = self.directory.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, serde_json::to_vec(schema).unwrap()).unwrap();
    }
}

/// Whether a group and version, such as `apis/apps/v1`, belong to Kubernetes itself. Documents of
/// CustomResourceDefinitions change with other scenarios.
fn is_own(name: &str) -> bool {
    let group = name.split('/').nth(1).unwrap_or_default();
    !group.contains('.') || group.ends_with(".k8s.io")
}

/// A reference to a schema of a document, from the file of a kind.
fn reference(document: &str, component: &str) -> String {
    format!("../../{document}.json#/{COMPONENTS}/{component}")
}

fn read(plane: &ControlPlane, url: &str) -> Value {
    let request = http::Request::get(url).body(Vec::new()).unwrap();
    let text = block_on(plane.client().request_text(request)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The strict form of a schema, as the server applies it: an object has only the named fields. A schema stays
/// open if it allows other fields explicitly, or names no fields.
pub(super) fn strict(mut schema: Value) -> Value {
    let is_open = schema["x-kubernetes-preserve-unknown-fields"] == true;
    let Some(members) = schema.as_object_mut() else {
        return schema; // `true` or `false`
    };
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = members.get_mut(key) {
            *inner = strict(inner.take());
        }
    }
    // `allOf`, `anyOf` and `oneOf` only add constraints on these fields.
    if let Some(Value::Object(properties)) = members.get_mut("properties") {
        for property in properties.values_mut() {
            *property = strict(property.take());
        }
        if !is_open && !members.contains_key("additionalProperties") {
            members.insert("additionalProperties".to_owned(), json!(false));
        }
    }
    // A keyword of OpenAPI that JSON Schema does not have.
    if members.get("nullable") == Some(&json!(true))
        && let Some(kind) = members.get_mut("type")
    {
        *kind = json!([kind.take(), "null"]);
    }
    schema
}
