//! The report for other programs.

use serde_json::{Map, Value, json};

use super::commands::command;
use crate::{
    convert::{Conversion, Finding, Target},
    manifest::{OpenError, Source},
};

/// All changes and findings, with their places.
pub(in crate::cli) fn document(
    conversion: &Conversion,
    sources: &[Source],
    errors: &[OpenError],
) -> Value {
    let place = |source: usize, line: usize, column: usize| {
        let name = sources.get(source).map(Source::name);
        json!({"file": name, "line": line, "column": column})
    };
    let map = |pairs: &[(String, String)]| {
        let pairs = pairs.iter();
        let pairs = pairs.map(|(name, text)| (name.clone(), text.as_str().into()));
        Value::Object(pairs.collect::<Map<_, _>>())
    };
    let changes = conversion.changes.iter().map(|it| {
        let at = it.place.as_ref();
        let object = match &it.target {
            Target::Object(object) => json!({
                "apiVersion": object.api_version, "kind": object.kind,
                "namespace": object.namespace, "name": object.name,
            }),
            Target::All {
                kinds,
                namespace,
                selector,
            } => json!({
                "kinds": kinds, "namespace": namespace, "selector": selector,
            }),
        };
        json!({
            "object": object,
            "place": at.map(|(at, it)| place(*at, it.line, it.column)),
            "set": map(&it.set),
            "remove": it.remove,
            "labels": map(&it.labels),
            "command": command(it),
        })
    });
    let finding = |it: &Finding| {
        let at = it.place.as_ref();
        json!({
            "id": it.topic.id(),
            "severity": it.topic.severity().to_string(),
            "message": it.message,
            "help": it.help,
            "place": at.map(|(at, it)| place(*at, it.line, it.column)),
            "object": it.object.as_ref().map(ToString::to_string),
        })
    };
    json!({
        "changes": changes.collect::<Vec<_>>(),
        "findings": conversion.findings.iter().map(finding).collect::<Vec<_>>(),
        "unread": errors.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}
