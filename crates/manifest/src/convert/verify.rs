//! Verifies an edited file: only the intended changes should differ from the original.

use std::{collections::HashMap, rc::Rc};

use serde_json::{Map, Value};

use crate::{convert::edit::ObjectEdits, source::SourceFile, yaml::node::Node};

/// The changes of objects by their nodes.
type ChangesByNode<'n, 'a> = HashMap<*const Node<'a>, &'n ObjectEdits>;

/// Whether the documents of `text` are the original ones with these changes.
pub(crate) fn is_as_intended<'n, 'a: 'n>(
    before: &[Rc<Node<'a>>],
    changes: impl Iterator<Item = (&'n Rc<Node<'a>>, &'n ObjectEdits)>,
    text: &str,
) -> bool {
    let source = SourceFile::new("", text);
    let (after, error) = source.documents();
    let changes: ChangesByNode<'_, '_> = changes
        .map(|(node, edits)| (Rc::as_ptr(node), edits))
        .collect();
    let mut all = before.iter().zip(&after);
    let is_same = all.all(|(before, after)| {
        let (mut intended, mut after) = (intended(before, &changes), after.json());
        without_empty(&mut intended);
        without_empty(&mut after);
        intended == after
    });
    is_same && error.is_none() && after.len() == before.len()
}

/// The JSON of a document with the changes of its object, or of the objects in its list.
fn intended<'a>(document: &Rc<Node<'a>>, changes: &ChangesByNode<'_, 'a>) -> Value {
    if let Some(edits) = changes.get(&Rc::as_ptr(document)) {
        let mut object = document.json();
        change(&mut object, edits);
        return object;
    }
    let items = document.list("items");
    if items.is_empty() {
        return document.json();
    }
    let fields = document.entries().iter().map(|entry| {
        let value = match entry.name() {
            "items" => items.iter().map(|item| intended(item, changes)).collect(),
            _ => entry.value.json(),
        };
        (entry.name().to_owned(), value)
    });
    Value::Object(fields.collect())
}

/// Removes empty maps of annotations and labels, which are equivalent to missing ones.
fn without_empty(document: &mut Value) {
    let metadata = document.get_mut("metadata").and_then(Value::as_object_mut);
    if let Some(metadata) = metadata {
        for name in ["annotations", "labels"] {
            let is_empty =
                |value: &Value| value.is_null() || value.as_object().is_some_and(Map::is_empty);
            if metadata.get(name).is_some_and(is_empty) {
                metadata.remove(name);
            }
        }
    }
    if let Some(items) = document.get_mut("items").and_then(Value::as_array_mut) {
        items.iter_mut().for_each(without_empty);
    }
}

fn change(object: &mut Value, changes: &ObjectEdits) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        return;
    };
    let replaced = changes.replaced.iter();
    let removed: Vec<_> = replaced.map(|(name, _)| name).collect();
    let added: Vec<_> = changes.pairs().collect();
    let labels: Vec<_> = changes.labels.iter().collect();
    edit_map(metadata, "annotations", &removed, &added);
    edit_map(metadata, "labels", &[], &labels);
}

fn edit_map(
    metadata: &mut Map<String, Value>,
    name: &str,
    removed: &[&String],
    added: &[&(String, String)],
) {
    if removed.is_empty() && added.is_empty() {
        return;
    }
    let mut map = match metadata.remove(name) {
        Some(Value::Object(map)) => map,
        _ => Map::new(),
    };
    map.retain(|name, _| !removed.contains(&name));
    let added = added
        .iter()
        .map(|(name, text)| (name.clone(), Value::from(&**text)));
    map.extend(added);
    metadata.insert(name.to_owned(), map.into());
}

#[cfg(test)]
mod tests {
    use std::iter;

    use super::*;

    const BEFORE: &str = "kind: Deployment\nmetadata:\n  name: web\n  annotations: {old: a, kept: b}\n\
                          spec: {replicas: 3}\n";

    /// Whether `after` is a correct result of replacing `old` by `new: c` on the first object.
    fn is_correct(before: &str, after: &str) -> bool {
        let source = SourceFile::new("", before);
        let (nodes, _) = source.documents();
        let mut objects = nodes
            .first()
            .and_then(|list| list.get("items")?.items().first());
        let object = objects.get_or_insert(&nodes[0]);
        let changes = ObjectEdits {
            replaced: vec![("old".into(), vec![("new".into(), "c".into())])],
            ..ObjectEdits::default()
        };
        is_as_intended(&nodes, iter::once((*object, &changes)), after)
    }

    /// Correct and incorrect results, by themselves, as one of two documents and in a list.
    #[test]
    fn rejects_any_other_change() {
        for (from, to, expected) in [
            ("{old: a, kept: b}", "{new: c, kept: b}", true),
            ("{old: a, kept: b}", "{kept: 'b', new: \"c\"}", true),
            ("{old: a, kept: b}", "{old: a, kept: b}", false), // unchanged
            ("{old: a, kept: b}", "{new: c}", false),
            ("{old: a, kept: b}", "{new: c, kept: b, more: d}", false),
            ("{old: a, kept: b}", "{new: other, kept: b}", false),
            (
                "old: a, kept: b}\nspec: {",
                "new: c, kept: b}\nspec: {paused: true, ",
                false,
            ),
            (
                "{old: a, kept: b}\nspec: {replicas: 3}",
                "{new: c, kept: b}",
                false,
            ),
            (
                "web\n  annotations: {old: a",
                "api\n  annotations: {new: c",
                false,
            ),
            (
                "old: a, kept: b}\nspec: {replicas: 3",
                "new: c, kept: b}\nspec: {replicas: 4",
                false,
            ),
            (
                "old: a, kept: b}\nspec: {replicas: 3",
                "new: c, kept: b}\nspec: {replicas: '3'",
                false,
            ),
        ] {
            let after = BEFORE.replacen(from, to, 1);
            assert_eq!(from != to, after != BEFORE, "{from}");
            let list = |text: &str| {
                let indented = text.replace('\n', "\n  ");
                format!("kind: List\nitems:\n- {}\n", indented.trim_end())
            };
            let two = |text: &str| format!("{text}---\n{BEFORE}");
            assert_eq!(is_correct(BEFORE, &after), expected, "{after}");
            assert_eq!(
                is_correct(&list(BEFORE), &list(&after)),
                expected,
                "{}",
                list(&after)
            );
            assert_eq!(
                is_correct(&two(BEFORE), &two(&after)),
                expected,
                "{}",
                two(&after)
            );
            // The number of documents.
            assert!(!is_correct(&two(BEFORE), &after), "{after}");
            assert!(!is_correct(BEFORE, &two(&after)), "{after}");
        }
    }

    #[test]
    fn verifies_the_other_document() {
        let after = BEFORE.replace("old: a", "new: c");
        let two = |first: &str, second: &str| format!("{first}---\n{second}");
        for other in [BEFORE.replace("replicas: 3", "replicas: 4"), after.clone()] {
            assert!(
                !is_correct(&two(BEFORE, BEFORE), &two(&after, &other)),
                "{other}"
            );
        }
    }
}
