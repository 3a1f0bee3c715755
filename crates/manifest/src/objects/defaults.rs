//! A Namespace of a file.
//!
//! Annotations of objects that are not there yet: in the values of a chart, in a kustomization, a
//! patch, a Template, or what a delivery tool makes Namespaces with.

use std::{collections::HashSet, sync::Arc};

use dayshift_workload::{Annotations, Key, Origin, Problem};

use crate::{
    annotations::{Annotation, AnnotationMap, MisplacedKey, ReadScope, misplaced_keys},
    objects::workload::text,
    yaml::{
        ParseError, documents,
        node::{Location, MapEntry, Node, NodeContent},
    },
};

/// A Namespace as a file has it.
#[derive(Clone, Debug)]
pub struct Namespace {
    /// Its name.
    pub name: Arc<str>,
    /// Where it stands in the file.
    pub place: Location,
    /// Its annotations under the prefix: the defaults of the objects in it.
    pub defaults: Arc<Annotations>,
    /// The same annotations with their places, in the order of the file; each name once.
    pub annotations: Vec<Annotation>,
    /// Why they are not what the API server will take them for.
    pub problems: Vec<Problem>,
    /// Names of ours, and such as may have been meant for them, anywhere else on it.
    pub misplaced: Vec<MisplacedKey>,
}

impl Namespace {
    /// Reads a Namespace.
    pub(crate) fn read(node: &Node<'_>, scope: ReadScope<'_>) -> Result<Self, ParseError> {
        let metadata = node.get("metadata");
        let name = metadata.map_or(Ok(None), |metadata| text(metadata, "metadata.", "name"))?;
        let (Some(metadata), Some(name)) = (metadata, name) else {
            let message = "this Namespace has no metadata.name";
            return Err(ParseError::at(&node.place, message));
        };
        let map = AnnotationMap::read(metadata, scope, Origin::Namespace)?;
        let texts = map.texts(scope.prefix);
        let texts = texts.iter().map(|(name, text)| (&**name, *text));
        let defaults = Arc::new(Annotations::under(scope.prefix, texts));
        Ok(Self {
            name: name.into(),
            place: node.place.clone(),
            defaults,
            annotations: map.annotations,
            problems: map.problems,
            misplaced: misplaced_keys(node, scope, true),
        })
    }
}

/// A map of annotations under the prefix that stands on no object of the file. What of an object is
/// missing may stand elsewhere: they are read as defaults.
#[derive(Clone, Debug)]
pub struct LooseAnnotations {
    /// What they say. Texts that a tool fills in are left out.
    pub defaults: Arc<Annotations>,
    /// The same with their places.
    pub annotations: Vec<Annotation>,
    /// Why they are not what the API server will take them for.
    pub problems: Vec<Problem>,
    /// Whether some are left out.
    pub is_partial: bool,
}

/// The kinds that hold parts of other objects, wherever.
const HOLDING: [&str; 6] = [
    "Application",
    "ApplicationSet",
    "Component",
    "HelmRelease",
    "Kustomization",
    "Template",
];

/// Calls `each` with the maps of a document that is none of the cluster's objects, or one that other
/// objects come to be of.
pub(crate) fn search(
    document: &Node<'_>,
    scope: ReadScope<'_>,
    each: &mut impl FnMut(LooseAnnotations),
) {
    let kind = document.get("kind").and_then(Node::text);
    if kind.is_some_and(|kind| !HOLDING.contains(&kind)) {
        return;
    }
    let mut walk = AnnotationWalk {
        scope,
        within: None,
        seen: HashSet::new(),
        each,
    };
    if kind.is_none() {
        return walk.visit(document);
    }
    // Its own annotations are another matter.
    for entry in document
        .entries()
        .iter()
        .filter(|entry| entry.name() != "metadata")
    {
        walk.visit(&entry.value);
    }
}

struct AnnotationWalk<'s, 'e, E> {
    scope: ReadScope<'s>,
    /// The text that holds what is looked at, where that is a text of the file.
    within: Option<&'s Location>,
    /// An alias is the same node again.
    seen: HashSet<usize>,
    each: &'e mut E,
}

impl<E: FnMut(LooseAnnotations)> AnnotationWalk<'_, '_, E> {
    fn visit(&mut self, node: &Node<'_>) {
        if !self.seen.insert(std::ptr::from_ref(node).addr()) {
            return;
        }
        match &node.content {
            NodeContent::Scalar { text, .. } => self.text(text, &node.place),
            NodeContent::List(items) => items.iter().for_each(|item| self.visit(item)),
            NodeContent::Map(entries) => {
                let map = AnnotationMap::from_entries(entries, self.scope, Origin::Namespace);
                self.found(map);
                self.operation(entries);
                for entry in entries {
                    self.visit(&entry.value);
                }
            }
        }
    }

    /// Looks at what a text holds: a patch in a kustomization is YAML within YAML.
    fn text(&mut self, text: &str, place: &Location) {
        let prefix = self.scope.prefix.to_string();
        let names_one =
            text.contains(&format!("{prefix}/")) || text.contains(&format!("{prefix}~1"));
        if self.within.is_some() || !names_one {
            return;
        }
        let mut walk = AnnotationWalk {
            scope: ReadScope {
                source: text,
                ..self.scope
            },
            within: Some(place),
            seen: HashSet::new(),
            each: &mut *self.each,
        };
        // What is no YAML is text of another kind.
        let _ = documents(text, |document| walk.visit(document));
    }

    /// Looks at an operation of a JSON patch (RFC 6902), whose path names an annotation.
    fn operation(&mut self, entries: &[MapEntry<'_>]) {
        let of = |name: &str| entries.iter().rfind(|entry| entry.name() == name);
        let (Some(_), Some(path), Some(value)) = (of("op"), of("path"), of("value")) else {
            return;
        };
        let before = format!("/{}~1", self.scope.prefix);
        let pointer = path.value.written().unwrap_or_default();
        if let Some((_, name)) = pointer.rsplit_once(&before) {
            self.found(AnnotationMap {
                annotations: vec![Annotation::read(name, value, self.scope.source)],
                problems: Vec::new(),
            });
        }
    }

    fn found(&mut self, mut map: AnnotationMap) {
        let all = map.annotations.len();
        // Labels that select, and names that other tools make of ours, are not for us to read.
        let is_ours = |name: &str| {
            Key::from_name(name)
                .or_else(|| Key::nearest(name))
                .is_some()
        };
        map.annotations
            .retain(|annotation| is_ours(&annotation.name) && !annotation.is_filled_in());
        if map.annotations.is_empty() {
            return;
        }
        let texts = map.texts(self.scope.prefix);
        let texts = texts.iter().map(|(name, text)| (&**name, *text));
        let defaults = Arc::new(Annotations::under(self.scope.prefix, texts));
        if let Some(place) = self.within {
            map.annotations
                .iter_mut()
                .for_each(|annotation| annotation.move_to(place));
        }
        (self.each)(LooseAnnotations {
            defaults,
            is_partial: map.annotations.len() < all,
            annotations: map.annotations,
            problems: map.problems,
        });
    }
}
