//! The table of checks: the functions that find violations of each rule.
//!
//! Some rules have none: their violations are found while files are parsed, annotations are read or
//! suppressions are applied.

use dayshift_workload::Prefix;

use crate::{
    annotations::MisplacedKey,
    lint::{
        keys, kinds,
        object::{self, ObjectFindings, OtherCheck, WorkloadCheck},
        other_objects,
        rule::{LintFinding, LintRule},
        schedule,
        schedule_finding::{ScheduleCheck, ScheduleFinding},
        times,
    },
    objects::Contents,
    source::SourceFile,
};

/// A function that finds violations of one rule.
pub(crate) enum Check {
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
}

use Check::{Key, Other, Schedule, Source, Workload};

/// All checks, in the order in which they run.
#[rustfmt::skip]
pub(crate) const CHECKS: &[(LintRule, Check)] = &[
    (LintRule::DeletesVolumes, Workload(object::deletes_volumes)),
    (LintRule::ScheduleAsLabel, Key(keys::schedule_as_label)),
    (LintRule::OnPodTemplate, Key(keys::on_pod_template)),
    (LintRule::MisplacedAnnotation, Key(keys::misplaced_annotation)),
    (LintRule::StopWithoutStart, Schedule(schedule::stop_without_start)),
    (LintRule::StartWithoutStop, Schedule(schedule::start_without_stop)),
    (LintRule::SameInstant, Schedule(times::same_instant)),
    (LintRule::TwoCounts, Schedule(times::two_counts)),
    (LintRule::ClockChangeGap, Schedule(times::clock_change_gap)),
    (LintRule::NoFutureBoundary, Schedule(times::no_future_boundary)),
    (LintRule::PastDate, Schedule(schedule::past_dates)),
    (LintRule::PastDate, Schedule(schedule::past_treated_dates)),
    (LintRule::UnchangedDates, Schedule(schedule::unchanged_dates)),
    (LintRule::CalendarEnds, Schedule(schedule::calendar_ends)),
    (LintRule::CalendarTimes, Schedule(schedule::calendar_times)),
    (LintRule::PastUntil, Schedule(schedule::past_until)),
    (LintRule::NoEffect, Schedule(schedule::no_effect_alone)),
    (LintRule::NoEffect, Schedule(schedule::no_effect_here)),
    (LintRule::UnsatisfiableDependency, Workload(other_objects::unsatisfiable_dependency)),
    (LintRule::StopNotBelowStart, Schedule(schedule::stop_not_below_start)),
    (LintRule::TooOften, Schedule(times::too_often)),
    (LintRule::OneMinute, Schedule(times::one_minute)),
    (LintRule::NeverRuns, Workload(object::never_runs)),
    (LintRule::FixedOffset, Schedule(schedule::fixed_offset)),
    (LintRule::JitterBeyondWindow, Schedule(times::jitter_beyond_window)),
    (LintRule::NoticeBeyondWindow, Schedule(times::notice_beyond_window)),
    (LintRule::Autoscaler, Workload(other_objects::autoscaler)),
    (LintRule::ConflictingManager, Workload(kinds::operated)),
    (LintRule::ConflictingManager, Other(other_objects::reverts_counts)),
    (LintRule::StateLabels, Workload(keys::state_labels)),
    (LintRule::ErrorAnnotation, Workload(keys::error_annotation)),
    (LintRule::LookalikePrefix, Key(keys::lookalike_prefix)),
    (LintRule::OtherKind, Other(kinds::other_kind)),
    (LintRule::EitherDay, Schedule(times::either_day)),
    (LintRule::OptInKind, Workload(kinds::opt_in_kind)),
    (LintRule::OptInKind, Other(kinds::opt_in_custom_resource)),
    (LintRule::ReplicasInManifest, Workload(object::replicas_in_manifest)),
    (LintRule::NotRendered, Source(kinds::not_rendered)),
    (LintRule::OtherTool, Workload(keys::other_tool_on_workload)),
    (LintRule::OtherTool, Other(keys::other_tool)),
];
