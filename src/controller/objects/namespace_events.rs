//! What the watches show of Namespaces, which is in force for the objects in them.

use crate::cluster::ObservedNamespace;
use crate::controller::ids::{Id, WatchId};
use crate::controller::objects::index::Index;
use crate::controller::objects::namespaces::{NamespaceNews, Namespaces};
use crate::controller::objects::shown_by::ShownBy;
use crate::controller::time::guarded_clock::SeenAt;

impl Index {
    /// Takes in a Namespace as a watch shows it. Returns the objects in it for which something
    /// else is in force now.
    pub(in crate::controller) fn observe_namespace(
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
        let mut ids = Vec::new();
        for (id, entry) in self.entries.iter_mut() {
            let is_in_it = *entry.object().namespace == *namespace.name;
            if is_in_it
                && (entry.inherit(defaults.clone(), &mut self.parse_cache, seen_at)
                    || news.has_entered)
            {
                ids.push(id);
            }
        }
        ids.sort_unstable();
        self.entries.touch(&ids);
        for (observed, version, watch) in self.bystanders.take(&namespace.name) {
            let observed = observed.with_defaults(defaults.clone());
            ids.extend(self.take_in(observed, version, watch, seen_at));
        }
        (news, ids)
    }

    /// A Namespace is gone, or the selector matches it no more.
    pub(in crate::controller) fn namespace_gone(&mut self, namespace: &str) {
        self.namespaces.gone(namespace);
        self.scope_may_have_changed();
    }

    /// A list of Namespaces has ended: what it did not show is gone.
    pub(in crate::controller) fn namespaces_listed(&mut self, watch: WatchId) {
        self.namespaces.list_ends(watch);
        self.scope_may_have_changed();
    }

    fn scope_may_have_changed(&mut self) {
        if self.namespaces.are_selected() {
            self.entries.touch_all();
        }
    }

    /// What is known of the Namespaces.
    pub(in crate::controller) const fn namespaces(&mut self) -> &mut Namespaces {
        &mut self.namespaces
    }

    /// How many Namespaces have something wrong on them.
    pub(in crate::controller) fn invalid_namespaces(&self) -> usize {
        self.namespaces.invalid()
    }
}
