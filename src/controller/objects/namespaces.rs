//! What is known of the Namespaces whose annotations are defaults for the objects in them.

use std::{collections::HashMap, sync::Arc};

use crate::{
    cluster::{ObservedNamespace, Version},
    controller::ids::WatchId,
    schedule::Zone,
    workload::{
        Annotations, Fingerprint, Inputs, InvalidSchedule, Key, Observed, ParsedInputs, Prefix,
        read,
    },
};

/// How much is known of all Namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::controller) enum Knowledge {
    /// They have no defaults.
    Unused,
    /// Nothing yet: what they say is still to come.
    Awaited,
    /// They cannot be read. What depends on them is left alone.
    Unreadable,
    /// They have all been told, and each change since.
    Complete,
}

/// The Namespaces that say anything, and how far they are known.
pub(in crate::controller) struct Namespaces {
    knowledge: Knowledge,
    known: HashMap<Box<str>, Known>,
    default_zone: Zone,
}

struct Known {
    annotations: Arc<Annotations>,
    version: Version,
    watch: WatchId,
    listed: bool,
    /// What was last told of what is wrong with it.
    told: Option<String>,
}

/// What an event of a Namespace comes to.
#[derive(Default)]
pub(in crate::controller) struct NamespaceNews {
    /// Its annotations have changed: the objects in it have other defaults.
    pub(in crate::controller) is_changed: bool,
    /// What is wrong with them, where that was not told yet.
    pub(in crate::controller) error: Option<String>,
}

impl Namespaces {
    /// Nothing is known yet.
    pub(in crate::controller) fn new(are_used: bool, default_zone: Zone) -> Self {
        Self {
            knowledge: if are_used {
                Knowledge::Awaited
            } else {
                Knowledge::Unused
            },
            known: HashMap::new(),
            default_zone,
        }
    }

    /// Whether they have defaults.
    pub(in crate::controller) fn are_used(&self) -> bool {
        self.knowledge != Knowledge::Unused
    }

    /// They have all been told; whether that is news.
    pub(in crate::controller) fn are_complete(&mut self) -> bool {
        std::mem::replace(&mut self.knowledge, Knowledge::Complete) != Knowledge::Complete
    }

    /// They cannot be read; whether that is news. What was known of them before stays so.
    pub(in crate::controller) fn are_unreadable(&mut self) -> bool {
        let is_news = self.knowledge == Knowledge::Awaited;
        if is_news {
            self.knowledge = Knowledge::Unreadable;
        }
        is_news
    }

    /// The defaults of a namespace, if it has any.
    pub(in crate::controller) fn defaults(&self, namespace: &str) -> Option<Arc<Annotations>> {
        self.known.get(namespace).map(|it| it.annotations.clone())
    }

    /// How many are invalid.
    pub(in crate::controller) fn invalid(&self) -> usize {
        self.known.values().filter(|it| it.told.is_some()).count()
    }

    /// Takes in a Namespace as a watch shows it. What is older than what is known is merely late,
    /// and what goes keeps what it said: the objects in it go too.
    pub(in crate::controller) fn observe(
        &mut self,
        namespace: &ObservedNamespace,
        watch: WatchId,
        prefix: &Prefix,
    ) -> NamespaceNews {
        let known = self.known.get_mut(&namespace.name);
        if known.is_none() && namespace.annotations.is_empty() {
            return NamespaceNews::default();
        }
        let known = match known {
            Some(known) => known,
            None => self.known.entry(namespace.name.clone()).or_insert(Known {
                annotations: Arc::default(),
                version: Version::default(),
                watch,
                listed: true,
                told: None,
            }),
        };
        known.listed = true;
        known.watch = watch;
        if namespace.deleting || namespace.version.is_before(known.version) {
            return NamespaceNews::default();
        }
        known.version = namespace.version;
        let is_changed = *known.annotations != namespace.annotations;
        if is_changed {
            known.annotations = Arc::new(namespace.annotations.clone());
        }
        let error = problems(&known.annotations, self.default_zone);
        let error = error.map(|refusal| refusal.text(prefix));
        let is_news = error != known.told;
        known.told.clone_from(&error);
        if known.annotations.is_empty() {
            self.known.remove(&namespace.name);
        }
        NamespaceNews {
            is_changed,
            error: error.filter(|_| is_news),
        }
    }

    /// A list begins: what it does not show is gone when it ends.
    pub(in crate::controller) fn list_begins(&mut self, watch: WatchId) {
        for known in self.known.values_mut().filter(|it| it.watch == watch) {
            known.listed = false;
        }
    }

    /// A list has ended: what it did not show is forgotten, with the objects that were in it.
    pub(in crate::controller) fn list_ends(&mut self, watch: WatchId) {
        self.known.retain(|_, it| it.watch != watch || it.listed);
    }

    /// Whether enough is known to decide about an object. While Namespaces cannot be read, one goes
    /// on that has a schedule of its own, with which its state agrees: it inherits nothing that
    /// would make another schedule of it.
    pub(in crate::controller) fn may_decide(&self, observed: &Observed) -> bool {
        match self.knowledge {
            Knowledge::Unused | Knowledge::Complete => true,
            Knowledge::Awaited => false,
            Knowledge::Unreadable => {
                let (inputs, state) = (&observed.inputs, observed.state());
                let is_own = |it: &Fingerprint| it.is_of(inputs, &observed.object.uid);
                let agrees = state.fingerprint.as_ref().is_none_or(is_own);
                inputs.own().has_schedule() && agrees
            }
        }
    }
}

/// What is wrong with the annotations of a Namespace by themselves, whatever is in it.
fn problems(annotations: &Arc<Annotations>, default_zone: Zone) -> Option<InvalidSchedule> {
    let inputs = Inputs::default().with_defaults(Some(annotations.clone()));
    // Whoever has a schedule of its own may inherit the rest.
    let inputs = if inputs.has_schedule() {
        inputs
    } else {
        inputs.with(Key::Hours, "00:00-24:00")
    };
    match read(&inputs, default_zone) {
        ParsedInputs::Invalid(refusal) => Some(refusal),
        ParsedInputs::Unscheduled | ParsedInputs::Scheduled(_) => None,
    }
}
