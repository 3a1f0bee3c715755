//! Earlier states of objects, for `kubectl rollout undo` and for restores from a backup.

use serde_json::{Map, Value, json};

use crate::{
    harness::run::Harness,
    scenario::{intent::Intent, op::Slot, prefix},
};

/// An object after a step that changed it, and the intent of its annotations.
type Snapshot = (Value, Intent);

impl Harness<'_> {
    /// The snapshot with this number, modulo the number of snapshots.
    pub(super) fn snapshot(&self, slot: Slot, number: usize) -> Option<Snapshot> {
        let all = &self.snapshots[slot];
        all.get(number % all.len().max(1)).cloned()
    }

    /// The newest snapshot with an active override.
    pub(super) fn held_by_override(&self, slot: Slot) -> Option<Snapshot> {
        let has = |object: &Value, key: &str| {
            object["metadata"]["annotations"][prefix::full(key)].is_string()
        };
        let is_held = |(object, _): &&Snapshot| {
            let mut keys = ["pause", "wake-until", "sleep-until"].into_iter();
            has(object, "override-began") && keys.any(|key| has(object, key))
        };
        self.snapshots[slot].iter().rev().find(is_held).cloned()
    }

    /// `kubectl rollout undo`: earlier annotations, current labels.
    pub(super) fn undo(&mut self, slot: Slot, then: Option<Snapshot>) {
        let (Some(live), Some((then, intent))) = (self.object_of(slot), then) else {
            return;
        };
        let mut annotations = then["metadata"]["annotations"]
            .as_object()
            .cloned()
            .unwrap_or_default();
        for key in live["metadata"]["annotations"]
            .as_object()
            .into_iter()
            .flat_map(Map::keys)
        {
            annotations.entry(key.clone()).or_insert(Value::Null);
        }
        self.merge(slot, &json!({"metadata": {"annotations": annotations}}));
        self.slot_intents[slot].intent = intent;
    }

    /// Restores the complete object from a backup.
    pub(super) fn restore(&mut self, slot: Slot, then: Option<Snapshot>) {
        let (Some(live), Some((then, intent))) = (self.object_of(slot), then) else {
            return;
        };
        let metadata = json!({
            "labels": then["metadata"]["labels"],
            "annotations": then["metadata"]["annotations"],
        });
        let mut manifest = self.manifest(slot, Some(metadata));
        self.scenario.kind_of(slot).set_as(&mut manifest, &then);
        self.replace(&live, manifest);
        self.slot_intents[slot].intent = intent;
    }
}
