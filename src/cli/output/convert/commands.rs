//! A change as a command for kubectl.

use serde_json::{Map, Value, json};

use crate::convert::{Change, ObjectName, Target};

/// The command that makes the change: `kubectl annotate`, or one patch where labels change too, so
/// that the count that was saved is never seen apart from the schedule.
pub(in crate::cli) fn command(change: &Change) -> String {
    let what = match &change.target {
        Target::Object(object) => {
            let namespace = match &*object.namespace {
                "" => String::new(),
                namespace => format!(" -n {}", quoted(namespace)),
            };
            format!("{} {}{namespace}", resource(object), quoted(&object.name))
        }
        Target::All {
            kinds,
            namespace,
            selector,
        } => {
            let which = match selector {
                Some(selector) => format!("-l {}", quoted(selector)),
                None => "--all".to_owned(),
            };
            format!("{kinds} {which} -n {}", quoted(namespace))
        }
    };
    if !change.labels.is_empty() {
        let patch = quoted(&patch(change).to_string());
        return format!("kubectl patch {what} --type merge -p {patch}");
    }
    let set = change.set.iter();
    let set = set.map(|(name, text)| format!(" {name}={}", quoted(text)));
    let taken = |name: &&String| !change.set.iter().any(|it| it.0 == **name);
    let remove = change.remove.iter().filter(taken);
    let remove = remove.map(|name| format!(" {}", quoted(&format!("{name}-"))));
    let words: String = set.chain(remove).collect();
    format!("kubectl annotate {what}{words}")
}

fn patch(change: &Change) -> Value {
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

/// As kubectl takes it: `deployment`, or `rollout.argoproj.io`.
fn resource(object: &ObjectName) -> String {
    let kind = object.kind.to_lowercase();
    let group = object.api_version.split_once('/').map_or("", |it| it.0);
    match group {
        "" | "apps" | "batch" | "autoscaling" => kind,
        group => format!("{kind}.{group}"),
    }
}

/// As one word of a POSIX shell.
fn quoted(text: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_./:=,@%+".contains(it);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_one_word_to_a_shell() {
        for (text, expected) in [
            ("web", "web"),
            ("Mon-Fri 08:00-20:00", "'Mon-Fri 08:00-20:00'"),
            ("$(rm)", "'$(rm)'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(text), expected);
        }
    }
}
