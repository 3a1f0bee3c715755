//! Inherited keys of live objects, for commands.
//!
//! The scaler writes them on each object that it has seen, so no reader needs its flags, or rights
//! on Namespaces. For an object that no scaler has seen, only its Namespace knows them.

use std::{collections::HashMap, sync::Arc};

use dayshift_workload::{Annotations, Inheritance, Observed, Phase, Prefix};
use futures::future::join_all;
use kube::{Api, Client, Error};

use crate::cluster::{
    connection::redact::redacted_chain,
    reading::{
        find::listed,
        namespace::{NamespaceMeta, ObservedNamespace},
        query::Query,
    },
};

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
