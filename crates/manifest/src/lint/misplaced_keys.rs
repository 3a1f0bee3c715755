//! Names of ours at places where they do nothing.

use dayshift_workload::{Key, Label, OWN_ANNOTATIONS, Prefix};

use super::rule::LintRule;
use crate::{
    lint::schedule::repair::own_line,
    manifest::{MisplacedKey, Site, is_of_other_tool},
};

/// What is wrong with a misplaced key of a workload: the rule, the message, and what to do.
pub(super) fn judge(
    misplaced: &MisplacedKey,
    prefix: &Prefix,
) -> Option<(LintRule, String, String)> {
    let full = dayshift_text::quote(&misplaced.field.name);
    let ours = prefix.strip(&misplaced.field.name);
    let key = ours.map(|name| Key::from_name(name).or_else(|| Key::nearest(name)));
    let is_state = ours.is_some_and(|name| Label::ALL.iter().any(|it| it.name() == name));
    // Whatever it is, its text is the user's.
    let line = |key: Option<Key>| match key {
        Some(key) => own_line(prefix, key, &misplaced.field.text),
        None => format!("{}: \"{}\"", misplaced.field.name, misplaced.field.text),
    };
    match (misplaced.site, key) {
        (Site::Annotations, _) => {
            let is_other = ours.is_some() || is_of_other_tool(&misplaced.field.name);
            let key = meant(&misplaced.field.name).filter(|_| !is_other)?;
            Some((
                LintRule::LookalikePrefix,
                format!(
                    "`{full}` is not read; dayshift reads annotations with the prefix `{prefix}/`"
                ),
                format!("write {}", line(Some(key))),
            ))
        }
        (Site::Labels, Some(key)) if !is_state => Some((
            LintRule::ScheduleAsLabel,
            format!("`{full}` is a label; dayshift reads schedules from annotations"),
            format!("move it to metadata.annotations: {}", line(key)),
        )),
        (Site::TemplateAnnotations | Site::TemplateLabels, Some(key)) if !is_state => Some((
            LintRule::OnPodTemplate,
            format!("`{full}` is on the pod template, where it has no effect"),
            format!(
                "move it to metadata.annotations of the workload: {}",
                line(key)
            ),
        )),
        (Site::Elsewhere, Some(key)) => {
            let place = match &*misplaced.path {
                "" => "at the top of the object".to_owned(),
                path => format!("in {}", dayshift_text::quote(path)),
            };
            Some((
                LintRule::MisplacedAnnotation,
                format!("`{full}` is {place}, where it has no effect"),
                format!("move it to metadata.annotations: {}", line(key)),
            ))
        }
        _ => None,
    }
}

/// The key that a name under a foreign prefix ends with, in any case.
fn meant(full: &str) -> Option<Key> {
    let name = full.to_ascii_lowercase();
    if name.starts_with("lint.") {
        return None;
    }
    let ends = |key: &Key| {
        name.strip_suffix(key.name())
            .is_some_and(|rest| rest.ends_with(|it: char| !it.is_alphanumeric()))
    };
    // `stop-replicas` ends with `replicas`, too.
    Key::ALL
        .into_iter()
        .filter(ends)
        .max_by_key(|key| key.name().len())
}

/// Whether it is a label that dayshift writes.
pub(super) fn is_state(misplaced: &MisplacedKey, prefix: &Prefix) -> bool {
    let name = prefix.strip(&misplaced.field.name);
    misplaced.site == Site::Labels && Label::ALL.iter().any(|it| Some(it.name()) == name)
}

/// Whether a name behind the prefix is an annotation that dayshift writes.
pub(super) fn is_written(name: &str) -> bool {
    OWN_ANNOTATIONS.contains(&name)
}
