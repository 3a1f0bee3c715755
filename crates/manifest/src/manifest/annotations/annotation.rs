//! An annotation or a label, and where it stands.

use std::ops::Range;

use dayshift_schedule::{Diagnostic, DiagnosticKind};
use dayshift_text::quote;

use crate::manifest::tree::{
    location::Location,
    node::{Entry, Node},
    scalar::Scalar,
};

/// An annotation or a label, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// The name behind the prefix.
    pub name: Box<str>,
    /// Its text, without quotes and escapes.
    pub text: Box<str>,
    /// Where its key stands, with the quotes if it has any.
    pub key: Location,
    /// Where its value stands, with the quotes if it has any.
    pub value: Location,
    /// Which byte of the file the text begins at, if it stands there letter by letter.
    verbatim: Option<usize>,
}

impl Annotation {
    /// Reads an entry of a map under a name of the caller's choice; `source` is the file's text.
    pub(crate) fn read(name: &str, entry: &Entry<'_>, source: &str) -> Self {
        let value = &*entry.value;
        let raw = source.get(value.place.span.clone()).unwrap_or_default();
        let text = match value.scalar() {
            // The API server makes an empty text of it.
            Some(Scalar::Null) => "",
            _ => value.written().unwrap_or_default(),
        };
        let inner = ['"', '\'']
            .into_iter()
            .find_map(|it| raw.strip_prefix(it)?.strip_suffix(it));
        Self {
            name: name.into(),
            text: text.into(),
            key: entry.key.place.clone(),
            value: value.place.clone(),
            verbatim: (inner.unwrap_or(raw) == text)
                .then_some(value.place.span.start + usize::from(inner.is_some())),
        }
    }

    /// Moves it to the text that holds it, of which a part cannot be told apart in the file.
    pub(crate) fn move_to(&mut self, place: &Location) {
        self.key = place.clone();
        self.value = place.clone();
        self.verbatim = None;
    }

    /// Whether a tool fills the text in before anything is applied: a template of Helm, a variable of
    /// Flux or a parameter of a Template.
    pub fn is_filled_in(&self) -> bool {
        is_filled_in(&self.text)
    }

    /// Whether its text stands in the file letter by letter, so that a part of it does, too.
    pub fn is_verbatim(&self) -> bool {
        self.verbatim.is_some()
    }

    /// Where bytes of the text stand in the file: exactly, where the text is plain or quoted in
    /// one line without an escape; of any other the whole value.
    pub fn locate(&self, span: &Range<usize>) -> Location {
        let exact = self.verbatim.and_then(|begin| {
            let before = self.text.get(..span.start)?;
            self.text.get(span.clone())?;
            let quotes = begin - self.value.span.start;
            Some(Location {
                line: self.value.line,
                column: self.value.column + quotes + before.chars().count(),
                span: begin + span.start..begin + span.end,
            })
        });
        exact.unwrap_or_else(|| self.value.clone())
    }
}

/// Whether a tool fills a text in before anything is applied.
pub(crate) fn is_filled_in(text: &str) -> bool {
    ["{{", "${", "$("].iter().any(|sign| text.contains(sign))
}

/// Why a value is not what the API server takes for the text of an annotation.
pub(crate) fn not_text(value: &Node<'_>, text: &str) -> Option<Diagnostic> {
    if matches!(value.scalar(), Some(Scalar::Null | Scalar::Text)) {
        return None;
    }
    let (what, only) = (value.what(), "but the API server accepts only text");
    let (found, wrong, help) = match value.written() {
        Some(it) => (
            it,
            format!("is {what} in YAML, {only}"),
            format!("write \"{}\"", quote(it)),
        ),
        None => (
            "",
            format!("is {what}, {only}"),
            "write text in quotes".to_owned(),
        ),
    };
    let diagnostic = Diagnostic::new(0..text.len(), found, wrong, help);
    Some(diagnostic.with_kind(DiagnosticKind::NotText))
}
