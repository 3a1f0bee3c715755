//! Kind files (`--kind-file`): definitions of user-defined kinds.

use dayshift_text::{nearest, quote};
use dayshift_workload::{
    CustomField, KindDefinition, PodGroup, Switch, SwitchConstant,
    names::{is_dns_label, is_dns_subdomain, is_label_key},
};

use crate::{
    source::SourceFile,
    yaml::{
        SyntaxError,
        node::{Location, Node, Scalar},
    },
};

/// The definitions of a kind file. An invalid one does not affect the others.
#[derive(Debug, Default)]
pub struct KindDefinitions {
    /// The valid definitions, with their places.
    pub definitions: Vec<(KindDefinition, Location)>,
    /// The errors of the invalid ones.
    pub errors: Vec<SyntaxError>,
    /// The resources of the invalid ones, such as `widgets.example.com`, if they name one.
    pub rejected: Vec<String>,
}

/// The keys of a definition.
const KEYS: [&str; 11] = [
    "resource",
    "kind",
    "field",
    "annotation",
    "holds",
    "stopped",
    "running",
    "absent",
    "not-beside",
    "instances",
    "resources",
];

type DefinitionError = (Location, String);

fn wrong<T>(node: &Node<'_>, message: impl Into<String>) -> Result<T, DefinitionError> {
    Err((node.place.clone(), message.into()))
}

impl SourceFile {
    /// Reads a kind file: a list of maps, or maps in documents of their own.
    pub fn kind_definitions(&self) -> KindDefinitions {
        let mut found = KindDefinitions::default();
        let (documents, error) = self.documents();
        found.errors.extend(error);
        for document in &documents {
            let items = document.items().iter().map(|item| &**item);
            let is_list = !document.items().is_empty();
            let whole = (!is_list).then_some(&**document);
            for row in items.chain(whole) {
                match definition(row) {
                    Ok(definition) => found.definitions.push((definition, row.place.clone())),
                    Err((place, message)) => {
                        let resource = row.get("resource").and_then(Node::text);
                        found.rejected.extend(resource.map(str::to_lowercase));
                        found.errors.push(self.error_at(&place, message));
                    }
                }
            }
        }
        found
    }
}

fn definition(row: &Node<'_>) -> Result<KindDefinition, DefinitionError> {
    if row.entries().is_empty() {
        let message = "a kind definition is a map with `resource`, not";
        return wrong(row, format!("{message} {}", row.type_name()));
    }
    let mut entries = row.entries().iter();
    if let Some(entry) = entries.find(|entry| !KEYS.contains(&entry.name())) {
        let name = entry.name();
        let help = nearest(name, KEYS).map_or_else(
            || format!("write one of {}", KEYS.join(", ")),
            |nearest| format!("did you mean `{nearest}`?"),
        );
        let name = quote(name);
        let message = format!("`{name}` is not a key of a kind definition; {help}");
        return wrong(&entry.key, message);
    }
    let text = |key: &str, example: &str| {
        let node = row.get(key);
        let text = node.and_then(Node::text).filter(|text| !text.is_empty());
        let example = format!("write {key}: {example}");
        match (text, node) {
            (Some(text), _) => Ok(text),
            (None, None) => wrong(row, format!("`{key}` is missing; {example}")),
            (None, Some(node)) => wrong(
                node,
                format!("{} is not a text; {example}", node.described()),
            ),
        }
    };
    let resource = text("resource", "widgets.example.com")?.to_lowercase();
    let (plural, group) = resource.split_once('.').unwrap_or((&resource, ""));
    if !is_dns_label(plural) || !is_dns_subdomain(group) || !group.contains('.') {
        let place = row.get("resource").unwrap_or(row);
        let message = "is not the resource of a custom kind; write its plural and its group, such as \
            widgets.example.com; `dayshift kinds` lists the kinds that need no definition";
        return wrong(place, format!("`{}` {message}", quote(&resource)));
    }
    let name = text("kind", "Widget")?.to_owned();
    if !is_dns_label(&name.to_lowercase()) {
        let place = row.get("kind").unwrap_or(row);
        let message = format!("`{}` is not the name of a kind; write Widget", quote(&name));
        return wrong(place, message);
    }
    let path = match (row.get("field"), row.get("annotation")) {
        (Some(field), None) => spec_path(field)?,
        (None, Some(node)) => {
            let name = text("annotation", "example.com/stopped")?;
            if !is_label_key(&name.to_lowercase()) {
                let message = "is not the name of an annotation; write example.com/stopped";
                return wrong(node, format!("{} {message}", node.described()));
            }
            ["metadata", "annotations", name]
                .map(str::to_owned)
                .to_vec()
        }
        (Some(_), Some(both)) => {
            let message = "`field` cannot be combined with `annotation`; write one of them";
            return wrong(both, message);
        }
        (None, None) => {
            let message =
                "`field` is missing; write field: spec.paused, or annotation: example.com/stopped";
            return wrong(row, message);
        }
    };
    let content = parse_content(row, &path)?;
    if let (Some(node), CustomField::Replicas | CustomField::Exact) =
        (row.get("instances"), &content)
    {
        return wrong(
            node,
            "the count of this definition is already the number of its instances",
        );
    }
    let pod_groups = size(row, &content)?;
    let resource = (plural, group);
    Ok(KindDefinition::custom(
        &name, resource, &path, content, pod_groups,
    ))
}

/// The members of `spec` that dayshift reads for itself, or that do not stop what they bound.
const RESERVED: [&str; 5] = [
    "template",
    "minReplicas",
    "metrics",
    "scaleTargetRef",
    "persistentVolumeClaimRetentionPolicy",
];

/// Reads the parts that run pods: `instances` and `resources` are a field or a list of fields each.
fn size(row: &Node<'_>, content: &CustomField) -> Result<Vec<PodGroup>, DefinitionError> {
    let fields = |key: &str| match row.get(key) {
        Some(node) if !node.items().is_empty() => node.items().iter().map(|item| &**item).collect(),
        node => Vec::from_iter(node),
    };
    let (instances, resources) = (fields("instances"), fields("resources"));
    if let (Some(first), Some(_)) = (resources.first(), instances.first())
        && resources.len() != instances.len()
    {
        let (resources, instances) = (resources.len(), instances.len());
        let message = "`resources` and `instances` go together, and there are";
        return wrong(
            first,
            format!("{message} {resources} and {instances} of them"),
        );
    }
    let is_count = matches!(content, CustomField::Replicas | CustomField::Exact);
    let mut parts = Vec::new();
    for index in 0..instances.len().max(resources.len()) {
        let path = |of: &[&Node<'_>]| of.get(index).map(|field| listed_path(field)).transpose();
        let (number, pods) = (path(&instances)?, path(&resources)?);
        let place = resources.get(index).map_or(row, |field| *field);
        let lists = [&number, &pods].map(|path| path.as_ref().map(|(list, _)| list));
        let list = match lists {
            [Some(number), Some(pods)] if number != pods => {
                return wrong(place, "it is not in the same list as its `instances`");
            }
            [list, other] => list.or(other).cloned().unwrap_or_default(),
        };
        if is_count && (!list.is_empty() || index > 0) {
            let message = "the pods of a count have `resources` in one place, outside of lists";
            return wrong(place, message);
        }
        parts.push(PodGroup {
            list,
            instances: number.map(|path| path.1),
            resources: pods.map(|path| path.1),
            ..PodGroup::default()
        });
    }
    Ok(parts)
}

/// Splits `spec.pools[].size` into the tokens below `spec` up to the last list, and the tokens
/// after it.
fn listed_path(field: &Node<'_>) -> Result<(Vec<String>, Vec<String>), DefinitionError> {
    let mut list = Vec::new();
    let mut rest = Vec::new();
    for token in tokens_of(field)?.drain(1..) {
        let of_each = token.strip_suffix(PodGroup::EACH).map(str::to_owned);
        let is_list = of_each.is_some();
        rest.push(of_each.unwrap_or(token));
        if is_list {
            list.append(&mut rest);
            list.push(PodGroup::EACH.to_owned());
        }
    }
    if rest.is_empty() {
        let message = "ends in a list; write spec.pools[].size";
        return wrong(field, format!("{} {message}", field.described()));
    }
    Ok((list, rest))
}

/// Reads `spec.paused` or `/spec/paused` as the tokens of a JSON pointer.
fn spec_path(field: &Node<'_>) -> Result<Vec<String>, DefinitionError> {
    let tokens = tokens_of(field)?;
    if tokens.iter().any(|token| token.ends_with(PodGroup::EACH)) {
        let message = format!("{} goes through a list; write one field", field.described());
        return wrong(field, message);
    }
    Ok(tokens)
}

fn tokens_of(field: &Node<'_>) -> Result<Vec<String>, DefinitionError> {
    let text = field.text().unwrap_or_default();
    let tokens: Vec<String> = match text.strip_prefix('/') {
        Some(pointer) => pointer
            .split('/')
            .map(|token| token.replace("~1", "/").replace("~0", "~"))
            .collect(),
        None => text.split('.').map(str::to_owned).collect(),
    };
    let name = |token: &str| {
        token
            .strip_suffix(PodGroup::EACH)
            .unwrap_or(token)
            .to_owned()
    };
    let is_name =
        |token: &String| !name(token).is_empty() && !name(token).ends_with(PodGroup::EACH);
    let is_whole = tokens.len() >= 2 && tokens.iter().all(is_name);
    if !is_whole || tokens[0] != "spec" {
        let message = "is not a field of spec; write spec.paused or /spec/paused";
        return wrong(field, format!("{} {message}", field.described()));
    }
    if RESERVED.contains(&&*name(&tokens[1])) {
        let message = format!(
            "a kind definition cannot name {}; name the field that holds the count or the switch, \
             such as spec.replicas, or schedule the autoscaler with --kinds=horizontalpodautoscalers",
            field.described()
        );
        return wrong(field, message);
    }
    Ok(tokens)
}

fn parse_content(row: &Node<'_>, path: &[String]) -> Result<CustomField, DefinitionError> {
    let is_annotation = is_annotation(path);
    let written = row.get("holds");
    let kind = written.and_then(Node::text).unwrap_or("switch");
    let of_switch = ["stopped", "running", "absent", "not-beside"];
    let stray = of_switch.into_iter().find_map(|key| row.get(key));
    match (kind, written) {
        ("switch", _) => switch(row, path),
        ("time", Some(node)) if !is_annotation => wrong(node, "only an annotation can hold a time"),
        ("replicas" | "exact", Some(node)) if is_annotation || path.len() != 2 => {
            let message = "only a field directly below spec can hold a count, such as spec.size";
            wrong(node, message)
        }
        ("time" | "replicas" | "exact", _) if stray.is_some() => {
            let message = format!("a definition with holds: {kind} has no on/off values");
            wrong(stray.unwrap_or(row), message)
        }
        ("time", _) => Ok(CustomField::Time),
        ("replicas", _) => Ok(CustomField::Replicas),
        ("exact", _) => Ok(CustomField::Exact),
        (_, node) => {
            let node = node.unwrap_or(row);
            let message = "is not switch, replicas, exact or time";
            wrong(node, format!("{} {message}", node.described()))
        }
    }
}

/// Whether a field is an annotation and not below `spec`.
fn is_annotation(path: &[String]) -> bool {
    path[0] != "spec"
}

fn switch(row: &Node<'_>, path: &[String]) -> Result<CustomField, DefinitionError> {
    if path == ["spec", "replicas"] {
        let message = "spec.replicas is a count; write holds: replicas, or holds: exact";
        return wrong(row.get("field").unwrap_or(row), message);
    }
    let value = |key: &str| {
        let Some(node) = row.get(key) else {
            return Ok(None);
        };
        match (node.scalar(), node.written()) {
            (Some(Scalar::Bool(_)), Some(text)) if is_annotation(path) => {
                let message = "is true or false to YAML, and an annotation is a text; write";
                wrong(node, format!("`{text}` {message} {key}: \"{text}\""))
            }
            (Some(Scalar::Bool(flag)), _) => Ok(Some(SwitchConstant::Flag(flag))),
            (Some(Scalar::Text), Some(text)) => Ok(Some(SwitchConstant::Text(text.to_owned()))),
            _ => {
                let message = format!("{} is not true, false or a text", node.described());
                wrong(node, message)
            }
        }
    };
    let Some(stopped) = value("stopped")? else {
        return wrong(row, "`stopped` is missing; write stopped: true");
    };
    let running = value("running")?;
    let is_like = |running: &SwitchConstant| {
        matches!(running, SwitchConstant::Flag(_)) == matches!(stopped, SwitchConstant::Flag(_))
    };
    if let (Some(value), Some(node)) = (&running, row.get("running"))
        && (!is_like(value) || *value == stopped)
    {
        let message = "is not another value like that of `stopped`";
        return wrong(node, format!("{} {message}", node.described()));
    }
    let is_absent_stopped = match row.get("absent") {
        None => false,
        Some(node) => match node.text() {
            Some("running") => false,
            Some("stopped") if running.is_some() => true,
            Some("stopped") => {
                let message = "an object without the field is stopped, so its value while \
                    running is unknown; write running: too";
                return wrong(node, message);
            }
            _ => {
                let message = format!("{} is not running or stopped", node.described());
                return wrong(node, message);
            }
        },
    };
    let not_beside = row.get("not-beside").map(spec_path).transpose()?;
    if let (Some(beside), Some(node)) = (&not_beside, row.get("not-beside"))
        && (beside.starts_with(path) || path.starts_with(beside))
    {
        let message = format!("{} is not beside the field of the switch", node.described());
        return wrong(node, message);
    }
    Ok(CustomField::Switch(Switch {
        is_absent_stopped,
        not_beside,
        ..Switch::new(stopped, running)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_why_a_resource_or_field_cannot_be_defined() {
        for (row, expected) in [
            (
                "resource: widgets, kind: Widget, field: spec.off",
                "is not the resource of a custom kind",
            ),
            (
                "resource: deployments, kind: Deployment, field: spec.off",
                "lists the kinds that need no definition",
            ),
            (
                "resource: widgets.apps, kind: Widget, field: spec.off",
                "write its plural and its group",
            ),
            (
                "resource: w.example.com, kind: W, holds: replicas, field: spec.minReplicas",
                "schedule the autoscaler with",
            ),
            (
                "resource: w.example.com, kind: W, stopped: true, field: spec.template.spec.x",
                "name the field that holds",
            ),
        ] {
            let source = SourceFile::new("kinds.yaml", format!("{{{row}}}"));
            let errors = source.kind_definitions().errors;
            assert!(errors[0].message.contains(expected), "{row}: {errors:?}");
        }
    }
}
