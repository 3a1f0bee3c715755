//! The annotations of one object under the prefix.

use std::collections::HashMap;

use dayshift_schedule::{Diagnostic, DiagnosticKind};
use dayshift_workload::{Origin, Prefix, Problem};

use crate::manifest::{
    annotations::annotation::{Annotation, not_text},
    scope::Scope,
    tree::{
        node::{Entry, Node},
        parse::ParseError,
    },
};

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
        scope: Scope<'_>,
        origin: Origin,
    ) -> Result<Self, ParseError> {
        let Some(annotations) = metadata.get("annotations") else {
            return Ok(Self::default());
        };
        if annotations.what() != "a map" {
            let message = format!("metadata.annotations is {}, not a map", annotations.what());
            return Err(ParseError::at(&annotations.place, message));
        }
        let length = |it: &Entry<'_>| it.name().len() + it.value.written().map_or(0, str::len);
        if annotations.entries().iter().map(length).sum::<usize>() > MAX_ANNOTATIONS {
            let message = "these annotations are larger than 256 kB, the limit of the API server";
            return Err(ParseError::at(&annotations.place, message));
        }
        Ok(Self::of(annotations.entries(), scope, origin))
    }

    /// Reads those among the entries of a map.
    pub(crate) fn of(entries: &[Entry<'_>], scope: Scope<'_>, origin: Origin) -> Self {
        // With each, what is wrong with it, and whether `<<` brought it in.
        let mut found: Vec<(Annotation, Option<Problem>, bool)> = Vec::new();
        let mut seen = HashMap::new();
        for entry in entries {
            let Some(name) = scope.prefix.strip(entry.name()) else {
                continue;
            };
            let annotation = Annotation::read(name, entry, scope.source);
            let problem = not_text(&entry.value, &annotation.text)
                .map(|it| Problem::new(name, it).from(origin));
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
        let texts = annotations.map(|it| (prefix.full(&it.name), &*it.text));
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
