//! Why a schedule is refused.

use std::{fmt, ops::Range};

use crate::{
    schedule::{Meant, TextError, TextReason},
    text::{cut_bytes, cut_chars, quote},
};

use super::effective::{Inputs, Origin};
use crate::workload::keys::{Key, Prefix};
use crate::workload::volumes::VolumeRetention;

/// One thing wrong with one annotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What sort of thing it is.
    pub kind: ProblemKind,
    /// Where the annotation is written.
    pub origin: Origin,
    /// The annotation's name behind the prefix: a [`Key`]'s, or an unknown one.
    pub annotation: Box<str>,
    /// What is wrong and what to write instead.
    pub message: Box<str>,
    /// Which bytes of the annotation's text are at fault.
    pub span: Range<usize>,
    /// What was meant by the text, where that is clear.
    pub meant: Option<Meant>,
}

/// The sorts of things that can be wrong with an annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// Its text cannot be read.
    Text,
    /// It names a calendar that is not known, or cannot be read.
    Calendar,
    /// Its dates, among which those of calendars may be, contradict each other or are too many.
    Dates,
    /// Its name is not a [`Key`].
    UnknownKey,
    /// It is an override, and there is no schedule.
    NoSchedule,
    /// Another annotation excludes it.
    Beside,
    /// The kind of the object has no use for it.
    Meaningless,
    /// It is a value that the API server does not take for an annotation: no text.
    NotText,
    /// The manifest has it twice.
    Twice,
    /// It is no annotation but the object's own count, which is none.
    Count,
    /// It does not allow that a stop deletes the object's volumes, which it would.
    Volumes,
}

impl Problem {
    /// A problem with the text of a key, as its parser put it.
    pub(in crate::workload) fn of(key: Key, error: &TextError) -> Self {
        let kind = match error.reason() {
            TextReason::UnknownCalendar { .. } | TextReason::UnreadableCalendar { .. } => {
                ProblemKind::Calendar
            }
            TextReason::TreatedTwice { .. } | TextReason::TooManyTreated { .. } => {
                ProblemKind::Dates
            }
            _ => ProblemKind::Text,
        };
        Self {
            kind,
            meant: error.meant().cloned(),
            ..Self::at(key.name(), error.span(), error.to_string())
        }
    }

    /// Something wrong with the whole text of a key.
    pub(in crate::workload) fn of_text(key: Key, text: &str, message: &str) -> Self {
        let message = format!("`{}` {message}", quote(text));
        Self::at(key.name(), 0..text.len(), message)
    }

    /// The refusal to scale down what deletes its volumes then.
    pub(in crate::workload) fn of_volumes(inputs: &Inputs) -> Self {
        let key = Key::AllowVolumeDeletion;
        let length = inputs.text(key).map_or(0, str::len);
        let message = format!(
            "scaling this down deletes its volumes, as its {} is Delete; set that to Retain, or write {key}: \"true\" on the object itself if the data may be lost",
            VolumeRetention::PATH.join(".")
        );
        Self::at(key.name(), 0..length, message).of_kind(ProblemKind::Volumes)
    }

    pub(in crate::workload) fn at(annotation: &str, span: Range<usize>, message: String) -> Self {
        Self {
            kind: ProblemKind::Text,
            origin: Origin::Own,
            annotation: annotation.into(),
            message: message.into(),
            span,
            meant: None,
        }
    }

    /// This problem with another text for the whole annotation, which can be read.
    pub(in crate::workload) fn meaning(self, text: Option<&str>) -> Self {
        let meant = text.map(|text| Meant::Instead {
            place: self.span.clone(),
            text: text.into(),
        });
        Self { meant, ..self }
    }

    /// This problem with another kind.
    pub(in crate::workload) fn of_kind(self, kind: ProblemKind) -> Self {
        Self { kind, ..self }
    }
}

/// Everything wrong with the annotations of one object; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSchedule {
    problems: Vec<Problem>,
}

/// The longest text of the annotation `error`, in bytes.
const LIMIT: usize = 1024;

impl InvalidSchedule {
    /// A refusal for these problems; `None` without any.
    pub(in crate::workload) fn for_problems(problems: Vec<Problem>) -> Option<Self> {
        if problems.is_empty() {
            None
        } else {
            Some(Self { problems })
        }
    }

    /// The refusal of an object whose count is none, but this.
    pub(in crate::workload) fn of_count(quoted: &str) -> Self {
        let message = format!("`{quoted}` is not a count; write a number, such as 3");
        let problem = Problem::at("spec.replicas", 0..0, message);
        Self {
            problems: vec![problem.of_kind(ProblemKind::Count)],
        }
    }

    /// The refusal of an object whose kind has no count.
    pub(in crate::workload) fn of_missing_count(kind: &str) -> Self {
        let message = format!(
            "a {kind} has no such field, and the API server drops what is written there, so dayshift cannot scale it; remove the schedule, or take the kind out of --kinds"
        );
        let problem = Problem::at("spec.replicas", 0..0, message);
        Self {
            problems: vec![problem.of_kind(ProblemKind::Count)],
        }
    }

    /// The problems, in the order of the documentation of their annotations.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Whether none of them is on the object: then it is for whoever may change its Namespace.
    pub fn is_inherited(&self) -> bool {
        let mut problems = self.problems.iter();
        problems.all(|it| it.origin != Origin::Own)
    }

    /// The text for the annotation `error` and the Event: at most 1 kB, cut between characters.
    pub fn text(&self, prefix: &Prefix) -> String {
        let mut text = String::new();
        for problem in &self.problems {
            let separator = if text.is_empty() { "" } else { "\n" };
            let name = cut_chars(&problem.annotation, 60);
            let place = match problem.origin {
                Origin::Own => String::new(),
                elsewhere => format!(" {}", elsewhere.place()),
            };
            let name = match problem.kind {
                ProblemKind::Count => name.to_owned(),
                _ => prefix.full(name),
            };
            text += &format!("{separator}{name}{place}: {}", problem.message);
        }
        if text.len() > LIMIT {
            let kept = cut_bytes(&text, LIMIT - '…'.len_utf8()).len();
            text.truncate(kept);
            text.push('…');
        }
        text
    }
}

impl fmt::Display for InvalidSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(&Prefix::default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_cut_at_one_kilobyte_between_characters() {
        let problem = Problem::at("start", 0..1, "é".repeat(400));
        let refusal = InvalidSchedule::for_problems(vec![problem.clone(), problem]).unwrap();
        let text = refusal.text(&Prefix::default());
        assert!(
            text.len() <= LIMIT && text.len() > LIMIT - 8,
            "{}",
            text.len()
        );
        assert!(text.ends_with("é…"));
    }
}
