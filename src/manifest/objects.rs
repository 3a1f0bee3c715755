//! From the tree of a document to the objects in it.

use std::rc::Rc;

use super::{node::Node, other::Other, parse::ParseError, scope::Scope, workload::Workload};

/// What is found in a document.
#[derive(Debug)]
pub(super) enum Found<'n, 'a> {
    /// A Deployment of `apps/v1`, and what it was read from.
    Workload(Box<Workload>, &'n Node<'a>),
    /// Any other object that schedules have to do with.
    Other(Other),
    /// A Deployment or a list that the API server would refuse.
    ParseError(ParseError),
}

/// Calls `each` with the objects of a document, alone or in a list, in order.
pub(super) fn objects<'n, 'a>(
    document: &'n Node<'a>,
    scope: Scope<'_>,
    each: &mut impl FnMut(Found<'n, 'a>),
) {
    match kind(document) {
        (Some("v1"), Some("List")) => match list(document) {
            Ok(items) => items.iter().for_each(|item| object(item, scope, each)),
            Err(fault) => each(Found::ParseError(fault)),
        },
        // As the API server answers, with no kind on the items.
        (Some("apps/v1"), Some("DeploymentList")) => match list(document) {
            Ok(items) => items.iter().for_each(|item| deployment(item, scope, each)),
            Err(fault) => each(Found::ParseError(fault)),
        },
        _ => object(document, scope, each),
    }
}

fn object<'n, 'a>(node: &'n Node<'a>, scope: Scope<'_>, each: &mut impl FnMut(Found<'n, 'a>)) {
    if kind(node) == (Some("apps/v1"), Some("Deployment")) {
        deployment(node, scope, each);
    } else if let Some(other) = Other::read(node, scope) {
        each(Found::Other(other));
    }
}

fn deployment<'n, 'a>(node: &'n Node<'a>, scope: Scope<'_>, each: &mut impl FnMut(Found<'n, 'a>)) {
    each(match Workload::read(node, scope) {
        Ok(workload) => Found::Workload(Box::new(workload), node),
        Err(fault) => Found::ParseError(fault),
    });
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
