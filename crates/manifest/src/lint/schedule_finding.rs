//! Findings in the text of an annotation, and the lines that their help proposes.
//!
//! A proposal keeps the author's text if it can be corrected. Otherwise it is an example, and is
//! called one: a proposed schedule should never be invented.

use std::ops::Range;

use chrono::{DateTime, NaiveDateTime, Utc};
use dayshift_schedule::{Calendars, DiagnosticKind, DstGap, Proposal, Zone};
use dayshift_workload::{
    Inputs, Key, NamedSchedules, Origin, ParseContext, ParsedInputs, Prefix, Problem, ScheduleSpec,
    read,
};

use crate::lint::rule::LintRule;

/// A finding in the text of an annotation. Equal inputs have equal findings, so findings are
/// shared.
#[derive(Clone, Debug)]
pub(crate) struct ScheduleFinding {
    pub(crate) rule: LintRule,
    /// The annotation's name after the prefix.
    pub(crate) name: Box<str>,
    pub(crate) span: Range<usize>,
    pub(crate) message: String,
    pub(crate) help: String,
    /// The origin of the annotation.
    pub(crate) origin: Origin,
    /// The named schedule with the text, if it is in one.
    pub(crate) schedule: Option<Box<str>>,
    /// The correction of the text, if there is one.
    pub(crate) intended: Option<Proposal>,
}

/// The checked year, and how annotations are read.
#[derive(Clone, Debug)]
pub(crate) struct CheckPeriod {
    pub(crate) from: DateTime<Utc>,
    pub(crate) until: DateTime<Utc>,
    pub(crate) context: ParseContext,
}

/// A schedule, and the context of its checks.
pub(crate) struct ScheduleCheck<'c> {
    pub(crate) inputs: &'c Inputs,
    pub(crate) prefix: &'c Prefix,
    pub(crate) period: &'c CheckPeriod,
    /// `None` if the annotations contain no schedule.
    pub(crate) spec: Option<&'c ScheduleSpec>,
    /// The DST gaps of the year in its zone.
    pub(crate) gaps: &'c [DstGap],
}

impl ScheduleCheck<'_> {
    pub(crate) fn has(&self, key: Key) -> bool {
        self.inputs.text(key).is_some()
    }

    /// The text of an annotation, or an empty one.
    pub(crate) fn text(&self, key: Key) -> &str {
        self.inputs.text(key).unwrap_or_default()
    }

    pub(crate) fn zone(&self) -> Zone {
        self.spec.map_or(Zone::UTC, |spec| spec.schedule.zone())
    }

    /// The time on the clocks of the schedule's zone.
    pub(crate) fn local(&self, at: DateTime<Utc>) -> NaiveDateTime {
        at.with_timezone(&self.zone()).naive_local()
    }

    /// A finding in the whole text of an annotation.
    pub(crate) fn on(
        &self,
        key: Key,
        rule: LintRule,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> ScheduleFinding {
        ScheduleFinding::on(key, self.inputs, rule, message.into(), help.into())
    }
}

impl ScheduleFinding {
    /// A finding in the whole text of an annotation.
    pub(crate) fn on(
        key: Key,
        inputs: &Inputs,
        rule: LintRule,
        message: String,
        help: String,
    ) -> Self {
        Self {
            rule,
            name: key.name().into(),
            span: 0..inputs.text(key).map_or(0, str::len),
            message,
            help,
            origin: inputs.origin(key).unwrap_or(Origin::Own),
            schedule: inputs
                .source(key)
                .and_then(|source| Some(source.schedule?.into())),
            intended: None,
        }
    }

    /// The finding, at these bytes of the text.
    pub(crate) fn at(self, span: Range<usize>) -> Self {
        Self { span, ..self }
    }

    /// The finding of a problem.
    pub(crate) fn from_problem(problem: &Problem, prefix: &Prefix) -> Self {
        let diagnostic = &problem.diagnostic;
        let rule = rule_of(diagnostic.kind(), Key::from_name(&problem.annotation));
        let help = match rule {
            LintRule::DeletesVolumes => format!(
                "set whenScaled to Retain, or write {} on the object",
                valid_line(prefix, Key::AllowVolumeDeletion)
            ),
            _ => diagnostic.help(),
        };
        let message = diagnostic.message();
        // A message that does not quote a part of the text begins with the annotation.
        let is_without = ["is ", "needs "]
            .iter()
            .any(|verb| message.starts_with(verb));
        let message = if is_without {
            format!("{} {message}", prefix.full(&problem.annotation))
        } else {
            message
        };
        Self {
            rule,
            name: problem.annotation.clone(),
            span: diagnostic.span(),
            message,
            help,
            origin: problem.origin,
            schedule: problem.schedule.clone(),
            intended: diagnostic.proposal(),
        }
    }

    /// The help for this text: the corrected annotation if all of the text can be corrected.
    pub(crate) fn help_for(&self, text: &str, prefix: &Prefix) -> String {
        let key = Key::from_name(&self.name);
        let lines = match (self.rule, key) {
            (LintRule::UnknownAnnotation, _) => {
                Key::nearest(&self.name).map(|intended| own_line(prefix, intended, text))
            }
            (LintRule::NotText, Some(key)) => Some(own_line(prefix, key, text)),
            (_, Some(key)) => {
                let intended = self.intended.as_ref();
                intended.and_then(|intended| repaired_lines(prefix, key, text, intended))
            }
            _ => None,
        };
        lines.map_or_else(|| self.help.clone(), |lines| format!("write {lines}"))
    }

    /// Whether both are findings of the same rule in the same bytes.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.is_same_mistake(other) && self.origin == other.origin
    }

    /// The same, wherever they are written.
    pub(crate) fn is_same_mistake(&self, other: &Self) -> bool {
        self.rule == other.rule && self.span == other.span && self.name == other.name
    }
}

fn rule_of(kind: DiagnosticKind, key: Option<Key>) -> LintRule {
    match (kind, key) {
        (DiagnosticKind::NotText, _) => LintRule::NotText,
        (DiagnosticKind::Duplicate, _) => LintRule::DuplicateAnnotation,
        (DiagnosticKind::Object, Some(Key::AllowVolumeDeletion)) => LintRule::DeletesVolumes,
        (DiagnosticKind::Object, _) => LintRule::BadCount,
        (
            DiagnosticKind::Conflict,
            Some(Key::Scale | Key::Replicas | Key::StopReplicas | Key::Extra | Key::StopAfter),
        ) => LintRule::ScaleBesideOthers,
        (DiagnosticKind::Conflict, _) => LintRule::HoursBesideTimes,
        (_, None) => LintRule::UnknownAnnotation,
        (_, Some(key)) => match key {
            Key::Start | Key::Stop => LintRule::BadTimes,
            Key::Hours => LintRule::BadHours,
            Key::NamedSchedule => LintRule::UnknownSchedule,
            Key::Scale => LintRule::BadScale,
            Key::Timezone => LintRule::BadTimezone,
            Key::Replicas | Key::StopReplicas => LintRule::BadCount,
            Key::Jitter => LintRule::BadJitter,
            Key::Except => LintRule::BadExcept,
            Key::TreatAs => LintRule::BadTreatAs,
            Key::Extra => LintRule::BadExtra,
            Key::StopAfter => LintRule::BadStopAfter,
            Key::After => LintRule::BadAfter,
            Key::Pause
            | Key::WakeUntil
            | Key::SleepUntil
            | Key::Enforce
            | Key::Exclude
            | Key::TeamDefaults
            | Key::Notice
            | Key::ReadyWithin
            | Key::AllowVolumeDeletion
            | Key::StopJobs
            | Key::Reason
            | Key::OverrideBy => LintRule::BadOverride,
            Key::WakeOnRequest | Key::WakeOnRequestIgnore | Key::WakeOnRequestAnswer => {
                LintRule::BadWakeOnRequest
            }
        },
    }
}

/// The line to write for a key: with `text` if that is valid or can be corrected, else with an
/// example.
pub(crate) fn own_line(prefix: &Prefix, key: Key, text: &str) -> String {
    let name = prefix.annotation(key);
    if is_valid(key, text) {
        return format!("{name}: \"{text}\"");
    }
    let intended = problem(key, text).and_then(|problem| problem.diagnostic.proposal());
    let lines = intended.and_then(|intended| repaired_lines(prefix, key, text, &intended));
    let right = valid_text(key);
    lines.unwrap_or_else(|| format!("{name} with a valid text, for example \"{right}\""))
}

/// The lines that correct a rejected text, if all of it can be corrected.
pub(crate) fn repaired_lines(
    prefix: &Prefix,
    key: Key,
    text: &str,
    intended: &Proposal,
) -> Option<String> {
    let line = |key, text: &str| format!("{}: \"{text}\"", prefix.annotation(key));
    match intended {
        Proposal::Hours(hours) => Some(format!(
            "{} instead of {}",
            line(Key::Hours, hours),
            prefix.annotation(key)
        )),
        Proposal::InZone { times, timezone } => {
            let (times, zone) = (line(key, times), line(Key::Timezone, timezone));
            Some(format!("{times} and {zone}"))
        }
        Proposal::Replace { .. } => {
            let mut text = intended.apply_to(text)?;
            // A text can have several errors, of which the parser reports one at a time.
            for _ in 0..MAX_REPAIRS {
                if is_valid(key, &text) {
                    return Some(line(key, &text));
                }
                text = problem(key, &text)?
                    .diagnostic
                    .proposal()?
                    .apply_to(&text)?;
            }
            None
        }
    }
}

/// The maximum number of corrections in one text.
const MAX_REPAIRS: usize = 20;

/// Whether a text is valid for a key of an object with a schedule.
fn is_valid(key: Key, text: &str) -> bool {
    !text.trim().is_empty()
        && !text.contains(['"', '\\'])
        && !matches!(read_alone(key, text), ParsedInputs::Invalid(_))
}

/// The problem with the text of a key of an object with a schedule.
fn problem(key: Key, text: &str) -> Option<Problem> {
    let ParsedInputs::Invalid(refusal) = read_alone(key, text) else {
        return None;
    };
    let mut problems = refusal.problems().iter();
    problems
        .find(|problem| &*problem.annotation == key.name())
        .cloned()
}

fn read_alone(key: Key, text: &str) -> ParsedInputs {
    let inputs = if Key::SCHEDULE.contains(&key) {
        Inputs::default()
    } else {
        Inputs::default().with(Key::Hours, valid_text(Key::Hours))
    };
    let context = ParseContext {
        // The names of the calendars and schedules are unknown here.
        calendars: Calendars::default().accepting_any(),
        schedules: NamedSchedules::default().accepting_any(),
        ..ParseContext::default()
    };
    read(&inputs.with(key, text), &context)
}

/// A valid text for a key.
pub(crate) fn valid_text(key: Key) -> &'static str {
    match key {
        Key::Start => "Mon-Fri 09:00",
        Key::Stop => "Mon-Fri 19:00",
        Key::Hours => "Mon-Fri 09:00-19:00; Sat 10:00-14:00",
        Key::Scale => "Mon-Fri 08:00 = 5; 19:00 = 0",
        Key::NamedSchedule => "office",
        Key::Timezone => "Europe/Berlin",
        Key::Replicas => "3",
        Key::StopReplicas => "0",
        Key::Jitter => "5m",
        Key::Notice => "15m",
        Key::ReadyWithin => "20m",
        Key::Except => "2026-12-28..2027-01-03; 2027-01-11",
        Key::TreatAs => "2026-10-10 = Mon",
        Key::Extra => "2026-12-05 09:00-18:00",
        Key::StopAfter => "8h",
        Key::After => "sts/db; deploy/cache, 5m",
        Key::Pause | Key::Enforce | Key::Exclude | Key::AllowVolumeDeletion | Key::StopJobs => {
            "true"
        }
        Key::TeamDefaults => "false",
        Key::WakeUntil | Key::SleepUntil => "2026-12-24 22:00",
        Key::Reason => "migration of the database",
        Key::OverrideBy => "jane@example.com",
        Key::WakeOnRequest => "2h",
        Key::WakeOnRequestIgnore => "/healthz; /metrics",
        Key::WakeOnRequestAnswer => "/healthz; /ping",
    }
}

/// A valid line for a key, as it is written in a manifest.
pub(crate) fn valid_line(prefix: &Prefix, key: Key) -> String {
    format!("{}: \"{}\"", prefix.annotation(key), valid_text(key))
}
