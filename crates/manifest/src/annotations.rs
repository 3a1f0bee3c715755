//! Annotations and labels of the objects in a file, with their places: those with dayshift's
//! prefix, and names with or like the prefix that are misplaced.
//!
//! A place is exact to the byte if the file contains the value verbatim, so that a finding can
//! point at one word of a schedule.

use std::{collections::HashMap, ops::Range};

use dayshift_schedule::{Diagnostic, DiagnosticKind};
use dayshift_text::quote;
use dayshift_workload::{Annotations, KindTable, Label, Origin, Prefix, Problem};

use crate::yaml::{
    ParseError,
    node::{Location, MapEntry, Node, NodeContent, Scalar},
};

/// An annotation or a label, with its place in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// The name after the prefix.
    pub name: Box<str>,
    /// The value, without quotes and escapes.
    pub text: Box<str>,
    /// The place of the key, with its quotes.
    pub key: Location,
    /// The place of the value, with its quotes.
    pub value: Location,
    /// The byte of the file at which the value begins, if the file contains it verbatim.
    verbatim: Option<usize>,
}

impl Annotation {
    /// Reads an entry of a map. `name` is the name to store, `source` the text of the file.
    pub(crate) fn read(name: &str, entry: &MapEntry<'_>, source: &str) -> Self {
        let value = &*entry.value;
        let raw = source.get(value.place.span.clone()).unwrap_or_default();
        let text = match value.scalar() {
            // The API server stores an empty string.
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

    /// Moves the annotation to the text that contains it, for example an inline patch. Places
    /// within that text are unknown.
    pub(crate) fn move_to(&mut self, place: &Location) {
        self.key = place.clone();
        self.value = place.clone();
        self.verbatim = None;
    }

    /// Whether a tool fills in the value before anything is applied: a Helm template, a Flux
    /// variable or a parameter of a Template.
    pub fn is_filled_in(&self) -> bool {
        is_filled_in(&self.text)
    }

    /// Whether the file contains the value verbatim, and so each part of it.
    pub fn is_verbatim(&self) -> bool {
        self.verbatim.is_some()
    }

    /// The place of some bytes of the value. If the value is not verbatim, for example because of
    /// an escape, the place is that of the whole value.
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

/// Whether a tool fills in a text before anything is applied.
pub(crate) fn is_filled_in(text: &str) -> bool {
    ["{{", "${", "$("].iter().any(|sign| text.contains(sign))
}

/// The problem of a value that the API server does not accept as the value of an annotation.
pub(crate) fn not_text(value: &Node<'_>, text: &str) -> Option<Diagnostic> {
    if matches!(value.scalar(), Some(Scalar::Null | Scalar::Text)) {
        return None;
    }
    let (type_name, only) = (value.type_name(), "but the API server accepts only text");
    let (found, wrong, help) = match value.written() {
        Some(it) => (
            it,
            format!("is {type_name} in YAML, {only}"),
            format!("write \"{}\"", quote(it)),
        ),
        None => (
            "",
            format!("is {type_name}, {only}"),
            "write text in quotes".to_owned(),
        ),
    };
    let diagnostic = Diagnostic::new(0..text.len(), found, wrong, help);
    Some(diagnostic.with_kind(DiagnosticKind::NotText))
}

/// The maximum number of bytes of one object's annotations, names and values together, that the API server
/// accepts.
const MAX_ANNOTATIONS: usize = 256 << 10;

/// The annotations of one object with dayshift's prefix, and problems with their form: values that
/// are not text, and names that are given twice.
#[derive(Debug, Default)]
pub(crate) struct AnnotationMap {
    /// In the order of the file; each name once.
    pub(crate) annotations: Vec<Annotation>,
    /// At most one for each annotation.
    pub(crate) problems: Vec<Problem>,
}

impl AnnotationMap {
    /// Reads the annotations in an object's metadata. `origin` is their role for the workloads that
    /// read them.
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

    /// Reads the annotations among the entries of a map.
    pub(crate) fn from_entries(
        entries: &[MapEntry<'_>],
        scope: ReadScope<'_>,
        origin: Origin,
    ) -> Self {
        Self::read_named(entries, scope, origin, |name| scope.prefix.strip(name))
    }

    /// Reads the data of a team's ConfigMap, whose keys have no prefix.
    pub(crate) fn from_data(entries: &[MapEntry<'_>], scope: ReadScope<'_>) -> Self {
        Self::read_named(entries, scope, Origin::Team, Some)
    }

    /// Reads the entries for which `name_of` returns a name.
    fn read_named<'n>(
        entries: &'n [MapEntry<'_>],
        scope: ReadScope<'_>,
        origin: Origin,
        name_of: impl Fn(&'n str) -> Option<&'n str>,
    ) -> Self {
        // The annotation, its problem, and whether `<<` merged it from another map.
        let mut found: Vec<(Annotation, Option<Problem>, bool)> = Vec::new();
        let mut seen = HashMap::new();
        for entry in entries {
            let Some(name) = name_of(entry.name()) else {
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

    /// The annotations without their places.
    pub(crate) fn read_under(&self, prefix: &Prefix) -> Annotations {
        let annotations = self.annotations.iter();
        let texts: Vec<_> = annotations
            .map(|annotation| (prefix.full(&annotation.name), &*annotation.text))
            .collect();
        Annotations::under(prefix, texts.iter().map(|(name, text)| (&**name, *text)))
    }
}

fn twice(annotation: &Annotation, earlier: &Annotation, origin: Origin) -> Problem {
    let wrong = format!(
        "is given twice, in lines {} and {}, and only the last one applies",
        earlier.key.line, annotation.key.line
    );
    let diagnostic = Diagnostic::new(0..annotation.text.len(), "", wrong, "remove one");
    Problem::new(
        &annotation.name,
        diagnostic.with_kind(DiagnosticKind::Duplicate),
    )
    .from(origin)
}

/// A name with the prefix, or one that resembles it, in a place where it is not an annotation of a
/// workload; or an annotation of another tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MisplacedKey {
    /// The map that contains it.
    pub site: KeySite,
    /// The path of that map, such as `spec.annotations`; empty for the object itself.
    pub path: Box<str>,
    /// The entry, under its full name.
    pub field: Annotation,
}

/// A map of an object that can contain names.
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
    /// Any other map. No tool reads annotations there.
    Elsewhere,
}

/// The maps whose names have a meaning in Kubernetes.
const SITES: [(&str, KeySite); 4] = [
    ("metadata.annotations", KeySite::Annotations),
    ("metadata.labels", KeySite::Labels),
    (
        "spec.template.metadata.annotations",
        KeySite::TemplateAnnotations,
    ),
    ("spec.template.metadata.labels", KeySite::TemplateLabels),
];

/// The prefixes of tools that scale workloads by their own annotations.
const OTHER_TOOLS: [&str; 2] = ["downscaler/", "kube-green.dev/"];

/// Whether a name belongs to another tool that starts and stops workloads.
pub fn is_of_other_tool(name: &str) -> bool {
    OTHER_TOOLS.iter().any(|tool| name.starts_with(tool))
}

/// The role of an object in the search for misplaced keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectRole {
    /// A workload or a Namespace. Its annotations with the prefix are a schedule, so they are not
    /// misplaced. It is searched everywhere.
    Scheduled,
    /// An object of another kind, which can contain such names for other objects, as a policy does.
    Other,
}

/// Finds the misplaced keys of an object, in the order of the file.
pub(crate) fn misplaced_keys(
    node: &Node<'_>,
    scope: ReadScope<'_>,
    role: ObjectRole,
) -> Vec<MisplacedKey> {
    let mut found = Vec::new();
    for (path, site) in SITES {
        let map = path.split('.').try_fold(node, |node, name| node.get(name));
        for entry in map.map_or(&[][..], Node::entries) {
            let name = entry.name();
            let is_input = role == ObjectRole::Scheduled && site == KeySite::Annotations;
            let is_ours =
                scope.prefix.resembles(name) && !(is_input && scope.prefix.strip(name).is_some());
            if is_ours || site == KeySite::Annotations && is_of_other_tool(name) {
                found.push(misplaced_key(site, path, entry, scope));
            }
        }
    }
    if role == ObjectRole::Scheduled {
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

/// Finds names with the prefix outside of the known maps.
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
                    // Selectors can name the labels that dayshift writes.
                    let may_select = matches!(path.last(), Some(&("matchLabels" | "labels")));
                    let is_state = Label::from_name(name).is_some();
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

/// The text of a file, and how to read its objects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadScope<'r> {
    pub(crate) file: &'r str,
    pub(crate) source: &'r str,
    pub(crate) prefix: &'r Prefix,
    /// The kinds that dayshift scales.
    pub(crate) kinds: &'r KindTable,
    /// The namespace of objects that name none.
    pub(crate) namespace: &'r str,
}
