//! The names that a watch has reported. At the end of each list, they show which objects were deleted
//! unnoticed.

use std::{collections::HashMap, fmt, sync::Arc};

use crate::decode::views::Decode;

/// The name of an object of one kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectName {
    /// The namespace; empty if the object is cluster-scoped.
    pub namespace: Arc<str>,
    /// `metadata.name`.
    pub name: Arc<str>,
}

impl ObjectName {
    /// The name in the metadata of an object.
    pub fn from_object(object: &impl Decode) -> Self {
        let meta = object.meta();
        Self {
            namespace: meta.namespace.as_deref().unwrap_or_default().into(),
            name: meta.name.as_deref().unwrap_or_default().into(),
        }
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// The names of the existing objects that one watch has reported.
///
/// At the end of a list, names that it does not contain are removed. A list that is interrupted removes
/// nothing: only the names of the last list are compared.
#[derive(Debug, Default)]
pub(super) struct KnownNames {
    /// For each name, by namespace, the number of the list during or after which it was last reported.
    namespaces: HashMap<Arc<str>, HashMap<Arc<str>, u32>>,
    /// The number of the current or last list.
    list: u32,
}

impl KnownNames {
    /// Starts a list.
    pub(super) const fn begin_list(&mut self) {
        self.list = self.list.wrapping_add(1);
    }

    /// Adds the name of an object in a list or a change.
    pub(super) fn add(&mut self, object: &impl Decode) -> ObjectName {
        let meta = object.meta();
        let namespace = meta.namespace.as_deref().unwrap_or_default();
        let name = meta.name.as_deref().unwrap_or_default();
        let namespace = match self.namespaces.get_key_value(namespace) {
            Some((namespace, _)) => Arc::clone(namespace),
            None => namespace.into(),
        };
        let names = self.namespaces.entry(Arc::clone(&namespace)).or_default();
        let name = match names.get_key_value(name) {
            Some((name, _)) => Arc::clone(name),
            None => name.into(),
        };
        names.insert(Arc::clone(&name), self.list);
        ObjectName { namespace, name }
    }

    /// Removes an object that was deleted.
    pub(super) fn remove(&mut self, object: &impl Decode) -> ObjectName {
        let name = ObjectName::from_object(object);
        if let Some(names) = self.namespaces.get_mut(&name.namespace) {
            names.remove(&name.name);
            if names.is_empty() {
                self.namespaces.remove(&name.namespace);
            }
        }
        name
    }

    /// Ends a complete list. Returns the number of objects in it, and the sorted names that it does not
    /// contain, which are removed.
    pub(super) fn end_list(&mut self) -> (usize, Vec<ObjectName>) {
        let list = self.list;
        let mut gone = Vec::new();
        let mut objects = 0;
        for (namespace, names) in &mut self.namespaces {
            let before = gone.len();
            for (name, _) in names.iter().filter(|(_, shown)| **shown != list) {
                gone.push(ObjectName {
                    namespace: Arc::clone(namespace),
                    name: Arc::clone(name),
                });
            }
            if gone.len() > before {
                names.retain(|_, shown| *shown == list);
            }
            objects += names.len();
        }
        if !gone.is_empty() {
            self.namespaces.retain(|_, names| !names.is_empty());
            gone.sort_unstable();
        }
        (objects, gone)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::read::Service;

    fn service(namespace: &str, name: &str) -> Service {
        let meta = json!({"namespace": namespace, "name": name});
        serde_json::from_value(json!({ "metadata": meta })).unwrap()
    }

    fn end_list(known: &mut KnownNames) -> (usize, Vec<String>) {
        let (objects, gone) = known.end_list();
        let text = |name: ObjectName| format!("{}/{}", name.namespace, name.name);
        (objects, gone.into_iter().map(text).collect())
    }

    #[test]
    fn a_complete_list_removes_the_names_that_it_lacks_in_order() {
        let mut known = KnownNames::default();
        known.begin_list();
        for name in ["web", "api", "db"] {
            known.add(&service("dev", name));
        }
        known.add(&service("ops", "web"));
        assert_eq!(end_list(&mut known), (4, vec![]));
        known.add(&service("dev", "cache")); // a change
        known.remove(&service("dev", "db"));
        known.begin_list();
        known.add(&service("dev", "api"));
        let gone = ["dev/cache", "dev/web", "ops/web"].map(str::to_owned);
        assert_eq!(end_list(&mut known), (1, gone.to_vec()));
        assert_eq!(known.namespaces.len(), 1);
    }

    #[test]
    fn an_interrupted_list_removes_nothing() {
        let mut known = KnownNames::default();
        known.begin_list();
        for name in ["api", "web"] {
            known.add(&service("dev", name));
        }
        known.end_list();
        known.begin_list();
        known.add(&service("dev", "new"));
        known.begin_list();
        for name in ["api", "web"] {
            known.add(&service("dev", name));
        }
        assert_eq!(end_list(&mut known), (2, vec!["dev/new".to_owned()]));
    }

    #[test]
    fn events_of_one_object_share_its_name() {
        let mut known = KnownNames::default();
        let first = known.add(&service("dev", "web"));
        let second = known.add(&service("dev", "web"));
        assert!(Arc::ptr_eq(&first.name, &second.name));
        assert!(Arc::ptr_eq(&first.namespace, &second.namespace));
    }
}
