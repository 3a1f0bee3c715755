//! What the pod template of a manifest requests, and the labels of its pods.

use std::collections::BTreeMap;

use crate::manifest::objects::service::texts;
use crate::manifest::tree::node::Node;
use crate::manifest::tree::scalar::Scalar;
use crate::workload::{
    Amounts, Footprint, Kind, PodRequests, ResourceRequests, Resources, SpecNode,
};

/// What 1 of the count of an object stands for.
pub(in crate::manifest) fn footprint(kind: Kind, object: &Node<'_>) -> Footprint {
    Footprint::read(kind, || requests(object), object.get("spec"))
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

    fn is_false(self) -> bool {
        self.scalar() == Some(Scalar::Bool(false))
    }

    fn resources(self) -> Resources {
        read(self)
    }
}

/// What the pod template of an object requests. What has another form than Kubernetes gives it requests
/// nothing.
fn requests(object: &Node<'_>) -> ResourceRequests {
    let Some(spec) = template(object).and_then(|it| it.get("spec")) else {
        return ResourceRequests::default();
    };
    let mut pod = PodRequests::default();
    pod.resources = resources(spec);
    pod.overhead = amounts(spec, "overhead");
    let list = |name| spec.get(name).map_or(&[][..], Node::items);
    for container in list("containers") {
        pod.container(resources(container));
    }
    for container in list("initContainers") {
        let policy = container.get("restartPolicy").and_then(Node::text);
        pod.init_container(resources(container), policy == Some("Always"));
    }
    pod.total()
}

/// The labels of the pods of an object, by which Services select them.
pub(in crate::manifest) fn pod_labels(object: &Node<'_>) -> BTreeMap<String, String> {
    let metadata = template(object).and_then(|it| it.get("metadata"));
    texts(metadata.and_then(|it| it.get("labels")))
}

fn template<'n, 'a>(object: &'n Node<'a>) -> Option<&'n Node<'a>> {
    object.get("spec").and_then(|it| it.get("template"))
}

fn resources(of: &Node<'_>) -> Resources {
    of.get("resources")
        .map_or_else(Resources::default, |it| read(it))
}

fn read(resources: &Node<'_>) -> Resources {
    Resources {
        requests: amounts(resources, "requests"),
        limits: amounts(resources, "limits"),
    }
}

fn amounts(of: &Node<'_>, name: &str) -> Amounts {
    let mut amounts = Amounts::default();
    for entry in of.get(name).map_or(&[][..], Node::entries) {
        match entry.value.scalar() {
            Some(Scalar::Number(number)) => amounts.take_in(entry.name(), &number.to_string()),
            _ => amounts.take_in(entry.name(), entry.value.text().unwrap_or_default()),
        }
    }
    amounts
}
