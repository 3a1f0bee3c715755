//! What the live Namespaces give to the objects in them, for somebody who looks once.

use std::{collections::HashMap, sync::Arc};

use kube::{Api, Client, Error};

use crate::cluster::connection::redact::redacted_chain;
use crate::cluster::reading::find::{in_time, listed};
use crate::cluster::reading::namespace::{NamespaceMeta, ObservedNamespace};
use crate::workload::{Annotations, Observed, Prefix};

/// The annotations of Namespaces under the prefix, as far as they can be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamespaceDefaults {
    known: HashMap<Box<str>, Arc<Annotations>>,
    unreadable: Option<String>,
}

impl NamespaceDefaults {
    /// Reads the metadata of one Namespace, or of all. Where that is not possible, nothing is
    /// known, and [`NamespaceDefaults::unreadable`] says why.
    pub async fn find(client: &Client, namespace: Option<&str>, prefix: &Prefix) -> Self {
        let api = Api::<NamespaceMeta>::all(client.clone());
        let found = match namespace {
            Some(name) => in_time(api.get_opt(name)).await.map(Vec::from_iter),
            None => listed(&api, None).await,
        };
        Self::of(found, prefix)
    }

    fn of(found: Result<Vec<NamespaceMeta>, Error>, prefix: &Prefix) -> Self {
        match found {
            Ok(namespaces) => {
                let observed = namespaces
                    .iter()
                    .map(|it| ObservedNamespace::of(it, prefix));
                let known = observed.filter(|it| !it.annotations.is_empty());
                Self {
                    known: known
                        .map(|it| (it.name, Arc::new(it.annotations)))
                        .collect(),
                    unreadable: None,
                }
            }
            Err(error) => Self {
                known: HashMap::new(),
                unreadable: Some(match error {
                    Error::Api(status) => status.message,
                    error => redacted_chain(&error),
                }),
            },
        }
    }

    /// One Namespace that is known already.
    pub fn known(namespace: &ObservedNamespace) -> Self {
        let mut known = Self::default();
        known.learn(namespace);
        known
    }

    /// Takes in one more.
    pub fn learn(&mut self, namespace: &ObservedNamespace) {
        let annotations = Arc::new(namespace.annotations.clone());
        self.known.insert(namespace.name.clone(), annotations);
    }

    /// Why they cannot be read, if they cannot.
    pub fn unreadable(&self) -> Option<&str> {
        self.unreadable.as_deref()
    }

    /// The object with what its Namespace gives it.
    #[must_use]
    pub fn applied(&self, observed: Observed) -> Observed {
        let defaults = self.known.get(&*observed.object.namespace).cloned();
        Observed {
            inputs: observed.inputs.with_defaults(defaults),
            ..observed
        }
    }
}
