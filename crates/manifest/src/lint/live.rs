//! What is wrong with live objects: the findings of a file, without a place.

use std::sync::Arc;

use dayshift_workload::{Key, Observed, Origin, ParseContext, ParsedInputs, Prefix, Problem};

use super::{finding::Finding, rule::LintRule};
use crate::{
    lint::schedule::schedule_finding::ScheduleFinding,
    manifest::{ObjectName, Quoted},
};

/// Why the schedule of an object is refused. What is wrong with an annotation of its Namespace is a
/// finding of that.
pub fn refusals(observed: &Observed, context: &ParseContext, prefix: &Prefix) -> Vec<Finding> {
    let ParsedInputs::Invalid(refusal) = observed.read(context) else {
        return Vec::new();
    };
    let (object, inputs) = (&observed.object, &observed.inputs);
    let finding = |problem: &Problem| {
        let found = ScheduleFinding::of_problem(problem, prefix);
        let key = Key::from_name(&found.name);
        let (name, text) = match found.origin {
            Origin::Namespace => {
                let name = ObjectName {
                    kind: "Namespace".into(),
                    namespace: "".into(),
                    name: Arc::clone(&object.namespace),
                };
                (name, key.and_then(|key| inputs.defaults()?.text(key)))
            }
            Origin::Own | Origin::Scaler => {
                let name = ObjectName {
                    kind: object.kind.name().into(),
                    namespace: Arc::clone(&object.namespace),
                    name: Arc::clone(&object.name),
                };
                (name, key.and_then(|key| inputs.text(key)))
            }
        };
        let help = found.help_for(text.unwrap_or_default(), prefix);
        let quoted = text.filter(|it| !it.is_empty() && found.rule != LintRule::DeletesVolumes);
        let full = problem.name(prefix);
        let message = match quoted {
            Some(_) => found.message,
            None => format!("{full}: {}", found.message),
        };
        Finding {
            quoted: quoted.map(|text| {
                Box::new(Quoted {
                    name: full,
                    text: text.into(),
                    span: found.span,
                    verbatim: false,
                })
            }),
            ..Finding::new(found.rule, None, message, help).of(Some(name))
        }
    };
    refusal.problems().iter().map(finding).collect()
}
