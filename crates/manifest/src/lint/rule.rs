//! The rules of `dayshift lint`, their findings, and the annotations that suppress them.
//!
//! Ids are part of the public interface, because suppressions, `--disable` and SARIF reports refer to
//! them. The functions that find violations are in the table of `checks.rs`.

use std::fmt;

use dayshift_text::quote;
use dayshift_workload::Prefix;

use crate::{
    annotations::{Annotation, KeySite, MisplacedKey},
    finding::{self, Severity, rules},
};

rules! {
    /// A rule of `dayshift lint`. `docs/reference/lint.md` has a section for each, at the anchor of its id.
    LintRule {
        Error Syntax "syntax" "A file that is not YAML or JSON, or is too large or too deep to read.",
        Error BadObject "bad-object" "An object that the API server would reject.",
        Error UnknownAnnotation "unknown-annotation" "A key with the prefix that is not an annotation of dayshift.",
        Error NotText "not-text" "An annotation that is a number, true or false, a list or a map to YAML.",
        Error DuplicateAnnotation "duplicate-annotation" "An annotation that is given twice on one object.",
        Error HoursBesideTimes "hours-beside-times" "`hours` beside `start` or `stop`.",
        Error ScaleBesideOthers "scale-beside-others" "Exact counts beside `start`, `stop`, `hours` or another count.",
        Error BadTimes "bad-times" "A `start` or `stop` that cannot be read.",
        Error BadHours "bad-hours" "`hours` that cannot be read.",
        Error BadScale "bad-scale" "A `scale` that cannot be read.",
        Error BadTimezone "bad-timezone" "A time zone that does not exist.",
        Error UnknownSchedule "unknown-schedule" "A `schedule` that is not in the file of named schedules, or an invalid entry of that file.",
        Error BadCount "bad-count" "A count that is not a valid number of replicas.",
        Error BadJitter "bad-jitter" "A `jitter` that is not a duration, or too long.",
        Error BadExcept "bad-except" "Excluded dates that cannot be read, or a calendar that is not given.",
        Error BadTreatAs "bad-treat-as" "A `treat-as` that cannot be read, or a calendar that is not given.",
        Error BadExtra "bad-extra" "Additional windows (`extra`) that cannot be read.",
        Error BadStopAfter "bad-stop-after" "A `stop-after` that is not a duration, too short, or too long.",
        Error BadAfter "bad-after" "A dependency that cannot be read, or a kind that never reports whether it is ready.",
        Error BadOverride "bad-override" "A `pause`, `wake-until`, `sleep-until` or `enforce` that cannot be read, or has no schedule to override.",
        Error BadWakeOnRequest "bad-wake-on-request" "A `wake-on-request`, `wake-on-request-ignore` or `wake-on-request-answer` that cannot be read.",
        Error DeletesVolumes "deletes-volumes" "A StatefulSet whose volumes each stop would delete.",
        Error ScheduleAsLabel "schedule-as-label" "A schedule among the labels.",
        Error OnPodTemplate "on-pod-template" "A schedule on the pod template.",
        Error MisplacedAnnotation "misplaced-annotation" "A key with the prefix in a place where annotations are not read.",
        Warning StopWithoutStart "stop-without-start" "A `stop` without a `start`: nothing starts the workload again.",
        Warning StartWithoutStop "start-without-stop" "A `start` without a `stop`: nothing stops the workload.",
        Warning SameInstant "same-instant" "A start and a stop at the same time.",
        Warning TwoCounts "two-counts" "Two steps that set different counts at the same time on some days.",
        Warning ClockChangeGap "clock-change-gap" "A time that does not exist on a day when clocks go forward.",
        Warning NoFutureBoundary "no-future-boundary" "A schedule without a future start or stop.",
        Warning PastDate "past-date" "A date in the past.",
        Warning UnchangedDates "unchanged-dates" "Dates that are treated as another day, although the schedule does the same on both.",
        Warning CalendarEnds "calendar-ends" "A calendar whose dates end within 60 days.",
        Warning CalendarTimes "calendar-times" "A calendar with events at times of day, which are ignored.",
        Warning PastUntil "past-until" "A `pause`, `wake-until` or `sleep-until` in the past.",
        Warning NoEffect "no-effect" "An annotation that has no effect without another one.",
        Warning UnsatisfiableDependency "unsatisfiable-dependency" "A dependency that can never become ready, because it is missing, stopped, or waits for this workload.",
        Warning StopNotBelowStart "stop-not-below-start" "A count after a stop that is not below the count after a start.",
        Warning TooOften "too-often" "A time that occurs every minute or every second.",
        Warning OneMinute "one-minute" "A window, or a gap between windows, of one minute.",
        Warning NeverRuns "never-runs" "A CronJob none of whose times are within its running hours.",
        Warning FixedOffset "fixed-offset" "A time zone with a fixed offset, whose clocks never change.",
        Warning JitterBeyondWindow "jitter-beyond-window" "A `jitter` longer than the time between a start and its stop.",
        Warning NoticeBeyondWindow "notice-beyond-window" "A `notice` longer than a running window, a wake by a request, or `stop-after`.",
        Warning Autoscaler "autoscaler" "A HorizontalPodAutoscaler, a ScaledObject or a Rollout that scales a scheduled workload too.",
        Warning ConflictingManager "conflicting-manager" "An Application, a Kustomization, a HelmRelease or an operator that reverts the count of a scheduled workload.",
        Warning StateLabels "state-labels" "Labels in a manifest that dayshift writes.",
        Warning ErrorAnnotation "error-annotation" "An annotation in a manifest that dayshift writes, such as `dayshift/error`.",
        Warning LookalikePrefix "lookalike-prefix" "An annotation whose prefix is a misspelling of dayshift's.",
        Warning OtherKind "other-kind" "A schedule on an object of a kind that dayshift does not scale.",
        Warning BadSuppression "bad-suppression" "A suppression without a reason, or of an unknown rule.",
        Warning UnusedSuppression "unused-suppression" "A suppression that matches no finding.",
        Info EitherDay "either-day" "Cron with a day of month and a day of week: it runs on either.",
        Info OptInKind "opt-in-kind" "A schedule on an object of a kind that dayshift scales only if `--kinds` names it.",
        Info ReplicasInManifest "replicas-in-manifest" "`spec.replicas` in the manifest of a scheduled workload.",
        Info NotRendered "not-rendered" "A chart, a kustomization, a template or a file of another format that lint does not check.",
        Info OtherTool "other-tool" "A schedule of another tool that starts and stops workloads.",
    }
}

impl LintRule {
    /// The rule with this id.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|rule| rule.id() == id)
    }

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
