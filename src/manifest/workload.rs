//! A Deployment of a file.

use std::{collections::HashMap, ops::Range, rc::Rc, sync::Arc};

use serde_json::Value;

use super::{
    node::{Entry, Node},
    parse::Fault,
    place::Place,
    scalar::Scalar,
};
use crate::{
    schedule::quote,
    workload::{Inputs, ObjectRef, Prefix, Problem, Replicas},
};

/// A Deployment as a file has it.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Which object it is, or will be; the UID is empty in a file that no cluster has written.
    pub object: ObjectRef,
    /// Where it stands in the file.
    pub place: Place,
    /// `spec.replicas`, if given.
    pub replicas: Option<Replicas>,
    /// Its annotations under the prefix, as [`crate::workload::read`] takes them.
    pub inputs: Inputs,
    /// The same annotations with their places, in the order of the file; each name once.
    pub annotations: Vec<Annotation>,
    /// Why they are not what the API server will take them for: it refuses annotations that are
    /// no text, and of two with the same name kubectl sends it the last.
    pub problems: Vec<Problem>,
    /// The whole object, as kubectl would send it.
    pub manifest: Value,
}

/// An annotation under the prefix, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// The name behind the prefix.
    pub name: Box<str>,
    /// Its text, without quotes and escapes.
    pub text: Box<str>,
    /// Where its key stands, with the quotes if it has any.
    pub key: Place,
    /// Where its value stands, with the quotes if it has any.
    pub value: Place,
    /// Which byte of the file the text begins at, if it stands there letter by letter.
    verbatim: Option<usize>,
}

/// What the API server takes of one object's annotations, names and texts together, in bytes.
const MAX_ANNOTATIONS: usize = 256 << 10;

impl Annotation {
    /// Where bytes of the text stand in the file: exactly, where the text is plain or quoted in
    /// one line without an escape; of any other the whole value.
    pub fn locate(&self, span: &Range<usize>) -> Place {
        let exact = self.verbatim.and_then(|begin| {
            let before = self.text.get(..span.start)?;
            self.text.get(span.clone())?;
            let quotes = begin - self.value.span.start;
            Some(Place {
                line: self.value.line,
                column: self.value.column + quotes + before.chars().count(),
                span: begin + span.start..begin + span.end,
            })
        });
        exact.unwrap_or_else(|| self.value.clone())
    }
}

/// Reads the Deployments (of `apps/v1`) of a document, alone or in a list, and passes over the
/// rest. `source` is the file's text.
pub(super) fn workloads(
    document: &Node<'_>,
    source: &str,
    prefix: &Prefix,
    namespace: &str,
) -> Result<Vec<Workload>, Fault> {
    let read = |node: &Node<'_>| {
        Reader {
            source,
            prefix,
            namespace,
        }
        .workload(node)
    };
    match kind(document) {
        (Some("v1"), Some("List")) => {
            let items = list(document)?.iter().map(|item| &**item);
            items.filter(|item| is_deployment(item)).map(read).collect()
        }
        // As the API server answers, with no kind on the items.
        (Some("apps/v1"), Some("DeploymentList")) => {
            list(document)?.iter().map(|item| read(item)).collect()
        }
        _ if is_deployment(document) => Ok(vec![read(document)?]),
        _ => Ok(Vec::new()),
    }
}

fn kind<'n>(node: &'n Node<'_>) -> (Option<&'n str>, Option<&'n str>) {
    let text = |name| node.get(name).and_then(Node::text);
    (text("apiVersion"), text("kind"))
}

fn is_deployment(node: &Node<'_>) -> bool {
    kind(node) == (Some("apps/v1"), Some("Deployment"))
}

fn list<'n, 'a>(document: &'n Node<'a>) -> Result<&'n [Rc<Node<'a>>], Fault> {
    let items = document.get("items");
    match items {
        Some(items) if items.what() != "a list" => Err(Fault::at(
            &items.place,
            format!("items is {}, not a list", items.what()),
        )),
        items => Ok(items.map(Node::items).unwrap_or_default()),
    }
}

struct Reader<'r> {
    source: &'r str,
    prefix: &'r Prefix,
    namespace: &'r str,
}

impl Reader<'_> {
    fn workload(&self, node: &Node<'_>) -> Result<Workload, Fault> {
        let Some(metadata) = node.get("metadata") else {
            return Err(Fault::at(
                &node.place,
                "this Deployment has no metadata, and so no name",
            ));
        };
        let Some(name) = text(metadata, "metadata.", "name")? else {
            return Err(Fault::at(
                &metadata.place,
                "this Deployment has no metadata.name",
            ));
        };
        let namespace = text(metadata, "metadata.", "namespace")?.unwrap_or(self.namespace);
        let mut workload = Workload {
            object: ObjectRef {
                namespace: namespace.into(),
                name: name.into(),
                uid: Arc::from(text(metadata, "metadata.", "uid")?.unwrap_or_default()),
            },
            place: node.place.clone(),
            replicas: replicas(node)?,
            inputs: Inputs::default(),
            annotations: Vec::new(),
            problems: Vec::new(),
            manifest: node.json(),
        };
        if let Some(annotations) = metadata.get("annotations") {
            if annotations.what() != "a map" {
                let message = format!("metadata.annotations is {}, not a map", annotations.what());
                return Err(Fault::at(&annotations.place, message));
            }
            let length = |it: &Entry<'_>| it.name().len() + it.value.written().map_or(0, str::len);
            if annotations.entries().iter().map(length).sum::<usize>() > MAX_ANNOTATIONS {
                let message = "these annotations hold over 256 kB, more than the API server takes";
                return Err(Fault::at(&annotations.place, message));
            }
            self.annotate(&mut workload, annotations.entries());
        }
        Ok(workload)
    }

    fn annotate(&self, workload: &mut Workload, entries: &[Entry<'_>]) {
        // With each, what is wrong with it, and whether `<<` brought it in.
        let mut found: Vec<(Annotation, Option<Problem>, bool)> = Vec::new();
        let mut seen = HashMap::new();
        for entry in entries {
            let Some(name) = self.prefix.strip(entry.name()) else {
                continue;
            };
            let (annotation, problem) = self.annotation(name, entry);
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
            .map(|(it, ..)| (self.prefix.full(&it.name), &*it.text))
            .collect();
        let texts = texts.iter().map(|(name, text)| (&**name, *text));
        workload.inputs = Inputs::from_annotations(self.prefix, texts);
        for (annotation, problem, _) in found {
            workload.annotations.push(annotation);
            workload.problems.extend(problem);
        }
    }

    fn annotation(&self, name: &str, entry: &Entry<'_>) -> (Annotation, Option<Problem>) {
        let value = &*entry.value;
        let raw = self
            .source
            .get(value.place.span.clone())
            .unwrap_or_default();
        let text = match value.scalar() {
            // The API server makes an empty text of it.
            Some(Scalar::Null) => "",
            _ => value.written().unwrap_or_default(),
        };
        let inner = ['"', '\'']
            .into_iter()
            .find_map(|it| raw.strip_prefix(it)?.strip_suffix(it));
        let annotation = Annotation {
            name: name.into(),
            text: text.into(),
            key: entry.key.place.clone(),
            value: value.place.clone(),
            verbatim: (inner.unwrap_or(raw) == text)
                .then_some(value.place.span.start + usize::from(inner.is_some())),
        };
        let problem = match value.scalar() {
            Some(Scalar::Null | Scalar::Text) => None,
            _ => Some(Problem {
                annotation: name.into(),
                message: not_text(value).into(),
                span: 0..text.len(),
            }),
        };
        (annotation, problem)
    }
}

fn not_text(value: &Node<'_>) -> String {
    let what = value.what();
    value.written().map(quote).map_or_else(
        || format!("is {what}, and the API server takes only text; write one in quotes"),
        |it| {
            format!("`{it}` is {what} to YAML, and the API server takes only text; write \"{it}\"")
        },
    )
}

fn twice(annotation: &Annotation, earlier: &Annotation) -> Problem {
    let message = format!(
        "stands here twice, in lines {} and {}, and only the last counts; remove one",
        earlier.key.line, annotation.key.line
    );
    Problem {
        annotation: annotation.name.clone(),
        message: message.into(),
        span: 0..annotation.text.len(),
    }
}

/// A field that is a text where it is given.
fn text<'n>(node: &'n Node<'_>, path: &str, name: &str) -> Result<Option<&'n str>, Fault> {
    let Some(field) = node.get(name) else {
        return Ok(None);
    };
    match field.text() {
        Some("") => Ok(None),
        Some(text) => Ok(Some(text)),
        None => {
            let message = format!("{path}{name} is {}, not a text; quote it", field.what());
            Err(Fault::at(&field.place, message))
        }
    }
}

fn replicas(node: &Node<'_>) -> Result<Option<Replicas>, Fault> {
    let Some(field) = node.get("spec").and_then(|spec| spec.get("replicas")) else {
        return Ok(None);
    };
    let count = match field.scalar() {
        Some(Scalar::Number(number)) => number.as_u64().and_then(|it| u32::try_from(it).ok()),
        _ => None,
    };
    let count = count
        .filter(|count| i32::try_from(*count).is_ok())
        .map(Replicas::new);
    count.map(Some).ok_or_else(|| {
        let found = field
            .written()
            .map_or_else(|| field.what().to_owned(), |it| format!("`{}`", quote(it)));
        Fault::at(
            &field.place,
            format!("spec.replicas is {found}, and not a whole number such as 3"),
        )
    })
}
