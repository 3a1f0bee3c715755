//! Annotations: their values, their defaults, their meaning, and why they are rejected.

use std::{borrow::Cow, fmt};

use dayshift_schedule::{Diagnostic, DiagnosticKind};
use dayshift_text::{cut_bytes, cut_chars, quote};

use crate::{
    inputs::{
        annotations::{Excess, MAX_TEXTS, Origin},
        effective::{Inputs, VolumeRetention},
    },
    keys::{Key, Prefix},
};

pub(super) mod after;
pub(super) mod annotations;
pub(super) mod effective;
pub(super) mod inheritance;
pub(super) mod overrides;
pub(super) mod parse;
pub(super) mod spec;

/// A problem with one annotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where the annotation is written, or named if it is in a schedule.
    pub origin: Origin,
    /// The named schedule with the value, if it is in one.
    pub schedule: Option<Box<str>>,
    /// The name after the prefix, of a [`Key`] or unknown.
    pub annotation: Box<str>,
    /// The problem with its value.
    pub diagnostic: Diagnostic,
}

impl Problem {
    /// A problem with the value of an annotation on the object itself.
    pub fn new(annotation: &str, diagnostic: Diagnostic) -> Self {
        Self {
            origin: Origin::Own,
            schedule: None,
            annotation: annotation.into(),
            diagnostic,
        }
    }

    /// Sets where the annotation is written.
    pub fn from(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }

    /// Sets the named schedule with the value.
    pub(super) fn in_schedule(self, name: &str) -> Self {
        let schedule = Some(name.into());
        Self { schedule, ..self }
    }

    /// A problem with the whole value of a key, and its fix.
    pub(crate) fn for_text(
        key: Key,
        text: &str,
        wrong: impl Into<Cow<'static, str>>,
        help: impl Into<Cow<'static, str>>,
    ) -> Self {
        let diagnostic = Diagnostic::new(0..text.len(), text, wrong, help);
        Self::new(key.name(), diagnostic)
    }

    /// Sets the kind of the diagnostic.
    pub(crate) fn with_kind(self, kind: DiagnosticKind) -> Self {
        let diagnostic = self.diagnostic.with_kind(kind);
        Self { diagnostic, ..self }
    }

    /// The annotation, or the schedule and its key if the value is in a named schedule:
    /// `dayshift/hours`, ``schedule `office`, key `hours` ``. A key of a ConfigMap has no prefix.
    pub fn name(&self, prefix: &Prefix) -> String {
        match &self.schedule {
            None if self.origin == Origin::Team => cut_chars(&self.annotation, 60).to_owned(),
            None => self.annotation_name(prefix),
            Some(schedule) if self.annotation.is_empty() => format!("schedule `{schedule}`"),
            Some(schedule) => {
                let key = quote(cut_chars(&self.annotation, 60));
                format!("schedule `{schedule}`, key `{key}`")
            }
        }
    }

    /// The full name of the annotation, truncated if it is long, or the path of the field if the
    /// problem is not about an annotation.
    pub fn annotation_name(&self, prefix: &Prefix) -> String {
        let is_key = Key::from_name(&self.annotation).is_some();
        let name = cut_chars(&self.annotation, 60);
        match self.diagnostic.kind() {
            DiagnosticKind::Object if !is_key => name.to_owned(),
            _ => prefix.full(name),
        }
    }

    /// The same with the place of the value, such as `dayshift/hours on the Namespace`.
    pub fn subject(&self, prefix: &Prefix) -> String {
        let name = self.name(prefix);
        match (&self.schedule, self.origin) {
            (Some(_), _) | (None, Origin::Own) => name,
            (None, elsewhere) => format!("{name} {}", elsewhere.place()),
        }
    }

    /// An annotation with this name and length is not a key, and so are `more` others.
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

    /// The annotations of an object have too many bytes together, or those of its namespace. `first`
    /// is the first of them.
    pub(crate) fn excess(excess: Excess, first: Option<Key>) -> Self {
        let (wrong, help) = match excess {
            Excess::Object(bytes) => (
                format!(
                    "the annotations of dayshift have at least {bytes} bytes together, and at most \
                        {MAX_TEXTS} are read"
                ),
                "shorten or remove some",
            ),
            Excess::Namespace { bytes, limit } => (
                format!(
                    "the annotations of dayshift have {bytes} bytes, and the long ones of all older \
                        workloads in this namespace use the {limit} bytes that dayshift keeps"
                ),
                "shorten them here or there, or write defaults on the Namespace",
            ),
        };
        match first {
            Some(key) => Self::for_text(key, "", wrong, help),
            None => Self::for_field("metadata.annotations", "", wrong, help),
        }
    }

    /// A stop would delete the object's volumes.
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

    /// A problem with a field of the object.
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

/// All problems with the annotations of one object; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSchedule {
    problems: Vec<Problem>,
}

/// The maximum length of the annotation `error` in bytes.
pub const MAX_ERROR: usize = 1024;

impl InvalidSchedule {
    /// `None` without problems.
    pub(crate) fn from_problems(problems: Vec<Problem>) -> Option<Self> {
        if problems.is_empty() {
            None
        } else {
            Some(Self { problems })
        }
    }

    /// A problem with the field of the count, regardless of the schedule.
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

    /// The problems, in the order in which their annotations are documented.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The same for the values of a team's ConfigMap, which were read as if they were on an object.
    #[must_use]
    pub fn in_team_defaults(mut self) -> Self {
        for problem in &mut self.problems {
            problem.origin = Origin::Team;
        }
        self
    }

    /// Whether no problem is on the object itself or in its team's ConfigMap. Then only users who may
    /// change its Namespace can correct it.
    pub fn is_inherited(&self) -> bool {
        let mut problems = self.problems.iter();
        problems.all(|problem| matches!(problem.origin, Origin::Namespace | Origin::Controller))
    }

    /// The same without copies of the annotations: proposals are searched now, and long ones are
    /// forgotten. Problems that [`Self::text`] has no room for are left out.
    #[must_use]
    pub fn compacted(self) -> Self {
        let mut length = 0;
        let (mut has_own, mut has_calendar) = (false, false);
        let is_kept = |problem: &Problem| {
            let is_own = problem.origin == Origin::Own;
            let is_calendar = problem.diagnostic.kind() == DiagnosticKind::Calendar;
            let is_first = is_own && !has_own || is_calendar && !has_calendar;
            let is_shown = length < MAX_ERROR;
            has_own |= is_own;
            has_calendar |= is_calendar;
            length += problem.diagnostic.to_string().len();
            is_shown || is_first
        };
        let mut problems = self.problems;
        problems.retain(is_kept);
        for problem in &mut problems {
            problem.diagnostic.compact();
        }
        problems.shrink_to_fit();
        Self { problems }
    }

    /// The text for the annotation `error` and the Event: at most 1 kB, truncated between
    /// characters.
    pub fn text(&self, prefix: &Prefix) -> String {
        let mut text = String::new();
        for problem in &self.problems {
            let separator = if text.is_empty() { "" } else { "\n" };
            let subject = problem.subject(prefix);
            text += &format!("{separator}{subject}: {}", problem.diagnostic);
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
    fn truncates_the_text_to_one_kilobyte_between_characters() {
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
