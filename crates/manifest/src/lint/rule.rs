//! The rules, by the names under which they are documented and suppressed.
//!
//! What was found, and where.
//!
//! Annotations that suppress a rule on one object: `lint.dayshift/same-instant: "the reason"`.

use std::fmt;

use dayshift_text::quote;
use dayshift_workload::Prefix;

use crate::{
    annotations::{Annotation, KeySite, MisplacedKey},
    finding::{self, Severity, rules},
};

rules! {
    /// A thing to find. Its name never changes.
    LintRule {
        Error Syntax "syntax" "A file that is not YAML or JSON, or is too large or too deep to read.",
        Error BadObject "bad-object" "A workload that the API server would refuse.",
        Error UnknownAnnotation "unknown-annotation" "A key with the prefix that is not an \
            annotation of dayshift.",
        Error NotText "not-text" "An annotation that is a number, true or false, a list or a map to YAML.",
        Error DuplicateAnnotation "duplicate-annotation" "An annotation that is given twice on one object.",
        Error HoursBesideTimes "hours-beside-times" "Hours beside a start or a stop.",
        Error ScaleBesideOthers "scale-beside-others" "Exact counts beside a start, a stop, hours or another count.",
        Error BadTimes "bad-times" "A start or a stop that cannot be read.",
        Error BadHours "bad-hours" "Hours that cannot be read.",
        Error BadScale "bad-scale" "Exact counts at times that cannot be read.",
        Error BadTimezone "bad-timezone" "A time zone that does not exist.",
        Error BadCount "bad-count" "A count that is not a valid number of replicas.",
        Error BadJitter "bad-jitter" "A jitter that is not a duration, or too long.",
        Error BadExcept "bad-except" "Excepted dates that cannot be read, or a calendar that is not given.",
        Error BadTreatAs "bad-treat-as" "Dates that count as another day that cannot be read, or a calendar that is not given.",
        Error BadAfter "bad-after" "What a start waits for that cannot be read, or that never says whether it is ready.",
        Error BadOverride "bad-override" "A pause, wake-until, sleep-until or enforce that cannot \
            be read, or has no schedule to override.",
        Error BadWakeOnRequest "bad-wake-on-request" "A wake-on-request or wake-on-request-ignore that cannot be read.",
        Error DeletesVolumes "deletes-volumes" "A StatefulSet whose volumes each stop would delete.",
        Error ScheduleAsLabel "schedule-as-label" "A schedule among the labels.",
        Error OnPodTemplate "on-pod-template" "A schedule on the pod template.",
        Error MisplacedAnnotation "misplaced-annotation" "A key with the prefix in a place where \
            annotations are not read.",
        Warning StopWithoutStart "stop-without-start" "A stop without a start: nothing brings the workload back.",
        Warning StartWithoutStop "start-without-stop" "A start without a stop: nothing takes the workload down.",
        Warning SameInstant "same-instant" "A start and a stop at the same instant.",
        Warning TwoCounts "two-counts" "Two steps that set different counts at the same time on some days.",
        Warning ClockChangeGap "clock-change-gap" "A time that does not exist on a day when clocks \
            go forward.",
        Warning NeverAgain "never-again" "Times that never come again.",
        Warning PastDate "past-date" "A date in the past.",
        Warning UnchangedDates "unchanged-dates" "Dates that count as another day, although the \
            schedule does the same on both.",
        Warning CalendarEnds "calendar-ends" "A calendar whose dates end within 60 days.",
        Warning CalendarTimes "calendar-times" "A calendar with events at times of day, which do not count.",
        Warning PastUntil "past-until" "A pause, wake-until or sleep-until in the past.",
        Warning NoEffect "no-effect" "An annotation that does nothing without another one.",
        Warning WaitsInVain "waits-in-vain" "Something that a start does not wait for: it is not in the files, is stopped itself, or waits for this one.",
        Warning StopNotBelowStart "stop-not-below-start" "A count after a stop that is not below the one after a start.",
        Warning TooOften "too-often" "A time that comes every minute or every second.",
        Warning OneMinute "one-minute" "A window, or a gap between windows, of one minute.",
        Warning NeverRuns "never-runs" "A CronJob none of whose times fall into its running hours.",
        Warning FixedOffset "fixed-offset" "A time zone of a fixed offset, whose clocks never change.",
        Warning JitterBeyondWindow "jitter-beyond-window" "A jitter longer than the time between a start and its stop.",
        Warning Autoscaler "autoscaler" "A HorizontalPodAutoscaler, a ScaledObject or a Rollout that scales a scheduled workload too.",
        Warning PutBack "put-back" "An Application, a Kustomization, a HelmRelease or an operator that puts back the count of a scheduled workload.",
        Warning StateLabels "state-labels" "Labels in a manifest that dayshift writes.",
        Warning ErrorAnnotation "error-annotation" "The annotation `dayshift/error` in a manifest, \
            where dayshift says what is wrong.",
        Warning LookalikePrefix "lookalike-prefix" "An annotation whose prefix is a misspelling of \
            dayshift's.",
        Warning OtherKind "other-kind" "A schedule on an object of a kind that dayshift does not scale.",
        Warning BadSuppression "bad-suppression" "A suppression without a reason, or of something that is not a rule.",
        Warning UnusedSuppression "unused-suppression" "A suppression that matches nothing.",
        Info EitherDay "either-day" "Cron with a day of month and a day of week: it runs on \
            either.",
        Info OptInKind "opt-in-kind" "A schedule on an object of a kind that dayshift scales only where it is asked to.",
        Info ReplicasInManifest "replicas-in-manifest" "`spec.replicas` in the manifest of a scheduled workload.",
        Info NotRendered "not-rendered" "Templates of a Helm chart, a kustomization that changes \
            objects, or a text that a tool fills in: lint sees the files, not the result.",
        Info OtherTool "other-tool" "A schedule of another tool that starts and stops workloads.",
    }
}

impl LintRule {
    /// The rule of that name.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|rule| rule.id() == id)
    }

    /// Whether it is checked only where somebody asks for it: most manifests have a count, and most
    /// people mean it.
    pub fn is_optional(self) -> bool {
        self == Self::ReplicasInManifest
    }

    /// Whether an annotation may suppress it: what dayshift refuses stays refused.
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

/// One thing that a rule found.
pub type LintFinding = finding::Finding<LintRule>;

/// Everything that was found, in the order of the files.
#[derive(Clone, Debug, Default)]
pub struct LintReport {
    /// What was found.
    pub findings: Vec<LintFinding>,
    /// How many workloads were looked at; one that is given twice counts once.
    pub workloads: usize,
    /// In how many files.
    pub files: usize,
    /// Whether nothing that was looked at has a schedule, or was meant to.
    pub has_no_schedule: bool,
    /// How many findings an annotation suppressed.
    pub suppressed: usize,
}

impl LintReport {
    /// Leaves out what is less bad than `least`.
    pub fn keep(&mut self, least: Severity) {
        self.findings
            .retain(|finding| finding.rule.severity() <= least);
    }

    /// Whether something is as bad as that, or worse.
    pub fn is_as_bad_as(&self, severity: Severity) -> bool {
        let mut findings = self.findings.iter();
        findings.any(|finding| finding.rule.severity() <= severity)
    }

    /// How many findings are as bad as that.
    pub fn count(&self, severity: Severity) -> usize {
        let findings = self.findings.iter();
        findings
            .filter(|finding| finding.rule.severity() == severity)
            .count()
    }
}

/// The suppressions of one object.
pub(crate) struct Suppressions<'m> {
    all: Vec<(&'m str, &'m Annotation)>,
    /// `lint.dayshift/`
    prefix: String,
}

impl<'m> Suppressions<'m> {
    /// Those among the misplaced keys of an object.
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

    /// Takes away what is suppressed, and tells of suppressions that are none. `finding` makes a
    /// finding at an annotation. Returns how many were taken away.
    pub(crate) fn apply(
        &self,
        findings: &mut Vec<LintFinding>,
        finding: impl Fn(LintRule, &Annotation, String, String) -> LintFinding,
    ) -> usize {
        let mut suppressed = 0;
        let mut more = Vec::new();
        for (id, field) in &self.all {
            let wrong = match LintRule::from_id(id) {
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
            if let Some(message) = wrong {
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
