//! Verifies an edited file: only the intended changes should differ from the original.

use std::rc::Rc;

use serde_json::{Map, Value};

use crate::{convert::edit::ObjectEdits, source::SourceFile, yaml::node::Node};

/// Whether the documents of `text` are the original ones with these changes.
pub(crate) fn is_as_intended<'n, 'a: 'n>(
    before: &[Rc<Node<'a>>],
    changes: impl Iterator<Item = (&'n Rc<Node<'a>>, &'n ObjectEdits)>,
    text: &str,
) -> bool {
    let source = SourceFile::new("", text);
    let (after, error) = source.documents();
    if error.is_some() || after.len() != before.len() {
        return false;
    }
    let mut changes = changes.peekable();
    let mut all = before.iter().zip(&after);
    all.all(|(before, after)| {
        let (mut intended, mut after) = (before.json(), after.json());
        while let Some((node, of)) = changes.next_if(|change| holds(before, change.0)) {
            match object_of(before, &mut intended, node) {
                Some(object) => change(object, of),
                None => return false,
            }
        }
        without_empty(&mut intended);
        without_empty(&mut after);
        intended == after
    }) && changes.next().is_none()
}

/// Whether a document, or a list in it, contains an object.
fn holds(document: &Rc<Node<'_>>, node: &Rc<Node<'_>>) -> bool {
    let items = document.get("items").map_or(&[][..], Node::items);
    Rc::ptr_eq(document, node) || items.iter().any(|item| holds(item, node))
}

/// Finds the same object in the JSON of the document.
fn object_of<'v>(
    document: &Rc<Node<'_>>,
    json: &'v mut Value,
    node: &Rc<Node<'_>>,
) -> Option<&'v mut Value> {
    if Rc::ptr_eq(document, node) {
        return Some(json);
    }
    let items = document.get("items")?.items();
    let at = items.iter().position(|item| holds(item, node))?;
    object_of(&items[at], json.get_mut("items")?.get_mut(at)?, node)
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
    let removed: Vec<_> = changes
        .replaced
        .iter()
        .map(|replacement| &replacement.0)
        .collect();
    let added = changes.pairs().collect::<Vec<_>>();
    edit_map(metadata, "annotations", &removed, &added);
    edit_map(
        metadata,
        "labels",
        &[],
        &changes.labels.iter().collect::<Vec<_>>(),
    );
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
