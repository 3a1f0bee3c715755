//! What the pod template of a manifest requests, and the labels of its pods.

use std::collections::BTreeMap;

use dayshift_workload::{Footprint, Kind, ResourceRequests, SpecNode};

use crate::manifest::{
    objects::service::texts,
    tree::{node::Node, scalar::Scalar},
};

/// What 1 of the count of an object stands for.
pub(crate) fn footprint(kind: Kind, object: &Node<'_>) -> Footprint {
    Footprint::from_spec(kind, || requests(object), object.get("spec"))
}

impl SpecNode for &Node<'_> {
    fn member(self, name: &str) -> Option<Self> {
        self.get(name)
    }

    fn items(self) -> impl Iterator<Item = Self> {
        Node::items(self).iter().map(|item| &**item)
    }

    fn number(self) -> Option<u32> {
        match self.scalar() {
            Some(Scalar::Number(number)) => u32::try_from(number.as_u64()?).ok(),
            _ => None,
        }
    }

    fn flag(self) -> Option<bool> {
        match self.scalar() {
            Some(Scalar::Bool(flag)) => Some(flag),
            _ => None,
        }
    }

    fn written<R>(self, read: impl FnOnce(&str) -> R) -> Option<R> {
        match self.scalar() {
            Some(Scalar::Number(number)) => Some(read(&number.to_string())),
            _ => self.text().map(read),
        }
    }
}

/// What the pod template of an object requests.
fn requests(object: &Node<'_>) -> ResourceRequests {
    template(object).map_or_else(ResourceRequests::default, ResourceRequests::from_template)
}

/// The labels of the pods of an object, by which Services select them.
pub(crate) fn pod_labels(object: &Node<'_>) -> BTreeMap<String, String> {
    let metadata = template(object).and_then(|it| it.get("metadata"));
    texts(metadata.and_then(|it| it.get("labels")))
}

fn template<'n, 'a>(object: &'n Node<'a>) -> Option<&'n Node<'a>> {
    object.get("spec").and_then(|it| it.get("template"))
}
