//! The findings of one object: a collector that knows the object's name and file, the findings of
//! its annotations, and checks of a workload's own fields.
//!
//! Other modules of `lint` add findings to [`ObjectFindings`]; the suppressions of the object are
//! applied at the end.

use std::{
    collections::{HashMap, HashSet},
    mem,
    ops::Range,
    rc::Rc,
};

use dayshift_text::quote;
use dayshift_workload::{CountKind, Inputs, Key, Kind, Origin, Prefix, Problem, Replicas};

use crate::{
    annotations::{Annotation, MisplacedKey},
    finding::{ObjectName, Quoted, Severity},
    lint::{
        index::ContentsIndex,
        rule::{LintFinding, LintReport, LintRule, Suppressions},
        schedule_finding::{CheckPeriod, ScheduleFinding, own_line},
    },
    objects::{other::OtherObject, workload::ManifestWorkload},
    yaml::node::Location,
};

/// The help of findings about a text that a tool fills in.
pub(crate) const RENDER_HELP: &str = "check what it renders: helm template . | dayshift lint -";

/// A workload, and the context of its checks.
pub(crate) struct WorkloadCheck<'c> {
    pub(crate) workload: &'c ManifestWorkload,
    /// The findings of its own and inherited schedule.
    pub(crate) schedule: &'c [ScheduleFinding],
    /// Whether it is a CronJob none of whose times are within its running hours.
    pub(crate) never_runs: bool,
    /// The kinds that the controller scales.
    pub(crate) kinds: &'c [Kind],
    pub(crate) period: &'c CheckPeriod,
    pub(crate) index: &'c ContentsIndex<'c>,
}

/// An object of a kind that dayshift does not scale, and the context of its checks.
pub(crate) struct OtherCheck<'c> {
    pub(crate) object: &'c OtherObject,
    /// The kinds that the controller scales.
    pub(crate) kinds: &'c [Kind],
    pub(crate) index: &'c ContentsIndex<'c>,
}

/// Collects the findings of one object.
pub(crate) struct ObjectFindings<'o> {
    /// The index of its file.
    pub(crate) source: usize,
    pub(crate) prefix: &'o Prefix,
    pub(crate) name: ObjectName,
    pub(crate) findings: Vec<LintFinding>,
}

impl<'o> ObjectFindings<'o> {
    pub(crate) fn new(source: usize, prefix: &'o Prefix, name: ObjectName) -> Self {
        Self {
            source,
            prefix,
            name,
            findings: Vec::new(),
        }
    }

    /// Adds a finding about the object at a place of its file.
    pub(crate) fn add(
        &mut self,
        rule: LintRule,
        place: Location,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let finding = self.finding(rule, place, message, help);
        self.findings.push(finding);
    }

    fn finding(
        &self,
        rule: LintRule,
        place: Location,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> LintFinding {
        let place = Some((self.source, place));
        LintFinding::new(rule, place, message, help).about(Some(self.name.clone()))
    }

    /// Adds the findings of the annotations that are written on this object. `origin` is the role
    /// of these annotations for the workloads that read them.
    pub(crate) fn add_schedule(
        &mut self,
        annotations: &[Annotation],
        problems: &[Problem],
        origin: Origin,
        found: &[ScheduleFinding],
    ) {
        // An object can have thousands, so they are looked up by name. The first of two counts.
        let fields = annotations.iter().rev();
        let fields: HashMap<_, _> = fields.map(|field| (&*field.name, field)).collect();
        let problems = || problems.iter().filter(|problem| problem.origin == origin);
        let unwritable: HashSet<_> = problems().map(|problem| &*problem.annotation).collect();
        for problem in problems() {
            let finding = ScheduleFinding::from_problem(problem, self.prefix);
            self.add_to_annotation(&fields, &finding);
        }
        for field in annotations.iter().filter(|field| field.is_filled_in()) {
            let full = self.prefix.full(&field.name);
            let message = format!("{full} is a template, and was not checked");
            let place = field.value.clone();
            self.add(LintRule::NotRendered, place, message, RENDER_HELP);
        }
        // `deletes_volumes` reports at the field that sets the retention policy.
        let found = found
            .iter()
            .filter(|finding| finding.rule != LintRule::DeletesVolumes);
        let is_here =
            |finding: &&ScheduleFinding| finding.origin == origin && finding.schedule.is_none();
        for finding in found.filter(is_here) {
            // If a value is not a string, only that is reported.
            if !unwritable.contains(&*finding.name) {
                self.add_to_annotation(&fields, finding);
            }
        }
    }

    /// Adds findings in the texts of annotations.
    pub(crate) fn add_annotation_findings(
        &mut self,
        annotations: &[Annotation],
        found: &[ScheduleFinding],
    ) {
        let fields = annotations.iter().rev();
        let fields: HashMap<_, _> = fields.map(|field| (&*field.name, field)).collect();
        for finding in found {
            self.add_to_annotation(&fields, finding);
        }
    }

    /// Names keys without the prefix, as they are written in a ConfigMap.
    pub(crate) fn without_prefix(&mut self) {
        let before = format!("{}/", self.prefix);
        for finding in &mut self.findings {
            finding.message = finding.message.replace(&before, "");
            finding.help = finding.help.replace(&before, "");
            if let Some(quoted) = &mut finding.quoted {
                quoted.name = quoted.name.replace(&before, "");
            }
        }
    }

    fn add_to_annotation(&mut self, fields: &HashMap<&str, &Annotation>, found: &ScheduleFinding) {
        let field = fields.get(&*found.name);
        let Some(field) = field.filter(|field| !field.is_filled_in()) else {
            return;
        };
        let help = found.help_for(&field.text, self.prefix);
        if found.rule == LintRule::UnknownAnnotation {
            return self.add(found.rule, field.key.clone(), &*found.message, help);
        }
        let place = field.locate(&found.span);
        let mut finding = self.finding(found.rule, place, &*found.message, help);
        finding.quoted = Some(Box::new(self.quote(field, &found.span)));
        self.findings.push(finding);
    }

    fn quote(&self, field: &Annotation, span: &Range<usize>) -> Quoted {
        Quoted {
            name: self.prefix.full(&field.name),
            text: field.text.clone(),
            span: span.clone(),
            verbatim: field.is_verbatim(),
        }
    }

    /// Adds errors that inherited annotations cause only on this workload. `inherited` are the
    /// findings of the inherited annotations by themselves, which are reported at the Namespace.
    pub(crate) fn add_inherited_errors(
        &mut self,
        workload: &ManifestWorkload,
        found: &[ScheduleFinding],
        inherited: &[ScheduleFinding],
    ) {
        for finding in found {
            let owner = match finding.origin {
                Origin::Team if finding.schedule.is_none() => "in the ConfigMap of its team",
                Origin::Namespace if finding.schedule.is_none() => "on its Namespace",
                Origin::Own | Origin::Team | Origin::Namespace | Origin::Controller => continue,
            };
            let is_error = finding.rule.severity() == Severity::Error;
            if is_error && !inherited.iter().any(|known| known.is_like(finding)) {
                let name = self.prefix.full(&finding.name);
                let message = format!("{name} {owner}: {}", finding.message);
                let place = workload.place.clone();
                self.add(finding.rule, place, message, &*finding.help);
            }
        }
    }

    /// Adds errors that a named schedule causes only on this workload. `own_findings` are the findings of the
    /// schedule by itself, which are reported at its entry of the file.
    pub(crate) fn add_named_errors(
        &mut self,
        workload: &ManifestWorkload,
        found: &[ScheduleFinding],
        own_findings: impl Fn(&str) -> Rc<[ScheduleFinding]>,
    ) {
        for finding in found {
            let Some(schedule) = &finding.schedule else {
                continue;
            };
            let is_error = finding.rule.severity() == Severity::Error;
            if is_error
                && !own_findings(schedule)
                    .iter()
                    .any(|known| known.is_same_mistake(finding))
            {
                let message = format!(
                    "schedule `{schedule}`, key `{}`: {}",
                    finding.name, finding.message
                );
                let place = workload.place.clone();
                self.add(finding.rule, place, message, &*finding.help);
            }
        }
    }

    /// Applies the suppressions among `keys` and moves the findings to the report.
    pub(crate) fn finish(mut self, keys: &[MisplacedKey], report: &mut LintReport) {
        let mut findings = mem::take(&mut self.findings);
        let suppressions = Suppressions::new(keys, self.prefix);
        report.suppressed += suppressions.apply(&mut findings, |rule, field, message, help| {
            self.finding(rule, field.key.clone(), message, help)
        });
        report.findings.extend(findings);
    }
}

/// The annotations whose keys are unknown, or not allowed for a team, as inputs of a workload.
pub(crate) fn wrong_keys(prefix: &Prefix, origin: Origin, annotations: &[Annotation]) -> Inputs {
    let annotations = annotations.iter();
    let wrong = annotations.filter(|annotation| match Key::from_name(&annotation.name) {
        None => true,
        Some(key) => key == Key::TeamDefaults && origin == Origin::Team,
    });
    let texts: Vec<_> = wrong
        .map(|annotation| (prefix.full(&annotation.name), &*annotation.text))
        .collect();
    let texts = texts.iter().map(|(name, text)| (&**name, *text));
    Inputs::from_annotations(prefix, texts)
}

/// Volumes that each stop would delete. The finding is at the retention policy, not at the schedule.
pub(crate) fn deletes_volumes(object: &mut ObjectFindings<'_>, check: &WorkloadCheck<'_>) {
    let mut found = check.schedule.iter();
    let found = found.find(|finding| finding.rule == LintRule::DeletesVolumes);
    if let (Some(found), Some(place)) = (found, check.workload.volumes_place.clone()) {
        object.add(found.rule, place, &*found.message, &*found.help);
    }
}

pub(crate) fn never_runs(object: &mut ObjectFindings<'_>, check: &WorkloadCheck<'_>) {
    let Some(cron) = check.workload.cron.as_ref().filter(|_| check.never_runs) else {
        return;
    };
    let message = format!(
        "none of the times `{}` fall into its running hours: this CronJob never runs",
        quote(&cron.text)
    );
    let help = "write hours that contain one of its times, or change spec.schedule";
    object.add(LintRule::NeverRuns, cron.place.clone(), message, help);
}

/// A count in the manifest of a scheduled workload, unless the schedule keeps it at 0.
pub(crate) fn replicas_in_manifest(object: &mut ObjectFindings<'_>, check: &WorkloadCheck<'_>) {
    let workload = check.workload;
    let is_scheduled = workload.inputs.has_schedule() && !workload.is_kept_at_zero();
    let Some(place) = workload.count_place.clone().filter(|_| is_scheduled) else {
        return;
    };
    let name = &workload.object;
    let counts = name.kind.counts();
    let pointer = name.kind.pointer();
    let message = format!(
        "{} is set here: every `kubectl apply` resets it, even while stopped; `--server-side` fails with a conflict",
        pointer.trim_start_matches('/').replace('/', ".")
    );
    let becomes = match counts {
        CountKind::Replicas | CountKind::Exact => "the count becomes 1",
        CountKind::Minimum { .. } => "minReplicas becomes 1",
        CountKind::Suspend { .. } => "it is unsuspended",
        CountKind::Pause => "it is unpaused",
        CountKind::Switch => "it is started",
        CountKind::Runners => "minRunners becomes 0",
    };
    let mut help = format!(
        "remove it from the last applied configuration, then from the manifest; in the other \
            order {becomes}: kubectl apply edit-last-applied {}",
        name.argument(),
    );
    // Each time of `scale` sets a count already.
    if workload.inputs.text(Key::Scale).is_none() && counts.has(Key::Replicas) {
        let count = workload.replicas.map(Replicas::get).unwrap_or_default();
        let line = own_line(object.prefix, Key::Replicas, &count.max(1).to_string());
        help += &format!("; to have each start set it, write {line}");
    }
    object.add(LintRule::ReplicasInManifest, place, message, help);
}
