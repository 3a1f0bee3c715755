//! The table of all rules: id, severity, summary and the checks that find violations.
//!
//! `docs/reference/lint.md` has the same rows and a section for each rule, at the anchor of its id;
//! a test compares them. Ids are part of the public interface, because suppressions, `--disable`
//! and SARIF reports refer to them.

use dayshift_workload::Prefix;

use crate::{
    annotations::MisplacedKey,
    finding::{Rule, Severity},
    lint::{
        dates, dependencies, keys, kinds,
        object::{self, ObjectFindings, OtherCheck, WorkloadCheck},
        other_controllers,
        rule::{LintFinding, LintRule},
        schedule,
        schedule_finding::{ScheduleCheck, ScheduleFinding},
        times,
    },
    objects::Contents,
    source::SourceFile,
};

/// A row of the table.
pub(crate) struct RuleRow {
    pub(crate) rule: LintRule,
    /// The id in suppressions, in `--disable` and in anchors of the documentation.
    id: &'static str,
    severity: Severity,
    /// One sentence, or the subject of one.
    summary: &'static str,
    pub(crate) checks: &'static [Check],
}

/// A function that finds violations of one rule.
pub(crate) enum Check {
    /// Found while files are parsed or annotations are read.
    Reading,
    /// Checks the schedule of a workload or Namespace. Equal schedules are checked once.
    Schedule(fn(&ScheduleCheck<'_>, &mut Vec<ScheduleFinding>)),
    /// Checks a workload.
    Workload(fn(&mut ObjectFindings<'_>, &WorkloadCheck<'_>)),
    /// Checks a name that resembles one of dayshift's on a workload or Namespace, and returns a message
    /// and a help.
    Key(fn(&Prefix, &MisplacedKey) -> Option<(String, String)>),
    /// Checks an object of a kind that dayshift does not scale.
    Other(fn(&mut ObjectFindings<'_>, &OtherCheck<'_>)),
    /// Checks a whole file, given its index.
    Source(fn(usize, &SourceFile, &Contents) -> Vec<LintFinding>),
    /// Found while suppressions are applied.
    Suppression,
}

use Check::{Key, Other, Reading, Schedule, Source, Suppression, Workload};
use Severity::{Error, Info, Warning};

const fn row(
    rule: LintRule,
    id: &'static str,
    severity: Severity,
    summary: &'static str,
    checks: &'static [Check],
) -> RuleRow {
    RuleRow {
        rule,
        id,
        severity,
        summary,
        checks,
    }
}

/// All rules, in the order of [`LintRule`] and of the documentation.
#[rustfmt::skip]
pub(crate) const RULES: &[RuleRow] = &[
    row(LintRule::Syntax, "syntax", Error, "A file that is not YAML or JSON, or is too large or too deep to read.", &[Reading]),
    row(LintRule::BadObject, "bad-object", Error, "An object that the API server would reject.", &[Reading]),
    row(LintRule::UnknownAnnotation, "unknown-annotation", Error, "A key with the prefix that is not an annotation of dayshift.", &[Reading]),
    row(LintRule::NotText, "not-text", Error, "An annotation that is a number, true or false, a list or a map to YAML.", &[Reading]),
    row(LintRule::DuplicateAnnotation, "duplicate-annotation", Error, "An annotation that is given twice on one object.", &[Reading]),
    row(LintRule::HoursBesideTimes, "hours-beside-times", Error, "`hours` beside `start` or `stop`.", &[Reading]),
    row(LintRule::ScaleBesideOthers, "scale-beside-others", Error, "Exact counts beside `start`, `stop`, `hours` or another count.", &[Reading]),
    row(LintRule::BadTimes, "bad-times", Error, "A `start` or `stop` that cannot be read.", &[Reading]),
    row(LintRule::BadHours, "bad-hours", Error, "`hours` that cannot be read.", &[Reading]),
    row(LintRule::BadScale, "bad-scale", Error, "A `scale` that cannot be read.", &[Reading]),
    row(LintRule::BadTimezone, "bad-timezone", Error, "A time zone that does not exist.", &[Reading]),
    row(LintRule::UnknownSchedule, "unknown-schedule", Error, "A `schedule` that is not in the file of named schedules, or an invalid entry of that file.", &[Reading]),
    row(LintRule::BadCount, "bad-count", Error, "A count that is not a valid number of replicas.", &[Reading]),
    row(LintRule::BadJitter, "bad-jitter", Error, "A `jitter` that is not a duration, or too long.", &[Reading]),
    row(LintRule::BadExcept, "bad-except", Error, "Excluded dates that cannot be read, or a calendar that is not given.", &[Reading]),
    row(LintRule::BadTreatAs, "bad-treat-as", Error, "A `treat-as` that cannot be read, or a calendar that is not given.", &[Reading]),
    row(LintRule::BadExtra, "bad-extra", Error, "Additional windows (`extra`) that cannot be read.", &[Reading]),
    row(LintRule::BadStopAfter, "bad-stop-after", Error, "A `stop-after` that is not a duration, too short, or too long.", &[Reading]),
    row(LintRule::BadAfter, "bad-after", Error, "A dependency that cannot be read, or a kind that never reports whether it is ready.", &[Reading]),
    row(LintRule::BadOverride, "bad-override", Error, "A `pause`, `wake-until`, `sleep-until` or `enforce` that cannot be read, or has no schedule to override.", &[Reading]),
    row(LintRule::BadWakeOnRequest, "bad-wake-on-request", Error, "A `wake-on-request`, `wake-on-request-ignore` or `wake-on-request-answer` that cannot be read.", &[Reading]),
    row(LintRule::DeletesVolumes, "deletes-volumes", Error, "A StatefulSet whose volumes each stop would delete.", &[Workload(object::deletes_volumes)]),
    row(LintRule::ScheduleAsLabel, "schedule-as-label", Error, "A schedule among the labels.", &[Key(keys::schedule_as_label)]),
    row(LintRule::OnPodTemplate, "on-pod-template", Error, "A schedule on the pod template.", &[Key(keys::on_pod_template)]),
    row(LintRule::MisplacedAnnotation, "misplaced-annotation", Error, "A key with the prefix in a place where annotations are not read.", &[Key(keys::misplaced_annotation)]),
    row(LintRule::StopWithoutStart, "stop-without-start", Warning, "A `stop` without a `start`: nothing starts the workload again.", &[Schedule(schedule::stop_without_start)]),
    row(LintRule::StartWithoutStop, "start-without-stop", Warning, "A `start` without a `stop`: nothing stops the workload.", &[Schedule(schedule::start_without_stop)]),
    row(LintRule::SameInstant, "same-instant", Warning, "A start and a stop at the same time.", &[Schedule(times::same_instant)]),
    row(LintRule::TwoCounts, "two-counts", Warning, "Two steps that set different counts at the same time on some days.", &[Schedule(times::two_counts)]),
    row(LintRule::ClockChangeGap, "clock-change-gap", Warning, "A time that does not exist on a day when clocks go forward.", &[Schedule(times::clock_change_gap)]),
    row(LintRule::NoFutureBoundary, "no-future-boundary", Warning, "A schedule without a future start or stop.", &[Schedule(times::no_future_boundary)]),
    row(LintRule::PastDate, "past-date", Warning, "A date in the past.", &[Schedule(dates::past_dates), Schedule(dates::past_treated_dates)]),
    row(LintRule::UnchangedDates, "unchanged-dates", Warning, "Dates that are treated as another day, although the schedule does the same on both.", &[Schedule(dates::unchanged_dates)]),
    row(LintRule::CalendarEnds, "calendar-ends", Warning, "A calendar whose dates end within 60 days.", &[Schedule(dates::calendar_ends)]),
    row(LintRule::CalendarTimes, "calendar-times", Warning, "A calendar with events at times of day, which are ignored.", &[Schedule(dates::calendar_times)]),
    row(LintRule::PastUntil, "past-until", Warning, "A `pause`, `wake-until` or `sleep-until` in the past.", &[Schedule(schedule::past_until)]),
    row(LintRule::NoEffect, "no-effect", Warning, "An annotation that has no effect without another one.", &[Schedule(schedule::no_effect_alone), Schedule(schedule::no_effect_here)]),
    row(LintRule::UnsatisfiableDependency, "unsatisfiable-dependency", Warning, "A dependency that can never become ready, because it is missing, stopped, or waits for this workload.", &[Workload(dependencies::unsatisfiable_dependency)]),
    row(LintRule::StopNotBelowStart, "stop-not-below-start", Warning, "A count after a stop that is not below the count after a start.", &[Schedule(schedule::stop_not_below_start)]),
    row(LintRule::TooOften, "too-often", Warning, "A time that occurs every minute or every second.", &[Schedule(times::too_often)]),
    row(LintRule::OneMinute, "one-minute", Warning, "A window, or a gap between windows, of one minute.", &[Schedule(times::one_minute)]),
    row(LintRule::NeverRuns, "never-runs", Warning, "A CronJob none of whose times are within its running hours.", &[Workload(object::never_runs)]),
    row(LintRule::FixedOffset, "fixed-offset", Warning, "A time zone with a fixed offset, whose clocks never change.", &[Schedule(dates::fixed_offset)]),
    row(LintRule::JitterBeyondWindow, "jitter-beyond-window", Warning, "A `jitter` longer than the time between a start and its stop.", &[Schedule(times::jitter_beyond_window)]),
    row(LintRule::NoticeBeyondWindow, "notice-beyond-window", Warning, "A `notice` longer than a running window, a wake by a request, or `stop-after`.", &[Schedule(times::notice_beyond_window)]),
    row(LintRule::Autoscaler, "autoscaler", Warning, "A HorizontalPodAutoscaler, a ScaledObject or a Rollout that scales a scheduled workload too.", &[Workload(other_controllers::autoscaler)]),
    row(LintRule::ConflictingManager, "conflicting-manager", Warning, "An Application, a Kustomization, a HelmRelease or an operator that reverts the count of a scheduled workload.", &[Workload(kinds::operated), Other(other_controllers::reverts_counts)]),
    row(LintRule::StateLabels, "state-labels", Warning, "Labels in a manifest that dayshift writes.", &[Workload(keys::state_labels)]),
    row(LintRule::ErrorAnnotation, "error-annotation", Warning, "An annotation in a manifest that dayshift writes, such as `dayshift/error`.", &[Workload(keys::error_annotation)]),
    row(LintRule::LookalikePrefix, "lookalike-prefix", Warning, "An annotation whose prefix is a misspelling of dayshift's.", &[Key(keys::lookalike_prefix)]),
    row(LintRule::OtherKind, "other-kind", Warning, "A schedule on an object of a kind that dayshift does not scale.", &[Other(kinds::other_kind)]),
    row(LintRule::BadSuppression, "bad-suppression", Warning, "A suppression without a reason, or of an unknown rule.", &[Suppression]),
    row(LintRule::UnusedSuppression, "unused-suppression", Warning, "A suppression that matches no finding.", &[Suppression]),
    row(LintRule::EitherDay, "either-day", Info, "Cron with a day of month and a day of week: it runs on either.", &[Schedule(times::either_day)]),
    row(LintRule::OptInKind, "opt-in-kind", Info, "A schedule on an object of a kind that dayshift scales only if `--kinds` names it.", &[Workload(kinds::opt_in_kind), Other(kinds::opt_in_custom_resource)]),
    row(LintRule::ReplicasInManifest, "replicas-in-manifest", Info, "`spec.replicas` in the manifest of a scheduled workload.", &[Workload(object::replicas_in_manifest)]),
    row(LintRule::NotRendered, "not-rendered", Info, "A chart, a kustomization, a template or a file of another format that lint does not check.", &[Reading, Source(kinds::not_rendered)]),
    row(LintRule::OtherTool, "other-tool", Info, "A schedule of another tool that starts and stops workloads.", &[Workload(keys::other_tool_on_workload), Other(keys::other_tool)]),
];

impl LintRule {
    /// All rules, in the order of the documentation.
    pub const ALL: &[Self] = &{
        let mut all = [Self::Syntax; RULES.len()];
        let mut at = 0;
        while at < RULES.len() {
            all[at] = RULES[at].rule;
            at += 1;
        }
        all
    };

    const fn row(self) -> &'static RuleRow {
        &RULES[self as usize]
    }

    /// The id, such as `same-instant`, which is also the anchor in `docs/reference/lint.md`.
    pub const fn id(self) -> &'static str {
        self.row().id
    }

    /// The severity of its findings.
    pub const fn severity(self) -> Severity {
        self.row().severity
    }

    /// A sentence about the violations that it finds.
    pub const fn summary(self) -> &'static str {
        self.row().summary
    }

    /// The rule with this id.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|rule| rule.id() == id)
    }
}

impl Rule for LintRule {
    fn id(self) -> &'static str {
        self.id()
    }

    fn severity(self) -> Severity {
        self.severity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_the_rules() {
        for (at, row) in RULES.iter().enumerate() {
            assert_eq!(row.rule as usize, at, "{}", row.id);
            assert!(!row.checks.is_empty(), "{}", row.id);
        }
    }
}
