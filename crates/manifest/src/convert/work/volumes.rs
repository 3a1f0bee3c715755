//! What a stop would delete: dayshift refuses such an object.

use dayshift_workload::{Key, VolumeRetention};

use super::{meant::Meant, state::Work};
use crate::{
    convert::{document::objects::Document, finding::Topic},
    manifest::Node,
};

impl Work<'_, '_> {
    /// Says of each StatefulSet that gets or inherits a schedule and whose volumes a stop deletes that it
    /// is refused.
    pub(crate) fn volumes(&mut self) {
        for at in 0..self.documents.len() {
            let document = &self.documents[at];
            let mut path = VolumeRetention::PATH.iter();
            let field = path.try_fold(&*document.node, |node: &Node<'_>, name| node.get(name));
            let retention = VolumeRetention::from_text(field.and_then(Node::text));
            let allowed = self.converter.prefix.annotation(Key::AllowVolumeDeletion);
            let Some(place) = field.map(|it| it.place.clone()) else {
                continue;
            };
            if retention != VolumeRetention::Delete
                || document.has(&allowed)
                || !self.is_scheduled(at)
            {
                continue;
            }
            let message = "each stop would delete its volumes, and so dayshift refuses it: persistentVolumeClaimRetentionPolicy.whenScaled is Delete".to_owned();
            let help = format!(
                "set whenScaled: Retain, or write {allowed}: \"true\" where nothing on them is worth keeping"
            );
            self.say(at, Topic::Volumes, message, help, place);
        }
    }

    /// Whether a conversion gives an object a schedule, by itself or by its Namespace.
    fn is_scheduled(&self, at: usize) -> bool {
        let prefix = &self.converter.prefix;
        let comes = |at: usize, key: Key| {
            let name = prefix.annotation(key);
            let pending = self.pending.get(&at);
            pending.is_some_and(|it| {
                let replaced = it.replaced.iter().flat_map(|it| &it.1);
                replaced.chain(&it.added).any(|it| it.0 == name)
            })
        };
        let schedules = |at: usize| Key::SCHEDULE.iter().any(|key| comes(at, *key));
        let document: &Document<'_> = &self.documents[at];
        let is_excluded = comes(at, Key::Exclude) || document.has(&prefix.annotation(Key::Exclude));
        let namespace = self.namespace_of(at);
        schedules(at) || !is_excluded && namespace.is_some_and(schedules)
    }

    /// The Namespace of an object, where it is among the documents.
    pub(super) fn namespace_of(&self, at: usize) -> Option<usize> {
        let namespace = &self.documents[at].object.namespace;
        let id = ("".into(), "Namespace".into(), "".into(), namespace.clone());
        match self.meant_of(at, &id) {
            Meant::Document(of) => Some(of),
            Meant::Elsewhere | Meant::Unclear => None,
        }
    }
}
