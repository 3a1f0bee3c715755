//! The findings of Namespaces, and of what objects do with what they inherit.

use std::sync::Arc;

use super::{
    finding::ObjectName,
    object::Object,
    rule::{LintRule, Severity},
};
use crate::lint::schedule::schedule_finding::ScheduleFinding;
use crate::{
    manifest::{Namespace, Workload},
    workload::{Inputs, Key, Origin, Prefix},
};

impl<'o> Object<'o> {
    /// A Namespace.
    pub(super) fn namespace(source: usize, prefix: &'o Prefix, namespace: &Namespace) -> Self {
        let name = ObjectName {
            kind: "Namespace".into(),
            namespace: "".into(),
            name: Arc::clone(&namespace.name),
        };
        Self {
            source,
            prefix,
            name,
            findings: Vec::new(),
        }
    }

    /// What is to be said of a Namespace. `find` looks at inputs.
    pub(super) fn defaults(
        &mut self,
        namespace: &Namespace,
        mut find: impl FnMut(&Inputs) -> Vec<ScheduleFinding>,
    ) {
        let defaults = Some(Arc::clone(&namespace.defaults));
        let inherited = Inputs::default().with_defaults(defaults);
        let mut found = find(&inherited.clone().or_always_on());
        if !inherited.has_schedule() {
            // What the hours below it come to is nobody's.
            let is_its_own = |it: &ScheduleFinding| {
                it.rule.severity() == Severity::Error
                    || it.rule == LintRule::PastUntil
                    || *it.name == *Key::AllowVolumeDeletion.name()
            };
            found.retain(is_its_own);
        }
        if !inherited.inherits() {
            // Nobody is told of it by what it inherits.
            let unknown = find(&self.unknown(namespace));
            let origin = Origin::Namespace;
            found.extend(
                unknown
                    .into_iter()
                    .map(|it| ScheduleFinding { origin, ..it }),
            );
        }
        let origin = Origin::Namespace;
        self.report_schedule(&namespace.annotations, &namespace.problems, origin, &found);
        self.misplaced(&namespace.misplaced);
    }

    /// What of its annotations is not a key, as if it stood on an object.
    fn unknown(&self, namespace: &Namespace) -> Inputs {
        let annotations = namespace.annotations.iter();
        let unknown = annotations.filter(|it| Key::from_name(&it.name).is_none());
        let texts: Vec<_> = unknown
            .map(|it| (self.prefix.full(&it.name), &*it.text))
            .collect();
        let texts = texts.iter().map(|(name, text)| (&**name, *text));
        Inputs::from_annotations(self.prefix, texts)
    }

    /// What is wrong with annotations of the Namespace on this object alone: `of_namespace` is said
    /// where it is written.
    pub(super) fn does_not_fit(
        &mut self,
        workload: &Workload,
        findings: &[ScheduleFinding],
        of_namespace: &[ScheduleFinding],
    ) {
        for it in findings {
            let is_inherited = it.origin == Origin::Namespace;
            let is_error = it.rule.severity() == Severity::Error;
            if is_inherited && is_error && !of_namespace.iter().any(|of| of.is_like(it)) {
                let name = self.prefix.full(&it.name);
                let message = format!("{name} on its Namespace: {}", it.message);
                let help = it.help.clone();
                let finding = self.at(it.rule, workload.place.clone(), message, help);
                self.findings.push(finding);
            }
        }
    }
}
