//! Changes the state labels of an object to values that this version never writes.

use chrono::DateTime;
use serde_json::{Value, json};

use crate::{
    checker::{
        assumptions,
        objects::{object::Object, texts},
    },
    harness::run::Harness,
    scenario::{
        calendar::BoundaryAction,
        op::Slot,
        prefix,
        tampering::{Label, Tampering},
    },
};

impl Harness<'_> {
    /// Changes values that dayshift wrote.
    pub(super) fn tamper(&self, slot: Slot, tampering: Tampering) {
        let in_minutes =
            |minutes: i32| label_of(self.now().div_euclid(1000) + i64::from(minutes) * 60);
        let (label, text) = match tampering {
            Tampering::Drop(label) => (label, None),
            // For each label, two unreadable values, of which the second is a valid label value.
            Tampering::Garble(label) => (label, Some("v1-yesterday".to_owned())),
            Tampering::Saved(count) => (Label::SavedReplicas, Some(count.to_string())),
            Tampering::Last(minutes) => (Label::Last, Some(in_minutes(minutes))),
            Tampering::Next(minutes) => (Label::Next, Some(in_minutes(minutes))),
            Tampering::LaterFingerprint => (Label::Fingerprint, Some("v3-x".to_owned())),
            Tampering::OtherFingerprint => {
                (Label::Fingerprint, Some("v1-0123456789abcdef".to_owned()))
            }
            Tampering::ForeignFingerprint => {
                let text = "v2-0123456789abcdef-0123456789abcdef";
                (Label::Fingerprint, Some(text.to_owned()))
            }
            Tampering::DropError => {
                let annotations = json!({prefix::full("error"): null});
                return self.merge(slot, &json!({"metadata": {"annotations": annotations}}));
            }
        };
        let labels = json!({prefix::full(label.name()): text});
        self.merge(slot, &json!({"metadata": {"labels": labels}}));
    }

    /// The labels that a controller would have left on an object this many hours ago. `None` if the schedule
    /// is unreadable.
    pub(super) fn state_left(&self, slot: Slot, count: u32, hours: i64) -> Option<Value> {
        let object = Object::shown(&self.object_of(slot)?);
        let holidays = self.files.at_start()?;
        let assumed = assumptions::of(&object, self.zone, &holidays);
        let plan = self.slot_intents[slot].intent.plan?;
        let plan = &self.scenario.plans[plan];
        let plan = plan.with_dates(&holidays.dates(&plan.calendars));
        let boundaries = plan.boundaries(self.zone, self.scenario.dates(), assumed.delay);
        let ended = self.now().div_euclid(1000) - hours * 3600;
        let following = boundaries.partition_point(|(at, _)| *at <= ended);
        let newest = following.checked_sub(1).map(|newest| boundaries[newest]);
        let (state, replicas, saved) = match newest {
            None => ("adopted", count, None),
            Some((_, BoundaryAction::On)) => ("running", count, None),
            Some((_, BoundaryAction::To(count @ 1..))) => ("running", count, None),
            Some((_, BoundaryAction::To(0))) => ("stopped", 0, None),
            Some((_, BoundaryAction::Off)) => {
                ("stopped", 0, (count > 0).then(|| count.to_string()))
            }
        };
        let labels = json!({
            prefix::full("state"): state,
            prefix::full("last"): label_of(newest.map_or(ended, |(at, _)| at)),
            prefix::full("next"): boundaries.get(following).map(|(at, _)| label_of(*at)),
            prefix::full("saved-replicas"): saved,
            prefix::full("fingerprint"): texts::fingerprint(&object.texts, &object.uid),
        });
        let mut patch = self.scenario.kind_of(slot).patch(replicas);
        patch["metadata"]["labels"] = labels;
        Some(patch)
    }
}

/// A time as a label value, without colons.
fn label_of(at: i64) -> String {
    let at = DateTime::from_timestamp(at, 0).unwrap();
    at.format("%Y-%m-%dT%H.%M.%SZ").to_string()
}
