//! The objects of files, as conversions need them: any kind, with the annotations of other tools.

use std::rc::Rc;

use dayshift_workload::{Kind, defined_kind};

use crate::{
    annotations::Annotation,
    convert::conversion::ObjectRef,
    source::SourceFile,
    yaml::node::{MapEntry, Node},
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

    /// The entries of the annotations of its pods.
    pub(crate) fn pod_annotations(&self) -> &[MapEntry<'a>] {
        let path = ["spec", "template", "metadata", "annotations"];
        self.node.at(&path).map_or(&[][..], Node::entries)
    }

    /// The downscaler annotations, without their prefix. If a name occurs several times, the last one
    /// counts. `sources` are all files.
    pub(crate) fn downscaler_annotations(&self, sources: &[SourceFile]) -> Vec<Annotation> {
        let source = sources.get(self.source).map_or("", SourceFile::text);
        let entries = self.own_annotations();
        let last = |name: &str| entries.iter().rposition(|entry| entry.name() == name);
        let all = entries.iter().enumerate();
        let each = all.filter_map(|(at, entry)| {
            let name = entry.name().strip_prefix(DOWNSCALER)?;
            (last(entry.name()) == Some(at)).then(|| Annotation::read(name, entry, source))
        });
        each.collect()
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
