//! Annotations that are defaults for workloads: those of a Namespace, the data of a team's ConfigMap, and
//! those of objects that a tool makes later, for example from the values of a chart, a kustomization, a patch or a
//! Template.

use std::{collections::HashSet, sync::Arc};

use dayshift_workload::{Annotations, Key, Origin, Prefix, Problem, TEAM_CONFIG_MAP};

use crate::{
    annotations::{Annotation, AnnotationMap, MisplacedKey, ObjectRole, ReadScope, misplaced_keys},
    objects::workload::text,
    yaml::{
        ParseError, documents,
        node::{Location, MapEntry, Node, NodeContent},
    },
};

/// Annotations of one object that are defaults for workloads.
#[derive(Clone, Debug)]
pub struct Defaults {
    /// The object that has them.
    pub owner: DefaultsOwner,
    /// The values.
    pub values: Arc<Annotations>,
    /// The same with their places, in the order of the file; each name once. The keys of a ConfigMap have no
    /// prefix.
    pub annotations: Vec<Annotation>,
    /// Problems with the form of the values.
    pub problems: Vec<Problem>,
    /// Misplaced names with the prefix, or similar ones.
    pub misplaced: Vec<MisplacedKey>,
}

/// An object whose annotations are defaults for workloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefaultsOwner {
    /// The Namespace with this name.
    Namespace(Arc<str>),
    /// The ConfigMap of a team in this namespace.
    Team(Arc<str>),
    /// An object that a tool makes later, and that can have more annotations. Values that the tool fills in are
    /// left out.
    Unknown {
        /// Whether values were left out.
        is_partial: bool,
    },
}

impl Defaults {
    fn new(owner: DefaultsOwner, map: AnnotationMap, prefix: &Prefix) -> Self {
        Self {
            owner,
            values: Arc::new(map.read_under(prefix)),
            annotations: map.annotations,
            problems: map.problems,
            misplaced: Vec::new(),
        }
    }

    pub(crate) fn of_namespace(node: &Node<'_>, scope: ReadScope<'_>) -> Result<Self, ParseError> {
        let metadata = node.get("metadata");
        let name = metadata.map_or(Ok(None), |metadata| text(metadata, "metadata.", "name"))?;
        let (Some(metadata), Some(name)) = (metadata, name) else {
            let message = "this Namespace has no metadata.name";
            return Err(ParseError::at(&node.place, message));
        };
        let map = AnnotationMap::read(metadata, scope, Origin::Namespace)?;
        let owner = DefaultsOwner::Namespace(name.into());
        Ok(Self {
            misplaced: misplaced_keys(node, scope, ObjectRole::Scheduled),
            ..Self::new(owner, map, scope.prefix)
        })
    }

    /// Reads a ConfigMap; `None` if it has another name than those of teams.
    pub(crate) fn of_team(node: &Node<'_>, scope: ReadScope<'_>) -> Option<Self> {
        let of_metadata = |name| node.text_at(&["metadata", name]);
        if of_metadata("name") != Some(TEAM_CONFIG_MAP) {
            return None;
        }
        let data = node.get("data").map_or(&[][..], Node::entries);
        let mut map = AnnotationMap::from_data(data, scope);
        // A value that is not text is no value of dayshift's.
        let binary = node.get("binaryData").map_or(&[][..], Node::entries);
        let binary = binary.iter().map(|entry| {
            let name = format!("binaryData/{}", entry.name());
            Annotation::read(&name, entry, scope.source)
        });
        map.annotations.extend(binary);
        let namespace = of_metadata("namespace").unwrap_or(scope.namespace);
        let owner = DefaultsOwner::Team(namespace.into());
        Some(Self::new(owner, map, scope.prefix))
    }
}

/// The kinds that can contain parts of other objects anywhere.
const HOLDING: [&str; 6] = [
    "Application",
    "ApplicationSet",
    "Component",
    "HelmRelease",
    "Kustomization",
    "Template",
];

/// Calls `each` with the annotation maps of a document that is not an object of the cluster, or
/// that a tool makes other objects from.
pub(crate) fn search(document: &Node<'_>, scope: ReadScope<'_>, each: &mut impl FnMut(Defaults)) {
    let kind = document.text_at(&["kind"]);
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
    // Its own annotations do not belong to the objects in it.
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
    /// The place of the text that is searched, if it is a string of the file.
    within: Option<&'s Location>,
    /// Nodes behind aliases are visited once.
    seen: HashSet<usize>,
    each: &'e mut E,
}

impl<E: FnMut(Defaults)> AnnotationWalk<'_, '_, E> {
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

    /// Searches a string: a patch in a kustomization is YAML within YAML.
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
        // A string that is not YAML has no annotations.
        let _ = documents(text, |document| walk.visit(document));
    }

    /// Reads an operation of a JSON patch (RFC 6902) whose path names an annotation.
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
        // Labels in selectors, and names that other tools derive from dayshift's, are not
        // schedules.
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
        let owner = DefaultsOwner::Unknown {
            is_partial: map.annotations.len() < all,
        };
        let mut defaults = Defaults::new(owner, map, self.scope.prefix);
        if let Some(place) = self.within {
            let annotations = defaults.annotations.iter_mut();
            annotations.for_each(|annotation| annotation.move_to(place));
        }
        (self.each)(defaults);
    }
}
