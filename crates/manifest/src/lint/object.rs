//! The findings of one object.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
    sync::Arc,
};

use dayshift_workload::{
    CountKind, INHERITED, Key, Kind, OVERRIDE_BEGAN, Origin, Prefix, Problem, Replicas,
};

use super::{
    finding::{Finding, Report},
    misplaced_keys,
    neighbours::is_kept_at_zero,
    rendered,
    rule::LintRule,
    suppression::Suppressions,
};
use crate::{
    lint::schedule::{examples::right_line, repair::own_line, schedule_finding::ScheduleFinding},
    manifest::{
        Annotation, Location, MisplacedKey, ObjectName, Other, Quoted, Workload, is_of_other_tool,
    },
};

/// Collects what is found on one object.
pub(super) struct Object<'o> {
    pub(super) source: usize,
    pub(super) prefix: &'o Prefix,
    pub(super) name: ObjectName,
    pub(super) findings: Vec<Finding>,
}

impl<'o> Object<'o> {
    pub(super) fn workload(source: usize, prefix: &'o Prefix, workload: &Workload) -> Self {
        let name = ObjectName {
            kind: workload.object.kind.name().into(),
            namespace: Arc::clone(&workload.object.namespace),
            name: Arc::clone(&workload.object.name),
        };
        Self {
            source,
            prefix,
            name,
            findings: Vec::new(),
        }
    }

    pub(super) fn other(source: usize, prefix: &'o Prefix, other: &Other) -> Self {
        let name = ObjectName {
            kind: (*other.kind).into(),
            namespace: (*other.namespace).into(),
            name: (*other.name).into(),
        };
        Self {
            source,
            prefix,
            name,
            findings: Vec::new(),
        }
    }

    pub(super) fn at(
        &self,
        rule: LintRule,
        place: Location,
        message: String,
        help: String,
    ) -> Finding {
        let place = Some((self.source, place));
        Finding::new(rule, place, message, help).of(Some(self.name.clone()))
    }

    /// A finding in the text of an annotation.
    fn in_text(
        &self,
        field: &Annotation,
        full: String,
        span: &Range<usize>,
        rule: LintRule,
        message: String,
        help: String,
    ) -> Finding {
        let quoted = Quoted {
            name: full,
            text: field.text.clone(),
            span: span.clone(),
            verbatim: field.is_verbatim(),
        };
        Finding {
            quoted: Some(Box::new(quoted)),
            ..self.at(rule, field.locate(span), message, help)
        }
    }

    /// What is to be said of annotations that are written on it: `origin` is what it is to those
    /// who read them.
    pub(super) fn report_schedule(
        &mut self,
        annotations: &[Annotation],
        problems: &[Problem],
        origin: Origin,
        found: &[ScheduleFinding],
    ) {
        // There may be thousands, so they are looked up by name. Of two, the first one counts.
        let fields = annotations.iter().rev();
        let fields: HashMap<_, _> = fields.map(|it| (&*it.name, it)).collect();
        let problems = || problems.iter().filter(|it| it.origin == origin);
        let unwritable: HashSet<_> = problems().map(|it| &*it.annotation).collect();
        for problem in problems() {
            self.report(&fields, &ScheduleFinding::of_problem(problem, self.prefix));
        }
        // That is told where the object says what becomes of its volumes.
        let of_annotations = |it: &&ScheduleFinding| it.rule != LintRule::DeletesVolumes;
        let found = found.iter().filter(of_annotations);
        for field in annotations.iter().filter(|it| it.is_filled_in()) {
            let full = self.prefix.full(&field.name);
            let message = format!("{full} is a template, and was not checked");
            let place = field.value.clone();
            let help = rendered::HELP.to_owned();
            self.findings
                .push(self.at(LintRule::NotRendered, place, message, help));
        }
        for written_here in found.filter(|it| it.origin == origin) {
            // One that has to be written in another way is read again when it is.
            if !unwritable.contains(&*written_here.name) {
                self.report(&fields, written_here);
            }
        }
    }

    fn report(&mut self, fields: &HashMap<&str, &Annotation>, found: &ScheduleFinding) {
        let field = fields.get(&*found.name);
        let Some(field) = field.filter(|it| !it.is_filled_in()) else {
            return;
        };
        let full = self.prefix.full(&field.name);
        let help = found.help_for(&field.text, self.prefix);
        let message = found.message.clone();
        let mut finding = self.in_text(field, full, &found.span, found.rule, message, help);
        if found.rule == LintRule::UnknownAnnotation {
            finding.place = Some((self.source, field.key.clone()));
            finding.quoted = None;
        }
        self.findings.push(finding);
    }

    /// That a stop would delete its volumes, if that is among what was found.
    pub(super) fn volumes(&mut self, workload: &Workload, found: &[ScheduleFinding]) {
        let mut found = found.iter();
        let found = found.find(|it| it.rule == LintRule::DeletesVolumes);
        if let (Some(found), Some(place)) = (found, workload.volumes_place.clone()) {
            let (message, help) = (found.message.clone(), found.help.clone());
            self.findings
                .push(self.at(LintRule::DeletesVolumes, place, message, help));
        }
    }

    /// What else stands on a workload.
    pub(super) fn manifest(&mut self, workload: &Workload) {
        self.misplaced(&workload.misplaced);
        let mut state = workload
            .misplaced
            .iter()
            .filter(|it| misplaced_keys::is_state(it, self.prefix));
        if let Some(first) = state.next() {
            let names = std::iter::once(first)
                .chain(state)
                .map(|it| &*it.field.name);
            let message = format!(
                "{} is dayshift's own state; in a manifest it overwrites that state",
                names.collect::<Vec<_>>().join(", ")
            );
            let help = "remove these labels from the manifest".to_owned();
            self.findings.push(self.at(
                LintRule::StateLabels,
                first.field.key.clone(),
                message,
                help,
            ));
        }
        for field in workload
            .annotations
            .iter()
            .filter(|it| misplaced_keys::is_written(&it.name))
        {
            let message = match &*field.name {
                OVERRIDE_BEGAN => {
                    "dayshift writes this annotation itself while an override holds; in a manifest \
                        it makes new overrides look ended"
                }
                INHERITED => {
                    "dayshift writes this annotation itself, to show what the workload inherits; \
                        in a manifest it has no effect"
                }
                _ => "dayshift writes this annotation itself while a schedule is refused",
            };
            let help = "remove it from the manifest".to_owned();
            self.findings.push(self.at(
                LintRule::ErrorAnnotation,
                field.key.clone(),
                message.to_owned(),
                help,
            ));
        }
        if let Some(place) = workload
            .count_place
            .clone()
            .filter(|_| workload.inputs.has_schedule() && !is_kept_at_zero(workload))
        {
            let object = &workload.object;
            let counts = object.kind.counts();
            let message = format!(
                "{} is set here: every `kubectl apply` resets it, even at night; `--server-side` fails with a conflict",
                object
                    .kind
                    .pointer()
                    .trim_start_matches('/')
                    .replace('/', ".")
            );
            let count = workload.replicas.map(Replicas::get).unwrap_or_default();
            let becomes = match counts {
                CountKind::Replicas | CountKind::Exact => "the count becomes 1",
                CountKind::Minimum { .. } => "minReplicas becomes 1",
                CountKind::Suspend { .. } => "it is unsuspended",
                CountKind::Pause => "it is unpaused",
                CountKind::Switch => "it is started",
                CountKind::Runners => "minRunners becomes 0",
            };
            let mut help = format!(
                "remove it from what kubectl applied last, then from the manifest; in the other \
                    order {becomes}: kubectl apply edit-last-applied {}/{} -n {}",
                object.kind.short_name(),
                object.name,
                object.namespace,
            );
            // Each time of `scale` sets a count already.
            if workload.inputs.text(Key::Scale).is_none() && counts.has(Key::Replicas) {
                let line = own_line(self.prefix, Key::Replicas, &count.max(1).to_string());
                help += &format!("; to have each start set it, write {line}");
            }
            self.findings
                .push(self.at(LintRule::ReplicasInManifest, place, message, help));
        }
    }

    /// Names at places where they do nothing.
    pub(super) fn misplaced(&mut self, on_it: &[MisplacedKey]) {
        self.other_tool(on_it);
        for it in on_it {
            if let Some((rule, message, help)) = misplaced_keys::judge(it, self.prefix) {
                self.findings
                    .push(self.at(rule, it.field.key.clone(), message, help));
            }
        }
    }

    /// What another tool does by annotations of its own, told once.
    pub(super) fn other_tool(&mut self, misplaced: &[MisplacedKey]) {
        let is_other = |it: &&MisplacedKey| is_of_other_tool(&it.field.name);
        let Some(misplaced) = misplaced.iter().find(is_other) else {
            return;
        };
        let name = dayshift_text::quote(&misplaced.field.name);
        let tool = if name.starts_with("downscaler/") {
            "py-kube-downscaler or GoKubeDownscaler"
        } else {
            "kube-green"
        };
        let message = format!("`{name}` is for {tool}; dayshift does not read it");
        let (_, meant) = misplaced.field.name.split_once('/').unwrap_or_default();
        let line = Key::nearest(meant).map(|key| own_line(self.prefix, key, &misplaced.field.text));
        let line = line.unwrap_or_else(|| right_line(self.prefix, Key::Hours));
        let help = format!("let one tool scale a workload: run dayshift convert, or write {line}");
        let place = misplaced.field.key.clone();
        self.findings
            .push(self.at(LintRule::OtherTool, place, message, help));
    }

    /// A schedule on an object of a kind that dayshift does not scale.
    pub(super) fn other_kind(&mut self, other: &Other, kinds: &[Kind]) {
        self.other_tool(&other.misplaced);
        if other.is_other_tool {
            let message = "this is a schedule of kube-green; dayshift does not read it".to_owned();
            let help = format!(
                "let one tool scale a workload: run dayshift convert, or write {} on it",
                right_line(self.prefix, Key::Hours)
            );
            self.findings
                .push(self.at(LintRule::OtherTool, other.place.clone(), message, help));
        }
        self.ignored_schedule(other, kinds);
    }

    /// Adds to the report what was found, without what annotations of the object suppress.
    pub(super) fn finish(mut self, on_it: &[MisplacedKey], report: &mut Report) {
        let mut findings = std::mem::take(&mut self.findings);
        let suppressions = Suppressions::of(on_it, self.prefix);
        report.suppressed += suppressions.apply(&mut findings, |rule, field, message, help| {
            self.at(rule, field.key.clone(), message, help)
        });
        report.findings.extend(findings);
    }
}
