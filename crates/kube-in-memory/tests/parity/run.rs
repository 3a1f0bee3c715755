//! Runs the requests of a case, and removes details that differ between runs from the responses.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use http::Request;
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};

use super::backend::{Backend, create};
use super::table::{Before, Case, Step};

/// The time limit for a response.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Longer strings are recorded as their length in bytes.
const LONG: usize = 10_000;

/// The values of earlier responses that requests can refer to.
#[derive(Default)]
struct KnownValues {
    versions: Vec<String>,
    uids: BTreeSet<String>,
    uid: String,
    token: String,
}

/// Runs a case in a new namespace. Returns one object for each response.
pub async fn run(
    case: &Case,
    client: &Client,
    namespace: &str,
    backend: &Backend<'_>,
) -> Vec<Value> {
    new_namespace(client, namespace).await;
    run_in(case, client, namespace, backend).await
}

pub async fn new_namespace(client: &Client, namespace: &str) {
    let definition = json!({"metadata": {"name": namespace}});
    create(client, "/api/v1/namespaces", &definition).await;
}

/// Runs a case in an existing namespace.
pub async fn run_in(
    case: &Case,
    client: &Client,
    namespace: &str,
    backend: &Backend<'_>,
) -> Vec<Value> {
    let (mut known, mut answers) = (KnownValues::default(), Vec::new());
    for step in &case.steps {
        match step.before {
            Some(Before::Compaction) => backend.compact(),
            Some(Before::Policy) => backend.deny_zero(client, namespace).await,
            Some(Before::Served(kind)) => backend.serve(client, kind).await,
            Some(Before::Withdrawn(kind)) => backend.withdraw(client, kind).await,
            None => {}
        }
        let answer = tokio::time::timeout(TIMEOUT, send(step, client, namespace, &mut known)).await;
        let answer = answer.unwrap_or_else(|_| json!("no answer"));
        if step.given {
            assert_eq!(answer["code"], 201, "{}: {answer}", case.name);
            answers.push(json!("given"));
        } else {
            answers.push(answer);
        }
    }
    answers
}

async fn send(step: &Step, client: &Client, namespace: &str, known: &mut KnownValues) -> Value {
    let fill = |text: &str| {
        text.replace("{ns}", namespace)
            .replace(
                "{rv0}",
                known.versions.first().map_or("", |version| version),
            )
            .replace("{rv}", known.versions.last().map_or("", |version| version))
            .replace("{uid}", &known.uid)
            .replace("{continue}", &known.token)
    };
    let mut request = Request::builder().method(step.method).uri(fill(&step.path));
    for (name, value) in &step.headers {
        request = request.header(*name, *value);
    }
    let request = request
        .body(Body::from(fill(&step.body).into_bytes()))
        .unwrap();
    let response = client.send(request).await;
    let response = response.unwrap_or_else(|error| panic!("{error}: {}", step.body));
    let header = |name: &str| {
        response
            .headers()
            .get(name)
            .map(|value| value.to_str().unwrap().to_owned())
    };
    let code = response.status().as_u16();
    let content = header("content-type");
    let (dated, wait) = (header("date").is_some(), header("retry-after"));
    let bodies = if step.lines > 0 && code == 200 {
        lines(response.into_body(), step).await
    } else {
        vec![
            response
                .into_body()
                .collect()
                .await
                .unwrap()
                .to_bytes()
                .to_vec(),
        ]
    };
    let mut bodies: Vec<Value> = bodies
        .iter()
        .map(|body| {
            serde_json::from_slice(body)
                .unwrap_or_else(|_| json!(String::from_utf8_lossy(body).into_owned()))
        })
        .collect();
    let before = known.versions.last().cloned();
    bodies.iter().for_each(|body| known.note(body));
    let owned = (step.owners && code == 200).then(|| {
        let moved = known.versions.last() != before.as_ref();
        json!({"moved": moved, "owners": owners(&bodies[0])})
    });
    bodies.iter_mut().for_each(|body| keep(body, &step.only));
    bodies
        .iter_mut()
        .for_each(|body| strip(body, step.whole, known, namespace));
    let mut answer = json!({"ask": format!("{} {}", step.method, step.path), "code": code});
    answer["type"] = json!(content);
    answer["body"] = if step.lines > 0 {
        json!(bodies)
    } else {
        bodies.remove(0)
    };
    if let Some(owned) = owned {
        answer["owned"] = owned;
    }
    if let Some(wait) = wait {
        answer["retry-after"] = json!(wait);
    }
    assert!(dated, "a Date header");
    answer
}

/// The lines of a watch that a step reads, and `"end"` if it ends earlier.
async fn lines(mut body: Body, step: &Step) -> Vec<Vec<u8>> {
    let (mut lines, mut rest) = (Vec::new(), Vec::new());
    while lines.len() < step.lines {
        if let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = rest.drain(..=end).collect();
            if !(step.without_bookmarks && is_optional_bookmark(&line)) {
                lines.push(line);
            }
            continue;
        }
        match body.frame().await {
            Some(frame) => rest.extend_from_slice(frame.unwrap().data_ref().unwrap()),
            None => {
                lines.push(b"\"end\"".to_vec());
                break;
            }
        }
    }
    lines
}

/// Whether the line is a bookmark, except the one that ends the initial events.
fn is_optional_bookmark(line: &[u8]) -> bool {
    let event: Value = serde_json::from_slice(line).unwrap();
    let annotations = &event["object"]["metadata"]["annotations"];
    event["type"] == "BOOKMARK" && annotations["k8s.io/initial-events-end"].is_null()
}

/// Drops other groups and resources.
fn keep(body: &mut Value, only: &[&str]) {
    for list in ["groups", "resources"] {
        if let Some(items) = body.get_mut(list).and_then(Value::as_array_mut)
            && !only.is_empty()
        {
            items.retain(|item| only.contains(&item["name"].as_str().unwrap()));
        }
    }
}

/// The field managers of the count, labels and annotations.
fn owners(object: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let mut owners = BTreeMap::<_, BTreeSet<_>>::new();
    let entries = object["metadata"]["managedFields"].as_array();
    for entry in entries.into_iter().flatten() {
        let manager = entry["manager"].as_str().unwrap_or_default().to_owned();
        let mut note = |field: String| {
            owners.entry(field).or_default().insert(manager.clone());
        };
        let fields = &entry["fieldsV1"];
        for field in ["replicas", "suspend", "minReplicas"] {
            if fields.pointer(&format!("/f:spec/f:{field}")).is_some() {
                note(field.to_owned());
            }
        }
        for map in ["f:labels", "f:annotations"] {
            let keys = fields["f:metadata"][map].as_object();
            for (key, _) in keys.into_iter().flatten().filter(|(key, _)| *key != ".") {
                note(format!("{map} {key}"));
            }
        }
    }
    owners
}

impl KnownValues {
    fn note(&mut self, body: &Value) {
        let object = if body["object"].is_object() {
            &body["object"]
        } else {
            body
        };
        let metadata = &object["metadata"];
        if let Some(version) = metadata["resourceVersion"].as_str() {
            self.versions.push(version.to_owned());
        }
        for uid in [&metadata["uid"], &object["details"]["uid"]] {
            if let Some(uid) = uid.as_str() {
                self.uid = uid.to_owned();
                self.uids.insert(uid.to_owned());
            }
        }
        if let Some(token) = metadata["continue"].as_str() {
            self.token = token.to_owned();
        }
    }
}

/// Replaces values that differ between runs, and drops defaults unless `whole`.
fn strip(value: &mut Value, whole: bool, known: &KnownValues, namespace: &str) {
    match value {
        Value::Object(members) => {
            members.remove("managedFields");
            for (key, member) in members.iter_mut() {
                let masked = match key.as_str() {
                    "uid" | "resourceVersion" | "continue" | "serverAddress" => true,
                    "creationTimestamp" | "deletionTimestamp" => !member.is_null(),
                    _ => false,
                };
                if masked && *member != "" {
                    *member = json!(format!("<{key}>"));
                }
                if !whole && key == "items" {
                    let items = member.as_array_mut().unwrap();
                    items
                        .iter_mut()
                        .for_each(|item| *item = item["metadata"]["name"].take());
                }
                // The server derives a Job's selector and labels from its UID.
                if !whole && key == "spec" && member["backoffLimit"].is_number() {
                    *member = json!({"suspend": member["suspend"]});
                }
                if !whole && key == "spec" && member["selector"].is_object() {
                    *member = json!({"replicas": member["replicas"], "paused": member["paused"]});
                }
                if !whole && key == "spec" && member["jobTemplate"].is_object() {
                    *member = json!({"schedule": member["schedule"], "suspend": member["suspend"]});
                }
                strip(member, whole, known, namespace);
            }
        }
        Value::Array(items) => {
            items
                .iter_mut()
                .for_each(|item| strip(item, whole, known, namespace));
        }
        Value::String(text) => *text = masked(text, known, namespace),
        _ => {}
    }
}

fn masked(text: &str, known: &KnownValues, namespace: &str) -> String {
    if text.len() > LONG {
        return format!("<{} bytes>", text.len());
    }
    let mut text = text.replace(namespace, "{ns}");
    for uid in &known.uids {
        text = text.replace(uid, "<uid>");
    }
    // The error for an undecodable patch contains the whole object.
    if let Some((head, rest)) = text.split_once("Invalid value: \"{")
        && let Some((_, tail)) = rest.rsplit_once("}\": ")
    {
        text = format!("{head}Invalid value: <object>: {tail}");
    }
    if text.to_lowercase().contains("resource version") {
        text = text
            .chars()
            .map(|c| if c.is_ascii_digit() { '#' } else { c })
            .collect();
        while text.contains("##") {
            text = text.replace("##", "#");
        }
    }
    text
}
