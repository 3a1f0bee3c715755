//! Annotations that suppress a rule on one object: `lint.dayshift/same-instant: "the reason"`.

use dayshift_text::quote;
use dayshift_workload::Prefix;

use super::{finding::Finding, rule::LintRule};
use crate::manifest::{Annotation, MisplacedKey, Site};

/// The suppressions of one object.
pub(super) struct Suppressions<'m> {
    all: Vec<(&'m str, &'m Annotation)>,
    /// `lint.dayshift/`
    prefix: String,
}

impl<'m> Suppressions<'m> {
    /// Those among the misplaced keys of an object.
    pub(super) fn of(misplaced: &'m [MisplacedKey], prefix: &Prefix) -> Self {
        let prefix = format!("lint.{prefix}/");
        let annotations = misplaced.iter().filter(|it| it.site == Site::Annotations);
        let found =
            annotations.filter_map(|it| Some((it.field.name.strip_prefix(&prefix)?, &it.field)));
        Self {
            all: found.collect(),
            prefix,
        }
    }

    /// Takes away what is suppressed, and tells of suppressions that are none. `finding` makes a
    /// finding at an annotation. Returns how many were taken away.
    pub(super) fn apply(
        &self,
        findings: &mut Vec<Finding>,
        finding: impl Fn(LintRule, &Annotation, String, String) -> Finding,
    ) -> usize {
        let mut suppressed = 0;
        let mut more = Vec::new();
        for (id, field) in &self.all {
            let wrong = match LintRule::from_id(id) {
                None => Some(format!("`{}` is not a rule of lint", quote(id))),
                Some(rule) if !rule.can_be_suppressed() => {
                    Some(format!("`{rule}` cannot be suppressed: fix what it finds"))
                }
                Some(_) if field.text.trim().is_empty() => {
                    Some("this suppression has no reason".to_owned())
                }
                Some(rule) => {
                    let before = findings.len();
                    findings.retain(|it| it.rule != rule);
                    suppressed += before - findings.len();
                    if before == findings.len() {
                        let message = format!("`{rule}` finds nothing here");
                        let help = "remove this annotation".to_owned();
                        more.push(finding(LintRule::UnusedSuppression, field, message, help));
                    }
                    None
                }
            };
            if let Some(message) = wrong {
                let help = format!(
                    "write the name of a warning and why it does not matter, such as \
                     {}start-without-stop: \"stopped manually\"",
                    self.prefix
                );
                more.push(finding(LintRule::BadSuppression, field, message, help));
            }
        }
        findings.append(&mut more);
        suppressed
    }
}
