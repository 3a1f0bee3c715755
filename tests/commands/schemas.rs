//! The JSON documents follow the published schemas.
//!
//! `Ended::json` checks each document that a test parses, so most of the coverage is in other tests.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::rows::words;
use crate::{fake_server::Cluster, program::dayshift};

const OFFICE: &[(&str, &str)] = &[("start", "Mon-Fri 09:00"), ("stop", "Mon-Fri 19:00")];

/// The published schema of a document, if it is a document of dayshift.
fn schema_of(document: &Value) -> Option<Value> {
    let has = |field| document.get(field).is_some();
    has("apiVersion").then_some(())?;
    let name = match () {
        () if has("findings") => "lint",
        () if has("kinds") => "kinds",
        () if has("schedules") => "schedules",
        () if has("results") => "actions",
        () if has("namespaces") => "plan-summary",
        () if has("tzdata") => "status",
        () => "plan",
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/schemas");
    let text = fs::read_to_string(path.join(name).with_extension("json")).unwrap();
    Some(serde_json::from_str(&text).unwrap())
}

/// Panics if a document has another form than its schema. Fields that are missing in the schema are errors too.
pub(crate) fn assert_follows_schema(document: &Value) {
    let Some(schema) = schema_of(document) else {
        return;
    };
    let mut errors = Vec::new();
    check(&schema, &schema, document, "", &mut errors);
    assert!(errors.is_empty(), "{}\n{document:#}", errors.join("\n"));
}

/// Checks the keywords that the schemas use.
fn check(root: &Value, schema: &Value, value: &Value, path: &str, errors: &mut Vec<String>) {
    if let Some(target) = schema["$ref"].as_str() {
        let schema = root.pointer(target.trim_start_matches('#')).unwrap();
        return check(root, schema, value, path, errors);
    }
    for keyword in ["anyOf", "oneOf"] {
        let Some(branches) = schema[keyword].as_array() else {
            continue;
        };
        let fits = branches.iter().any(|branch| {
            let mut errors = Vec::new();
            check(root, branch, value, path, &mut errors);
            errors.is_empty()
        });
        if !fits {
            errors.push(format!("{path}: {value} fits no branch"));
        }
        return;
    }
    let types: Vec<_> = match &schema["type"] {
        Value::String(name) => vec![name.as_str()],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => vec!["string"],
    };
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let fits = types.contains(&found) || found == "integer" && types.contains(&"number");
    if !fits {
        errors.push(format!("{path}: {found}, and the schema has {types:?}"));
    }
    let constants = schema["enum"].as_array().cloned();
    let constants = constants.or_else(|| schema.get("const").map(|it| vec![it.clone()]));
    if constants.is_some_and(|constants| !constants.contains(value)) {
        errors.push(format!("{path}: {value} is not in the schema"));
    }
    for (at, item) in value.as_array().into_iter().flatten().enumerate() {
        check(
            root,
            &schema["items"],
            item,
            &format!("{path}/{at}"),
            errors,
        );
    }
    for (name, field) in value.as_object().into_iter().flatten() {
        let of_map = || schema.get("additionalProperties");
        match schema["properties"].get(name).or_else(of_map) {
            Some(schema) => check(root, schema, field, &format!("{path}/{name}"), errors),
            None => errors.push(format!("{path}/{name}: not in the schema")),
        }
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        let name = name.as_str().unwrap();
        if value.is_object() && value.get(name).is_none() {
            errors.push(format!("{path}/{name}: missing"));
        }
    }
}

/// Each document is parsed once here, so that none is left out.
#[test]
fn every_document_follows_its_schema() {
    let cluster = Cluster::new();
    cluster.deployment("web", 3, OFFICE);
    cluster.deployment("bad", 3, &[("hours", "9-5")]);
    for command in [
        &["status", "-o", "json"][..],
        &["plan", "-o", "json"],
        &["plan", "-o", "summary-json"],
        &["kinds", "-o", "json"],
        &["wake", "--all", "--for", "1h", "--dry-run", "-o", "json"],
    ] {
        let document = cluster.dayshift(command).json();
        assert_eq!(document["apiVersion"], "dayshift/v1", "{command:?}");
    }
    let linted = dayshift(&words(
        "lint -o json tests/commands/lint/golden/faults.yaml",
    ));
    assert!(!linted.json()["findings"].as_array().unwrap().is_empty());
    let planned = dayshift(&words(
        "plan -o json -f examples --price cpu=1,currency=EUR",
    ));
    assert!(planned.json()["workloads"].as_array().unwrap().len() > 5);
}

#[test]
fn the_check_detects_differences() {
    let cluster = Cluster::new();
    cluster.deployment("web", 3, OFFICE);
    let document = cluster.dayshift(&["status", "-o", "json"]).json();
    for (pointer, value) in [
        ("/workloads/0/replicas", json!("3")),
        ("/workloads/0/requests", json!({"cpuCores": 1})),
        ("/apiVersion", json!("dayshift/v2")),
        ("/tzdata/more", json!(1)),
    ] {
        let mut other = document.clone();
        match other.pointer_mut(pointer) {
            Some(place) => *place = value,
            None => other["tzdata"]["more"] = value,
        }
        let checked = std::panic::catch_unwind(|| assert_follows_schema(&other));
        assert!(checked.is_err(), "{pointer}");
    }
}

/// Results are on standard output, and failures on standard error too.
#[test]
fn actions_print_their_results_as_json() {
    let cluster = Cluster::new();
    cluster.deployment("web", 3, OFFICE);
    cluster.deployment("bad", 3, &[("hours", "9-5")]);
    let ran = cluster.dayshift(&["wake", "web", "bad", "--for=1h", "--no-wait", "-o", "json"]);
    let document = ran.json();
    assert_eq!((ran.status, &document["command"]), (1, &json!("wake")));
    let results = document["results"].as_array().unwrap();
    let outcomes: Vec<_> = results.iter().map(|it| &it["outcome"]).collect();
    assert_eq!(outcomes.len(), 2, "{document}");
    let of = |name: &str| {
        let found = results
            .iter()
            .find(|it| it["message"].as_str().unwrap().contains(name));
        found.unwrap()["outcome"].clone()
    };
    assert_eq!(
        (of("apps/web"), of("apps/bad")),
        (json!("done"), json!("failed"))
    );
    ran.assert_err("apps/bad: not woken");
}
