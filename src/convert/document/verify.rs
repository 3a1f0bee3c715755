//! Whether a changed file is the one that was meant: everything else in it means what it meant.

use std::rc::Rc;

use serde_json::{Map, Value};

use crate::convert::document::edit::Changes;
use crate::manifest::{Node, Source};

/// Whether the documents of `text` are those before, with the changes made to theirs.
pub(in crate::convert) fn is_as_meant<'n, 'a: 'n>(
    before: &[Rc<Node<'a>>],
    changes: impl Iterator<Item = (&'n Rc<Node<'a>>, &'n Changes)>,
    text: &str,
) -> bool {
    let changes: Vec<_> = changes.collect();
    let source = Source::new("", text);
    let (after, error) = source.documents();
    if error.is_some() || after.len() != before.len() {
        return false;
    }
    let mut changes = changes.into_iter().peekable();
    let mut all = before.iter().zip(&after);
    all.all(|(before, after)| {
        let mut meant = before.json();
        while let Some((node, of)) = changes.next_if(|it| holds(before, it.0)) {
            if Rc::ptr_eq(before, node) {
                change(&mut meant, of);
            } else if let Some(at) = position(before, node) {
                let item = meant.get_mut("items").and_then(|it| it.get_mut(at));
                match item {
                    Some(item) => change(item, of),
                    None => return false,
                }
            }
        }
        let mut after = after.json();
        without_empty(&mut meant);
        without_empty(&mut after);
        meant == after
    }) && changes.next().is_none()
}

fn holds(document: &Rc<Node<'_>>, node: &Rc<Node<'_>>) -> bool {
    Rc::ptr_eq(document, node) || position(document, node).is_some()
}

fn position(document: &Node<'_>, node: &Rc<Node<'_>>) -> Option<usize> {
    let items = document.get("items")?.items();
    items.iter().position(|it| Rc::ptr_eq(it, node))
}

/// Takes away maps of annotations and labels that hold nothing, which mean nothing.
fn without_empty(document: &mut Value) {
    let of_object = |object: &mut Value| {
        let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
        let Some(metadata) = metadata else { return };
        for name in ["annotations", "labels"] {
            let is_empty = |it: &Value| it.is_null() || it.as_object().is_some_and(Map::is_empty);
            if metadata.get(name).is_some_and(is_empty) {
                metadata.remove(name);
            }
        }
    };
    if let Some(items) = document.get_mut("items").and_then(Value::as_array_mut) {
        items.iter_mut().for_each(of_object);
    }
    of_object(document);
}

fn change(object: &mut Value, changes: &Changes) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        return;
    };
    if !changes.replaced.is_empty() || !changes.added.is_empty() {
        let Some(annotations) = map(metadata, "annotations") else {
            return;
        };
        for (name, _) in &changes.replaced {
            annotations.remove(name);
        }
        let pairs = changes.replaced.iter().flat_map(|it| &it.1);
        for (name, text) in pairs.chain(&changes.added) {
            annotations.insert(name.clone(), text.clone().into());
        }
    }
    let labels = &changes.labels;
    if !labels.is_empty() {
        let Some(map) = map(metadata, "labels") else {
            return;
        };
        for (name, text) in labels {
            map.insert(name.clone(), text.clone().into());
        }
    }
}

fn map<'m>(metadata: &'m mut Map<String, Value>, name: &str) -> Option<&'m mut Map<String, Value>> {
    let value = metadata
        .entry(name.to_owned())
        .or_insert_with(|| Map::new().into());
    if !value.is_object() {
        *value = Map::new().into();
    }
    value.as_object_mut()
}
