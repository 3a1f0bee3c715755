//! Names like ours at any place of an object where names stand.

use dayshift_workload::Label;

use crate::manifest::{
    annotations::annotation::Annotation,
    scope::Scope,
    tree::node::{Content, Entry, Node},
};

/// A name under the prefix, or one that may have been meant to be, where it is no annotation of a
/// workload; or one of another tool's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MisplacedKey {
    /// Where on the object it stands.
    pub site: Site,
    /// The map that it stands in, such as `spec.annotations`; empty for the object itself.
    pub path: Box<str>,
    /// What is written there, under its full name.
    pub field: Annotation,
}

/// A map of names on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
    /// `metadata.annotations`.
    Annotations,
    /// `metadata.labels`.
    Labels,
    /// `spec.template.metadata.annotations`.
    TemplateAnnotations,
    /// `spec.template.metadata.labels`.
    TemplateLabels,
    /// Anywhere else, where nobody reads annotations.
    Elsewhere,
}

/// The maps whose names mean something to Kubernetes.
const SITES: [(&str, Site); 4] = [
    ("metadata.annotations", Site::Annotations),
    ("metadata.labels", Site::Labels),
    (
        "spec.template.metadata.annotations",
        Site::TemplateAnnotations,
    ),
    ("spec.template.metadata.labels", Site::TemplateLabels),
];

/// The prefixes of tools that do the same by annotations of their own.
const OTHER_TOOLS: [&str; 2] = ["downscaler/", "kube-green.dev/"];

/// Whether a name is one of another tool's that starts and stops workloads.
pub fn is_of_other_tool(name: &str) -> bool {
    OTHER_TOOLS.iter().any(|it| name.starts_with(it))
}

/// The misplaced keys of an object, in the order in which they are written. Of a workload,
/// annotations under the prefix are what it is scheduled by, and not misplaced; and it is searched
/// everywhere, while an object of another kind may well hold such names for others, as a policy
/// does.
pub(crate) fn misplaced_keys(
    node: &Node<'_>,
    scope: Scope<'_>,
    is_workload: bool,
) -> Vec<MisplacedKey> {
    let mut found = Vec::new();
    for (path, site) in SITES {
        let map = path.split('.').try_fold(node, |node, name| node.get(name));
        for entry in map.map_or(&[][..], Node::entries) {
            let name = entry.name();
            let is_input = is_workload && site == Site::Annotations;
            let is_ours =
                scope.prefix.resembles(name) && !(is_input && scope.prefix.strip(name).is_some());
            if is_ours || site == Site::Annotations && is_of_other_tool(name) {
                found.push(misplaced_key(site, path, entry, scope));
            }
        }
    }
    if is_workload {
        elsewhere(node, &mut Vec::new(), scope, &mut found);
    }
    found.sort_by_key(|it| it.field.key.span.start);
    found
}

fn misplaced_key(site: Site, path: &str, entry: &Entry<'_>, scope: Scope<'_>) -> MisplacedKey {
    MisplacedKey {
        site,
        path: path.into(),
        field: Annotation::read(entry.name(), entry, scope.source),
    }
}

/// The names under the prefix that stand at none of the sites.
fn elsewhere<'n>(
    node: &'n Node<'_>,
    path: &mut Vec<&'n str>,
    scope: Scope<'_>,
    found: &mut Vec<MisplacedKey>,
) {
    match &node.content {
        Content::Scalar { .. } => {}
        Content::List(items) => {
            for item in items {
                path.push("[]");
                elsewhere(item, path, scope, found);
                path.pop();
            }
        }
        Content::Map(entries) => {
            for entry in entries {
                if let Some(name) = scope.prefix.strip(entry.name()) {
                    let here = path.join(".").replace(".[]", "[]");
                    let is_site = SITES.iter().any(|(site, _)| *site == here);
                    // Selectors name the labels that dayshift writes.
                    let may_select = matches!(path.last(), Some(&("matchLabels" | "labels")));
                    let is_state = Label::ALL.iter().any(|it| it.name() == name);
                    if !(is_site || may_select && is_state) {
                        found.push(misplaced_key(Site::Elsewhere, &here, entry, scope));
                    }
                }
                path.push(entry.name());
                elsewhere(&entry.value, path, scope, found);
                path.pop();
            }
        }
    }
}
