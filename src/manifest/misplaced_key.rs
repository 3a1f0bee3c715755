//! Names like ours at any place of an object where names stand.

use super::{annotation::Annotation, node::Node, scope::Scope};

/// A name under the prefix, or one that may have been meant to be, where it is no annotation of a
/// Deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MisplacedKey {
    /// Where on the object it stands.
    pub site: Site,
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
}

/// The marks of an object, in the order in which they are written. Of a Deployment, annotations
/// under the prefix are what it is scheduled by, and no marks.
pub(super) fn marks(node: &Node<'_>, scope: Scope<'_>, is_deployment: bool) -> Vec<MisplacedKey> {
    let template = node.get("spec").and_then(|spec| spec.get("template"));
    let mut found = Vec::new();
    for (owner, field, site) in [
        (Some(node), "annotations", Site::Annotations),
        (Some(node), "labels", Site::Labels),
        (template, "annotations", Site::TemplateAnnotations),
        (template, "labels", Site::TemplateLabels),
    ] {
        let names = owner
            .and_then(|owner| owner.get("metadata")?.get(field))
            .map_or(&[][..], Node::entries);
        for entry in names {
            let name = entry.name();
            let is_input = is_deployment && site == Site::Annotations;
            if scope.prefix.resembles(name) && !(is_input && scope.prefix.strip(name).is_some()) {
                found.push(MisplacedKey {
                    site,
                    field: Annotation::read(name, entry, scope.source),
                });
            }
        }
    }
    found.sort_by_key(|mark| mark.field.key.span.start);
    found
}
