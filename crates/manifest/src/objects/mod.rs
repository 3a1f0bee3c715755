//! The objects of a file that affect schedules, and the defaults that workloads inherit from the
//! Namespaces of all files.

pub(crate) mod defaults;
pub(crate) mod other;
pub(crate) mod workload;

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
    sync::Arc,
};

use dayshift_workload::{
    Annotations, Inheritance, Key, Kind, KindTable, Problem, Source, WorkloadRef,
};

use crate::{
    annotations::ReadScope,
    objects::{
        defaults::{Defaults, DefaultsOwner, search},
        other::{OtherObject, Unrendered},
        workload::{ManifestWorkload, Service},
    },
    yaml::{ParseError, SyntaxError, node::Node},
};

/// The objects of a file that affect schedules, each kind in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// Objects of kinds that dayshift can scale.
    pub workloads: Vec<ManifestWorkload>,
    /// Annotations that are defaults for workloads.
    pub defaults: Vec<Defaults>,
    /// Services.
    pub services: Vec<Service>,
    /// Other objects that have annotations like dayshift's, or that affect scheduled workloads.
    pub others: Vec<OtherObject>,
    /// Kustomizations that change objects.
    pub unrendered: Vec<Unrendered>,
    /// Errors of the file and its objects.
    pub errors: Vec<SyntaxError>,
}

/// Splits definitions into the last one of each object, which remains after `kubectl apply`, and the
/// earlier ones, which it replaces. Both keep their order.
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

/// An object found in a document.
#[derive(Debug)]
pub(crate) enum FoundObject<'n, 'a> {
    /// An object of a kind that dayshift can scale, and its node.
    Workload(Box<ManifestWorkload>, &'n Node<'a>),
    /// Annotations that are defaults, and the node of their Namespace or ConfigMap.
    Defaults(Box<Defaults>, Option<&'n Node<'a>>),
    Service(Box<Service>),
    /// Any other object that affects schedules.
    Other(Box<OtherObject>),
    Unrendered(Unrendered),
    /// An object or a list that the API server would reject.
    ParseError(ParseError),
}

/// Calls `each` with the objects of a document in order, whether it is an object or a list. A list
/// can contain lists, which kubectl flattens too.
pub(crate) fn objects<'n, 'a>(
    document: &'n Node<'a>,
    scope: ReadScope<'_>,
    each: &mut impl FnMut(FoundObject<'n, 'a>),
) {
    let (version, name) = kind(document);
    let kind = kind_of_list(version, name, scope.kinds);
    let is_of_core = version == Some("v1") && matches!(name, Some("NamespaceList" | "List"));
    if kind.is_none() && !is_of_core {
        return object(document, scope, each);
    }
    let items = match list(document) {
        Ok(items) => items,
        Err(fault) => return each(FoundObject::ParseError(fault)),
    };
    for item in items {
        match (&kind, name) {
            // The items of a typed list from the API server have no kind.
            (Some(kind), _) => workload(kind, item, scope, each),
            (None, Some("NamespaceList")) => namespace(item, scope, each),
            (None, _) => objects(item, scope, each),
        }
    }
}

fn object<'n, 'a>(
    node: &'n Node<'a>,
    scope: ReadScope<'_>,
    each: &mut impl FnMut(FoundObject<'n, 'a>),
) {
    let (version, name) = kind(node);
    let names = version.zip(name);
    let kind = names.and_then(|(version, name)| scope.kinds.from_manifest(version, name));
    if let Some(kind) = kind {
        // An autoscaler has a count of its own, and sets the counts of another workload.
        if let Some(scaling) = OtherObject::scaling(node, scope) {
            each(FoundObject::Other(Box::new(scaling)));
        }
        workload(&kind, node, scope, each);
    } else if (version, name) == (Some("v1"), Some("Namespace")) {
        namespace(node, scope, each);
    } else {
        if (version, name) == (Some("v1"), Some("ConfigMap"))
            && let Some(team) = Defaults::of_team(node, scope)
        {
            each(FoundObject::Defaults(Box::new(team), Some(node)));
        }
        if (version, name) == (Some("v1"), Some("Service"))
            && let Some(service) = Service::read(node, scope)
        {
            each(FoundObject::Service(Box::new(service)));
        }
        search(node, scope, &mut |found| {
            each(FoundObject::Defaults(Box::new(found), None));
        });
        if let Some(unrendered) = Unrendered::read(node, scope.file) {
            each(FoundObject::Unrendered(unrendered));
        } else if let Some(other) = OtherObject::read(node, scope) {
            each(FoundObject::Other(Box::new(other)));
        }
    }
}

fn workload<'n, 'a>(
    kind: &Kind,
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
    each(match Defaults::of_namespace(node, scope) {
        Ok(defaults) => FoundObject::Defaults(Box::new(defaults), Some(node)),
        Err(fault) => FoundObject::ParseError(fault.with_kind("Namespace")),
    });
}

/// The kind of the items of a list such as `DeploymentList`.
fn kind_of_list(version: Option<&str>, name: Option<&str>, kinds: &KindTable) -> Option<Kind> {
    kinds.from_manifest(version?, name?.strip_suffix("List")?)
}

fn kind<'n>(node: &'n Node<'_>) -> (Option<&'n str>, Option<&'n str>) {
    (node.text_at(&["apiVersion"]), node.text_at(&["kind"]))
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

/// Gives every workload the defaults of its team and its Namespace, which can be in other files, or else
/// those of the controller, and the schedules that they name. If two objects have the same name, the last one
/// counts, as for `kubectl apply`. Problems with the form of a default become problems of the workloads that
/// inherit it.
pub fn inherit(contents: &mut [Contents], inheritance: &Inheritance) {
    let (mut of_namespaces, mut of_teams) = (HashMap::new(), HashMap::new());
    for defaults in contents.iter().flat_map(|contents| &contents.defaults) {
        let found = || (Arc::clone(&defaults.values), defaults.problems.clone());
        match &defaults.owner {
            DefaultsOwner::Namespace(name) if !defaults.annotations.is_empty() => {
                of_namespaces.insert(Arc::clone(name), found());
            }
            DefaultsOwner::Team(namespace) if inheritance.from_teams => {
                of_teams.insert(Arc::clone(namespace), found());
            }
            _ => {}
        }
    }
    let mut in_force = HashMap::new();
    for workload in contents
        .iter_mut()
        .flat_map(|contents| &mut contents.workloads)
    {
        let name = &workload.object.namespace;
        let (namespace, team) = (of_namespaces.get(name), of_teams.get(name));
        let texts = |of: Option<&(Arc<Annotations>, Vec<Problem>)>| Some(of?.0.clone());
        let defaults = in_force.entry(Arc::clone(name)).or_insert_with(|| {
            inheritance.in_force(name, texts(namespace).as_ref(), texts(team).as_ref())
        });
        let inputs = std::mem::take(&mut workload.inputs);
        let inputs = inputs.with_defaults(defaults.clone());
        workload.inputs = inputs.with_schedules(&inheritance.schedules);
        let problems = [namespace, team].into_iter().flatten();
        let problems = problems.flat_map(|(_, problems)| problems);
        let is_inherited = |problem: &&Problem| {
            let source = Source {
                origin: problem.origin,
                schedule: None,
            };
            Key::from_name(&problem.annotation)
                .is_some_and(|key| workload.inputs.source(key) == Some(source))
        };
        let inherited = problems.filter(is_inherited).cloned();
        workload.problems.extend(inherited);
    }
}
