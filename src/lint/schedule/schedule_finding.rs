//! One thing to say of a schedule, wherever it stands.

use std::ops::Range;

use crate::lint::rule::LintRule;
use crate::lint::schedule::examples::right_line;
use crate::{
    schedule::{Calendars, Meant},
    workload::{Inputs, Key, Origin, Prefix, Problem, ProblemKind},
};

/// A finding in the text of an annotation. Equal inputs get equal findings, so they are shared.
#[derive(Clone, Debug)]
pub(in crate::lint) struct ScheduleFinding {
    pub(in crate::lint) rule: LintRule,
    /// The annotation's name behind the prefix.
    pub(in crate::lint) name: Box<str>,
    pub(in crate::lint) span: Range<usize>,
    pub(in crate::lint) message: String,
    pub(in crate::lint) help: String,
    /// Where the annotation is written.
    pub(in crate::lint) origin: Origin,
    /// What was meant by the text.
    pub(in crate::lint) meant: Option<Meant>,
}

impl ScheduleFinding {
    /// A finding about the whole text of a key.
    pub(in crate::lint) fn on(
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
    pub(in crate::lint) fn at(self, span: Range<usize>) -> Self {
        Self { span, ..self }
    }

    /// What a problem is to lint.
    pub(in crate::lint) fn of_problem(problem: &Problem, prefix: &Prefix) -> Self {
        let key = Key::from_name(&problem.annotation);
        let example = key.or_else(|| Key::nearest(&problem.annotation));
        let is_count = matches!(key, Some(Key::Replicas | Key::StopReplicas));
        let help = match problem.kind {
            ProblemKind::Volumes => format!(
                "set whenScaled to Retain, or write {} on the object",
                right_line(prefix, Key::AllowVolumeDeletion)
            ),
            ProblemKind::Meaningless => format!("remove {}", prefix.full(&problem.annotation)),
            ProblemKind::Beside if is_count => format!(
                "remove {}, or write a schedule of its own, such as {}",
                prefix.full(&problem.annotation),
                right_line(prefix, Key::Hours)
            ),
            ProblemKind::Beside => format!(
                "remove {}, or the annotations beside it that it excludes",
                prefix.full(&problem.annotation)
            ),
            ProblemKind::NoSchedule => format!(
                "write {} beside it, or remove {}",
                right_line(prefix, Key::Hours),
                prefix.full(&problem.annotation)
            ),
            _ => format!(
                "write for example {}",
                right_line(prefix, example.unwrap_or(Key::Start))
            ),
        };
        Self {
            rule: rule_of(problem.kind, key),
            name: problem.annotation.clone(),
            span: problem.span.clone(),
            message: problem.message.to_string(),
            help,
            origin: problem.origin,
            meant: problem.meant.clone(),
        }
    }

    /// The same with the calendars that are known, where the problem is one that is not, or that
    /// cannot be read.
    pub(in crate::lint) fn with_calendars(
        self,
        problem: &Problem,
        inputs: &Inputs,
        prefix: &Prefix,
        calendars: &Calendars,
    ) -> Self {
        if problem.kind != ProblemKind::Calendar {
            return self;
        }
        let key = Key::from_name(&problem.annotation).unwrap_or(Key::Except);
        let name = prefix.annotation(key);
        let text = inputs.text(key).unwrap_or_default();
        let word = text.get(self.span.clone()).unwrap_or_default();
        let help = match calendars.iter().next() {
            _ if calendars.is_unreadable(word) => {
                format!("correct the file, or give another with --calendar {word}=FILE.ics")
            }
            Some((known, _)) => {
                let day = if key == Key::TreatAs { " = Mon" } else { "" };
                format!("write for example {name}: \"calendar:{known}{day}\"")
            }
            None => format!("give the file that the scaler has: --calendar {word}=FILE.ics"),
        };
        Self { help, ..self }
    }

    /// Whether it says the same of the same annotation.
    pub(in crate::lint) fn is_like(&self, other: &Self) -> bool {
        let it = |it: &Self| (it.rule, it.span.clone(), it.origin);
        it(self) == it(other) && self.name == other.name
    }
}

fn rule_of(kind: ProblemKind, key: Option<Key>) -> LintRule {
    match (kind, key) {
        (ProblemKind::UnknownKey, _)
        | (ProblemKind::Text | ProblemKind::Meaningless | ProblemKind::NoSchedule, None) => {
            LintRule::UnknownAnnotation
        }
        (ProblemKind::Dates, _) | (ProblemKind::Calendar, Some(Key::TreatAs)) => {
            LintRule::BadTreatAs
        }
        (ProblemKind::Calendar, _) => LintRule::BadExcept,
        (ProblemKind::NotText, _) => LintRule::NotText,
        (ProblemKind::Count, _) => LintRule::BadCount,
        (ProblemKind::Volumes, _) => LintRule::DeletesVolumes,
        (ProblemKind::Twice, _) => LintRule::DuplicateAnnotation,
        (ProblemKind::Beside, Some(Key::Scale | Key::Replicas | Key::StopReplicas)) => {
            LintRule::ScaleBesideOthers
        }
        (ProblemKind::Beside, _) => LintRule::HoursBesideTimes,
        (ProblemKind::Text | ProblemKind::Meaningless | ProblemKind::NoSchedule, Some(key)) => {
            match key {
                Key::Start | Key::Stop => LintRule::BadTimes,
                Key::Hours => LintRule::BadHours,
                Key::Scale => LintRule::BadScale,
                Key::Timezone => LintRule::BadTimezone,
                Key::Replicas | Key::StopReplicas => LintRule::BadCount,
                Key::Jitter => LintRule::BadJitter,
                Key::Except => LintRule::BadExcept,
                Key::TreatAs => LintRule::BadTreatAs,
                Key::Pause
                | Key::WakeUntil
                | Key::SleepUntil
                | Key::Enforce
                | Key::Exclude
                | Key::AllowVolumeDeletion => LintRule::BadOverride,
            }
        }
    }
}
