//! Why a schedule is refused.

use std::{borrow::Cow, fmt};

use dayshift_schedule::{Diagnostic, DiagnosticKind};
use dayshift_text::{cut_bytes, cut_chars};

use crate::{
    inputs::{
        annotations::Origin,
        effective::{Inputs, VolumeRetention},
    },
    keys::{Key, Prefix},
};

/// One thing wrong with one annotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where the annotation is written.
    pub origin: Origin,
    /// The annotation's name behind the prefix: a [`Key`]'s, or an unknown one.
    pub annotation: Box<str>,
    /// What is wrong with its text.
    pub diagnostic: Diagnostic,
}

impl Problem {
    /// Something wrong with the text of an annotation on the object itself.
    pub fn new(annotation: &str, diagnostic: Diagnostic) -> Self {
        Self {
            origin: Origin::Own,
            annotation: annotation.into(),
            diagnostic,
        }
    }

    /// The same of an annotation that is written elsewhere.
    pub fn from(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }

    /// Something wrong with the whole text of a key, and what to do.
    pub(crate) fn for_text(
        key: Key,
        text: &str,
        wrong: impl Into<Cow<'static, str>>,
        help: impl Into<Cow<'static, str>>,
    ) -> Self {
        let diagnostic = Diagnostic::new(0..text.len(), text, wrong, help);
        Self::new(key.name(), diagnostic)
    }

    /// The same of another kind.
    pub(crate) fn with_kind(self, kind: DiagnosticKind) -> Self {
        let diagnostic = self.diagnostic.with_kind(kind);
        Self { diagnostic, ..self }
    }

    /// The full name of the annotation, cut where it is long; or of the field, where it is none.
    pub fn name(&self, prefix: &Prefix) -> String {
        let is_key = Key::from_name(&self.annotation).is_some();
        let name = cut_chars(&self.annotation, 60);
        match self.diagnostic.kind() {
            DiagnosticKind::Object if !is_key => name.to_owned(),
            _ => prefix.full(name),
        }
    }

    /// An annotation of that name, with a text of that length, is not a key; `more` are unknown besides.
    pub(crate) fn unknown_annotation(name: &str, length: usize, more: usize) -> Self {
        let mut help = match Key::nearest(name) {
            Some(key) => format!("did you mean `{key}`?"),
            None => format!("the annotations are {}", Key::ALL.map(Key::name).join(", ")),
        };
        if more > 0 {
            help += &format!("; {more} more annotations are unknown");
        }
        let wrong = "is not an annotation of dayshift";
        Self::new(name, Diagnostic::new(0..length, name, wrong, help))
    }

    /// The refusal to scale down what deletes its volumes then.
    pub(crate) fn deletes_volumes(inputs: &Inputs) -> Self {
        let key = Key::AllowVolumeDeletion;
        let length = inputs.text(key).map_or(0, str::len);
        let wrong = format!(
            "scaling this down deletes its volumes, because its {} is Delete",
            VolumeRetention::PATH.join(".")
        );
        let help = format!(
            "set that to Retain, or write {key}: \"true\" on the object itself if the data may be lost"
        );
        let diagnostic = Diagnostic::new(0..length, "", wrong, help);
        Self::new(key.name(), diagnostic).with_kind(DiagnosticKind::Object)
    }

    /// The refusal of an object for what stands in a field of its own.
    fn for_field(
        field: &str,
        found: &str,
        wrong: impl Into<Cow<'static, str>>,
        help: &'static str,
    ) -> Self {
        let diagnostic = Diagnostic::new(0..0, found, wrong, help);
        Self::new(field, diagnostic).with_kind(DiagnosticKind::Object)
    }
}

/// Everything wrong with the annotations of one object; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSchedule {
    problems: Vec<Problem>,
}

/// The longest text of the annotation `error`, in bytes.
const MAX_ERROR: usize = 1024;

impl InvalidSchedule {
    /// A refusal for these problems; `None` without any.
    pub(crate) fn from_problems(problems: Vec<Problem>) -> Option<Self> {
        if problems.is_empty() {
            None
        } else {
            Some(Self { problems })
        }
    }

    /// The refusal of an object for what stands where its count or its switch does, whatever its
    /// schedule.
    pub(crate) fn for_field(
        field: &str,
        found: &str,
        wrong: impl Into<Cow<'static, str>>,
        help: &'static str,
    ) -> Self {
        Self {
            problems: vec![Problem::for_field(field, found, wrong, help)],
        }
    }

    /// The problems, in the order of the documentation of their annotations.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Whether none of them is on the object: then it is for whoever may change its Namespace.
    pub fn is_inherited(&self) -> bool {
        let mut problems = self.problems.iter();
        problems.all(|problem| problem.origin != Origin::Own)
    }

    /// The text for the annotation `error` and the Event: at most 1 kB, cut between characters.
    pub fn text(&self, prefix: &Prefix) -> String {
        let mut text = String::new();
        for problem in &self.problems {
            let separator = if text.is_empty() { "" } else { "\n" };
            let place = match problem.origin {
                Origin::Own => String::new(),
                elsewhere => format!(" {}", elsewhere.place()),
            };
            let name = problem.name(prefix);
            text += &format!("{separator}{name}{place}: {}", problem.diagnostic);
        }
        if text.len() > MAX_ERROR {
            let kept = cut_bytes(&text, MAX_ERROR - '…'.len_utf8()).len();
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
        let problem = Problem::new("start", Diagnostic::new(0..1, "", "é".repeat(400), ""));
        let refusal = InvalidSchedule::from_problems(vec![problem.clone(), problem]).unwrap();
        let text = refusal.text(&Prefix::default());
        assert!(
            text.len() <= MAX_ERROR && text.len() > MAX_ERROR - 8,
            "{}",
            text.len()
        );
        assert!(text.ends_with("é…"));
    }
}
