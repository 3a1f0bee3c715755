//! A workload of a file.

use std::{collections::HashMap, sync::Arc};

use super::annotation::{Annotation, not_text};
use super::count::count;
use super::misplaced_key::{MisplacedKey, marks};
use super::scope::Scope;
use super::tree::location::Location;
use super::tree::node::{Entry, Node};
use super::tree::parse::ParseError;
use crate::workload::{Inputs, Kind, Origin, Problem, ProblemKind, Replicas, WorkloadRef};

/// A workload as a file has it.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Which object it is, or will be; the UID is empty in a file that no cluster has written.
    pub object: WorkloadRef,
    /// Where it stands in the file.
    pub place: Location,
    /// The count that it asks for, if it does: `spec.replicas`, for most kinds.
    pub replicas: Option<Replicas>,
    /// Where that stands.
    pub count_place: Option<Location>,
    /// Its annotations under the prefix, as [`crate::workload::read`] takes them.
    pub inputs: Inputs,
    /// The same annotations with their places, in the order of the file; each name once.
    pub annotations: Vec<Annotation>,
    /// Why they are not what the API server will take them for: it refuses annotations that are
    /// no text, and of two with the same name kubectl sends it the last.
    pub problems: Vec<Problem>,
    /// Names of ours, and such as may have been meant for them, anywhere else on it.
    pub marks: Vec<MisplacedKey>,
}

/// What the API server takes of one object's annotations, names and texts together, in bytes.
const MAX_ANNOTATIONS: usize = 256 << 10;

impl Workload {
    /// Reads an object of that kind.
    pub(super) fn read(kind: Kind, node: &Node<'_>, scope: Scope<'_>) -> Result<Self, ParseError> {
        let Some(metadata) = node.get("metadata") else {
            return Err(ParseError::at(
                &node.place,
                format!("this {kind} has no metadata, and so no name"),
            ));
        };
        let Some(name) = text(metadata, "metadata.", "name")? else {
            return Err(ParseError::at(
                &metadata.place,
                format!("this {kind} has no metadata.name"),
            ));
        };
        let namespace = text(metadata, "metadata.", "namespace")?.unwrap_or(scope.namespace);
        let count = count(kind, node)?;
        let mut workload = Self {
            object: WorkloadRef {
                kind,
                namespace: namespace.into(),
                name: name.into(),
                uid: Arc::from(text(metadata, "metadata.", "uid")?.unwrap_or_default()),
            },
            place: node.place.clone(),
            replicas: count.as_ref().map(|(count, _)| *count),
            count_place: count.map(|(_, place)| place),
            inputs: Inputs::default(),
            annotations: Vec::new(),
            problems: Vec::new(),
            marks: marks(node, scope, true),
        };
        if let Some(annotations) = metadata.get("annotations") {
            if annotations.what() != "a map" {
                let message = format!("metadata.annotations is {}, not a map", annotations.what());
                return Err(ParseError::at(&annotations.place, message));
            }
            let length = |it: &Entry<'_>| it.name().len() + it.value.written().map_or(0, str::len);
            if annotations.entries().iter().map(length).sum::<usize>() > MAX_ANNOTATIONS {
                let message =
                    "these annotations are larger than 256 kB, the limit of the API server";
                return Err(ParseError::at(&annotations.place, message));
            }
            workload.annotate(annotations.entries(), scope);
        }
        Ok(workload)
    }

    fn annotate(&mut self, entries: &[Entry<'_>], scope: Scope<'_>) {
        // With each, what is wrong with it, and whether `<<` brought it in.
        let mut found: Vec<(Annotation, Option<Problem>, bool)> = Vec::new();
        let mut seen = HashMap::new();
        for entry in entries {
            let Some(name) = scope.prefix.strip(entry.name()) else {
                continue;
            };
            let annotation = Annotation::read(name, entry, scope.source);
            let problem = not_text(&entry.value).map(|message| Problem {
                origin: Origin::Own,
                meant: None,
                kind: ProblemKind::NotText,
                annotation: name.into(),
                message: message.into(),
                span: 0..annotation.text.len(),
            });
            let at = *seen.entry(name).or_insert(found.len());
            match found.get_mut(at) {
                None => found.push((annotation, problem, entry.merged)),
                Some(earlier) => {
                    let twice = (!earlier.2).then(|| twice(&annotation, &earlier.0));
                    *earlier = (annotation, twice.or(problem), entry.merged);
                }
            }
        }
        let texts: Vec<_> = found
            .iter()
            .map(|(it, ..)| (scope.prefix.full(&it.name), &*it.text))
            .collect();
        let texts = texts.iter().map(|(name, text)| (&**name, *text));
        let inputs = Inputs::from_annotations(scope.prefix, texts);
        self.inputs = inputs.of(self.object.kind.counts());
        for (annotation, problem, _) in found {
            self.annotations.push(annotation);
            self.problems.extend(problem);
        }
    }
}

fn twice(annotation: &Annotation, earlier: &Annotation) -> Problem {
    let message = format!(
        "is given twice, in lines {} and {}, and only the last counts; remove one",
        earlier.key.line, annotation.key.line
    );
    Problem {
        origin: Origin::Own,
        meant: None,
        kind: ProblemKind::Twice,
        annotation: annotation.name.clone(),
        message: message.into(),
        span: 0..annotation.text.len(),
    }
}

/// A field that is a text where it is given.
fn text<'n>(node: &'n Node<'_>, path: &str, name: &str) -> Result<Option<&'n str>, ParseError> {
    let Some(field) = node.get(name) else {
        return Ok(None);
    };
    match field.text() {
        Some("") => Ok(None),
        Some(text) => Ok(Some(text)),
        None => {
            let message = format!("{path}{name} is {}, not text; quote it", field.what());
            Err(ParseError::at(&field.place, message))
        }
    }
}
