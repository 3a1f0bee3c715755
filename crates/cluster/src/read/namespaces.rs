//! Namespaces: their metadata, the defaults that workloads inherit from them, and which exist.
//!
//! The controller writes inherited annotations to each workload that it has observed, so that other
//! programs need neither its flags nor access to Namespaces. For a workload that no controller has
//! observed, [`NamespaceDefaults`] reads the Namespace itself.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use dayshift_workload::{Annotations, Inheritance, Observed, Phase, Prefix};
use futures::future::join_all;
use http::Request;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{Client, Error};
use serde::Deserialize;

use crate::{
    connect::{middleware::MAX_RESPONSE, redact::redacted_chain},
    decode::{
        metadata::{Part, decode_part, metadata},
        protobuf::CORE_ROOT,
        workload::Version,
    },
    read::{
        list::{get, listed},
        query::{Query, place_of},
    },
};

/// The metadata of a Namespace, which is all that a metadata watch returns.
#[derive(Clone, Debug, Deserialize)]
pub struct NamespaceMeta {
    /// The metadata without managed fields.
    #[serde(default, deserialize_with = "metadata")]
    pub metadata: ObjectMeta,
}

decode_part!(NamespaceMeta);

impl Part for NamespaceMeta {
    const ROOT: &'static str = CORE_ROOT;
    const PLURAL: &'static str = "namespaces";
    const IS_METADATA_ONLY: bool = true;
}

/// The API path of Namespaces.
pub(crate) const NAMESPACES_PATH: &str = "/api/v1/namespaces";

/// The part of a Namespace that dayshift reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedNamespace {
    /// `metadata.name`.
    pub name: Box<str>,
    /// `metadata.uid`.
    pub uid: Box<str>,
    /// The `resourceVersion`.
    pub version: Version,
    /// The annotations with the prefix: the defaults of the workloads in the namespace.
    pub annotations: Annotations,
    /// Whether the Namespace is being deleted (`deletionTimestamp` is set).
    pub deleting: bool,
}

impl ObservedNamespace {
    /// Reads the annotations with this prefix.
    pub fn new(namespace: &NamespaceMeta, prefix: &Prefix) -> Self {
        let meta = &namespace.metadata;
        let texts = meta.annotations.iter().flatten();
        let texts = texts.map(|(key, text)| (&**key, &**text));
        Self {
            name: meta.name.as_deref().unwrap_or_default().into(),
            uid: meta.uid.as_deref().unwrap_or_default().into(),
            version: Version::parse(meta.resource_version.as_deref().unwrap_or_default()),
            annotations: Annotations::under(prefix, texts),
            deleting: meta.deletion_timestamp.is_some(),
        }
    }
}

/// The inherited annotations of workloads: as stored on them, otherwise from their Namespaces if those
/// are readable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamespaceDefaults {
    inheritance: Inheritance,
    known: HashMap<Box<str>, Arc<Annotations>>,
    /// The defaults of teams that are known beside their Namespaces.
    teams: HashMap<Box<str>, Arc<Annotations>>,
    unreadable: Option<String>,
    is_forbidden: bool,
}

impl NamespaceDefaults {
    /// Reads the Namespaces of a query. If that fails, no defaults are known, and
    /// [`NamespaceDefaults::unreadable`] has the reason.
    pub async fn find(client: &Client, query: &Query, prefix: &Prefix) -> Self {
        Self::default().found(client, query, prefix).await
    }

    /// Reads the Namespaces of a query and adds them to the known ones.
    pub async fn found(self, client: &Client, query: &Query, prefix: &Prefix) -> Self {
        let mut defaults = self;
        let kept = |namespace: NamespaceMeta| ObservedNamespace::new(&namespace, prefix);
        let results = match &*query.namespaces() {
            [] => vec![listed(client, None, None, kept).await],
            names => {
                let all = names.iter().map(async |name| {
                    let found = read_namespace(client, name).await?;
                    Ok(found.into_iter().map(kept).collect())
                });
                join_all(all).await
            }
        };
        for result in results {
            match result {
                Ok(namespaces) => {
                    for namespace in &namespaces {
                        defaults.insert(namespace);
                    }
                }
                Err(error) => {
                    defaults.is_forbidden =
                        matches!(&error, Error::Api(status) if status.code == 403);
                    defaults.unreadable = Some(error_message(error));
                }
            }
        }
        defaults
    }

    /// Creates the defaults of the controller, without those of Namespaces.
    pub fn new(inheritance: Inheritance) -> Self {
        Self {
            inheritance,
            ..Self::default()
        }
    }

    /// Creates the defaults of one Namespace.
    pub fn known(namespace: &ObservedNamespace) -> Self {
        let mut known = Self::default();
        known.insert(namespace);
        known
    }

    /// Creates the defaults of the team in a namespace.
    pub fn of_team(namespace: &str, team: &Arc<Annotations>) -> Self {
        let inheritance = Inheritance::default();
        let in_force = inheritance.of_team(team);
        Self {
            inheritance,
            known: HashMap::from([(namespace.into(), in_force)]),
            ..Self::default()
        }
    }

    /// Adds the defaults of a team. Its Namespace can be added later.
    pub fn insert_team(&mut self, namespace: &str, team: Annotations) {
        let team = Arc::new(team);
        if let Some(in_force) = self.inheritance.in_force(namespace, None, Some(&team)) {
            self.known.insert(namespace.into(), in_force);
        }
        self.teams.insert(namespace.into(), team);
    }

    /// Adds a Namespace.
    pub fn insert(&mut self, namespace: &ObservedNamespace) {
        let annotations = Arc::new(namespace.annotations.clone());
        let team = self.teams.get(&namespace.name);
        let in_force = self
            .inheritance
            .in_force(&namespace.name, Some(&annotations), team);
        match in_force {
            Some(in_force) => self.known.insert(namespace.name.clone(), in_force),
            None => self.known.remove(&namespace.name),
        };
    }

    /// Why Namespaces cannot be read, if they cannot.
    pub fn unreadable(&self) -> Option<&str> {
        self.unreadable.as_deref()
    }

    /// Whether the reason is a missing permission.
    pub const fn is_forbidden(&self) -> bool {
        self.is_forbidden
    }

    /// Returns the object with its inherited annotations.
    #[must_use]
    pub fn applied(&self, observed: Observed) -> Observed {
        if observed.phase().is_some() {
            return observed.with_inherited();
        }
        let namespace = &*observed.object.namespace;
        let of_controller = || self.inheritance.in_force(namespace, None, None);
        let defaults = match self.known.get(namespace) {
            Some(known) => Some(known.clone()),
            None if self.unreadable.is_none() => of_controller(),
            None => None,
        };
        let observed = observed.with_defaults(defaults);
        observed.with_schedules(&self.inheritance.schedules)
    }

    /// Whether the Namespace has annotations for an observed workload that no controller has applied
    /// yet. While a workload is paused, no controller applies them.
    pub fn are_ahead_of(&self, observed: &Observed) -> bool {
        let known = self.known.get(&*observed.object.namespace);
        let is_followed = observed.phase().is_some_and(|phase| phase != Phase::Paused);
        is_followed && known.is_some_and(|defaults| observed.lags_behind(defaults))
    }
}

/// Reads a Namespace; `None` if it does not exist.
async fn read_namespace(client: &Client, name: &str) -> Result<Option<NamespaceMeta>, Error> {
    match get(client, &format!("{NAMESPACES_PATH}/{name}"), MAX_RESPONSE).await {
        Ok(json) => {
            let namespace = serde_json::from_slice(&json).map_err(Error::SerdeError)?;
            Ok(Some(namespace))
        }
        Err(Error::Api(status)) if status.code == 404 => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether the namespace exists; `None` if that is unknown, for example because the user may not read
/// Namespaces.
pub async fn namespace_exists(client: &Client, name: &str) -> Option<bool> {
    let request = Request::get(format!("/api/v1/namespaces/{name}"))
        .body(Vec::new())
        .ok()?;
    match client.request::<serde_json::Value>(request).await {
        Ok(_) => Some(true),
        Err(Error::Api(status)) if status.code == 404 && status.reason == "NotFound" => {
            let is_about_namespace = status
                .details
                .is_some_and(|details| details.kind == "namespaces");
            is_about_namespace.then_some(false)
        }
        Err(_) => None,
    }
}

/// The names of the namespaces that match a label selector.
///
/// # Errors
/// The message of the API server.
pub async fn selected_namespaces(
    client: &Client,
    selector: &str,
) -> Result<BTreeSet<String>, String> {
    let listed = listed(client, None, Some(selector), name).await;
    let names = listed.map(|names| names.into_iter().flatten().collect());
    names.map_err(error_message)
}

fn error_message(error: Error) -> String {
    match error {
        Error::Api(status) => status.message,
        error => redacted_chain(&error),
    }
}

/// The namespaces of a query that do not exist. Namespaces for which `is_found` returns true are not
/// checked. Empty if the user may not read Namespaces.
pub async fn missing_namespaces(
    client: &Client,
    query: &Query,
    is_found: impl Fn(&str) -> bool,
) -> Vec<String> {
    let mut missing = Vec::new();
    for name in query
        .namespaces()
        .into_iter()
        .filter(|name| !is_found(name))
    {
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

/// The names of all Namespaces.
///
/// # Errors
/// If the API server does not respond, or the user may not list Namespaces.
pub async fn namespace_names(client: &Client) -> kube::Result<Vec<String>> {
    let names = listed(client, None, None, name).await?;
    Ok(names.into_iter().flatten().collect())
}

fn name(namespace: NamespaceMeta) -> Option<String> {
    namespace.metadata.name
}
