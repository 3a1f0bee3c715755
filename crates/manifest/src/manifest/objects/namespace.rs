//! A Namespace of a file.

use std::sync::Arc;

use dayshift_workload::{Annotations, Origin, Problem};

use crate::manifest::{
    annotations::{
        annotation::Annotation,
        annotation_map::AnnotationMap,
        misplaced_key::{MisplacedKey, misplaced_keys},
    },
    objects::workload::text,
    scope::Scope,
    tree::{location::Location, node::Node, parse::ParseError},
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
    pub(crate) fn read(node: &Node<'_>, scope: Scope<'_>) -> Result<Self, ParseError> {
        let metadata = node.get("metadata");
        let name = metadata.map_or(Ok(None), |it| text(it, "metadata.", "name"))?;
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
