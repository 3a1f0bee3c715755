//! Errors and likely mistakes in the schedules of files: `dayshift lint`.
//!
//! Pure: sources and a time give a [`LintReport`]. The module `rule` lists the rules, `checks` the functions
//! that find violations, and the [`Linter`] runs these over each object. `docs/reference/lint.md`
//! documents the rules; the CLI formats the report.

mod checks;
mod index;
mod keys;
mod kinds;
mod object;
mod other_objects;
mod rule;
mod schedule;
mod schedule_finding;
mod times;

use std::{cell::RefCell, collections::HashMap, rc::Rc, sync::Arc};

use chrono::{DateTime, Months, Utc};
use dayshift_schedule::{DstGap, Zone};
use dayshift_text::quote;
use dayshift_workload::{
    Annotations, Inheritance, Inputs, Key, Kind, Observed, Origin, ParseContext, ParsedInputs,
    Prefix, Problem, TEAM_CONFIG_MAP, read, wake_on_request_problems,
};

use crate::{
    annotations::{Annotation, MisplacedKey},
    finding::{ObjectName, Quoted, Severity},
    lint::{
        checks::{CHECKS, Check},
        index::ContentsIndex,
        object::{ObjectFindings, OtherCheck, RENDER_HELP, WorkloadCheck, wrong_keys},
        schedule_finding::{CheckPeriod, ScheduleCheck, ScheduleFinding},
    },
    objects::{
        Contents,
        defaults::{Defaults, DefaultsOwner},
        inherit, last_of_each,
        other::OtherObject,
        workload::{CronTimes, ManifestWorkload},
    },
    schedule_file::{ScheduleEntry, ScheduleFile},
    source::SourceFile,
    yaml::SyntaxError,
};

pub use self::rule::{LintFinding, LintReport, LintRule};

/// Checks files. The fields are its settings.
#[derive(Clone, Debug)]
pub struct Linter {
    /// The start of the checked year.
    pub from: DateTime<Utc>,
    /// The zone of objects that name none, and the calendars that they can name.
    pub context: ParseContext,
    /// The prefix of the annotations, without the slash.
    pub prefix: Prefix,
    /// The namespace of objects that name none.
    pub namespace: String,
    /// The kinds that the controller scales.
    pub kinds: Vec<Kind>,
    /// The sources of defaults.
    pub inheritance: Inheritance,
    /// The file of named schedules. Its entries are checked too.
    pub schedules: Option<ScheduleFile>,
}

/// Which rules are checked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LintScope {
    All,
    /// Only rules that show why schedules will not take effect as written.
    Obstacles,
}

impl LintScope {
    fn includes(self, rule: LintRule) -> bool {
        let is_obstacle = matches!(
            rule,
            LintRule::Autoscaler | LintRule::ConflictingManager | LintRule::NotRendered
        );
        self == Self::All || is_obstacle || rule.severity() == Severity::Error
    }
}

impl Linter {
    /// Checks sources with all rules.
    pub fn lint(&self, sources: &[SourceFile]) -> LintReport {
        let contents = self.read(sources);
        let mut report = self.check(sources, &contents, LintScope::All);
        report.files = sources.len();
        report.findings.extend(self.check_schedules(sources.len()));
        report.has_no_schedule &= report.findings.is_empty();
        report
    }

    /// Reads sources, and gives each workload the defaults that it inherits.
    pub fn read(&self, sources: &[SourceFile]) -> Vec<Contents> {
        let read = |source: &SourceFile| {
            source.contents(&self.prefix, &self.namespace, &self.context.kinds)
        };
        let mut contents: Vec<Contents> = sources.iter().map(read).collect();
        inherit(&mut contents, &self.inheritance);
        contents
    }

    /// The findings that show why schedules will not take effect as written: errors, other
    /// controllers that set the counts, and files that were not checked.
    pub fn obstacles(&self, sources: &[SourceFile], contents: &[Contents]) -> Vec<LintFinding> {
        let scope = LintScope::Obstacles;
        let mut findings = self.check(sources, contents, scope).findings;
        findings.retain(|finding| scope.includes(finding.rule));
        findings
    }

    /// The findings of the file of named schedules, as the source with this index.
    fn check_schedules(&self, at: usize) -> Vec<LintFinding> {
        let Some(file) = &self.schedules else {
            return Vec::new();
        };
        let mut run = LintRun {
            linter: self,
            index: &ContentsIndex::new(&[]),
            cache: LintCache::new(self, LintScope::All),
            report: LintReport::default(),
        };
        for error in file.errors() {
            let (rule, help) = match error.in_object {
                true => (
                    LintRule::UnknownSchedule,
                    "see docs/guides/named-schedules.md",
                ),
                false => (LintRule::Syntax, "fix this first: no schedule was read"),
            };
            let place = Some((at, error.place.clone()));
            let finding = LintFinding::new(rule, place, error.message.clone(), help);
            run.report.findings.push(finding);
        }
        for entry in file.entries() {
            run.check_schedule_entry(at, entry);
        }
        let mut findings = run.report.findings;
        findings.sort_by_key(|finding| {
            let place = finding.place.as_ref();
            (place.map(|(_, place)| place.span.start), finding.rule)
        });
        findings
    }

    /// The findings of files that are not read, such as those of Terraform.
    pub fn check_skipped(&self, skipped: &[SourceFile]) -> Vec<LintFinding> {
        let finding = |file: &SourceFile| {
            let message = format!(
                "{} is not read: dayshift reads YAML and JSON",
                quote(file.name())
            );
            let help = "check what it applies: kubectl get deploy,sts,cronjob -A -o yaml | dayshift lint -";
            LintFinding::new(LintRule::NotRendered, None, message, help)
        };
        skipped.iter().map(finding).collect()
    }

    fn check(&self, sources: &[SourceFile], contents: &[Contents], scope: LintScope) -> LintReport {
        let workloads = contents.iter().flat_map(|contents| &contents.workloads);
        let (last, _) = last_of_each(workloads.collect(), |workload| &workload.object);
        let index = ContentsIndex::new(contents);
        let mut run = LintRun {
            linter: self,
            index: &index,
            cache: LintCache::new(self, scope),
            report: LintReport {
                workloads: last.len(),
                ..LintReport::default()
            },
        };
        for (at, contents) in contents.iter().enumerate() {
            run.check_contents(at, contents);
        }
        let mut report = run.report;
        for (at, (source, contents)) in sources.iter().zip(contents).enumerate() {
            for (_, check) in checks(scope) {
                if let Check::Source(find) = check {
                    report.findings.extend(find(at, source, contents));
                }
            }
        }
        report.findings.sort_by_key(|finding| {
            let place = finding.place.as_ref();
            let start = place.map(|(at, place)| (*at, place.span.start));
            (start, finding.rule)
        });
        report.has_no_schedule = report.findings.is_empty()
            && report.suppressed == 0
            && contents.iter().all(has_no_schedule);
        report
    }
}

/// The rules in the scope, with each of their checks.
fn checks(scope: LintScope) -> impl Iterator<Item = &'static (LintRule, Check)> {
    CHECKS.iter().filter(move |(rule, _)| scope.includes(*rule))
}

fn has_no_schedule(contents: &Contents) -> bool {
    let mut workloads = contents.workloads.iter();
    let is_empty = |defaults: &Defaults| {
        matches!(defaults.owner, DefaultsOwner::Namespace(_)) && defaults.annotations.is_empty()
    };
    workloads.all(|workload| !workload.inputs.has_schedule())
        && contents.defaults.iter().all(is_empty)
}

/// The finding of an object or file that cannot be read.
fn unreadable(source: usize, error: &SyntaxError) -> LintFinding {
    let place = Some((source, error.place.clone()));
    if error.is_filled_in {
        let message = "this is a template, and was not checked";
        return LintFinding::new(LintRule::NotRendered, place, message, RENDER_HELP);
    }
    let (rule, help) = match (error.in_object, error.kind.clone()) {
        (false, _) => (
            LintRule::Syntax,
            "fix this first: the rest of the file was not checked".to_owned(),
        ),
        (true, Some(kind)) => (
            LintRule::BadObject,
            format!(
                "see `kubectl explain {}` for its fields",
                kind.to_lowercase()
            ),
        ),
        (true, None) => (
            LintRule::BadObject,
            "write a list, or each object by itself".to_owned(),
        ),
    };
    LintFinding::new(rule, place, error.message.clone(), help)
}

/// One run over all files.
struct LintRun<'l> {
    linter: &'l Linter,
    index: &'l ContentsIndex<'l>,
    cache: LintCache<'l>,
    report: LintReport,
}

impl<'l> LintRun<'l> {
    fn object(&self, source: usize, kind: &str, namespace: &str, name: &str) -> ObjectFindings<'l> {
        let name = ObjectName {
            kind: kind.into(),
            namespace: namespace.into(),
            name: name.into(),
        };
        ObjectFindings::new(source, &self.linter.prefix, name)
    }

    fn check_contents(&mut self, at: usize, contents: &Contents) {
        let errors = contents.errors.iter().map(|error| unreadable(at, error));
        self.report.findings.extend(errors);
        for workload in &contents.workloads {
            self.check_workload(at, workload);
        }
        for defaults in &contents.defaults {
            self.check_defaults(at, defaults);
        }
        for other in &contents.others {
            self.check_other(at, other);
        }
    }

    fn check_workload(&mut self, at: usize, workload: &ManifestWorkload) {
        let name = &workload.object;
        let mut object = self.object(at, name.kind.name(), &name.namespace, &name.name);
        let schedule = self.cache.schedule_findings(&workload.inputs);
        let (annotations, problems) = (&workload.annotations, &workload.problems);
        object.add_schedule(annotations, problems, Origin::Own, &schedule);
        if workload.inputs.defaults().is_some() {
            let inherited = workload.inputs.inherited().or_always_on();
            let inherited = self.cache.schedule_findings(&inherited);
            object.add_inherited_errors(workload, &schedule, &inherited);
        }
        let schedules = &self.linter.inheritance.schedules;
        let cache = RefCell::new(&mut self.cache);
        object.add_named_errors(workload, &schedule, |name| {
            let alone = Inputs::default().with(Key::NamedSchedule, name);
            let alone = alone.with_schedules(schedules).or_always_on();
            cache.borrow_mut().schedule_findings(&alone)
        });
        let cron = workload.cron.as_ref();
        let check = WorkloadCheck {
            workload,
            schedule: &schedule,
            never_runs: cron.is_some_and(|cron| self.cache.never_runs(cron, &workload.inputs)),
            kinds: &self.linter.kinds,
            period: &self.cache.period,
            index: self.index,
        };
        for (_, find) in checks(self.cache.scope) {
            if let Check::Workload(find) = find {
                find(&mut object, &check);
            }
        }
        self.check_keys(&mut object, &workload.misplaced);
        object.finish(&workload.misplaced, &mut self.report);
    }

    fn check_keys(&self, object: &mut ObjectFindings<'_>, keys: &[MisplacedKey]) {
        for (rule, check) in checks(self.cache.scope) {
            let Check::Key(find) = check else { continue };
            for key in keys {
                if let Some((message, help)) = find(object.prefix, key) {
                    object.add(*rule, key.field.key.clone(), message, help);
                }
            }
        }
    }

    /// The findings of annotations that are defaults for workloads: of a Namespace, of a team's ConfigMap,
    /// or of an object that a tool makes later. `origin` is their level.
    fn default_findings(
        &mut self,
        origin: Origin,
        defaults: &Arc<Annotations>,
        annotations: &[Annotation],
    ) -> Vec<ScheduleFinding> {
        let inherited = Inputs::default().with_defaults(Some(Arc::clone(defaults)));
        let completed = inherited.clone().or_always_on();
        let mut found = self.cache.schedule_findings(&completed).to_vec();
        if !inherited.has_schedule() {
            // The schedule that completes these defaults is unknown, so its findings are dropped.
            found.retain(|finding| {
                finding.rule.severity() == Severity::Error
                    || finding.rule == LintRule::PastUntil
                    || [Key::AllowVolumeDeletion, Key::StopJobs]
                        .iter()
                        .any(|key| *finding.name == *key.name())
            });
        }
        if !inherited.inherits() {
            // Workloads do not inherit these keys, so no workload reports them.
            let wrong = wrong_keys(&self.linter.prefix, origin, annotations);
            let wrong = self.cache.schedule_findings(&wrong);
            let wrong = wrong.iter().cloned();
            found.extend(wrong.map(|finding| ScheduleFinding { origin, ..finding }));
        }
        found
    }

    /// Checks annotations that are defaults for workloads. If their object is unknown, a missing annotation can
    /// be elsewhere, but an invalid one is invalid on any object.
    fn check_defaults(&mut self, at: usize, defaults: &Defaults) {
        let inheritance = &self.linter.inheritance;
        let values = match &defaults.owner {
            DefaultsOwner::Team(_) if !inheritance.from_teams => return,
            DefaultsOwner::Team(_) => inheritance.of_team(&defaults.values),
            _ => inheritance.resolved(&defaults.values),
        };
        let (origin, mut object) = match &defaults.owner {
            DefaultsOwner::Namespace(name) => {
                (Origin::Namespace, self.object(at, "Namespace", "", name))
            }
            DefaultsOwner::Team(namespace) => {
                let object = self.object(at, "ConfigMap", namespace, TEAM_CONFIG_MAP);
                (Origin::Team, object)
            }
            DefaultsOwner::Unknown { .. } => (Origin::Namespace, self.object(at, "", "", "")),
        };
        let mut found = self.default_findings(origin, &values, &defaults.annotations);
        if let DefaultsOwner::Unknown { is_partial } = defaults.owner {
            found.retain(|finding| {
                finding.rule.severity() == Severity::Error
                    || !is_partial && finding.rule != LintRule::NoEffect
            });
        }
        object.add_schedule(&defaults.annotations, &defaults.problems, origin, &found);
        keys::other_tool_annotation(&mut object, &defaults.misplaced);
        self.check_keys(&mut object, &defaults.misplaced);
        match defaults.owner {
            DefaultsOwner::Namespace(_) => {}
            DefaultsOwner::Team(_) => object.without_prefix(),
            DefaultsOwner::Unknown { .. } => {
                let findings = object.findings.iter_mut();
                findings.for_each(|finding| finding.object = None);
            }
        }
        object.finish(&defaults.misplaced, &mut self.report);
    }

    /// An entry of the file of named schedules: it is checked like the annotations of a Namespace.
    fn check_schedule_entry(&mut self, at: usize, entry: &ScheduleEntry) {
        let named = &entry.schedule;
        let mut object = self.object(at, "schedule", "", named.name());
        let defaults = Arc::new(named.texts().clone());
        let found = self.default_findings(Origin::Namespace, &defaults, &[]);
        object.add_schedule(&entry.annotations, &[], Origin::Namespace, &found);
        for (key, diagnostic) in named.problems() {
            let place = entry.place_of(key);
            let (message, help) = (diagnostic.message(), diagnostic.help());
            object.add(LintRule::UnknownSchedule, place, message, help);
        }
        object.finish(&[], &mut self.report);
    }

    fn check_other(&mut self, at: usize, other: &OtherObject) {
        let mut object = self.object(at, &other.kind, &other.namespace, &other.name);
        let check = OtherCheck {
            object: other,
            kinds: &self.linter.kinds,
            index: self.index,
        };
        for (_, find) in checks(self.cache.scope) {
            if let Check::Other(find) = find {
                find(&mut object, &check);
            }
        }
        object.finish(&other.misplaced, &mut self.report);
    }
}

/// The inputs of a CronJob, and its own `schedule` and `timeZone`.
type JobTimes = (Inputs, Box<str>, Option<Box<str>>);

/// The findings of schedules that were checked before. Files have many equal schedules and zones,
/// and a year of boundaries takes time.
struct LintCache<'l> {
    linter: &'l Linter,
    scope: LintScope,
    period: CheckPeriod,
    schedule_findings: HashMap<Inputs, Rc<[ScheduleFinding]>>,
    gaps: HashMap<Zone, Rc<[DstGap]>>,
    never_runs: HashMap<JobTimes, bool>,
}

impl<'l> LintCache<'l> {
    fn new(linter: &'l Linter, scope: LintScope) -> Self {
        let year = Months::new(12);
        Self {
            linter,
            scope,
            period: CheckPeriod {
                from: linter.from,
                until: linter.from.checked_add_months(year).unwrap_or(linter.from),
                context: linter.context.clone(),
            },
            schedule_findings: HashMap::new(),
            gaps: HashMap::new(),
            never_runs: HashMap::new(),
        }
    }

    /// Whether none of the times of a CronJob is within its running hours.
    fn never_runs(&mut self, cron: &CronTimes, inputs: &Inputs) -> bool {
        if !self.scope.includes(LintRule::NeverRuns) {
            return false;
        }
        let times = (inputs.clone(), cron.text.clone(), cron.zone.clone());
        let known = self.never_runs.entry(times);
        *known.or_insert_with(|| times::never_runs(cron, inputs, &self.period))
    }

    fn schedule_findings(&mut self, inputs: &Inputs) -> Rc<[ScheduleFinding]> {
        if let Some(known) = self.schedule_findings.get(inputs) {
            return Rc::clone(known);
        }
        let found: Rc<[ScheduleFinding]> = self.check_schedule(inputs).into();
        self.schedule_findings
            .insert(inputs.clone(), Rc::clone(&found));
        found
    }

    /// A rejected schedule has only its errors.
    fn check_schedule(&mut self, inputs: &Inputs) -> Vec<ScheduleFinding> {
        let prefix = &self.linter.prefix;
        let findings = |problems: &[Problem]| -> Vec<_> {
            let finding = |problem| ScheduleFinding::from_problem(problem, prefix);
            problems.iter().map(finding).collect()
        };
        let parsed = read(inputs, &self.period.context);
        let mut found = findings(parsed.problems());
        if self.scope != LintScope::All {
            return found;
        }
        found.extend(findings(&wake_on_request_problems(inputs)));
        if matches!(parsed, ParsedInputs::Invalid(_)) {
            return found;
        }
        let spec = parsed.spec();
        let gaps = spec.map(|spec| self.gaps(spec.schedule.zone()));
        let check = ScheduleCheck {
            inputs,
            prefix: &self.linter.prefix,
            period: &self.period,
            spec,
            gaps: gaps.as_deref().unwrap_or_default(),
        };
        for (_, find) in checks(self.scope) {
            if let Check::Schedule(find) = find {
                find(&check, &mut found);
            }
        }
        found
    }

    fn gaps(&mut self, zone: Zone) -> Rc<[DstGap]> {
        let CheckPeriod { from, until, .. } = self.period;
        let known = self.gaps.entry(zone);
        Rc::clone(known.or_insert_with(|| zone.dst_gaps(from, until).into()))
    }
}

/// The findings of a live object whose schedule is rejected, without a place. An error in an
/// annotation of its Namespace is a finding about the Namespace.
pub fn refusals(observed: &Observed, context: &ParseContext, prefix: &Prefix) -> Vec<LintFinding> {
    let (object, inputs) = (&observed.object, &observed.inputs);
    let finding = |problem: &Problem| {
        let found = ScheduleFinding::from_problem(problem, prefix);
        let key = Key::from_name(&found.name);
        let namespace = Arc::clone(&object.namespace);
        let ((kind, namespace, name), text) = match found.origin {
            Origin::Namespace if found.schedule.is_none() => (
                ("Namespace", "".into(), namespace),
                key.and_then(|key| inputs.defaults()?.text(key)),
            ),
            Origin::Team if found.schedule.is_none() => (
                ("ConfigMap", namespace, TEAM_CONFIG_MAP.into()),
                key.and_then(|key| inputs.defaults()?.team()?.text(key)),
            ),
            Origin::Own | Origin::Team | Origin::Namespace | Origin::Controller => (
                (object.kind.name(), namespace, Arc::clone(&object.name)),
                key.and_then(|key| inputs.text(key)),
            ),
        };
        let name = ObjectName {
            kind: kind.into(),
            namespace,
            name,
        };
        let help = found.help_for(text.unwrap_or_default(), prefix);
        let quoted = text.filter(|text| !text.is_empty() && found.rule != LintRule::DeletesVolumes);
        let full = problem.name(prefix);
        let message = match quoted {
            Some(_) => found.message,
            None => format!("{full}: {}", found.message),
        };
        LintFinding {
            quoted: quoted.map(|text| {
                Box::new(Quoted {
                    name: full,
                    text: text.into(),
                    span: found.span,
                    verbatim: false,
                })
            }),
            ..LintFinding::new(found.rule, None, message, help).about(Some(name))
        }
    };
    let parsed = observed.read(context);
    parsed.problems().iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linter() -> Linter {
        Linter {
            from: DateTime::UNIX_EPOCH,
            context: Zone::UTC.into(),
            prefix: Prefix::default(),
            namespace: "default".to_owned(),
            kinds: Kind::DEFAULT.to_vec(),
            inheritance: Inheritance::default(),
            schedules: None,
        }
    }

    /// The ids, messages and helps of the findings in a file.
    fn findings(text: &str) -> Vec<(&'static str, String, String)> {
        let report = linter().lint(&[SourceFile::new("a.yaml", text)]);
        let findings = report.findings.into_iter();
        findings
            .map(|finding| (finding.rule.id(), finding.message, finding.help))
            .collect()
    }

    #[test]
    fn checks_equal_cron_jobs_once() {
        let job = |name: &str, times: &str| {
            format!(
                "---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {{name: {name}, annotations: {{dayshift/hours: 'Mon-Fri 09:00-19:00'}}}}\nspec: {{schedule: {times}}}\n"
            )
        };
        let text = job("a", "0 3 * * *") + &job("b", "0 3 * * *") + &job("c", "0 12 * * *");
        let linter = linter();
        let contents = linter.read(&[SourceFile::new("jobs.yaml", text)]);
        let mut cache = LintCache::new(&linter, LintScope::All);
        let never: Vec<_> = contents[0]
            .workloads
            .iter()
            .map(|workload| cache.never_runs(workload.cron.as_ref().unwrap(), &workload.inputs))
            .collect();
        assert_eq!(
            (never, cache.never_runs.len()),
            (vec![true, true, false], 2)
        );
    }

    #[test]
    fn states_when_a_gitops_tool_reverts_a_count() {
        let application = |spec: &str| {
            format!(
                "{{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {{name: shop}}, spec: {{project: p, {spec}}}}}"
            )
        };
        let heals = "syncPolicy: {automated: {selfHeal: true}}";
        let ignores =
            "ignoreDifferences: [{group: apps, kind: Deployment, jsonPointers: [/spec/replicas]}]";
        let windows = "{apiVersion: argoproj.io/v1alpha1, kind: AppProject, metadata: {name: p}, spec: {syncWindows: [{kind: deny}]}}";
        let kustomization = "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: k}, spec: {}}";
        let release = "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: h}, spec: {driftDetection: {mode: enabled}}}";
        for (annotation, objects, expected) in [
            (
                "a: b",
                application(heals),
                Some("as soon as it detects the change"),
            ),
            ("a: b", application("syncPolicy: {}"), Some("at each sync")),
            (
                "a: b",
                application(&format!("{heals}, {ignores}")),
                Some(
                    "at each sync: ignoreDifferences hides the change, but a sync for another reason writes the count in Git",
                ),
            ),
            (
                "a: b",
                format!("{}\n---\n{windows}", application(heals)),
                Some("as soon as it detects the change, within the sync windows of AppProject p"),
            ),
            (
                "a: b",
                kustomization.to_owned(),
                Some("as soon as it detects the change"),
            ),
            (
                "kustomize.toolkit.fluxcd.io/reconcile: disabled",
                kustomization.to_owned(),
                None,
            ),
            (
                "kustomize.toolkit.fluxcd.io/ssa: IfNotPresent",
                kustomization.to_owned(),
                None,
            ),
            (
                "helm.toolkit.fluxcd.io/driftDetection: disabled",
                release.to_owned(),
                None,
            ),
            (
                "kustomize.toolkit.fluxcd.io/reconcile: disabled",
                release.to_owned(),
                Some("as soon as it detects the change"),
            ),
        ] {
            let web = format!(
                "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, annotations: {{dayshift/hours: 'Mon-Fri 09:00-19:00', {annotation}}}}}\nspec: {{replicas: 3}}\n"
            );
            let found = findings(&format!("{web}---\n{objects}"));
            let found = found
                .iter()
                .find(|finding| finding.0 == "conflicting-manager");
            let when = found.and_then(|finding| finding.1.split_once("default/web "));
            assert_eq!(
                when.map(|(_, when)| when),
                expected,
                "{annotation} {objects}"
            );
        }
    }

    #[test]
    fn rejects_documents_that_are_not_objects() {
        for (text, expected) in [
            (
                "No resources found\n",
                Some("this is text (`No resources found`), not an object"),
            ),
            (
                "[3, 4]",
                Some("an item of this list is a number, not an object"),
            ),
            ("7", Some("this is a number (`7`), not an object")),
            ("", None),
            ("null", None),
            ("a: b", None),
            ("[{op: add}]", None),
        ] {
            let found = findings(text);
            let message = found.first().map(|finding| &*finding.1);
            assert_eq!(message, expected, "{text}");
        }
        let found = SourceFile::new("a.yaml", "[3, 4]").into_found();
        assert!(linter().lint(&[found]).findings.is_empty());
    }

    #[test]
    fn names_the_tool_that_a_schedule_object_belongs_to() {
        for (version, kind, expected) in [
            ("kube-green.com/v1alpha1", "SleepInfo", "kube-green"),
            (
                "autoscaling.alibabacloud.com/v1beta1",
                "CronHorizontalPodAutoscaler",
                "kubernetes-cronhpa-controller",
            ),
            (
                "autoscaling.cce.io/v2alpha1",
                "CronHorizontalPodAutoscaler",
                "another API group",
            ),
            ("core.rekuberate.io/v1alpha1", "SleepCycle", "sleepcycles"),
            (
                "elasti.truefoundry.com/v1alpha1",
                "ElastiService",
                "KubeElasti",
            ),
            ("finops.io/v1alpha1", "DownscalePolicy", "downscaler"),
            (
                "pincher.devtron.ai/v1alpha1",
                "Hibernator",
                "winter-soldier",
            ),
        ] {
            let found = findings(&format!(
                "{{apiVersion: {version}, kind: {kind}, metadata: {{name: a}}}}"
            ));
            let [(rule, message, _)] = &found[..] else {
                panic!("{kind}: {found:?}");
            };
            assert_eq!(*rule, "other-tool", "{kind}");
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn states_the_length_of_a_name_that_is_too_long() {
        let name = "a".repeat(254);
        let found = findings(&format!(
            "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: {name}}}}}"
        ));
        assert!(
            found[0]
                .1
                .ends_with("it has 254 characters, and at most 253 are allowed"),
            "{found:?}"
        );
    }

    #[test]
    fn reports_an_autoscaler_that_never_scales_down() {
        let hpa = |policy: &str| {
            format!(
                "{{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {{name: web, annotations: {{dayshift/hours: 'Mon-Fri 09:00-19:00'}}}}, spec: {{minReplicas: 4, behavior: {{scaleDown: {{selectPolicy: {policy}}}}}, scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: web}}}}}}"
            )
        };
        let ids = |text: &str| -> Vec<_> {
            findings(text)
                .into_iter()
                .map(|finding| finding.0)
                .collect()
        };
        assert!(ids(&hpa("Disabled")).contains(&"autoscaler"));
        assert!(!ids(&hpa("Max")).contains(&"autoscaler"));
    }
}
