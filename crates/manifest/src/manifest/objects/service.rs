//! Services of files, by which requests reach workloads.

use std::collections::BTreeMap;

use dayshift_workload::{ServicePort, ServiceSpec};

use crate::manifest::{
    scope::Scope,
    tree::{node::Node, scalar::Scalar},
};

/// A Service as a file has it. What has another form than Kubernetes gives it counts as left out.
#[derive(Clone, Debug)]
pub struct Service {
    /// Its namespace.
    pub namespace: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// What there is to know of it.
    pub spec: ServiceSpec,
}

impl Service {
    /// Reads an object of that kind, if it has a name.
    pub(crate) fn read(node: &Node<'_>, scope: Scope<'_>) -> Option<Self> {
        let metadata = node.get("metadata")?;
        let namespace = metadata.get("namespace").and_then(Node::text);
        let spec = node.get("spec");
        let text = |name| spec.and_then(|it| it.get(name)?.text());
        let ports = spec.and_then(|it| it.get("ports"));
        Some(Self {
            namespace: namespace.unwrap_or(scope.namespace).into(),
            name: metadata.get("name")?.text()?.into(),
            spec: ServiceSpec {
                is_external_name: text("type") == Some("ExternalName"),
                is_headless: text("clusterIP") == Some("None"),
                selector: texts(spec.and_then(|it| it.get("selector"))),
                ports: ports
                    .map_or(&[][..], Node::items)
                    .iter()
                    .map(|it| port(it))
                    .collect(),
            },
        })
    }
}

fn port(node: &Node<'_>) -> ServicePort {
    let text = |name| node.get(name).and_then(Node::text);
    let number = match node.get("port").and_then(Node::scalar) {
        Some(Scalar::Number(number)) => number.to_string().parse().ok(),
        _ => None,
    };
    ServicePort {
        name: text("name").unwrap_or_default().into(),
        number: number.unwrap_or_default(),
        protocol: text("protocol").map(Into::into),
    }
}

/// The entries of a map that are texts.
pub(crate) fn texts(node: Option<&Node<'_>>) -> BTreeMap<String, String> {
    let entries = node.map_or(&[][..], Node::entries).iter();
    entries
        .filter_map(|it| Some((it.name().to_owned(), it.value.text()?.to_owned())))
        .collect()
}
