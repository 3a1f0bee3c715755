//! The findings of one object.
//!
//! Names of ours at places where they do nothing.
//!
//! The findings of Namespaces, and of what objects do with what they inherit.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
    sync::Arc,
};

use dayshift_workload::{
    Annotations, CountKind, INHERITED, Inputs, Key, Kind, Label, OVERRIDE_BEGAN, OWN_ANNOTATIONS,
    Origin, Prefix, Problem, Replicas,
};

use crate::{
    annotations::{Annotation, KeySite, MisplacedKey, is_of_other_tool},
    finding::{ObjectName, Quoted, Severity},
    lint::{
        rule::{LintFinding, LintReport, LintRule, Suppressions},
        schedule_finding::{ScheduleFinding, own_line, right_line},
    },
    objects::{
        defaults::{LooseAnnotations, Namespace},
        other::OtherObject,
        workload::ManifestWorkload,
    },
    yaml::node::Location,
};

/// What to do about a text that a tool fills in.
pub(crate) const RENDER_HELP: &str = "check what it renders: helm template . | dayshift lint -";

/// Collects what is found on one object.
pub(crate) struct ObjectFindings<'o> {
    pub(crate) source: usize,
    pub(crate) prefix: &'o Prefix,
    pub(crate) name: ObjectName,
    pub(crate) findings: Vec<LintFinding>,
}

impl<'o> ObjectFindings<'o> {
    pub(crate) fn workload(source: usize, prefix: &'o Prefix, workload: &ManifestWorkload) -> Self {
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

    pub(crate) fn other(source: usize, prefix: &'o Prefix, other: &OtherObject) -> Self {
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

    pub(crate) fn at(
        &self,
        rule: LintRule,
        place: Location,
        message: String,
        help: String,
    ) -> LintFinding {
        let place = Some((self.source, place));
        LintFinding::new(rule, place, message, help).about(Some(self.name.clone()))
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
    ) -> LintFinding {
        let quoted = Quoted {
            name: full,
            text: field.text.clone(),
            span: span.clone(),
            verbatim: field.is_verbatim(),
        };
        LintFinding {
            quoted: Some(Box::new(quoted)),
            ..self.at(rule, field.locate(span), message, help)
        }
    }

    /// What is to be said of annotations that are written on it: `origin` is what it is to those
    /// who read them.
    pub(crate) fn report_schedule(
        &mut self,
        annotations: &[Annotation],
        problems: &[Problem],
        origin: Origin,
        found: &[ScheduleFinding],
    ) {
        // There may be thousands, so they are looked up by name. Of two, the first one counts.
        let fields = annotations.iter().rev();
        let fields: HashMap<_, _> = fields.map(|field| (&*field.name, field)).collect();
        let problems = || problems.iter().filter(|problem| problem.origin == origin);
        let unwritable: HashSet<_> = problems().map(|problem| &*problem.annotation).collect();
        for problem in problems() {
            self.report(
                &fields,
                &ScheduleFinding::from_problem(problem, self.prefix),
            );
        }
        // That is told where the object says what becomes of its volumes.
        let of_annotations = |finding: &&ScheduleFinding| finding.rule != LintRule::DeletesVolumes;
        let found = found.iter().filter(of_annotations);
        for field in annotations
            .iter()
            .filter(|annotation| annotation.is_filled_in())
        {
            let full = self.prefix.full(&field.name);
            let message = format!("{full} is a template, and was not checked");
            let place = field.value.clone();
            let help = RENDER_HELP.to_owned();
            self.findings
                .push(self.at(LintRule::NotRendered, place, message, help));
        }
        for written_here in found.filter(|finding| finding.origin == origin) {
            // One that has to be written in another way is read again when it is.
            if !unwritable.contains(&*written_here.name) {
                self.report(&fields, written_here);
            }
        }
    }

    fn report(&mut self, fields: &HashMap<&str, &Annotation>, found: &ScheduleFinding) {
        let field = fields.get(&*found.name);
        let Some(field) = field.filter(|annotation| !annotation.is_filled_in()) else {
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
    pub(crate) fn volumes(&mut self, workload: &ManifestWorkload, found: &[ScheduleFinding]) {
        let mut found = found.iter();
        let found = found.find(|finding| finding.rule == LintRule::DeletesVolumes);
        if let (Some(found), Some(place)) = (found, workload.volumes_place.clone()) {
            let (message, help) = (found.message.clone(), found.help.clone());
            self.findings
                .push(self.at(LintRule::DeletesVolumes, place, message, help));
        }
    }

    /// What else stands on a workload.
    pub(crate) fn manifest(&mut self, workload: &ManifestWorkload) {
        self.misplaced(&workload.misplaced);
        let mut state = workload
            .misplaced
            .iter()
            .filter(|key| is_state(key, self.prefix));
        if let Some(first) = state.next() {
            let names = std::iter::once(first)
                .chain(state)
                .map(|key| &*key.field.name);
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
            .filter(|annotation| is_written(&annotation.name))
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
            .filter(|_| workload.inputs.has_schedule() && !workload.is_kept_at_zero())
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
    pub(crate) fn misplaced(&mut self, on_it: &[MisplacedKey]) {
        self.other_tool(on_it);
        for it in on_it {
            if let Some((rule, message, help)) = judge(it, self.prefix) {
                self.findings
                    .push(self.at(rule, it.field.key.clone(), message, help));
            }
        }
    }

    /// What another tool does by annotations of its own, told once.
    pub(crate) fn other_tool(&mut self, misplaced: &[MisplacedKey]) {
        let is_other = |key: &&MisplacedKey| is_of_other_tool(&key.field.name);
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
    pub(crate) fn other_kind(&mut self, other: &OtherObject, kinds: &[Kind]) {
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
    pub(crate) fn finish(mut self, on_it: &[MisplacedKey], report: &mut LintReport) {
        let mut findings = std::mem::take(&mut self.findings);
        let suppressions = Suppressions::new(on_it, self.prefix);
        report.suppressed += suppressions.apply(&mut findings, |rule, field, message, help| {
            self.at(rule, field.key.clone(), message, help)
        });
        report.findings.extend(findings);
    }
}

/// What is wrong with a misplaced key of a workload: the rule, the message, and what to do.
pub(crate) fn judge(
    misplaced: &MisplacedKey,
    prefix: &Prefix,
) -> Option<(LintRule, String, String)> {
    let full = dayshift_text::quote(&misplaced.field.name);
    let ours = prefix.strip(&misplaced.field.name);
    let key = ours.map(|name| Key::from_name(name).or_else(|| Key::nearest(name)));
    let is_state = ours.is_some_and(|name| Label::ALL.iter().any(|label| label.name() == name));
    // Whatever it is, its text is the user's.
    let line = |key: Option<Key>| match key {
        Some(key) => own_line(prefix, key, &misplaced.field.text),
        None => format!("{}: \"{}\"", misplaced.field.name, misplaced.field.text),
    };
    match (misplaced.site, key) {
        (KeySite::Annotations, _) => {
            let is_other = ours.is_some() || is_of_other_tool(&misplaced.field.name);
            let key = lookalike_key(&misplaced.field.name).filter(|_| !is_other)?;
            Some((
                LintRule::LookalikePrefix,
                format!(
                    "`{full}` is not read; dayshift reads annotations with the prefix `{prefix}/`"
                ),
                format!("write {}", line(Some(key))),
            ))
        }
        (KeySite::Labels, Some(key)) if !is_state => Some((
            LintRule::ScheduleAsLabel,
            format!("`{full}` is a label; dayshift reads schedules from annotations"),
            format!("move it to metadata.annotations: {}", line(key)),
        )),
        (KeySite::TemplateAnnotations | KeySite::TemplateLabels, Some(key)) if !is_state => Some((
            LintRule::OnPodTemplate,
            format!("`{full}` is on the pod template, where it has no effect"),
            format!(
                "move it to metadata.annotations of the workload: {}",
                line(key)
            ),
        )),
        (KeySite::Elsewhere, Some(key)) => {
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
fn lookalike_key(full: &str) -> Option<Key> {
    let name = full.to_ascii_lowercase();
    if name.starts_with("lint.") {
        return None;
    }
    let ends = |key: &Key| {
        name.strip_suffix(key.name())
            .is_some_and(|rest| rest.ends_with(|letter: char| !letter.is_alphanumeric()))
    };
    // `stop-replicas` ends with `replicas`, too.
    Key::ALL
        .into_iter()
        .filter(ends)
        .max_by_key(|key| key.name().len())
}

/// Whether it is a label that dayshift writes.
pub(crate) fn is_state(misplaced: &MisplacedKey, prefix: &Prefix) -> bool {
    let name = prefix.strip(&misplaced.field.name);
    misplaced.site == KeySite::Labels && Label::ALL.iter().any(|label| Some(label.name()) == name)
}

/// Whether a name behind the prefix is an annotation that dayshift writes.
pub(crate) fn is_written(name: &str) -> bool {
    OWN_ANNOTATIONS.contains(&name)
}

impl<'o> ObjectFindings<'o> {
    /// A Namespace.
    pub(crate) fn namespace(source: usize, prefix: &'o Prefix, namespace: &Namespace) -> Self {
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
    pub(crate) fn defaults(
        &mut self,
        namespace: &Namespace,
        find: impl FnMut(&Inputs) -> Vec<ScheduleFinding>,
    ) {
        let found = self.check_defaults(&namespace.defaults, &namespace.annotations, find);
        let origin = Origin::Namespace;
        self.report_schedule(&namespace.annotations, &namespace.problems, origin, &found);
        self.misplaced(&namespace.misplaced);
    }

    /// What is to be said of annotations that stand on no object: what they say may wait for others, but
    /// what cannot be read is wrong wherever it comes to stand.
    pub(crate) fn loose(
        source: usize,
        prefix: &'o Prefix,
        loose: &LooseAnnotations,
        find: impl FnMut(&Inputs) -> Vec<ScheduleFinding>,
        report: &mut LintReport,
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
        let mut found = object.check_defaults(&loose.defaults, &loose.annotations, find);
        found.retain(|finding| {
            finding.rule.severity() == Severity::Error
                || !loose.is_partial && finding.rule != LintRule::NoEffect
        });
        object.report_schedule(
            &loose.annotations,
            &loose.problems,
            Origin::Namespace,
            &found,
        );
        let on_none = |finding: LintFinding| LintFinding {
            object: None,
            ..finding
        };
        report
            .findings
            .extend(object.findings.into_iter().map(on_none));
    }

    /// What is found in defaults, whatever inherits them.
    fn check_defaults(
        &self,
        defaults: &Arc<Annotations>,
        annotations: &[Annotation],
        mut find: impl FnMut(&Inputs) -> Vec<ScheduleFinding>,
    ) -> Vec<ScheduleFinding> {
        let inherited = Inputs::default().with_defaults(Some(Arc::clone(defaults)));
        let mut found = find(&inherited.clone().or_always_on());
        if !inherited.has_schedule() {
            // What the hours below it come to is nobody's.
            let is_its_own = |finding: &ScheduleFinding| {
                finding.rule.severity() == Severity::Error
                    || finding.rule == LintRule::PastUntil
                    || [Key::AllowVolumeDeletion, Key::StopJobs]
                        .iter()
                        .any(|key| *finding.name == *key.name())
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
                    .map(|finding| ScheduleFinding { origin, ..finding }),
            );
        }
        found
    }

    /// What of annotations is not a key, as if it stood on an object.
    fn unknown(&self, annotations: &[Annotation]) -> Inputs {
        let annotations = annotations.iter();
        let unknown = annotations.filter(|annotation| Key::from_name(&annotation.name).is_none());
        let texts: Vec<_> = unknown
            .map(|annotation| (self.prefix.full(&annotation.name), &*annotation.text))
            .collect();
        let texts = texts.iter().map(|(name, text)| (&**name, *text));
        Inputs::from_annotations(self.prefix, texts)
    }

    /// What is wrong with annotations of the Namespace on this object alone: `of_namespace` is said
    /// where it is written.
    pub(crate) fn report_misfits(
        &mut self,
        workload: &ManifestWorkload,
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
