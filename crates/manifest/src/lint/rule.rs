//! The rules of `dayshift lint`, their findings, and the annotations that suppress them.
//!
//! [`LintRule`] only lists the rules. Their ids, severities, summaries and checks are in the table
//! (`table.rs`), which refers to this module and to each check.

use std::fmt;

use dayshift_text::quote;
use dayshift_workload::Prefix;

use crate::{
    annotations::{Annotation, KeySite, MisplacedKey},
    finding::{self, Severity},
};

/// A rule of `dayshift lint`. The variants are in the order of `docs/reference/lint.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the table of rules has a summary of each")]
pub enum LintRule {
    Syntax,
    BadObject,
    UnknownAnnotation,
    NotText,
    DuplicateAnnotation,
    HoursBesideTimes,
    ScaleBesideOthers,
    BadTimes,
    BadHours,
    BadScale,
    BadTimezone,
    UnknownSchedule,
    BadCount,
    BadJitter,
    BadExcept,
    BadTreatAs,
    BadExtra,
    BadStopAfter,
    BadAfter,
    BadOverride,
    BadWakeOnRequest,
    DeletesVolumes,
    ScheduleAsLabel,
    OnPodTemplate,
    MisplacedAnnotation,
    StopWithoutStart,
    StartWithoutStop,
    SameInstant,
    TwoCounts,
    ClockChangeGap,
    NoFutureBoundary,
    PastDate,
    UnchangedDates,
    CalendarEnds,
    CalendarTimes,
    PastUntil,
    NoEffect,
    UnsatisfiableDependency,
    StopNotBelowStart,
    TooOften,
    OneMinute,
    NeverRuns,
    FixedOffset,
    JitterBeyondWindow,
    NoticeBeyondWindow,
    Autoscaler,
    ConflictingManager,
    StateLabels,
    ErrorAnnotation,
    LookalikePrefix,
    OtherKind,
    BadSuppression,
    UnusedSuppression,
    EitherDay,
    OptInKind,
    ReplicasInManifest,
    NotRendered,
    OtherTool,
}

impl LintRule {
    /// Whether the rule is off unless `--enable` names it: most manifests set a count, and most
    /// authors intend it.
    pub fn is_optional(self) -> bool {
        self == Self::ReplicasInManifest
    }

    /// Whether an annotation can suppress the rule. Errors cannot be suppressed, because dayshift
    /// or the API server rejects the object anyway.
    pub fn can_be_suppressed(self) -> bool {
        self.severity() > Severity::Error
            && !matches!(self, Self::BadSuppression | Self::UnusedSuppression)
    }
}

impl fmt::Display for LintRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}

/// A finding of one rule.
pub type LintFinding = finding::Finding<LintRule>;

/// All findings, in the order of the files.
#[derive(Clone, Debug, Default)]
pub struct LintReport {
    /// The findings.
    pub findings: Vec<LintFinding>,
    /// The number of checked workloads. A workload that is defined twice counts once.
    pub workloads: usize,
    /// The number of files.
    pub files: usize,
    /// Whether no object has a schedule, or annotations that might be meant as one.
    pub has_no_schedule: bool,
    /// The number of suppressed findings.
    pub suppressed: usize,
}

impl LintReport {
    /// Drops findings that are less severe than `least`.
    pub fn keep(&mut self, least: Severity) {
        self.findings
            .retain(|finding| finding.rule.severity() <= least);
    }

    /// Whether a finding is at least as severe as `severity`.
    pub fn is_as_bad_as(&self, severity: Severity) -> bool {
        let mut findings = self.findings.iter();
        findings.any(|finding| finding.rule.severity() <= severity)
    }

    /// The number of findings of exactly this severity.
    pub fn count(&self, severity: Severity) -> usize {
        let findings = self.findings.iter();
        findings
            .filter(|finding| finding.rule.severity() == severity)
            .count()
    }
}

/// The suppressions of one object, such as `lint.dayshift/same-instant: "the reason"`.
pub(crate) struct Suppressions<'m> {
    /// The rule's id and its annotation.
    all: Vec<(&'m str, &'m Annotation)>,
    /// `lint.dayshift/`
    prefix: String,
}

impl<'m> Suppressions<'m> {
    /// Selects the suppressions among the misplaced keys of an object.
    pub(crate) fn new(misplaced: &'m [MisplacedKey], prefix: &Prefix) -> Self {
        let prefix = format!("lint.{prefix}/");
        let annotations = misplaced
            .iter()
            .filter(|key| key.site == KeySite::Annotations);
        let found =
            annotations.filter_map(|key| Some((key.field.name.strip_prefix(&prefix)?, &key.field)));
        Self {
            all: found.collect(),
            prefix,
        }
    }

    /// Removes suppressed findings, adds a finding for each suppression that is invalid or unused,
    /// and returns the number of removed findings. `finding` builds a finding at an annotation.
    pub(crate) fn apply(
        &self,
        findings: &mut Vec<LintFinding>,
        finding: impl Fn(LintRule, &Annotation, String, String) -> LintFinding,
    ) -> usize {
        let mut suppressed = 0;
        let mut more = Vec::new();
        for (id, field) in &self.all {
            let error = match LintRule::from_id(id) {
                None => Some(format!("`{}` is not a rule of lint", quote(id))),
                Some(rule) if !rule.can_be_suppressed() => {
                    Some(format!("`{rule}` cannot be suppressed: fix what it finds"))
                }
                Some(_) if field.text.trim().is_empty() => {
                    Some("this suppression has no reason".to_owned())
                }
                Some(rule) => {
                    let before = findings.len();
                    findings.retain(|finding| finding.rule != rule);
                    suppressed += before - findings.len();
                    if before == findings.len() {
                        let message = format!("`{rule}` finds nothing here");
                        let help = "remove this annotation".to_owned();
                        more.push(finding(LintRule::UnusedSuppression, field, message, help));
                    }
                    None
                }
            };
            if let Some(message) = error {
                let help = format!(
                    "write the name of a warning and why it does not matter, such as \
                     {}start-without-stop: \"stopped manually\"",
                    self.prefix
                );
                more.push(finding(LintRule::BadSuppression, field, message, help));
            }
        }
        findings.append(&mut more);
        suppressed
    }
}
