//! The findings of Namespaces, and of what objects do with what they inherit.

use std::sync::Arc;

use dayshift_workload::{Annotations, Inputs, Key, Origin, Prefix};

use super::{
    finding::{Finding, Report},
    object::Object,
    rule::LintRule,
};
use crate::{
    lint::schedule::schedule_finding::ScheduleFinding,
    manifest::{Annotation, LooseAnnotations, Namespace, ObjectName, Severity, Workload},
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
        find: impl FnMut(&Inputs) -> Vec<ScheduleFinding>,
    ) {
        let found = self.of_defaults(&namespace.defaults, &namespace.annotations, find);
        let origin = Origin::Namespace;
        self.report_schedule(&namespace.annotations, &namespace.problems, origin, &found);
        self.misplaced(&namespace.misplaced);
    }

    /// What is to be said of annotations that stand on no object: what they say may wait for others, but
    /// what cannot be read is wrong wherever it comes to stand.
    pub(super) fn loose(
        source: usize,
        prefix: &'o Prefix,
        loose: &LooseAnnotations,
        find: impl FnMut(&Inputs) -> Vec<ScheduleFinding>,
        report: &mut Report,
    ) {
        let mut object = Self {
            source,
            prefix,
            name: ObjectName {
                kind: "".into(),
                namespace: "".into(),
                name: "".into(),
            },
            findings: Vec::new(),
        };
        let mut found = object.of_defaults(&loose.defaults, &loose.annotations, find);
        found.retain(|it| {
            it.rule.severity() == Severity::Error
                || !loose.is_partial && it.rule != LintRule::NoEffect
        });
        object.report_schedule(
            &loose.annotations,
            &loose.problems,
            Origin::Namespace,
            &found,
        );
        let on_none = |it: Finding| Finding { object: None, ..it };
        report
            .findings
            .extend(object.findings.into_iter().map(on_none));
    }

    /// What is found in defaults, whatever inherits them.
    fn of_defaults(
        &self,
        defaults: &Arc<Annotations>,
        annotations: &[Annotation],
        mut find: impl FnMut(&Inputs) -> Vec<ScheduleFinding>,
    ) -> Vec<ScheduleFinding> {
        let inherited = Inputs::default().with_defaults(Some(Arc::clone(defaults)));
        let mut found = find(&inherited.clone().or_always_on());
        if !inherited.has_schedule() {
            // What the hours below it come to is nobody's.
            let is_its_own = |it: &ScheduleFinding| {
                it.rule.severity() == Severity::Error
                    || it.rule == LintRule::PastUntil
                    || [Key::AllowVolumeDeletion, Key::StopJobs]
                        .iter()
                        .any(|key| *it.name == *key.name())
            };
            found.retain(is_its_own);
        }
        if !inherited.inherits() {
            // Nobody is told of it by what it inherits.
            let unknown = find(&self.unknown(annotations));
            let origin = Origin::Namespace;
            found.extend(
                unknown
                    .into_iter()
                    .map(|it| ScheduleFinding { origin, ..it }),
            );
        }
        found
    }

    /// What of annotations is not a key, as if it stood on an object.
    fn unknown(&self, annotations: &[Annotation]) -> Inputs {
        let annotations = annotations.iter();
        let unknown = annotations.filter(|it| Key::from_name(&it.name).is_none());
        let texts: Vec<_> = unknown
            .map(|it| (self.prefix.full(&it.name), &*it.text))
            .collect();
        let texts = texts.iter().map(|(name, text)| (&**name, *text));
        Inputs::from_annotations(self.prefix, texts)
    }

    /// What is wrong with annotations of the Namespace on this object alone: `of_namespace` is said
    /// where it is written.
    pub(super) fn report_misfits(
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
