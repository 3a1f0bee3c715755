//! The objects of files, as conversions need them: any kind, with the annotations of other tools.

use std::rc::Rc;

use dayshift_workload::{Kind, defined_kind};

use crate::{
    convert::conversion::ObjectRef,
    yaml::node::{Location, MapEntry, Node, Scalar},
};

/// An object and its node.
#[derive(Clone, Debug)]
pub(crate) struct Document<'a> {
    /// The index of its source.
    pub(crate) source: usize,
    pub(crate) node: Rc<Node<'a>>,
    pub(crate) object: ObjectRef,
}

impl<'a> Document<'a> {
    /// Calls `each` with the objects of a document, which can be a list that contains lists.
    pub(crate) fn all(
        node: &Rc<Node<'a>>,
        source: usize,
        namespace: &str,
        each: &mut impl FnMut(Self),
    ) {
        Self::all_as(node, source, (namespace, "", ""), each);
    }

    /// As [`Self::all`], with the namespace, version and kind of objects that name none. The items
    /// of a typed list have the version and kind of the list.
    fn all_as(
        node: &Rc<Node<'a>>,
        source: usize,
        (namespace, version, kind): (&str, &str, &str),
        each: &mut impl FnMut(Self),
    ) {
        let text = |name| node.get(name).and_then(Node::text).unwrap_or_default();
        if let (Some(items), Some(of_list)) = (node.get("items"), text("kind").strip_suffix("List"))
        {
            for item in items.items() {
                Self::all_as(item, source, (namespace, text("apiVersion"), of_list), each);
            }
        } else if let Some(object) = Self::read(node, source, (namespace, version, kind)) {
            each(object);
        }
    }

    fn read(
        node: &Rc<Node<'a>>,
        source: usize,
        (namespace, version, kind): (&str, &str, &str),
    ) -> Option<Self> {
        let metadata = node.get("metadata")?;
        let of = |node: &Node<'_>, name: &str, other: &str| match node.word(name) {
            "" => other.to_owned(),
            text => text.to_owned(),
        };
        let kind = of(node, "kind", kind);
        let object = ObjectRef {
            api_version: of(node, "apiVersion", version),
            namespace: match &*kind {
                "Namespace" => String::new(),
                _ => of(metadata, "namespace", namespace),
            },
            name: of(metadata, "name", ""),
            kind,
        };
        (!object.kind.is_empty() && !object.name.is_empty()).then(|| Self {
            source,
            node: Rc::clone(node),
            object,
        })
    }

    pub(crate) fn metadata(&self) -> Option<&Node<'a>> {
        self.node.get("metadata")
    }

    /// The entries of its annotations.
    pub(crate) fn own_annotations(&self) -> &[MapEntry<'a>] {
        let map = self.node.at(&["metadata", "annotations"]);
        map.map_or(&[][..], Node::entries)
    }

    /// The downscaler annotations. If a name occurs several times, the last one counts.
    pub(crate) fn annotations(&self) -> Vec<DownscalerAnnotation<'_, 'a>> {
        let entries = self.own_annotations();
        let is_last = |at: usize, name: &str| {
            let mut later = entries.iter().skip(at + 1);
            !later.any(|entry| entry.name() == name)
        };
        let all = entries.iter().enumerate();
        let last = all.filter(|(at, entry)| {
            entry.name().starts_with(DOWNSCALER) && is_last(*at, entry.name())
        });
        last.map(|(_, entry)| DownscalerAnnotation { entry })
            .collect()
    }

    /// Whether the object has an annotation of this full name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.own_annotations()
            .iter()
            .any(|entry| entry.name() == name)
    }

    /// The value of a label.
    pub(crate) fn label(&self, name: &str) -> Option<&str> {
        self.metadata()?.get("labels")?.get(name)?.written()
    }

    /// The API group.
    pub(crate) fn group(&self) -> &str {
        self.object.group()
    }

    /// The kind definition of its kind.
    pub(crate) fn kind(&self) -> Option<Kind> {
        defined_kind(self.group(), &self.object.kind)
    }
}

/// The prefix of GoKubeDownscaler's and py-kube-downscaler's annotations.
pub(crate) const DOWNSCALER: &str = "downscaler/";

/// A downscaler annotation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DownscalerAnnotation<'n, 'a> {
    pub(crate) entry: &'n MapEntry<'a>,
}

impl DownscalerAnnotation<'_, '_> {
    /// The name after the prefix.
    pub(crate) fn key(&self) -> &str {
        self.entry
            .name()
            .strip_prefix(DOWNSCALER)
            .unwrap_or_default()
    }

    /// The value. The API server stores an empty string for null.
    pub(crate) fn text(&self) -> &str {
        let value = &self.entry.value;
        match value.scalar() {
            Some(Scalar::Null) => "",
            _ => value.written().unwrap_or_default(),
        }
    }

    /// The place of some bytes of the value, or of the whole value.
    pub(crate) fn locate(&self, span: &std::ops::Range<usize>, source: &str) -> Location {
        let place = &self.entry.value.place;
        let raw = source.get(place.span.clone()).unwrap_or_default();
        let text = self.text();
        let inner = ['"', '\'']
            .into_iter()
            .find_map(|quote| raw.strip_prefix(quote)?.strip_suffix(quote));
        let before = text
            .get(..span.start)
            .filter(|_| inner.unwrap_or(raw) == text);
        let Some(before) = before.filter(|_| text.get(span.clone()).is_some()) else {
            return place.clone();
        };
        let quotes = usize::from(inner.is_some());
        let begin = place.span.start + quotes;
        Location {
            line: place.line,
            column: place.column + quotes + before.chars().count(),
            span: begin + span.start..begin + span.end,
        }
    }
}
