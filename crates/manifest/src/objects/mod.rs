//! What a file holds.
//!
//! From the tree of a document to the objects in it.
//!
//! What the workloads of files inherit from the Namespaces beside them.

pub(crate) mod defaults;
pub(crate) mod delivery;
pub(crate) mod other;
pub(crate) mod workload;

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
    sync::Arc,
};

use dayshift_workload::{Inheritance, Key, Kind, Origin, Problem, WorkloadRef};

use crate::{
    annotations::ReadScope,
    objects::{
        defaults::{LooseAnnotations, Namespace, search},
        other::{OtherObject, Unrendered},
        workload::{ManifestWorkload, Service},
    },
    yaml::{ParseError, SyntaxError, node::Node},
};

/// What of a file schedules have to do with; each in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// Its objects of a kind that dayshift scales.
    pub workloads: Vec<ManifestWorkload>,
    /// Its Namespaces.
    pub namespaces: Vec<Namespace>,
    /// Its Services.
    pub services: Vec<Service>,
    /// Other objects with names like ours on them, and those that scale workloads too.
    pub others: Vec<OtherObject>,
    /// Annotations of objects that come to be of what the file holds.
    pub loose: Vec<LooseAnnotations>,
    /// What makes other objects of those in the files.
    pub unrendered: Vec<Unrendered>,
    /// What could not be read.
    pub errors: Vec<SyntaxError>,
}

/// Of each object the last, as `kubectl apply` of all of them leaves it, and apart those that are given
/// again later; each in their order.
pub fn last_of_each<T>(given: Vec<T>, object: impl Fn(&T) -> &WorkloadRef) -> (Vec<T>, Vec<T>) {
    let mut later = HashSet::new();
    let (mut last, mut before): (Vec<_>, Vec<_>) = given.into_iter().rev().partition(|item| {
        let WorkloadRef {
            kind,
            namespace,
            name,
            ..
        } = object(item).clone();
        later.insert((kind, namespace, name))
    });
    last.reverse();
    before.reverse();
    (last, before)
}

/// What is found in a document.
#[derive(Debug)]
pub(crate) enum FoundObject<'n, 'a> {
    /// An object of a kind that dayshift scales, and what it was read from.
    Workload(Box<ManifestWorkload>, &'n Node<'a>),
    /// A Namespace, whose annotations are defaults, and what it was read from.
    Namespace(Box<Namespace>, &'n Node<'a>),
    /// A Service.
    Service(Box<Service>),
    /// Any other object that schedules have to do with.
    Other(Box<OtherObject>),
    /// Annotations of objects that come to be of the document.
    Loose(LooseAnnotations),
    /// A kustomization that changes objects.
    Unrendered(Unrendered),
    /// A workload or a list that the API server would refuse.
    ParseError(ParseError),
}

/// Calls `each` with the objects of a document, alone or in a list, in order. A list may hold
/// lists: kubectl takes these apart, too.
pub(crate) fn objects<'n, 'a>(
    document: &'n Node<'a>,
    scope: ReadScope<'_>,
    each: &mut impl FnMut(FoundObject<'n, 'a>),
) {
    let (version, name) = kind(document);
    if let Some(kind) = kind_of_list(version, name) {
        // As the API server answers, with no kind on the items.
        match list(document) {
            Ok(items) => items
                .iter()
                .for_each(|item| workload(kind, item, scope, each)),
            Err(fault) => each(FoundObject::ParseError(fault)),
        }
        return;
    }
    match (version, name) {
        (Some("v1"), Some("NamespaceList")) => match list(document) {
            Ok(items) => items.iter().for_each(|item| namespace(item, scope, each)),
            Err(fault) => each(FoundObject::ParseError(fault)),
        },
        (Some("v1"), Some("List")) => match list(document) {
            Ok(items) => items.iter().for_each(|item| objects(item, scope, each)),
            Err(fault) => each(FoundObject::ParseError(fault)),
        },
        _ => object(document, scope, each),
    }
}

fn object<'n, 'a>(
    node: &'n Node<'a>,
    scope: ReadScope<'_>,
    each: &mut impl FnMut(FoundObject<'n, 'a>),
) {
    let (version, name) = kind(node);
    let kind = version
        .zip(name)
        .and_then(|(version, name)| Kind::of(version, name));
    if let Some(kind) = kind {
        // An autoscaler has a count of its own, and says the counts of another.
        if let Some(scaler) = OtherObject::scaler(node, scope) {
            each(FoundObject::Other(Box::new(scaler)));
        }
        workload(kind, node, scope, each);
    } else if (version, name) == (Some("v1"), Some("Namespace")) {
        namespace(node, scope, each);
    } else {
        if (version, name) == (Some("v1"), Some("Service"))
            && let Some(service) = Service::read(node, scope)
        {
            each(FoundObject::Service(Box::new(service)));
        }
        search(node, scope, &mut |found| each(FoundObject::Loose(found)));
        other(node, scope, each);
    }
}

fn other<'n, 'a>(
    node: &'n Node<'a>,
    scope: ReadScope<'_>,
    each: &mut impl FnMut(FoundObject<'n, 'a>),
) {
    if let Some(unrendered) = Unrendered::read(node, scope.file) {
        each(FoundObject::Unrendered(unrendered));
    } else if let Some(other) = OtherObject::read(node, scope) {
        each(FoundObject::Other(Box::new(other)));
    }
}

fn workload<'n, 'a>(
    kind: Kind,
    node: &'n Node<'a>,
    scope: ReadScope<'_>,
    each: &mut impl FnMut(FoundObject<'n, 'a>),
) {
    each(match ManifestWorkload::read(kind, node, scope) {
        Ok(workload) => FoundObject::Workload(Box::new(workload), node),
        Err(fault) => FoundObject::ParseError(fault.with_kind(kind.name())),
    });
}

fn namespace<'n, 'a>(
    node: &'n Node<'a>,
    scope: ReadScope<'_>,
    each: &mut impl FnMut(FoundObject<'n, 'a>),
) {
    each(match Namespace::read(node, scope) {
        Ok(namespace) => FoundObject::Namespace(Box::new(namespace), node),
        Err(fault) => FoundObject::ParseError(fault.with_kind("Namespace")),
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
        Some(items) if items.type_name() != "a list" => Err(ParseError::at(
            &items.place,
            format!("items is {}, not a list", items.type_name()),
        )),
        items => Ok(items.map(Node::items).unwrap_or_default()),
    }
}

/// Gives every workload of these files the defaults of its Namespace, whichever file that is in,
/// and else those of the scaler. Of two Namespaces of one name the last counts, as it does for
/// `kubectl apply`. What is wrong with how a default is written comes to be a problem of what
/// inherits it, too.
pub fn inherit(contents: &mut [Contents], inheritance: &Inheritance) {
    let namespaces = contents.iter().flat_map(|contents| &contents.namespaces);
    let namespaces = namespaces.filter(|namespace| !namespace.annotations.is_empty());
    let namespaces: HashMap<_, _> = namespaces
        .map(|namespace| {
            (
                Arc::clone(&namespace.name),
                (namespace.defaults.clone(), namespace.problems.clone()),
            )
        })
        .collect();
    if namespaces.is_empty() && inheritance.default_schedule.is_none() {
        return;
    }
    let mut in_force = HashMap::new();
    for workload in contents
        .iter_mut()
        .flat_map(|contents| &mut contents.workloads)
    {
        let name = &workload.object.namespace;
        let namespace = namespaces.get(name).filter(|_| inheritance.from_namespaces);
        let defaults = in_force
            .entry(Arc::clone(name))
            .or_insert_with(|| inheritance.in_force(name, namespace.map(|(defaults, _)| defaults)));
        let inputs = std::mem::take(&mut workload.inputs);
        workload.inputs = inputs.with_defaults(defaults.clone());
        let problems = namespace.map_or(&[][..], |(_, problems)| problems);
        let is_inherited = |problem: &&Problem| {
            Key::from_name(&problem.annotation)
                .is_some_and(|key| workload.inputs.origin(key) == Some(Origin::Namespace))
        };
        let inherited = problems.iter().filter(is_inherited).cloned();
        workload.problems.extend(inherited);
    }
}
