//! One thing to say of a schedule, wherever it stands.

use std::ops::Range;

use dayshift_schedule::{DiagnosticKind, Proposal};
use dayshift_workload::{Inputs, Key, Origin, Prefix, Problem};

use crate::lint::{
    rule::LintRule,
    schedule::{
        examples::right_line,
        repair::{own_line, repaired_lines},
    },
};

/// A finding in the text of an annotation. Equal inputs get equal findings, so they are shared.
#[derive(Clone, Debug)]
pub(crate) struct ScheduleFinding {
    pub(crate) rule: LintRule,
    /// The annotation's name behind the prefix.
    pub(crate) name: Box<str>,
    pub(crate) span: Range<usize>,
    pub(crate) message: String,
    pub(crate) help: String,
    /// Where the annotation is written.
    pub(crate) origin: Origin,
    /// What was meant by the text.
    pub(crate) meant: Option<Proposal>,
}

impl ScheduleFinding {
    /// A finding about the whole text of a key.
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
            meant: None,
        }
    }

    /// This finding, of these bytes of the text alone.
    pub(crate) fn at(self, span: Range<usize>) -> Self {
        Self { span, ..self }
    }

    /// What a problem is to lint.
    pub(crate) fn of_problem(problem: &Problem, prefix: &Prefix) -> Self {
        let diagnostic = &problem.diagnostic;
        let rule = rule_of(diagnostic.kind(), Key::from_name(&problem.annotation));
        let help = match rule {
            LintRule::DeletesVolumes => format!(
                "set whenScaled to Retain, or write {} on the object",
                right_line(prefix, Key::AllowVolumeDeletion)
            ),
            _ => diagnostic.help(),
        };
        let message = diagnostic.message();
        // Where no part of the text is quoted, the annotation is the subject.
        let is_without = ["is ", "needs "].iter().any(|it| message.starts_with(it));
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
            meant: diagnostic.proposal(),
        }
    }

    /// What to do about it where this is the text: to write what was meant, if all of it can be put
    /// right.
    pub(crate) fn help_for(&self, text: &str, prefix: &Prefix) -> String {
        let key = Key::from_name(&self.name);
        let lines = match (self.rule, key) {
            (LintRule::UnknownAnnotation, _) => {
                Key::nearest(&self.name).map(|meant| own_line(prefix, meant, text))
            }
            (LintRule::NotText, Some(key)) => Some(own_line(prefix, key, text)),
            (_, Some(key)) => {
                let meant = self.meant.as_ref();
                meant.and_then(|meant| repaired_lines(prefix, key, text, meant))
            }
            _ => None,
        };
        lines.map_or_else(|| self.help.clone(), |lines| format!("write {lines}"))
    }

    /// Whether it says the same of the same annotation.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let it = |it: &Self| (it.rule, it.span.clone(), it.origin);
        it(self) == it(other) && self.name == other.name
    }
}

fn rule_of(kind: DiagnosticKind, key: Option<Key>) -> LintRule {
    match (kind, key) {
        (DiagnosticKind::NotText, _) => LintRule::NotText,
        (DiagnosticKind::Duplicate, _) => LintRule::DuplicateAnnotation,
        (DiagnosticKind::Object, Some(Key::AllowVolumeDeletion)) => LintRule::DeletesVolumes,
        (DiagnosticKind::Object, _) => LintRule::BadCount,
        (DiagnosticKind::Conflict, Some(Key::Scale | Key::Replicas | Key::StopReplicas)) => {
            LintRule::ScaleBesideOthers
        }
        (DiagnosticKind::Conflict, _) => LintRule::HoursBesideTimes,
        (_, None) => LintRule::UnknownAnnotation,
        (_, Some(key)) => match key {
            Key::Start | Key::Stop => LintRule::BadTimes,
            Key::Hours => LintRule::BadHours,
            Key::Scale => LintRule::BadScale,
            Key::Timezone => LintRule::BadTimezone,
            Key::Replicas | Key::StopReplicas => LintRule::BadCount,
            Key::Jitter => LintRule::BadJitter,
            Key::Except => LintRule::BadExcept,
            Key::TreatAs => LintRule::BadTreatAs,
            Key::After => LintRule::BadAfter,
            Key::Pause
            | Key::WakeUntil
            | Key::SleepUntil
            | Key::Enforce
            | Key::Exclude
            | Key::Notice
            | Key::ReadyWithin
            | Key::AllowVolumeDeletion
            | Key::StopJobs
            | Key::Reason
            | Key::OverrideBy => LintRule::BadOverride,
            Key::WakeOnRequest | Key::WakeOnRequestIgnore => LintRule::BadWakeOnRequest,
        },
    }
}
