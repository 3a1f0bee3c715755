//! Namespaces, down to their metadata.
//!
//! Inherited keys of live objects, for commands.
//!
//! The scaler writes them on each object that it has seen, so no reader needs its flags, or rights
//! on Namespaces. For an object that no scaler has seen, only its Namespace knows them.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use dayshift_workload::{Annotations, Inheritance, Observed, Phase, Prefix};
use futures::future::join_all;
use http::Request;
use k8s_openapi::api::core::v1::Namespace;
use kube::{Api, Client, Error, ResourceExt, api::ListParams, core::PartialObjectMeta};

use crate::{
    connect::redact::redacted_chain,
    decode::workload::Version,
    read::{
        list::listed,
        query::{Query, place_of},
    },
};

/// A Namespace as a watch shows it: its metadata alone, which is all that the server sends.
pub type NamespaceMeta = PartialObjectMeta<Namespace>;

/// The path of Namespaces at the API server.
pub(crate) const NAMESPACES_PATH: &str = "/api/v1/namespaces";

/// The part of a Namespace that dayshift reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedNamespace {
    /// Its name.
    pub name: Box<str>,
    /// Its UID.
    pub uid: Box<str>,
    /// Its version.
    pub version: Version,
    /// Its annotations under the prefix: the defaults of the objects in it.
    pub annotations: Annotations,
    /// Whether it is being deleted (`deletionTimestamp` is set).
    pub deleting: bool,
}

impl ObservedNamespace {
    /// The part that dayshift reads.
    pub fn of(namespace: &NamespaceMeta, prefix: &Prefix) -> Self {
        let texts = namespace.annotations().iter();
        let texts = texts.map(|(key, text)| (&**key, &**text));
        Self {
            name: namespace.name_any().into(),
            uid: namespace.uid().unwrap_or_default().into(),
            version: Version::parse(&namespace.resource_version().unwrap_or_default()),
            annotations: Annotations::under(prefix, texts),
            deleting: namespace.metadata.deletion_timestamp.is_some(),
        }
    }
}

/// Inherited keys: as objects carry them, otherwise from Namespaces, if those can be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamespaceDefaults {
    inheritance: Inheritance,
    known: HashMap<Box<str>, Arc<Annotations>>,
    unreadable: Option<String>,
    is_forbidden: bool,
}

impl NamespaceDefaults {
    /// Reads the metadata of the Namespaces of a query. If that is not possible, nothing is known,
    /// and [`NamespaceDefaults::unreadable`] says why.
    pub async fn find(client: &Client, query: &Query, prefix: &Prefix) -> Self {
        Self::default().found(client, query, prefix).await
    }

    /// The same, beside what is known already.
    pub async fn found(self, client: &Client, query: &Query, prefix: &Prefix) -> Self {
        let mut defaults = self;
        let api = Api::<NamespaceMeta>::all(client.clone());
        let answers = match &*query.namespaces() {
            [] => vec![listed(&api, None).await],
            names => {
                let read = async |name: &&str| api.get_opt(name).await.map(Vec::from_iter);
                join_all(names.iter().map(read)).await
            }
        };
        for answer in answers {
            match answer {
                Ok(namespaces) => {
                    for namespace in &namespaces {
                        defaults.learn(&ObservedNamespace::of(namespace, prefix));
                    }
                }
                Err(error) => {
                    defaults.is_forbidden =
                        matches!(&error, Error::Api(status) if status.code == 403);
                    defaults.unreadable = Some(match error {
                        Error::Api(status) => status.message,
                        error => redacted_chain(&error),
                    });
                }
            }
        }
        defaults
    }

    /// No Namespaces yet; the defaults of the scaler are known.
    pub fn new(inheritance: Inheritance) -> Self {
        Self {
            inheritance,
            ..Self::default()
        }
    }

    /// One known Namespace.
    pub fn known(namespace: &ObservedNamespace) -> Self {
        let mut known = Self::default();
        known.learn(namespace);
        known
    }

    /// Adds a Namespace.
    pub fn learn(&mut self, namespace: &ObservedNamespace) {
        let annotations = Arc::new(namespace.annotations.clone());
        let in_force = self
            .inheritance
            .in_force(&namespace.name, Some(&annotations));
        match in_force {
            Some(in_force) => self.known.insert(namespace.name.clone(), in_force),
            None => self.known.remove(&namespace.name),
        };
    }

    /// Why Namespaces cannot be read, if so.
    pub fn unreadable(&self) -> Option<&str> {
        self.unreadable.as_deref()
    }

    /// Whether they cannot be read because the user may not.
    pub const fn is_forbidden(&self) -> bool {
        self.is_forbidden
    }

    /// The object with its inherited keys.
    #[must_use]
    pub fn applied(&self, observed: Observed) -> Observed {
        if observed.phase().is_some() {
            return observed.with_inherited();
        }
        let namespace = &*observed.object.namespace;
        let of_scaler = || self.inheritance.in_force(namespace, None);
        let defaults = match self.known.get(namespace) {
            Some(known) => Some(known.clone()),
            None if self.unreadable.is_none() => of_scaler(),
            None => None,
        };
        observed.with_defaults(defaults)
    }

    /// Whether the Namespace of an object that a scaler has seen gives it keys that no scaler has
    /// taken up. While an object is paused, no scaler takes keys up.
    pub fn are_ahead_of(&self, observed: &Observed) -> bool {
        let known = self.known.get(&*observed.object.namespace);
        let is_followed = observed.phase().is_some_and(|it| it != Phase::Paused);
        is_followed && known.is_some_and(|it| observed.lags_behind(it))
    }
}

/// Whether a namespace of that name exists; `None` if unknown, such as without the permission to
/// ask.
pub async fn namespace_exists(client: &Client, name: &str) -> Option<bool> {
    let request = Request::get(format!("/api/v1/namespaces/{name}"))
        .body(Vec::new())
        .ok()?;
    match client.request::<serde_json::Value>(request).await {
        Ok(_) => Some(true),
        Err(Error::Api(status)) if status.code == 404 && status.reason == "NotFound" => {
            let is_it = status.details.is_some_and(|it| it.kind == "namespaces");
            is_it.then_some(false)
        }
        Err(_) => None,
    }
}

/// The names of the namespaces that a label selector matches.
///
/// # Errors
/// What the API server says.
pub async fn selected_namespaces(
    client: &Client,
    selector: &str,
) -> Result<BTreeSet<String>, String> {
    let api = Api::<NamespaceMeta>::all(client.clone());
    let listed = listed(&api, Some(selector)).await;
    let names = listed.map(|all| all.iter().map(ResourceExt::name_any).collect());
    names.map_err(|error| match error {
        Error::Api(status) => status.message,
        error => redacted_chain(&error),
    })
}

/// The namespaces of a query without any match that do not exist; none if the user may not ask.
pub async fn missing_namespaces(
    client: &Client,
    query: &Query,
    is_found: impl Fn(&str) -> bool,
) -> Vec<String> {
    let mut missing = Vec::new();
    for name in query.namespaces().into_iter().filter(|it| !is_found(it)) {
        if namespace_exists(client, name).await == Some(false) {
            missing.push(name.to_owned());
        }
    }
    missing
}

/// The message about namespaces that do not exist.
pub fn no_namespaces<N: AsRef<str>>(names: &[N]) -> String {
    let verb = if names.len() == 1 { "does" } else { "do" };
    format!("{} {verb} not exist", place_of(names))
}

/// The names of the cluster's Namespaces.
///
/// # Errors
/// Where the API server does not answer, or forbids it.
pub async fn namespace_names(client: &Client) -> kube::Result<Vec<String>> {
    let api: Api<Namespace> = Api::all(client.clone());
    let found = api.list(&ListParams::default()).await?;
    let names = found.items.into_iter().filter_map(|it| it.metadata.name);
    Ok(names.collect())
}
