//! From sources to the report on them.

use std::{collections::HashMap, rc::Rc};

use chrono::{DateTime, Months, Utc};
use dayshift_schedule::{DstGap, Zone};
use dayshift_workload::{Inheritance, Inputs, Kind, Origin, ParseContext, Prefix};

use super::{
    cron_job::is_never_within,
    finding::{Finding, Report},
    needed::NeededObjects,
    neighbours::Neighbours,
    object::Object,
    rendered::{self, not_rendered},
    rule::LintRule,
};
use crate::{
    lint::schedule::{
        schedule_finding::ScheduleFinding,
        schedule_rules::{schedule_errors, schedule_findings},
        times::Span,
    },
    manifest::{
        Contents, CronTimes, Severity, Source, SyntaxError, Workload, inherit, last_of_each,
    },
};

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
    pub fn lint(&self, sources: &[Source]) -> Report {
        let contents = self.read(sources);
        let mut report = self.look(sources, &contents, false);
        report.files = sources.len();
        report
    }

    /// What the sources hold, each workload with what it inherits.
    pub fn read(&self, sources: &[Source]) -> Vec<Contents> {
        let read = |source: &Source| source.contents(&self.prefix, &self.namespace);
        let mut contents: Vec<Contents> = sources.iter().map(read).collect();
        inherit(&mut contents, &self.inheritance);
        contents
    }

    /// The errors in what the sources hold, what could not be looked at, and who else sets the counts
    /// of their workloads: what keeps the schedules from doing what they say.
    pub fn obstacles(&self, sources: &[Source], contents: &[Contents]) -> Vec<Finding> {
        let mut findings = self.look(sources, contents, true).findings;
        findings.retain(|it| {
            let is_told = matches!(
                it.rule,
                LintRule::Autoscaler | LintRule::PutBack | LintRule::NotRendered
            );
            is_told || it.rule.severity() == Severity::Error
        });
        findings
    }

    fn look(&self, sources: &[Source], contents: &[Contents], errors_alone: bool) -> Report {
        let neighbours = Neighbours::of(contents);
        let workloads = contents.iter().flat_map(|it| &it.workloads);
        let (last, _) = last_of_each(workloads.collect(), |it| &it.object);
        let mut report = Report {
            workloads: last.len(),
            ..Report::default()
        };
        let needed = NeededObjects::of(contents, &self.context, self.from);
        let mut known = Known::new(self, errors_alone);
        known.needed = (!errors_alone).then_some(&needed);
        for source in 0..contents.len() {
            self.look_at(source, contents, &neighbours, &mut known, &mut report);
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

    fn look_at(
        &self,
        source: usize,
        all: &[Contents],
        neighbours: &Neighbours<'_>,
        known: &mut Known<'_>,
        report: &mut Report,
    ) {
        let contents = &all[source];
        report
            .findings
            .extend(contents.errors.iter().map(|it| unreadable(source, it)));
        for workload in &contents.workloads {
            let mut object = Object::workload(source, &self.prefix, workload);
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
            let is_meant = origin.is_some_and(|it| it != Origin::Scaler);
            if is_meant {
                object.operated(workload);
            }
            if is_meant && !self.kinds.contains(&workload.object.kind) {
                object.opt_in_kind(workload, &self.kinds);
            }
            neighbours.look_at(&mut object, workload);
            object.finish(&workload.misplaced, report);
        }
        for namespace in &contents.namespaces {
            let mut object = Object::namespace(source, &self.prefix, namespace);
            object.defaults(namespace, |inputs| known.schedule_findings(inputs).to_vec());
            object.finish(&namespace.misplaced, report);
        }
        for loose in &contents.loose {
            let find = |inputs: &Inputs| known.schedule_findings(inputs).to_vec();
            Object::loose(source, &self.prefix, loose, find, report);
        }
        for other in &contents.others {
            let mut object = Object::other(source, &self.prefix, other);
            object.other_kind(other, &self.kinds);
            object.put_back(other, all);
            object.finish(&other.misplaced, report);
        }
    }
}

fn has_no_schedule(contents: &Contents) -> bool {
    let mut workloads = contents.workloads.iter();
    let mut namespaces = contents.namespaces.iter();
    workloads.all(|it| !it.inputs.has_schedule())
        && namespaces.all(|it| it.annotations.is_empty())
        && contents.loose.is_empty()
}

/// Puts findings in the order of the files.
fn sort(findings: &mut [Finding]) {
    let place = |it: &Finding| it.place.as_ref().map(|(at, place)| (*at, place.span.start));
    findings.sort_by_key(|it| (place(it), it.rule));
}

fn unreadable(source: usize, error: &SyntaxError) -> Finding {
    let place = Some((source, error.place.clone()));
    if error.is_filled_in {
        let message = "this is a template, and was not checked";
        return Finding::new(LintRule::NotRendered, place, message, rendered::HELP);
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
    Finding::new(rule, place, error.message.clone(), help)
}

/// A CronJob's schedule, and its times by their text and their zone.
type JobTimes = (Inputs, Box<str>, Option<Box<str>>);

/// What has been found out already: equal schedules and zones are looked at once.
struct Known<'l> {
    linter: &'l Linter,
    /// What starts may wait for, where that is looked at.
    needed: Option<&'l NeededObjects<'l>>,
    /// Whether what is legal is not looked at.
    errors_alone: bool,
    span: Span,
    schedule_findings: HashMap<Inputs, Rc<[ScheduleFinding]>>,
    gaps: HashMap<Zone, Vec<DstGap>>,
    /// Whether a CronJob with this schedule never runs at these times.
    never_runs: HashMap<JobTimes, bool>,
}

impl<'l> Known<'l> {
    fn new(linter: &'l Linter, errors_alone: bool) -> Self {
        let year = Months::new(12);
        let span = Span {
            from: linter.from,
            until: linter.from.checked_add_months(year).unwrap_or(linter.from),
            context: linter.context.clone(),
        };
        Self {
            linter,
            needed: None,
            errors_alone,
            span,
            schedule_findings: HashMap::new(),
            gaps: HashMap::new(),
            never_runs: HashMap::new(),
        }
    }

    /// Whether a CronJob has no time in its running hours.
    fn never_runs(&mut self, cron: &CronTimes, inputs: &Inputs) -> bool {
        if self.errors_alone {
            return false;
        }
        let times = (inputs.clone(), cron.text.clone(), cron.zone.clone());
        let known = self.never_runs.entry(times);
        *known.or_insert_with(|| is_never_within(cron, inputs, &self.span))
    }

    /// What is to be said of the schedule of a workload, among those of the files.
    fn findings_of(&mut self, workload: &Workload) -> Rc<[ScheduleFinding]> {
        let found = self.schedule_findings(&workload.inputs);
        let mut in_vain = Vec::new();
        if let Some(needed) = self.needed {
            needed.look_at(workload, &mut in_vain);
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
        let found: Rc<[ScheduleFinding]> = if self.errors_alone {
            schedule_errors(inputs, &self.span.context, prefix).into()
        } else {
            schedule_findings(inputs, &self.span, prefix, gaps).into()
        };
        self.schedule_findings
            .insert(inputs.clone(), Rc::clone(&found));
        found
    }
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
        let contents = linter.read(&[Source::new("jobs.yaml", text)]);
        let mut known = Known::new(&linter, false);
        let never: Vec<_> = contents[0]
            .workloads
            .iter()
            .map(|it| known.never_runs(it.cron.as_ref().unwrap(), &it.inputs))
            .collect();
        assert_eq!(
            (never, known.never_runs.len()),
            (vec![true, true, false], 2)
        );
    }
}
