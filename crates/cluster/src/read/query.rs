//! Queries for live workloads, by name, by label or by kind, and their results. A query has parts that
//! can be unreadable independently of each other.

use std::collections::BTreeSet;

use dayshift_workload::{Kind, Prefix, WorkloadRef};
use futures::{StreamExt as _, stream};
use kube::{Client, Error};

use crate::{
    connect::middleware::MAX_RESPONSE,
    decode::{
        Trim,
        kind_api::KindApi,
        views::{SpecMembers, WorkloadView},
    },
    read::{
        discovery::discover,
        list::{AT_ONCE, FindError, get, pages},
    },
};

/// A query for workloads in some namespaces or in all: by name, by label, or all of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    parts: Vec<QueryPart>,
    /// The label selector; `None` matches everything.
    selector: Option<String>,
    /// The prefix of the annotations and labels that are kept; `None` for all.
    prefix: Option<Prefix>,
}

/// A part of a query for which the API server has a separate permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryPart {
    /// The kind of the objects.
    pub kind: Kind,
    /// The namespace; `None` for all.
    pub namespace: Option<String>,
    /// The name of one object; `None` for all objects of the kind.
    pub name: Option<String>,
}

impl QueryPart {
    /// Whether the object belongs to this part.
    pub fn includes(&self, object: &WorkloadRef) -> bool {
        self.has(&object.kind, &object.namespace, &object.name)
    }

    /// Like [`QueryPart::includes`], for an object that is known only by its name.
    pub fn has(&self, kind: &Kind, namespace: &str, name: &str) -> bool {
        self.kind == *kind
            && self.namespace.as_deref().is_none_or(|own| own == namespace)
            && self.name.as_deref().is_none_or(|own| own == name)
    }
}

impl Query {
    /// Selects objects of one namespace by kind and name.
    pub fn named(namespace: &str, names: impl IntoIterator<Item = (Kind, String)>) -> Self {
        let part = |(kind, name)| QueryPart {
            kind,
            namespace: Some(namespace.to_owned()),
            name: Some(name),
        };
        Self {
            parts: names.into_iter().map(part).collect(),
            selector: None,
            prefix: None,
        }
    }

    /// Selects all objects of these kinds in these namespaces, or in all if there are none. A label
    /// selector restricts them further.
    pub fn all(kinds: &[Kind], namespaces: &[String], selector: Option<String>) -> Self {
        let parts_in = |namespace: Option<&String>| {
            let part = move |kind: &Kind| QueryPart {
                kind: kind.clone(),
                namespace: namespace.cloned(),
                name: None,
            };
            kinds.iter().map(part).collect::<Vec<_>>()
        };
        let mut parts = parts_in(None);
        if !namespaces.is_empty() {
            let each: BTreeSet<_> = namespaces.iter().collect();
            parts = each
                .into_iter()
                .flat_map(|namespace| parts_in(Some(namespace)))
                .collect();
        }
        Self {
            parts,
            selector,
            prefix: None,
        }
    }

    /// Keeps of each object only the annotations and labels with this prefix, and within their limits.
    #[must_use]
    pub fn reading(self, prefix: &Prefix) -> Self {
        let prefix = Some(prefix.clone());
        Self { prefix, ..self }
    }

    /// Forgets everything of an object that is not needed.
    pub fn trim(&self, kind: &Kind, object: &mut impl Trim) {
        if let Some(prefix) = &self.prefix {
            object.trim(kind, prefix);
        }
    }

    /// The namespaces of the query; empty for all.
    pub fn namespaces(&self) -> Vec<&str> {
        let mut namespaces = Vec::new();
        for namespace in self
            .parts
            .iter()
            .filter_map(|part| part.namespace.as_deref())
        {
            if !namespaces.contains(&namespace) {
                namespaces.push(namespace);
            }
        }
        namespaces
    }

    /// The namespaces of the query, or `None` for all of them.
    pub(crate) fn places(&self) -> Vec<Option<&str>> {
        match &*self.namespaces() {
            [] => vec![None],
            several => several.iter().copied().map(Some).collect(),
        }
    }

    /// The kinds of the query, without duplicates.
    pub fn kinds(&self) -> Vec<Kind> {
        let mut kinds = Vec::new();
        for part in &self.parts {
            if !kinds.contains(&part.kind) {
                kinds.push(part.kind.clone());
            }
        }
        kinds
    }

    /// The parts of the query, one for each kind in each namespace or for each name.
    pub fn parts(&self) -> &[QueryPart] {
        &self.parts
    }

    /// The query reduced to some of its parts.
    #[must_use]
    pub fn only(&self, keeps: impl Fn(&QueryPart) -> bool) -> Self {
        let parts = self.parts.iter().filter(|part| keeps(part));
        Self {
            parts: parts.cloned().collect(),
            selector: self.selector.clone(),
            prefix: self.prefix.clone(),
        }
    }

    /// The label selector, if any.
    pub fn selector(&self) -> Option<&str> {
        self.selector.as_deref()
    }

    /// Whether objects are selected by name.
    pub fn is_by_name(&self) -> bool {
        self.parts.iter().any(|part| part.name.is_some())
    }

    /// The message if the query matches no workload with a schedule: `no scheduled Deployment in
    /// namespace lab matches app=web`.
    pub fn nothing_scheduled(&self) -> String {
        let kinds = self.kinds();
        let kind = match &*kinds {
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

pub(crate) fn place_of<N: AsRef<str>>(namespaces: &[N]) -> String {
    let names: Vec<_> = namespaces.iter().map(AsRef::as_ref).collect();
    match &*names {
        [] => "all namespaces".to_owned(),
        [name] => format!("namespace {name}"),
        names => format!("namespaces {}", names.join(", ")),
    }
}

/// A workload that was selected by name and does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}.{}/{name} is not in namespace {namespace}", .kind.singular(), .kind.group())]
pub struct MissingWorkload {
    /// The kind in the query.
    pub kind: Kind,
    /// The namespace in the query.
    pub namespace: String,
    /// The name in the query.
    pub name: String,
}

/// A part of a query that could not be read while others could.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadablePart {
    /// The part.
    pub part: QueryPart,
    /// Why it is unreadable.
    pub error: FindError,
}

/// Finds workloads, each decoded as a `D`: [`Workload`](crate::Workload) or a larger view. The result has
/// their kinds, and the parts of the query that are unreadable. The workloads are in the order of the query
/// if they were selected by name, otherwise by kind, namespace and name.
///
/// # Errors
/// Those of [`find_parts`].
pub async fn find<D: WorkloadView>(
    client: &Client,
    query: &Query,
) -> Result<(Vec<(Kind, D)>, Vec<UnreadablePart>), FindError> {
    let (mut found, mut unreadable) = (Vec::new(), Vec::new());
    for (part, result) in query.parts.iter().zip(find_parts(client, query).await?) {
        match result {
            Ok(workloads) => {
                let kinds = std::iter::repeat(part.kind.clone());
                found.extend(kinds.zip(workloads));
            }
            Err(error) => unreadable.push(UnreadablePart {
                part: part.clone(),
                error,
            }),
        }
    }
    Ok((found, unreadable))
}

/// Reads each part of a query, in the same order: its workloads, or why it is unreadable. A part is empty if
/// the object that it names does not exist. Lists are read in pages of 100.
///
/// # Errors
/// If the API server cannot be reached or fails, or if no part of the query is readable.
pub async fn find_parts<D: WorkloadView>(
    client: &Client,
    query: &Query,
) -> Result<Vec<Result<Vec<D>, FindError>>, FindError> {
    // One list after the other, because each can be long.
    let at_once = if query.is_by_name() { AT_ONCE } else { 1 };
    let mut results = stream::iter(query.parts.clone())
        .map(|part| async move { find_part(client, query, &part).await })
        .buffered(at_once);
    let mut found = Vec::new();
    while let Some(result) = results.next().await {
        match result {
            Err(error) if !error.is_refusal() => return Err(error),
            result => found.push(result),
        }
    }
    match found.first() {
        Some(Err(first)) if found.iter().all(Result::is_err) => Err(first.clone()),
        _ => Ok(found),
    }
}

/// Reads one part of a query; empty if the object does not exist.
async fn find_part<D: WorkloadView>(
    client: &Client,
    query: &Query,
    part: &QueryPart,
) -> Result<Vec<D>, FindError> {
    let kind = &part.kind;
    let members = SpecMembers::for_kind(kind);
    let trimmed = |mut object: D| {
        query.trim(kind, &mut object);
        object
    };
    let result = async {
        discover(client, kind).await?;
        let path = KindApi::new(kind).path(part.namespace.as_deref());
        let Some(name) = &part.name else {
            let selector = query.selector();
            let selector = selector.map(|selector| ("labelSelector", selector));
            let decode = |json: &[u8]| members.decode_list(json);
            return pages(client, &path, selector.as_slice(), decode, trimmed).await;
        };
        match get(client, &format!("{path}/{name}"), MAX_RESPONSE).await {
            Ok(json) => {
                let object = members.decode(&json).map_err(Error::SerdeError)?;
                Ok(vec![trimmed(object)])
            }
            Err(Error::Api(status)) if status.is_not_found() => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    };
    let verb = if part.name.is_some() { "get" } else { "list" };
    let place = place_of(part.namespace.as_slice());
    let sorted = |error| FindError::classify(verb, kind, &place, error);
    result.await.map_err(sorted)
}

impl Query {
    /// The query without its unreadable parts.
    #[must_use]
    pub fn without(&self, unreadable: &[UnreadablePart]) -> Self {
        self.only(|part| !unreadable.iter().any(|unread| unread.part == *part))
    }
}
