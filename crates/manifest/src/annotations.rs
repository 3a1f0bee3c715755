//! An annotation or a label, and where it stands.
//!
//! The annotations of one object under the prefix.
//!
//! Names like ours at any place of an object where names stand.
//!
//! What is alike for every object of a file.

use std::{collections::HashMap, ops::Range};

use dayshift_schedule::{Diagnostic, DiagnosticKind};
use dayshift_text::quote;
use dayshift_workload::{Label, Origin, Prefix, Problem};

use crate::yaml::{
    ParseError,
    node::{Location, MapEntry, Node, NodeContent, Scalar},
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
    pub(crate) fn read(name: &str, entry: &MapEntry<'_>, source: &str) -> Self {
        let value = &*entry.value;
        let raw = source.get(value.place.span.clone()).unwrap_or_default();
        let text = match value.scalar() {
            // The API server makes an empty text of it.
            Some(Scalar::Null) => "",
            _ => value.written().unwrap_or_default(),
        };
        let inner = ['"', '\'']
            .into_iter()
            .find_map(|quote| raw.strip_prefix(quote)?.strip_suffix(quote));
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
    let (what, only) = (value.type_name(), "but the API server accepts only text");
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

/// What the API server takes of one object's annotations, names and texts together, in bytes.
const MAX_ANNOTATIONS: usize = 256 << 10;

/// The annotations of one object under the prefix, and why some are not what the API server will
/// take them for.
#[derive(Debug, Default)]
pub(crate) struct AnnotationMap {
    /// In the order of the file; each name once.
    pub(crate) annotations: Vec<Annotation>,
    /// One at most for each of them.
    pub(crate) problems: Vec<Problem>,
}

impl AnnotationMap {
    /// Reads those of an object, by its metadata. `origin` is what the object is to whoever
    /// reads them.
    pub(crate) fn read(
        metadata: &Node<'_>,
        scope: ReadScope<'_>,
        origin: Origin,
    ) -> Result<Self, ParseError> {
        let Some(annotations) = metadata.get("annotations") else {
            return Ok(Self::default());
        };
        if annotations.type_name() != "a map" {
            let message = format!(
                "metadata.annotations is {}, not a map",
                annotations.type_name()
            );
            return Err(ParseError::at(&annotations.place, message));
        }
        let length =
            |entry: &MapEntry<'_>| entry.name().len() + entry.value.written().map_or(0, str::len);
        if annotations.entries().iter().map(length).sum::<usize>() > MAX_ANNOTATIONS {
            let message = "these annotations are larger than 256 kB, the limit of the API server";
            return Err(ParseError::at(&annotations.place, message));
        }
        Ok(Self::from_entries(annotations.entries(), scope, origin))
    }

    /// Reads those among the entries of a map.
    pub(crate) fn from_entries(
        entries: &[MapEntry<'_>],
        scope: ReadScope<'_>,
        origin: Origin,
    ) -> Self {
        // With each, what is wrong with it, and whether `<<` brought it in.
        let mut found: Vec<(Annotation, Option<Problem>, bool)> = Vec::new();
        let mut seen = HashMap::new();
        for entry in entries {
            let Some(name) = scope.prefix.strip(entry.name()) else {
                continue;
            };
            let annotation = Annotation::read(name, entry, scope.source);
            let problem = not_text(&entry.value, &annotation.text)
                .map(|diagnostic| Problem::new(name, diagnostic).from(origin));
            let at = *seen.entry(name).or_insert(found.len());
            match found.get_mut(at) {
                None => found.push((annotation, problem, entry.merged)),
                Some(earlier) => {
                    let twice = (!earlier.2).then(|| twice(&annotation, &earlier.0, origin));
                    *earlier = (annotation, twice.or(problem), entry.merged);
                }
            }
        }
        let mut map = Self::default();
        for (annotation, problem, _) in found {
            map.annotations.push(annotation);
            map.problems.extend(problem);
        }
        map
    }

    /// Their full names and texts.
    pub(crate) fn texts(&self, prefix: &Prefix) -> Vec<(String, &str)> {
        let annotations = self.annotations.iter();
        let texts =
            annotations.map(|annotation| (prefix.full(&annotation.name), &*annotation.text));
        texts.collect()
    }
}

fn twice(annotation: &Annotation, earlier: &Annotation, origin: Origin) -> Problem {
    let wrong = format!(
        "is given twice, in lines {} and {}, and only the last counts",
        earlier.key.line, annotation.key.line
    );
    let diagnostic = Diagnostic::new(0..annotation.text.len(), "", wrong, "remove one");
    Problem::new(
        &annotation.name,
        diagnostic.with_kind(DiagnosticKind::Duplicate),
    )
    .from(origin)
}

/// A name under the prefix, or one that may have been meant to be, where it is no annotation of a
/// workload; or one of another tool's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MisplacedKey {
    /// Where on the object it stands.
    pub site: KeySite,
    /// The map that it stands in, such as `spec.annotations`; empty for the object itself.
    pub path: Box<str>,
    /// What is written there, under its full name.
    pub field: Annotation,
}

/// A map of names on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySite {
    /// `metadata.annotations`.
    Annotations,
    /// `metadata.labels`.
    Labels,
    /// `spec.template.metadata.annotations`.
    TemplateAnnotations,
    /// `spec.template.metadata.labels`.
    TemplateLabels,
    /// Anywhere else, where nobody reads annotations.
    Elsewhere,
}

/// The maps whose names mean something to Kubernetes.
const SITES: [(&str, KeySite); 4] = [
    ("metadata.annotations", KeySite::Annotations),
    ("metadata.labels", KeySite::Labels),
    (
        "spec.template.metadata.annotations",
        KeySite::TemplateAnnotations,
    ),
    ("spec.template.metadata.labels", KeySite::TemplateLabels),
];

/// The prefixes of tools that do the same by annotations of their own.
const OTHER_TOOLS: [&str; 2] = ["downscaler/", "kube-green.dev/"];

/// Whether a name is one of another tool's that starts and stops workloads.
pub fn is_of_other_tool(name: &str) -> bool {
    OTHER_TOOLS.iter().any(|tool| name.starts_with(tool))
}

/// The misplaced keys of an object, in the order in which they are written. Of a workload,
/// annotations under the prefix are what it is scheduled by, and not misplaced; and it is searched
/// everywhere, while an object of another kind may well hold such names for others, as a policy
/// does.
pub(crate) fn misplaced_keys(
    node: &Node<'_>,
    scope: ReadScope<'_>,
    is_workload: bool,
) -> Vec<MisplacedKey> {
    let mut found = Vec::new();
    for (path, site) in SITES {
        let map = path.split('.').try_fold(node, |node, name| node.get(name));
        for entry in map.map_or(&[][..], Node::entries) {
            let name = entry.name();
            let is_input = is_workload && site == KeySite::Annotations;
            let is_ours =
                scope.prefix.resembles(name) && !(is_input && scope.prefix.strip(name).is_some());
            if is_ours || site == KeySite::Annotations && is_of_other_tool(name) {
                found.push(misplaced_key(site, path, entry, scope));
            }
        }
    }
    if is_workload {
        elsewhere(node, &mut Vec::new(), scope, &mut found);
    }
    found.sort_by_key(|key| key.field.key.span.start);
    found
}

fn misplaced_key(
    site: KeySite,
    path: &str,
    entry: &MapEntry<'_>,
    scope: ReadScope<'_>,
) -> MisplacedKey {
    MisplacedKey {
        site,
        path: path.into(),
        field: Annotation::read(entry.name(), entry, scope.source),
    }
}

/// The names under the prefix that stand at none of the sites.
fn elsewhere<'n>(
    node: &'n Node<'_>,
    path: &mut Vec<&'n str>,
    scope: ReadScope<'_>,
    found: &mut Vec<MisplacedKey>,
) {
    match &node.content {
        NodeContent::Scalar { .. } => {}
        NodeContent::List(items) => {
            for item in items {
                path.push("[]");
                elsewhere(item, path, scope, found);
                path.pop();
            }
        }
        NodeContent::Map(entries) => {
            for entry in entries {
                if let Some(name) = scope.prefix.strip(entry.name()) {
                    let here = path.join(".").replace(".[]", "[]");
                    let is_site = SITES.iter().any(|(site, _)| *site == here);
                    // Selectors name the labels that dayshift writes.
                    let may_select = matches!(path.last(), Some(&("matchLabels" | "labels")));
                    let is_state = Label::ALL.iter().any(|label| label.name() == name);
                    if !(is_site || may_select && is_state) {
                        found.push(misplaced_key(KeySite::Elsewhere, &here, entry, scope));
                    }
                }
                path.push(entry.name());
                elsewhere(&entry.value, path, scope, found);
                path.pop();
            }
        }
    }
}

/// The text of the file, and how the objects in it are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadScope<'r> {
    /// The file's name.
    pub(crate) file: &'r str,
    pub(crate) source: &'r str,
    pub(crate) prefix: &'r Prefix,
    /// Where objects are that name no namespace.
    pub(crate) namespace: &'r str,
}
