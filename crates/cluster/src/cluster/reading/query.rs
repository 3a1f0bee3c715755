//! Queries for live workloads.

use std::collections::BTreeSet;

use dayshift_workload::{Kind, WorkloadRef};

/// A query for workloads: in some namespaces or in all, by name, by label or all of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    parts: Vec<Part>,
    /// The label selector; `None` matches everything.
    selector: Option<String>,
}

/// A part of a query that may be refused apart from the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The kind.
    pub kind: Kind,
    /// The namespace; `None` for all.
    pub namespace: Option<String>,
    /// The name of one object; `None` for all of the kind.
    pub name: Option<String>,
}

impl Part {
    /// Whether an object of the query belongs to it.
    pub fn includes(&self, object: &WorkloadRef) -> bool {
        self.has(object.kind, &object.namespace, &object.name)
    }

    /// The same of an object that is known by its name alone.
    pub fn has(&self, kind: Kind, namespace: &str, name: &str) -> bool {
        self.kind == kind
            && self.namespace.as_deref().is_none_or(|it| it == namespace)
            && self.name.as_deref().is_none_or(|it| it == name)
    }
}

impl Query {
    /// The workloads of these names of objects in one namespace.
    pub fn named(namespace: &str, names: impl IntoIterator<Item = (Kind, String)>) -> Self {
        let part = |(kind, name)| Part {
            kind,
            namespace: Some(namespace.to_owned()),
            name: Some(name),
        };
        Self {
            parts: names.into_iter().map(part).collect(),
            selector: None,
        }
    }

    /// All of these kinds in these namespaces, or in all if there are none; with a label selector,
    /// those that it matches.
    pub fn all(kinds: &[Kind], namespaces: &[String], selector: Option<String>) -> Self {
        let of = |namespace: Option<&String>| {
            let part = move |kind: &Kind| Part {
                kind: *kind,
                namespace: namespace.cloned(),
                name: None,
            };
            kinds.iter().map(part).collect::<Vec<_>>()
        };
        let mut parts = of(None);
        if !namespaces.is_empty() {
            let each: BTreeSet<_> = namespaces.iter().collect();
            parts = each.into_iter().flat_map(|it| of(Some(it))).collect();
        }
        Self { parts, selector }
    }

    /// The namespaces of the query; `None` for all.
    pub fn namespaces(&self) -> Vec<&str> {
        let mut namespaces = Vec::new();
        for namespace in self.parts.iter().filter_map(|it| it.namespace.as_deref()) {
            if !namespaces.contains(&namespace) {
                namespaces.push(namespace);
            }
        }
        namespaces
    }

    /// The kinds of the query.
    pub fn kinds(&self) -> Vec<Kind> {
        let mut kinds = Vec::new();
        for part in &self.parts {
            if !kinds.contains(&part.kind) {
                kinds.push(part.kind);
            }
        }
        kinds
    }

    /// The parts that may be refused apart, each kind in each namespace or each name, and the query
    /// for that part alone.
    pub fn parts(&self) -> Vec<(Part, Self)> {
        let alone = |part: &Part| Self {
            parts: vec![part.clone()],
            selector: self.selector.clone(),
        };
        let each = self.parts.iter();
        each.map(|part| (part.clone(), alone(part))).collect()
    }

    /// The same with these parts alone.
    #[must_use]
    pub fn only(&self, keeps: impl Fn(&Part) -> bool) -> Self {
        let parts = self.parts.iter().filter(|it| keeps(it));
        Self {
            parts: parts.cloned().collect(),
            selector: self.selector.clone(),
        }
    }

    /// The label selector, where there is one.
    pub fn selector(&self) -> Option<&str> {
        self.selector.as_deref()
    }

    /// Whether the objects are named.
    pub fn is_by_name(&self) -> bool {
        self.parts.iter().any(|it| it.name.is_some())
    }

    /// The message that the query matches nothing with a schedule: `no scheduled Deployment in
    /// namespace lab matches app=web`.
    pub fn nothing_scheduled(&self) -> String {
        let kind = match &*self.kinds() {
            [kind] if !self.is_by_name() => kind.name(),
            _ => "workload",
        };
        match &self.selector {
            Some(selector) => format!("no scheduled {kind} in {} matches {selector}", self.place()),
            None if self.namespaces().is_empty() => {
                format!("no {kind} has a schedule in any namespace")
            }
            None => format!("no {kind} has a schedule in {}", self.place()),
        }
    }

    /// `namespace dev`, `namespaces dev, test` or `all namespaces`.
    pub fn place(&self) -> String {
        place_of(&self.namespaces())
    }
}

pub(super) fn place_of<N: AsRef<str>>(namespaces: &[N]) -> String {
    let names: Vec<_> = namespaces.iter().map(AsRef::as_ref).collect();
    match &*names {
        [] => "all namespaces".to_owned(),
        [name] => format!("namespace {name}"),
        names => format!("namespaces {}", names.join(", ")),
    }
}
