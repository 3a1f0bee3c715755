//! From sources to the report on them.
//!
//! What is wrong with live objects: the findings of a file, without a place.

mod dates;
mod dependencies;
mod kinds;
mod object;
mod other_controllers;
mod rule;
mod schedule;
mod schedule_finding;
mod times;

use std::{collections::HashMap, rc::Rc, sync::Arc};

use chrono::{DateTime, Months, Utc};
use dayshift_schedule::{DstGap, Zone};
use dayshift_workload::{
    Inheritance, Inputs, Key, Kind, Observed, Origin, ParseContext, ParsedInputs, Prefix, Problem,
};

use crate::{
    finding::{ObjectName, Quoted, Severity},
    lint::{
        dependencies::NeededObjects,
        kinds::not_rendered,
        object::{ObjectFindings, RENDER_HELP},
        other_controllers::OtherScalers,
        schedule::{schedule_errors, schedule_findings},
        schedule_finding::ScheduleFinding,
        times::{CheckPeriod, is_never_within},
    },
    objects::{
        Contents, inherit, last_of_each,
        workload::{CronTimes, ManifestWorkload},
    },
    source::SourceFile,
    yaml::SyntaxError,
};

pub use self::rule::{LintFinding, LintReport, LintRule};

/// How files are looked at.
#[derive(Clone, Debug)]
pub struct Linter {
    /// From when on; the year after it is looked at.
    pub from: DateTime<Utc>,
    /// Where the clocks are of objects that name no zone, and the calendars that they may name.
    pub context: ParseContext,
    /// What stands before the slash of the annotations.
    pub prefix: Prefix,
    /// Where objects are that name no namespace.
    pub namespace: String,
    /// The kinds that dayshift looks at where these objects go.
    pub kinds: Vec<Kind>,
    /// From what objects inherit.
    pub inheritance: Inheritance,
}

impl Linter {
    /// Everything that is found in these sources.
    pub fn lint(&self, sources: &[SourceFile]) -> LintReport {
        let contents = self.read(sources);
        let mut report = self.check(sources, &contents, LintScope::All);
        report.files = sources.len();
        report
    }

    /// What the sources hold, each workload with what it inherits.
    pub fn read(&self, sources: &[SourceFile]) -> Vec<Contents> {
        let read = |source: &SourceFile| source.contents(&self.prefix, &self.namespace);
        let mut contents: Vec<Contents> = sources.iter().map(read).collect();
        inherit(&mut contents, &self.inheritance);
        contents
    }

    /// The errors in what the sources hold, what could not be looked at, and who else sets the counts
    /// of their workloads: what keeps the schedules from doing what they say.
    pub fn obstacles(&self, sources: &[SourceFile], contents: &[Contents]) -> Vec<LintFinding> {
        let mut findings = self.check(sources, contents, LintScope::Errors).findings;
        findings.retain(|finding| {
            let is_told = matches!(
                finding.rule,
                LintRule::Autoscaler | LintRule::PutBack | LintRule::NotRendered
            );
            is_told || finding.rule.severity() == Severity::Error
        });
        findings
    }

    fn check(&self, sources: &[SourceFile], contents: &[Contents], scope: LintScope) -> LintReport {
        let scalers = OtherScalers::new(contents);
        let workloads = contents.iter().flat_map(|contents| &contents.workloads);
        let (last, _) = last_of_each(workloads.collect(), |workload| &workload.object);
        let mut report = LintReport {
            workloads: last.len(),
            ..LintReport::default()
        };
        let needed = NeededObjects::new(contents, &self.context, self.from);
        let mut known = LintCache::new(self, scope);
        known.needed = (scope == LintScope::All).then_some(&needed);
        for source in 0..contents.len() {
            self.check_source(source, contents, &scalers, &mut known, &mut report);
        }
        let files = sources.iter().zip(contents).enumerate();
        let not_rendered =
            files.flat_map(|(at, (source, contents))| not_rendered(at, source, contents));
        report.findings.extend(not_rendered);
        sort(&mut report.findings);
        report.has_no_schedule = report.findings.is_empty()
            && report.suppressed == 0
            && contents.iter().all(has_no_schedule);
        report
    }

    fn check_source(
        &self,
        source: usize,
        all: &[Contents],
        scalers: &OtherScalers<'_>,
        known: &mut LintCache<'_>,
        report: &mut LintReport,
    ) {
        let contents = &all[source];
        report.findings.extend(
            contents
                .errors
                .iter()
                .map(|error| unreadable(source, error)),
        );
        for workload in &contents.workloads {
            let mut object = ObjectFindings::workload(source, &self.prefix, workload);
            let found = known.findings_of(workload);
            let (annotations, problems) = (&workload.annotations, &workload.problems);
            object.report_schedule(annotations, problems, Origin::Own, &found);
            object.volumes(workload, &found);
            if workload.inputs.defaults().is_some() {
                let of_namespace =
                    known.schedule_findings(&workload.inputs.inherited().or_always_on());
                object.report_misfits(workload, &found, &of_namespace);
            }
            object.manifest(workload);
            if let Some(cron) = &workload.cron
                && known.never_runs(cron, &workload.inputs)
            {
                object.report_never_runs(cron);
            }
            let origin = workload.inputs.schedule_origin();
            let is_meant = origin.is_some_and(|origin| origin != Origin::Scaler);
            if is_meant {
                object.operated(workload);
            }
            if is_meant && !self.kinds.contains(&workload.object.kind) {
                object.opt_in_kind(workload, &self.kinds);
            }
            scalers.check(&mut object, workload);
            object.finish(&workload.misplaced, report);
        }
        for namespace in &contents.namespaces {
            let mut object = ObjectFindings::namespace(source, &self.prefix, namespace);
            object.defaults(namespace, |inputs| known.schedule_findings(inputs).to_vec());
            object.finish(&namespace.misplaced, report);
        }
        for loose in &contents.loose {
            let find = |inputs: &Inputs| known.schedule_findings(inputs).to_vec();
            ObjectFindings::loose(source, &self.prefix, loose, find, report);
        }
        for other in &contents.others {
            let mut object = ObjectFindings::other(source, &self.prefix, other);
            object.other_kind(other, &self.kinds);
            object.put_back(other, all);
            object.finish(&other.misplaced, report);
        }
    }
}

fn has_no_schedule(contents: &Contents) -> bool {
    let mut workloads = contents.workloads.iter();
    let mut namespaces = contents.namespaces.iter();
    workloads.all(|workload| !workload.inputs.has_schedule())
        && namespaces.all(|namespace| namespace.annotations.is_empty())
        && contents.loose.is_empty()
}

/// Puts findings in the order of the files.
fn sort(findings: &mut [LintFinding]) {
    let place = |finding: &LintFinding| {
        finding
            .place
            .as_ref()
            .map(|(at, place)| (*at, place.span.start))
    };
    findings.sort_by_key(|finding| (place(finding), finding.rule));
}

fn unreadable(source: usize, error: &SyntaxError) -> LintFinding {
    let place = Some((source, error.place.clone()));
    if error.is_filled_in {
        let message = "this is a template, and was not checked";
        return LintFinding::new(LintRule::NotRendered, place, message, RENDER_HELP);
    }
    let (rule, help) = match (error.in_object, error.kind) {
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

/// Which rules are checked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LintScope {
    /// All of them.
    All,
    /// Those that find why a schedule is rejected.
    Errors,
}

/// A CronJob's schedule, and its times by their text and their zone.
type JobTimes = (Inputs, Box<str>, Option<Box<str>>);

/// What has been found out already: equal schedules and zones are looked at once.
struct LintCache<'l> {
    linter: &'l Linter,
    /// What starts may wait for, where that is looked at.
    needed: Option<&'l NeededObjects<'l>>,
    /// Whether what is legal is not looked at.
    scope: LintScope,
    span: CheckPeriod,
    schedule_findings: HashMap<Inputs, Rc<[ScheduleFinding]>>,
    gaps: HashMap<Zone, Vec<DstGap>>,
    /// Whether a CronJob with this schedule never runs at these times.
    never_runs: HashMap<JobTimes, bool>,
}

impl<'l> LintCache<'l> {
    fn new(linter: &'l Linter, scope: LintScope) -> Self {
        let year = Months::new(12);
        let span = CheckPeriod {
            from: linter.from,
            until: linter.from.checked_add_months(year).unwrap_or(linter.from),
            context: linter.context.clone(),
        };
        Self {
            linter,
            needed: None,
            scope,
            span,
            schedule_findings: HashMap::new(),
            gaps: HashMap::new(),
            never_runs: HashMap::new(),
        }
    }

    /// Whether a CronJob has no time in its running hours.
    fn never_runs(&mut self, cron: &CronTimes, inputs: &Inputs) -> bool {
        if self.scope == LintScope::Errors {
            return false;
        }
        let times = (inputs.clone(), cron.text.clone(), cron.zone.clone());
        let known = self.never_runs.entry(times);
        *known.or_insert_with(|| is_never_within(cron, inputs, &self.span))
    }

    /// What is to be said of the schedule of a workload, among those of the files.
    fn findings_of(&mut self, workload: &ManifestWorkload) -> Rc<[ScheduleFinding]> {
        let found = self.schedule_findings(&workload.inputs);
        let mut in_vain = Vec::new();
        if let Some(needed) = self.needed {
            needed.check(workload, &mut in_vain);
        }
        if in_vain.is_empty() {
            return found;
        }
        [&*found, &*in_vain].concat().into()
    }

    fn schedule_findings(&mut self, inputs: &Inputs) -> Rc<[ScheduleFinding]> {
        if let Some(known) = self.schedule_findings.get(inputs) {
            return Rc::clone(known);
        }
        let gaps = |zone: Zone| {
            let found = self.gaps.entry(zone);
            found
                .or_insert_with(|| zone.dst_gaps(self.span.from, self.span.until))
                .clone()
        };
        let prefix = &self.linter.prefix;
        let found: Rc<[ScheduleFinding]> = if self.scope == LintScope::Errors {
            schedule_errors(inputs, &self.span.context, prefix).into()
        } else {
            schedule_findings(inputs, &self.span, prefix, gaps).into()
        };
        self.schedule_findings
            .insert(inputs.clone(), Rc::clone(&found));
        found
    }
}

/// Why the schedule of an object is refused. What is wrong with an annotation of its Namespace is a
/// finding of that.
pub fn refusals(observed: &Observed, context: &ParseContext, prefix: &Prefix) -> Vec<LintFinding> {
    let ParsedInputs::Invalid(refusal) = observed.read(context) else {
        return Vec::new();
    };
    let (object, inputs) = (&observed.object, &observed.inputs);
    let finding = |problem: &Problem| {
        let found = ScheduleFinding::from_problem(problem, prefix);
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
    refusal.problems().iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_year_of_equal_cron_jobs_is_looked_at_once() {
        let of = |name: &str, times: &str| {
            format!(
                "---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {{name: {name}, annotations: {{dayshift/hours: 'Mon-Fri 09:00-19:00'}}}}\nspec: {{schedule: {times}}}\n"
            )
        };
        let text = of("a", "0 3 * * *") + &of("b", "0 3 * * *") + &of("c", "0 12 * * *");
        let linter = Linter {
            from: DateTime::UNIX_EPOCH,
            context: Zone::UTC.into(),
            prefix: Prefix::default(),
            namespace: "default".to_owned(),
            kinds: Kind::DEFAULT.to_vec(),
            inheritance: Inheritance::default(),
        };
        let contents = linter.read(&[SourceFile::new("jobs.yaml", text)]);
        let mut known = LintCache::new(&linter, LintScope::All);
        let never: Vec<_> = contents[0]
            .workloads
            .iter()
            .map(|workload| known.never_runs(workload.cron.as_ref().unwrap(), &workload.inputs))
            .collect();
        assert_eq!(
            (never, known.never_runs.len()),
            (vec![true, true, false], 2)
        );
    }
}
