//! From the tree of a document to the objects in it.

mod count;
pub(crate) mod cron_job;
pub(crate) mod delivery;
pub(crate) mod loose;
pub(crate) mod namespace;
pub(crate) mod other;
mod pod_template;
pub(crate) mod scale_target;
pub(crate) mod service;
pub(crate) mod unrendered;
pub(crate) mod workload;

use std::rc::Rc;

use dayshift_workload::Kind;

use self::{
    loose::LooseAnnotations, namespace::Namespace, other::Other, service::Service,
    unrendered::Unrendered, workload::Workload,
};
use super::{
    scope::Scope,
    tree::{node::Node, parse::ParseError},
};

/// What is found in a document.
#[derive(Debug)]
pub(super) enum Found<'n, 'a> {
    /// An object of a kind that dayshift scales, and what it was read from.
    Workload(Box<Workload>, &'n Node<'a>),
    /// A Namespace, whose annotations are defaults, and what it was read from.
    Namespace(Box<Namespace>, &'n Node<'a>),
    /// A Service.
    Service(Box<Service>),
    /// Any other object that schedules have to do with.
    Other(Box<Other>),
    /// Annotations of objects that come to be of the document.
    Loose(LooseAnnotations),
    /// A kustomization that changes objects.
    Unrendered(Unrendered),
    /// A workload or a list that the API server would refuse.
    ParseError(ParseError),
}

/// Calls `each` with the objects of a document, alone or in a list, in order. A list may hold
/// lists: kubectl takes these apart, too.
pub(super) fn objects<'n, 'a>(
    document: &'n Node<'a>,
    scope: Scope<'_>,
    each: &mut impl FnMut(Found<'n, 'a>),
) {
    let (version, name) = kind(document);
    if let Some(kind) = kind_of_list(version, name) {
        // As the API server answers, with no kind on the items.
        match list(document) {
            Ok(items) => items
                .iter()
                .for_each(|item| workload(kind, item, scope, each)),
            Err(fault) => each(Found::ParseError(fault)),
        }
        return;
    }
    match (version, name) {
        (Some("v1"), Some("NamespaceList")) => match list(document) {
            Ok(items) => items.iter().for_each(|item| namespace(item, scope, each)),
            Err(fault) => each(Found::ParseError(fault)),
        },
        (Some("v1"), Some("List")) => match list(document) {
            Ok(items) => items.iter().for_each(|item| objects(item, scope, each)),
            Err(fault) => each(Found::ParseError(fault)),
        },
        _ => object(document, scope, each),
    }
}

fn object<'n, 'a>(node: &'n Node<'a>, scope: Scope<'_>, each: &mut impl FnMut(Found<'n, 'a>)) {
    let (version, name) = kind(node);
    let kind = version
        .zip(name)
        .and_then(|(version, name)| Kind::of(version, name));
    if let Some(kind) = kind {
        // An autoscaler has a count of its own, and says the counts of another.
        if let Some(scaler) = Other::scaler(node, scope) {
            each(Found::Other(Box::new(scaler)));
        }
        workload(kind, node, scope, each);
    } else if (version, name) == (Some("v1"), Some("Namespace")) {
        namespace(node, scope, each);
    } else {
        if (version, name) == (Some("v1"), Some("Service"))
            && let Some(service) = Service::read(node, scope)
        {
            each(Found::Service(Box::new(service)));
        }
        loose::search(node, scope, &mut |found| each(Found::Loose(found)));
        other(node, scope, each);
    }
}

fn other<'n, 'a>(node: &'n Node<'a>, scope: Scope<'_>, each: &mut impl FnMut(Found<'n, 'a>)) {
    if let Some(unrendered) = Unrendered::read(node, scope.file) {
        each(Found::Unrendered(unrendered));
    } else if let Some(other) = Other::read(node, scope) {
        each(Found::Other(Box::new(other)));
    }
}

fn workload<'n, 'a>(
    kind: Kind,
    node: &'n Node<'a>,
    scope: Scope<'_>,
    each: &mut impl FnMut(Found<'n, 'a>),
) {
    each(match Workload::read(kind, node, scope) {
        Ok(workload) => Found::Workload(Box::new(workload), node),
        Err(fault) => Found::ParseError(fault.of_kind(kind.name())),
    });
}

fn namespace<'n, 'a>(node: &'n Node<'a>, scope: Scope<'_>, each: &mut impl FnMut(Found<'n, 'a>)) {
    each(match Namespace::read(node, scope) {
        Ok(namespace) => Found::Namespace(Box::new(namespace), node),
        Err(fault) => Found::ParseError(fault.of_kind("Namespace")),
    });
}

/// The kind of the items of a list such as `DeploymentList`.
fn kind_of_list(version: Option<&str>, name: Option<&str>) -> Option<Kind> {
    Kind::of(version?, name?.strip_suffix("List")?)
}

fn kind<'n>(node: &'n Node<'_>) -> (Option<&'n str>, Option<&'n str>) {
    let text = |name| node.get(name).and_then(Node::text);
    (text("apiVersion"), text("kind"))
}

fn list<'n, 'a>(document: &'n Node<'a>) -> Result<&'n [Rc<Node<'a>>], ParseError> {
    let items = document.get("items");
    match items {
        Some(items) if items.what() != "a list" => Err(ParseError::at(
            &items.place,
            format!("items is {}, not a list", items.what()),
        )),
        items => Ok(items.map(Node::items).unwrap_or_default()),
    }
}
