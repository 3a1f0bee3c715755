//! Changes of Deployments by users, autoscalers and other tools.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::{
    checker::objects::{
        object::{Object, SCOPE},
        texts::local,
    },
    harness::run::Harness,
    scenario::{
        intent::{Enforce, Intent, Pause},
        kinds,
        op::{NAMED, NamespaceChange, Op, PLACES, PauseChange, Slot, place},
        prefix,
    },
};

/// The object that a step changes, if any.
pub fn slot(op: &Op) -> Option<Slot> {
    match op {
        Op::Make(slot, ..)
        | Op::MakeWithState(slot, ..)
        | Op::PlanAndStopReplicas(slot, ..)
        | Op::Tamper(slot, _)
        | Op::Scale(slot, _)
        | Op::Autoscale(slot, _)
        | Op::Plan(slot, _)
        | Op::Replicas(slot, _)
        | Op::StopReplicas(slot, _)
        | Op::Pause(slot, _)
        | Op::Wake(slot, _)
        | Op::Sleep(slot, _)
        | Op::Enforce(slot, _)
        | Op::Grace(slot, _)
        | Op::Exclude(slot, _)
        | Op::Break(slot, _)
        | Op::Fix(slot)
        | Op::Delete(slot)
        | Op::Recreate(slot, _)
        | Op::DeleteWithFinalizer(slot)
        | Op::Undo(slot, _)
        | Op::UndoToOverride(slot)
        | Op::ReplaceFromManifest(slot, _)
        | Op::Restore(slot, _)
        | Op::Copy(_, slot)
        | Op::MakePlain(slot, _)
        | Op::Scope(slot, _) => Some(*slot),
        _ => None,
    }
}

/// Whether a step changes this object.
pub fn touches(op: &Op, object: &Object) -> bool {
    let (namespace, name) = (&*object.namespace, &*object.name);
    let is_it = |slot: Slot| place(slot) == (namespace, name.to_owned());
    match op {
        Op::MakeFleet(count, ..) => (NAMED..NAMED + count).any(is_it),
        Op::Defaults(place, _) => namespace == PLACES[*place],
        _ => slot(op).is_some_and(is_it),
    }
}

impl Harness<'_> {
    pub(crate) fn apply_user_op(&mut self, op: &Op) {
        if let Op::MakeFleet(count, replicas, plan) = op {
            for slot in NAMED..NAMED + count {
                self.apply_user_op(&Op::Make(slot, *replicas, *plan));
            }
        }
        if let Op::Defaults(place, change) = op {
            self.annotate_namespace(*place, *change);
        }
        let Some(slot) = slot(op) else { return };
        let then = (self.now().div_euclid(1000), slot);
        match op {
            Op::Make(_, count, plan) => self.recreate_without_state(slot, *count, Some(*plan)),
            Op::MakePlain(_, count) => self.recreate_without_state(slot, *count, None),
            Op::MakeWithState(_, count, plan, hours) => {
                let most = if self.scenario.is_switch(slot) {
                    1
                } else {
                    u32::MAX
                };
                let count = most.min(*count);
                self.recreate_without_state(slot, count, Some(*plan));
                if let Some(patch) = self.state_left(slot, count, (*hours).into()) {
                    self.merge(slot, &patch);
                }
            }
            Op::Tamper(_, tampering) => self.tamper(slot, *tampering),
            Op::PlanAndStopReplicas(_, plan, count) => self.change_intent(slot, |intent| {
                intent.plan = *plan;
                intent.stop_replicas = *count;
            }),
            Op::Scale(_, count) => self.merge(slot, &self.scenario.kind_of(slot).patch(*count)),
            Op::Autoscale(_, count) => self.autoscale(slot, *count),
            Op::Plan(_, plan) => self.change_intent(slot, |intent| intent.plan = *plan),
            Op::Replicas(_, count) => self.change_intent(slot, |intent| intent.replicas = *count),
            Op::StopReplicas(_, count) => {
                self.change_intent(slot, |intent| intent.stop_replicas = *count);
            }
            Op::Pause(_, until) => self.change_intent(slot, |intent| {
                intent.pause = match until {
                    PauseChange::Lifted => None,
                    PauseChange::Forever => Some(Pause::Forever),
                    PauseChange::For(seconds) => Some(Pause::Until(then.0 + i64::from(*seconds))),
                };
            }),
            Op::Wake(_, until) => self.change_intent(slot, |intent| {
                intent.wake = until.map(|seconds| then.0 + i64::from(seconds));
            }),
            Op::Sleep(_, until) => self.change_intent(slot, |intent| {
                intent.sleep = until.map(|seconds| then.0 + i64::from(seconds));
            }),
            Op::Enforce(_, is_on) => {
                let enforce = is_on.then_some(Enforce::AtOnce);
                self.change_intent(slot, |intent| intent.enforce = enforce);
            }
            Op::Grace(_, grace) => {
                self.change_intent(slot, |intent| intent.enforce = grace.map(Enforce::After));
            }
            Op::Exclude(_, exclude) => self.change_intent(slot, |intent| intent.exclude = *exclude),
            Op::Break(_, bad) => self.change_intent(slot, |intent| intent.bad = Some(*bad)),
            Op::Fix(_) => self.change_intent(slot, |intent| intent.bad = None),
            Op::Delete(_) => self.delete(slot),
            Op::Recreate(_, count) => self.recreate(slot, *count),
            Op::DeleteWithFinalizer(_) => {
                self.merge(
                    slot,
                    &json!({"metadata": {"finalizers": ["example.com/wait"]}}),
                );
                let (namespace, name) = place(slot);
                let _ = self.api.delete_of(self.kind(slot), namespace, &name);
            }
            Op::Undo(_, number) => self.undo(slot, self.snapshot(slot, *number)),
            Op::UndoToOverride(_) => self.undo(slot, self.held_by_override(slot)),
            Op::ReplaceFromManifest(_, keeps_labels) => {
                self.replace_from_manifest(slot, *keeps_labels);
            }
            Op::Restore(_, number) => self.restore(slot, self.snapshot(slot, *number)),
            Op::Copy(from, to) => self.copy(*from, *to),
            Op::Scope(_, is_in) => {
                let label = is_in.then_some("on");
                self.merge(slot, &json!({"metadata": {"labels": {SCOPE: label}}}));
            }
            _ => {}
        }
        if let Some(object) = self.object_of(slot) {
            self.snapshots[slot].push((object, self.slot_intents[slot].intent.clone()));
        }
    }

    /// Changes the annotations of a Namespace.
    fn annotate_namespace(&mut self, place: usize, change: NamespaceChange) {
        let now = self.now().div_euclid(1000);
        let at = |seconds: i32| now + i64::from(seconds);
        let before = self.defaults[place].texts(&self.scenario.plans);
        let intent = &mut self.defaults[place];
        match change {
            NamespaceChange::Plan(plan) => intent.plan = plan,
            NamespaceChange::Replicas(count) => intent.replicas = count,
            NamespaceChange::StopReplicas(count) => intent.stop_replicas = count,
            NamespaceChange::Pause(PauseChange::Lifted) => intent.pause = None,
            NamespaceChange::Pause(PauseChange::Forever) => intent.pause = Some(Pause::Forever),
            NamespaceChange::Pause(PauseChange::For(seconds)) => {
                intent.pause = Some(Pause::Until(at(seconds)));
            }
            NamespaceChange::Wake(until) => intent.wake = until.map(at),
            NamespaceChange::Sleep(until) => intent.sleep = until.map(at),
            NamespaceChange::Exclude(exclude) => intent.exclude = exclude,
            NamespaceChange::Break(bad) => intent.bad = Some(bad),
            NamespaceChange::Fix => intent.bad = None,
        }
        let after = self.defaults[place].texts(&self.scenario.plans);
        let patch = annotations_from(&before, &after);
        let namespace = self.api.merge("Namespace", "", PLACES[place], &patch);
        self.observer().annotated(&namespace.unwrap());
    }

    fn recreate_without_state(&mut self, slot: Slot, count: u32, plan: Option<usize>) {
        let intent = Intent {
            plan,
            ..Intent::default()
        };
        self.slot_intents[slot].manifest = intent.clone();
        self.slot_intents[slot].intent = intent;
        self.slot_intents[slot].replicas = count;
        self.make(slot, None);
    }

    pub(super) fn object_of(&self, slot: Slot) -> Option<Value> {
        let (namespace, name) = place(slot);
        self.api.get(self.kind(slot), namespace, &name)
    }

    pub(super) fn merge(&self, slot: Slot, patch: &Value) {
        let (namespace, name) = place(slot);
        if self.object_of(slot).is_some() {
            self.api
                .merge(self.kind(slot), namespace, &name, patch)
                .unwrap();
        }
    }

    /// Sets a count as an HPA does, which ignores an object at 0.
    fn autoscale(&self, slot: Slot, count: u32) {
        if self
            .object_of(slot)
            .is_some_and(|it| Object::of(&it).replicas > 0)
        {
            self.merge(slot, &self.scenario.kind_of(slot).patch(count));
        }
    }

    fn recreate(&mut self, slot: Slot, count: u32) {
        if self.object_of(slot).is_none() {
            return;
        }
        self.delete(slot);
        self.slot_intents[slot].intent = self.slot_intents[slot].manifest.clone();
        self.slot_intents[slot].replicas = count;
        self.make(slot, None);
    }

    /// Changes the intent. Annotations that the controller removed meanwhile stay removed.
    fn change_intent(&mut self, slot: Slot, change: impl FnOnce(&mut Intent)) {
        let before = self.texts(&self.slot_intents[slot].intent);
        change(&mut self.slot_intents[slot].intent);
        let after = self.texts(&self.slot_intents[slot].intent);
        self.merge(slot, &annotations_from(&before, &after));
    }

    /// The annotations, with end times in the time format of this scenario.
    fn texts(&self, intent: &Intent) -> BTreeMap<String, String> {
        let mut texts = intent.texts(&self.scenario.plans);
        if self.scenario.is_local {
            let own = texts.get("timezone").and_then(|zone| zone.parse().ok());
            let zone = own.unwrap_or(self.scenario.zone);
            for key in ["pause", "wake-until", "sleep-until"] {
                if let Some(text) = texts.get_mut(key) {
                    *text = local(text, zone);
                }
            }
        }
        texts
    }

    fn make(&self, slot: Slot, metadata: Option<Value>) {
        if self.object_of(slot).is_none() {
            let manifest = self.manifest(slot, metadata);
            self.api.create(manifest).unwrap();
        }
    }

    pub(super) fn manifest(&self, slot: Slot, metadata: Option<Value>) -> Value {
        let ((namespace, name), wish) = (place(slot), &self.slot_intents[slot]);
        let mut metadata = metadata.unwrap_or_else(|| {
            let texts = self.texts(&wish.manifest).into_iter();
            let mut annotations: Map<_, _> = texts
                .map(|(key, text)| (prefix::full(&key), json!(text)))
                .collect();
            let mut labels = if self.scenario.scoped {
                json!({SCOPE: "on"})
            } else {
                json!({})
            };
            if self.scenario.prefix.is_some() {
                // An annotation of a controller with the default prefix, which a controller with another
                // prefix ignores.
                annotations.insert(format!("{}/stop", prefix::USUAL), json!("* * * * *"));
                labels[format!("{}/state", prefix::USUAL)] = json!("running");
            }
            json!({"annotations": annotations, "labels": labels})
        });
        metadata["name"] = json!(name);
        metadata["namespace"] = json!(namespace);
        let kind = self.scenario.kind_of(slot);
        let containers = json!([{"name": "web", "image": "nginx"}]);
        let spec = match kind.name {
            "CronJob" => {
                let pod = json!({"restartPolicy": "Never", "containers": containers});
                let job = json!({"spec": {"template": {"spec": pod}}});
                json!({"schedule": "0 * * * *", "jobTemplate": job})
            }
            "Deployment" | "StatefulSet" => json!({
                "selector": {"matchLabels": {"app": name}},
                "template": {
                    "metadata": {"labels": {"app": name}},
                    "spec": {"containers": containers},
                },
            }),
            // A field that only its operator reads.
            _ => json!({kind.mark: {"name": "other"}}),
        };
        let mut manifest = json!({
            "apiVersion": kind.api_version, "kind": kind.name, "metadata": metadata, "spec": spec,
        });
        if kind.name == kinds::STATEFUL_SET.name {
            manifest["spec"]["serviceName"] = json!(name);
        }
        kind.set(&mut manifest, wish.replicas);
        manifest
    }

    fn delete(&self, slot: Slot) {
        let (namespace, name) = place(slot);
        self.merge(slot, &json!({"metadata": {"finalizers": null}}));
        let _ = self.api.delete_of(self.kind(slot), namespace, &name);
    }

    fn replace_from_manifest(&mut self, slot: Slot, keeps_labels: bool) {
        let Some(live) = self.object_of(slot) else {
            return;
        };
        let mut manifest = self.manifest(slot, None);
        if keeps_labels {
            manifest["metadata"]["labels"] = live["metadata"]["labels"].clone();
        }
        self.replace(&live, manifest);
        self.slot_intents[slot].intent = self.slot_intents[slot].manifest.clone();
    }

    pub(super) fn replace(&self, live: &Value, mut manifest: Value) {
        // The server does not replace custom objects without a resourceVersion.
        for member in ["finalizers", "resourceVersion"] {
            manifest["metadata"][member] = live["metadata"][member].clone();
        }
        self.api.replace(manifest).unwrap();
    }

    fn copy(&mut self, from: Slot, to: Slot) {
        let Some(live) = self.object_of(from).filter(|_| from != to) else {
            return;
        };
        self.delete(to);
        let metadata = json!({
            "labels": live["metadata"]["labels"],
            "annotations": live["metadata"]["annotations"],
        });
        self.slot_intents[to].manifest = self.slot_intents[from].manifest.clone();
        self.slot_intents[to].replicas = Object::of(&live).replicas;
        self.slot_intents[to].intent = self.slot_intents[from].intent.clone();
        self.make(to, Some(metadata));
    }
}

/// The merge patch from the first annotations to the second ones.
fn annotations_from(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Value {
    let gone = before.keys().filter(|key| !after.contains_key(*key));
    let gone = gone.map(|key| (prefix::full(key), Value::Null));
    let new = after
        .iter()
        .filter(|(key, text)| before.get(*key) != Some(text));
    let new = new.map(|(key, text)| (prefix::full(key), json!(text)));
    let annotations: Map<_, _> = gone.chain(new).collect();
    json!({"metadata": {"annotations": annotations}})
}
