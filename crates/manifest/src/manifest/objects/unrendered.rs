//! Files that other objects are made from, which nobody sees before a tool has made them.

use std::path::Path;

use crate::manifest::tree::location::Location;
use crate::manifest::tree::node::Node;

/// What of a kustomization changes objects, so that those in the files are not those that come to
/// be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrendered {
    /// The field that does, such as `components`.
    pub field: &'static str,
    /// Where its name stands.
    pub place: Location,
}

/// The fields that change annotations or counts, or bring in objects from elsewhere
/// (<https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/>).
const CHANGING: [&str; 12] = [
    "bases",
    "commonAnnotations",
    "components",
    "generators",
    "helmCharts",
    "patches",
    "patchesJson6902",
    "patchesStrategicMerge",
    "replacements",
    "replicas",
    "transformers",
    "vars",
];

impl Unrendered {
    /// The first of those fields in a kustomization; `file` is the name of its file.
    pub(crate) fn read(node: &Node<'_>, file: &str) -> Option<Self> {
        let text = |name| node.get(name).and_then(Node::text);
        let version = text("apiVersion").unwrap_or_default();
        let is_named = || {
            let name = Path::new(file).file_name().and_then(|it| it.to_str());
            matches!(name, Some("kustomization.yaml" | "kustomization.yml"))
        };
        let is_kustomization = match text("kind") {
            Some("Kustomization" | "Component") => version.starts_with("kustomize.config.k8s.io/"),
            Some(_) => false,
            None => is_named(),
        };
        if !is_kustomization {
            return None;
        }
        let entries = node.entries().iter();
        let mut found = entries.filter_map(|entry| {
            let field = CHANGING.into_iter().find(|it| *it == entry.name())?;
            let place = entry.key.place.clone();
            Some(Self { field, place })
        });
        found.next()
    }
}
