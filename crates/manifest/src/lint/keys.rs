//! Checks of names: keys with dayshift's prefix where annotations are not read, names that resemble
//! them, names that only dayshift writes, and annotations of other tools.

use dayshift_text::quote;
use dayshift_workload::{INHERITED, Key, Label, OVERRIDE_BEGAN, OWN_ANNOTATIONS, Prefix};

use crate::{
    annotations::{Annotation, KeySite, MisplacedKey, is_of_other_tool},
    lint::{
        object::{ObjectFindings, OtherCheck, WorkloadCheck},
        rule::LintRule,
        schedule_finding::{own_line, valid_line},
    },
};

/// The message and help of a finding at a name.
type KeyFinding = Option<(String, String)>;

pub(crate) fn lookalike_prefix(prefix: &Prefix, key: &MisplacedKey) -> KeyFinding {
    let name = &key.field.name;
    let is_known = prefix.strip(name).is_some() || is_of_other_tool(name);
    if key.site != KeySite::Annotations || is_known {
        return None;
    }
    let intended = lookalike_key(name)?;
    let message = format!(
        "`{}` is not read; dayshift reads annotations with the prefix `{prefix}/`",
        quote(name)
    );
    let line = own_line(prefix, intended, &key.field.text);
    Some((message, format!("write {line}")))
}

pub(crate) fn schedule_as_label(prefix: &Prefix, key: &MisplacedKey) -> KeyFinding {
    if key.site != KeySite::Labels || is_state(key, prefix) {
        return None;
    }
    let effect = "is a label; dayshift reads schedules from annotations";
    misplaced(prefix, key, effect, "metadata.annotations")
}

pub(crate) fn on_pod_template(prefix: &Prefix, key: &MisplacedKey) -> KeyFinding {
    let sites = [KeySite::TemplateAnnotations, KeySite::TemplateLabels];
    if !sites.contains(&key.site) || is_state(key, prefix) {
        return None;
    }
    let effect = "is on the pod template, where it has no effect";
    misplaced(prefix, key, effect, "metadata.annotations of the workload")
}

pub(crate) fn misplaced_annotation(prefix: &Prefix, key: &MisplacedKey) -> KeyFinding {
    if key.site != KeySite::Elsewhere {
        return None;
    }
    let place = match &*key.path {
        "" => "at the top of the object".to_owned(),
        path => format!("in {}", quote(path)),
    };
    let effect = format!("is {place}, where it has no effect");
    misplaced(prefix, key, &effect, "metadata.annotations")
}

/// The finding of a name with the prefix that should be moved, with the author's text.
fn misplaced(prefix: &Prefix, key: &MisplacedKey, effect: &str, target: &str) -> KeyFinding {
    let Annotation { name, text, .. } = &key.field;
    let short = prefix.strip(name)?;
    let line = match Key::from_name(short).or_else(|| Key::nearest(short)) {
        Some(known) => own_line(prefix, known, text),
        None => format!("{name}: \"{text}\""),
    };
    let message = format!("`{}` {effect}", quote(name));
    Some((message, format!("move it to {target}: {line}")))
}

/// The key at the end of a name with another prefix, in any case. The longest key wins, because
/// `stop-replicas` ends with `replicas` too.
fn lookalike_key(full: &str) -> Option<Key> {
    let name = full.to_ascii_lowercase();
    if name.starts_with("lint.") {
        return None;
    }
    let ends = |key: &Key| {
        name.strip_suffix(key.name())
            .is_some_and(|rest| rest.ends_with(|letter: char| !letter.is_alphanumeric()))
    };
    Key::ALL
        .into_iter()
        .filter(ends)
        .max_by_key(|key| key.name().len())
}

/// Whether the name is that of a label that dayshift writes.
fn is_state(key: &MisplacedKey, prefix: &Prefix) -> bool {
    let name = prefix.strip(&key.field.name);
    name.and_then(Label::from_name).is_some()
}

/// Labels that dayshift writes, in one finding per workload.
pub(crate) fn state_labels(object: &mut ObjectFindings<'_>, check: &WorkloadCheck<'_>) {
    let prefix = object.prefix;
    let keys = check.workload.misplaced.iter();
    let state: Vec<_> = keys
        .filter(|key| key.site == KeySite::Labels && is_state(key, prefix))
        .collect();
    let Some(first) = state.first() else {
        return;
    };
    let names: Vec<_> = state.iter().map(|key| &*key.field.name).collect();
    let message = format!(
        "{} is dayshift's own state; in a manifest it overwrites that state",
        names.join(", ")
    );
    let help = "remove these labels from the manifest";
    object.add(
        LintRule::StateLabels,
        first.field.key.clone(),
        message,
        help,
    );
}

/// Annotations that dayshift writes.
pub(crate) fn error_annotation(object: &mut ObjectFindings<'_>, check: &WorkloadCheck<'_>) {
    let annotations = check.workload.annotations.iter();
    for field in annotations.filter(|field| OWN_ANNOTATIONS.contains(&&*field.name)) {
        let message = match &*field.name {
            OVERRIDE_BEGAN => {
                "dayshift writes this annotation itself while an override is active; in a manifest \
                    it makes new overrides look ended"
            }
            INHERITED => {
                "dayshift writes this annotation itself, to show what the workload inherits; \
                    in a manifest it has no effect"
            }
            _ => "dayshift writes this annotation itself while a schedule is rejected",
        };
        let help = "remove it from the manifest";
        object.add(LintRule::ErrorAnnotation, field.key.clone(), message, help);
    }
}

pub(crate) fn other_tool_on_workload(object: &mut ObjectFindings<'_>, check: &WorkloadCheck<'_>) {
    other_tool_annotation(object, &check.workload.misplaced);
}

/// Annotations of other tools, in one finding per object.
pub(crate) fn other_tool_annotation(object: &mut ObjectFindings<'_>, keys: &[MisplacedKey]) {
    let is_other = |key: &&MisplacedKey| is_of_other_tool(&key.field.name);
    let Some(key) = keys.iter().find(is_other) else {
        return;
    };
    let name = quote(&key.field.name);
    let tool = if name.starts_with("downscaler/") {
        "py-kube-downscaler or GoKubeDownscaler"
    } else {
        "kube-green"
    };
    let message = format!("`{name}` is for {tool}; dayshift does not read it");
    let (_, intended) = key.field.name.split_once('/').unwrap_or_default();
    let line =
        Key::nearest(intended).map(|intended| own_line(object.prefix, intended, &key.field.text));
    let line = line.unwrap_or_else(|| valid_line(object.prefix, Key::Hours));
    let help =
        format!("only one tool should scale a workload: run dayshift convert, or write {line}");
    object.add(LintRule::OtherTool, key.field.key.clone(), message, help);
}

/// Schedules of other tools that are objects of their own, and their annotations.
pub(crate) fn other_tool(object: &mut ObjectFindings<'_>, check: &OtherCheck<'_>) {
    other_tool_annotation(object, &check.object.misplaced);
    let Some(tool) = check.object.other_tool else {
        return;
    };
    let message = format!(
        "this is a schedule of {}; dayshift does not read it",
        tool.name
    );
    let line = valid_line(object.prefix, Key::Hours);
    let help = if tool.is_converted {
        format!(
            "only one tool should scale a workload: run dayshift convert, or write {line} on it"
        )
    } else {
        format!(
            "only one tool should scale a workload: write {line} on it, and delete this object; convert does not read it"
        )
    };
    object.add(
        LintRule::OtherTool,
        check.object.place.clone(),
        message,
        help,
    );
}
