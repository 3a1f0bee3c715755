//! Watch events of Namespaces, whose annotations hold for the objects in them.

use dayshift_cluster::read::ObservedNamespace;

use crate::{
    ids::{Id, WatchId},
    objects::{index::Index, namespaces::NamespaceNews, shown_by::ShownBy},
    time::guarded_clock::SeenAt,
};

impl Index {
    /// Takes in a Namespace from a watch. Returns the objects in it whose inputs have changed.
    pub(crate) fn observe_namespace(
        &mut self,
        namespace: &ObservedNamespace,
        shown: ShownBy,
        seen_at: SeenAt,
    ) -> (NamespaceNews, Vec<Id>) {
        let news = self.namespaces.observe(namespace, shown, &self.prefix);
        if !news.is_changed {
            return (news, Vec::new());
        }
        let defaults = self.namespaces.defaults(&namespace.name);
        let mut ids = self.names.ids_in(&namespace.name);
        ids.retain(|id| {
            let Some(entry) = self.entries.get_mut(*id) else {
                return false;
            };
            let inherits = entry.inherit(defaults.clone(), &mut self.parse_cache, seen_at);
            inherits || news.has_entered
        });
        for (observed, version, watch) in self.unscheduled_objects.take(&namespace.name) {
            let observed = observed.with_defaults(defaults.clone());
            ids.extend(self.take_in(observed, version, watch, seen_at));
        }
        (news, ids)
    }

    /// A Namespace is gone, or the selector matches it no more. Without a selector its annotations
    /// hold until the last of its objects is known to be gone too.
    pub(crate) fn namespace_gone(&mut self, namespace: &str) {
        let has_objects = self.names.has_any_in(namespace);
        self.namespaces.gone(namespace, has_objects);
        self.touch_scope(namespace);
    }

    /// Ends a list of Namespaces: those that it did not show are gone.
    pub(crate) fn namespaces_listed(&mut self, watch: WatchId) {
        for namespace in self.namespaces.end_list(watch) {
            self.touch_scope(&namespace);
        }
    }

    fn touch_scope(&mut self, namespace: &str) {
        if self.namespaces.are_selected() {
            self.entries.touch(&self.names.ids_in(namespace));
        }
    }

    /// The objects of a namespace, or all where none is named, in the order in which they were
    /// first seen.
    pub(crate) fn ids_in(&self, namespace: Option<&str>) -> Vec<Id> {
        namespace.map_or_else(|| self.ids(), |name| self.names.ids_in(name))
    }
}
