//! Annotations that silence a rule on one object: `lint.dayshift/same-instant: "the reason"`.

use super::{finding::Finding, rule::Rule};
use crate::{
    manifest::{Annotation, Mark, Site},
    schedule::quote,
    workload::Prefix,
};

/// The silencings of one object.
pub(super) struct Silences<'m>(Vec<(&'m str, &'m Annotation)>);

impl<'m> Silences<'m> {
    /// Those among the marks of an object.
    pub(super) fn of(marks: &'m [Mark], prefix: &Prefix) -> Self {
        let own = format!("lint.{prefix}/");
        let marks = marks.iter().filter(|mark| mark.site == Site::Annotations);
        let found =
            marks.filter_map(|mark| Some((mark.field.name.strip_prefix(&own)?, &mark.field)));
        Self(found.collect())
    }

    /// Takes away what is silenced, and tells of silencings that are none. `finding` makes a
    /// finding at an annotation. Returns how many were taken away.
    pub(super) fn apply(
        &self,
        findings: &mut Vec<Finding>,
        finding: impl Fn(Rule, &Annotation, String, String) -> Finding,
    ) -> usize {
        let mut silenced = 0;
        let mut more = Vec::new();
        for (id, field) in &self.0 {
            let wrong = match Rule::from_id(id) {
                None => Some(format!("`{}` is no rule of lint", quote(id))),
                Some(rule) if !rule.can_be_silenced() => Some(format!(
                    "`{rule}` cannot be silenced, since what it finds has to be mended"
                )),
                Some(_) if field.text.trim().is_empty() => {
                    Some("this silencing gives no reason".to_owned())
                }
                Some(rule) => {
                    let before = findings.len();
                    findings.retain(|it| it.rule != rule);
                    silenced += before - findings.len();
                    if before == findings.len() {
                        let message = format!("there is nothing for `{rule}` to find here");
                        let help = "remove this annotation".to_owned();
                        more.push(finding(Rule::UnusedSilence, field, message, help));
                    }
                    None
                }
            };
            if let Some(message) = wrong {
                let help = "write the name of a warning and why it does not matter, such as \
                            lint.dayshift/start-without-stop: \"stopped by hand\"";
                more.push(finding(Rule::BadSilence, field, message, help.to_owned()));
            }
        }
        findings.append(&mut more);
        silenced
    }
}
