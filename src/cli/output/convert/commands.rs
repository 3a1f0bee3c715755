//! A change as a command for kubectl.

use dayshift_manifest::convert::{ChangeTarget, ObjectChange};
use dayshift_text::shell_word;
use serde_json::{Map, Value, json};

/// The command that makes the change: `kubectl annotate`, or one patch where labels change too, so
/// that the count that was saved is never seen apart from the schedule. `None` for an object that no
/// cluster can have: a shell may be what reads it.
pub(crate) fn command(change: &ObjectChange) -> Option<String> {
    let what = match &change.target {
        ChangeTarget::Object(object) if !object.is_possible() => return None,
        ChangeTarget::Object(object) => {
            let namespace = match &*object.namespace {
                "" => String::new(),
                namespace => format!(" -n {}", shell_word(namespace)),
            };
            format!(
                "{} {}{namespace}",
                shell_word(&object.resource()),
                shell_word(&object.name)
            )
        }
        ChangeTarget::All {
            kinds,
            namespace,
            selector,
            field_selector,
        } => {
            let labels = selector.as_ref().map(|it| ("-l", it));
            let fields = field_selector.as_ref().map(|it| ("--field-selector", it));
            let by = labels.into_iter().chain(fields);
            let by: Vec<_> = by
                .map(|(flag, text)| format!("{flag} {}", shell_word(text)))
                .collect();
            let which = match &*by.join(" ") {
                "" => "--all".to_owned(),
                which => which.to_owned(),
            };
            format!("{} {which} -n {}", shell_word(kinds), shell_word(namespace))
        }
    };
    if !change.labels.is_empty() {
        let patch = patch(change).to_string();
        let patch = shell_word(&patch);
        return Some(format!("kubectl patch {what} --type merge -p {patch}"));
    }
    let set = change.set.iter();
    let set = set.map(|(name, text)| format!(" {}={}", shell_word(name), shell_word(text)));
    let taken = |name: &&String| !change.set.iter().any(|it| it.0 == **name);
    let remove = change.remove.iter().filter(taken);
    let remove = remove.map(|name| format!(" {}", shell_word(&format!("{name}-"))));
    let words: String = set.chain(remove).collect();
    Some(format!("kubectl annotate {what}{words}"))
}

fn patch(change: &ObjectChange) -> Value {
    let mut annotations = Map::new();
    for name in &change.remove {
        annotations.insert(name.clone(), Value::Null);
    }
    let pair = |(name, text): &(String, String)| (name.clone(), Value::from(text.as_str()));
    annotations.extend(change.set.iter().map(pair));
    let labels: Map<_, _> = change.labels.iter().map(pair).collect();
    let mut metadata = json!({"labels": labels});
    if !annotations.is_empty() {
        metadata["annotations"] = annotations.into();
    }
    json!({"metadata": metadata})
}
