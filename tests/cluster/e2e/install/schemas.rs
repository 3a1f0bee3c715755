//! Everything that a user can install, validated by kubeconform against the real server's own
//! schemas.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::json_schema::{Schemas, strict};
use super::kustomize::{built, overlay};
use super::rendered::CHART;
use crate::rows::{rows, unescaped};
use crate::support::{Assets, ControlPlane, Parts, Scenario, scenarios};

pub(super) fn scenarios() -> Vec<Scenario> {
    scenarios![
        Parts::Server;
        installed_objects_match_their_schemas,
        schema_rejects_a_seeded_defect,
        strict_schema_allows_only_named_fields,
    ]
}

/// Directories of manifests that are applied unchanged.
const DIRECTORIES: [&str; 5] = [
    "manifests",
    "manifests/kinds",
    "manifests/policy",
    "manifests/monitoring",
    "examples",
];

/// Values of the chart that render additional objects.
const VALUES: [(&str, &[&str]); 6] = [
    ("chart", &[]),
    (
        "chart-each-value",
        &["-f=tests/cluster/e2e/install/values.yaml"],
    ),
    (
        "chart-namespaces",
        &[
            "--set=scope.clusterWide=false",
            "--set=scope.namespaces={a,b}",
        ],
    ),
    (
        "chart-kinds",
        &["--set=kinds={scaledobjects,rollouts.argoproj.io}"],
    ),
    (
        "chart-policy",
        &["--set=policy.enabled=true,annotationPrefix=example.com"],
    ),
    (
        "chart-share",
        &["--set=podDisruptionBudget.enabled=true,podDisruptionBudget.maxUnavailable=1"],
    ),
];

/// Overlays for kustomize, each with its contents.
const OVERLAYS: [(&str, &str); 2] = [
    (
        "overlay",
        "resources: [../manifests]\ncomponents: [../manifests/policy, ../manifests/monitoring]\n",
    ),
    (
        "overlay-namespaced",
        "namespace: team\nresources: [../manifests]\ncomponents: [../manifests/namespaced]\n",
    ),
];

/// All bundles by name.
fn bundles(plane: &ControlPlane) -> Vec<(String, String)> {
    let mut bundles = Vec::new();
    for directory in DIRECTORIES {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let is_part = path.is_dir() || path.ends_with("kustomization.yaml");
            let is_patch = PATCHES.iter().any(|patch| path.ends_with(patch));
            if !is_part && !is_patch {
                let name = path.display().to_string().replace('/', "-");
                bundles.push((name, fs::read_to_string(path).unwrap()));
            }
        }
    }
    for (name, more) in OVERLAYS {
        let head = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n";
        let directory = overlay(&format!("{head}{more}"));
        let text = built(plane, &directory.path().join("overlay"));
        bundles.push((format!("{name}.yaml"), text));
    }
    for patch in PATCHES {
        bundles.push((patch.to_owned(), with_patch(plane, patch)));
    }
    for (name, values) in VALUES {
        for version in [3, 4] {
            let render = ["template", "day", CHART, "-n=ops", "--kube-version=1.36.0"];
            let text = plane.helm(version, &[&render, values].concat()).success();
            bundles.push((format!("{name}-{version}.yaml"), text));
        }
    }
    bundles
}

/// The manifests that are patches of the Deployment.
const PATCHES: [&str; 2] = ["calendar.yaml", "schedules.yaml"];

/// The Deployment with one of [`PATCHES`].
fn with_patch(plane: &ControlPlane, patch: &str) -> String {
    let manifest = fs::read_to_string("manifests/dayshift.yaml").unwrap();
    let mut documents = manifest.split("\n---\n");
    let deployment = documents.find(|it| it.contains("\nkind: Deployment\n"));
    let file = tempfile::NamedTempFile::with_suffix(".yaml").unwrap();
    fs::write(file.path(), deployment.unwrap()).unwrap();
    let patch = format!("--patch-file=manifests/{patch}");
    let path = file.path().to_str().unwrap();
    let local = ["patch", "--local", "-f", path, &patch, "-o", "yaml"];
    plane.kubectl(&local).success()
}

/// kubeconform's count of the objects in a directory, and each file with an invalid object, with
/// the error.
fn report(schemas: &Schemas, directory: &Path) -> (Value, Vec<(String, String)>) {
    let program = Assets::kubeconform().unwrap_or_else(|why| panic!("{why:?}"));
    let output = Command::new(program)
        .args(["-strict", "-summary", "-output=json"])
        .args(["-schema-location", &schemas.location()])
        .arg(directory)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let refused = report["resources"].as_array().unwrap().iter().map(|it| {
        let text = |key: &str| it[key].as_str().unwrap();
        let file = Path::new(text("filename")).file_name().unwrap();
        (file.to_str().unwrap().to_owned(), text("msg").to_owned())
    });
    let refused: Vec<_> = refused.collect();
    assert_eq!(output.status.success(), refused.is_empty(), "{refused:#?}");
    (report["summary"].clone(), refused)
}

fn installed_objects_match_their_schemas(plane: &ControlPlane) {
    let schemas = Schemas::of(plane);
    let directory = tempfile::tempdir().unwrap();
    let mut objects = 0;
    for (name, text) in bundles(plane) {
        fs::write(directory.path().join(&name), &text).unwrap();
        let of_bundle = text.lines().filter(|it| it.starts_with("kind:")).count();
        assert!(of_bundle > 0, "{name}");
        objects += of_bundle;
    }
    let (summary, refused) = report(&schemas, directory.path());
    let expected = json!({"valid": objects, "invalid": 0, "errors": 0, "skipped": 0});
    assert_eq!(summary, expected, "{refused:#?}");
}

/// Seeded defects: a manifest, a text in it, its replacement, and the expected error of kubeconform.
const SEEDED_DEFECTS: &str = r#"
    # An unknown field: at the top, nested, in metadata, and with another case.
    dayshift => \n  replicas: 1 => \n  replica: 1 => 'replica' not allowed
    dayshift => requests: => request: => 'request' not allowed
    dayshift => \n  name: dayshift\n => \n  nam: dayshift\n => 'nam' not allowed
    dayshift => runAsNonRoot => runAsNonroot => 'runAsNonroot' not allowed
    monitoring/podmonitor => interval: => intervall: => 'intervall' not allowed
    monitoring/podmonitor => \n  labels: => \n  lables: => 'lables' not allowed
    # A wrong type.
    dayshift => \n  replicas: 1 => \n  replicas: "1" => got string, want integer
    dayshift => memory: 64Mi => memory: [64Mi] => got array, want string
    policy/texts => failurePolicy: Fail => failurePolicy: true => got boolean, want string
    monitoring/podmonitor => interval: 30s => interval: often => 'often' does not match pattern
    monitoring/prometheusrule => expr: absent( => expr: true # ( => got boolean, want string
    # An unknown kind or version, and a kind in another case.
    dayshift => kind: Deployment => kind: Deploymint => could not find schema for Deploymint
    dayshift => apps/v1 => apps/v1beta1 => could not find schema for Deployment
    dayshift => kind: Deployment => kind: deployment => value must be 'Deployment'
    # A duplicate field.
    dayshift => \n  replicas: 1 => \n  replicas: 1\n  replicas: 2 => already set
"#;

fn schema_rejects_a_seeded_defect(plane: &ControlPlane) {
    let schemas = Schemas::of(plane);
    let directory = tempfile::tempdir().unwrap();
    for (index, [manifest, from, to, _]) in rows(SEEDED_DEFECTS).enumerate() {
        let (from, to) = (unescaped(from), unescaped(to));
        let text = fs::read_to_string(format!("manifests/{manifest}.yaml")).unwrap();
        assert!(text.contains(&from), "{manifest}: {from}");
        let seeded = text.replacen(&from, &to, 1);
        fs::write(directory.path().join(format!("{index}.yaml")), seeded).unwrap();
    }
    let (_, refused) = report(&schemas, directory.path());
    for (index, [manifest, _, to, expected]) in rows(SEEDED_DEFECTS).enumerate() {
        let file = format!("{index}.yaml");
        let here = refused.iter().filter(|(name, _)| *name == file);
        let messages: Vec<_> = here.map(|(_, message)| message).collect();
        let [message] = messages[..] else {
            panic!("{manifest}: {to}: {messages:?}");
        };
        assert!(message.contains(expected), "{manifest}: {to}: {message}");
    }
}

fn strict_schema_allows_only_named_fields(_: &ControlPlane) {
    let closed = json!({"properties": {"a": {}}, "additionalProperties": false});
    for (schema, expected) in [
        // Only the named fields are allowed, at any depth.
        (json!({"properties": {"a": {}}}), closed.clone()),
        (
            json!({"properties": {"x": {"properties": {"a": {}}}}}),
            json!({"properties": {"x": closed}, "additionalProperties": false}),
        ),
        (
            json!({"items": {"properties": {"a": {}}}}),
            json!({"items": closed}),
        ),
        (
            json!({"additionalProperties": {"properties": {"a": {}}}}),
            json!({"additionalProperties": closed}),
        ),
        // A field can have the name of a keyword.
        (
            json!({"properties": {"properties": {"type": "string"}, "items": {"type": "array"}}}),
            json!({
                "properties": {"properties": {"type": "string"}, "items": {"type": "array"}},
                "additionalProperties": false,
            }),
        ),
        // A condition names some of the fields.
        (
            json!({"properties": {"a": {}}, "anyOf": [{"properties": {"a": {"type": "string"}}}]}),
            json!({
                "properties": {"a": {}},
                "anyOf": [{"properties": {"a": {"type": "string"}}}],
                "additionalProperties": false,
            }),
        ),
        // A keyword of OpenAPI that JSON Schema expresses by a type.
        (
            json!({"type": "string", "nullable": true}),
            json!({"type": ["string", "null"], "nullable": true}),
        ),
    ] {
        assert_eq!(strict(schema.clone()), expected, "{schema}");
    }
    // Open schemas stay open, as do references, and schemas of other types.
    for same in [
        json!({"type": "object"}),
        json!({"properties": {"a": {}}, "x-kubernetes-preserve-unknown-fields": true}),
        json!({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}),
        json!({"allOf": [{"$ref": "#/components/schemas/a"}], "default": {}}),
        json!({"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]}),
        json!(true),
    ] {
        assert_eq!(strict(same.clone()), same);
    }
}
