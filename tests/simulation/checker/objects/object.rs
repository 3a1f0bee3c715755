//! A Deployment as the server stores it, decoded without code of dayshift.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use chrono::{DateTime, NaiveDateTime};
use serde_json::Value;

use crate::{
    checker::objects::{phase::Phase, texts},
    scenario::{kinds::KindInfo, prefix},
};

/// The label that the controllers' selector uses.
pub const SCOPE: &str = "shift";

/// The value of the label `next` if no boundary is left: later than every time.
pub const NEVER: i64 = i64::MAX;

/// The state labels; times are in seconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    pub phase: Option<Phase>,
    pub last: Option<i64>,
    /// [`NEVER`] if no boundary is left.
    pub next: Option<i64>,
    pub saved: Option<u32>,
    pub owner: Option<String>,
    /// Labels that exist and have an unreadable value.
    pub garbled: BTreeSet<&'static str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    pub uid: String,
    pub namespace: String,
    pub name: String,
    /// The count. An object with an on/off field has 1 while it runs, else 0.
    pub replicas: u32,
    pub kind: &'static KindInfo,
    /// The member of the object that contains its on/off field, and the label that saves its value.
    pub switch: Value,
    pub saved_value: Option<String>,
    /// A user's annotations, without the prefix.
    pub texts: BTreeMap<String, String>,
    /// The annotations of its Namespace, if known.
    pub defaults: BTreeMap<String, String>,
    pub state: State,
    pub error: Option<String>,
    /// The annotation `override-began`, which only dayshift writes and reads.
    pub began: Option<String>,
    pub deleting: bool,
    /// Everything that a controller must not change.
    pub rest: Value,
}

impl Object {
    pub fn of(value: &Value) -> Self {
        Self {
            rest: rest(value),
            ..Self::shown(value)
        }
    }

    /// The object without [`Self::rest`].
    pub fn shown(value: &Value) -> Self {
        let metadata = &value["metadata"];
        let text = |key: &str| metadata[key].as_str().unwrap_or_default().to_owned();
        let defaults = BTreeMap::new();
        let kind = KindInfo::of_spec(&value["spec"]);
        let switch = kind.switch.map(|it| it.member_of(value));
        let saved_value = &metadata["labels"][prefix::full("saved-value")];
        let mut texts = BTreeMap::new();
        let (mut error, mut began) = (None, None);
        for (key, text) in metadata["annotations"].as_object().into_iter().flatten() {
            let text = text.as_str().unwrap_or_default().to_owned();
            match prefix::strip(key) {
                Some("error") => error = Some(text),
                Some("override-began") => began = Some(text),
                // No decision depends on the other fields.
                Some("inherited") => {}
                Some(key) => {
                    texts.insert(key.to_owned(), text);
                }
                None => {}
            }
        }
        Self {
            uid: text("uid"),
            namespace: text("namespace"),
            name: text("name"),
            replicas: kind.count_of(value),
            kind,
            switch: switch.unwrap_or_default(),
            saved_value: saved_value.as_str().map(str::to_owned),
            texts,
            defaults,
            state: State::of(&metadata["labels"]),
            error,
            began,
            deleting: !metadata["deletionTimestamp"].is_null(),
            rest: Value::Null,
        }
    }

    /// Whether it is an object of the collection with this path.
    pub fn is_in(&self, path: &str) -> bool {
        path.rsplit_once('/')
            .is_some_and(|(_, end)| end == self.kind.plural)
    }

    /// The object with the annotations that it inherits from its Namespace. An object with an on/off field
    /// inherits no counts.
    pub fn beside(mut self, defaults: &BTreeMap<String, String>) -> Self {
        self.defaults.clone_from(defaults);
        let refuses = self.kind.switch.map_or(&[][..], |it| it.refuses);
        self.defaults.retain(|key, _| !refuses.contains(&&**key));
        self
    }

    /// Whether it has only an on/off field.
    pub const fn is_switch(&self) -> bool {
        self.kind.switch.is_some()
    }

    /// The count after a stop. An unreadable value means 0.
    pub fn stop_count(&self) -> u32 {
        let in_force = self.in_force();
        let text = in_force.get("stop-replicas").filter(|_| !self.is_switch());
        text.and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    pub fn full_name(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    /// The annotations that users wrote, on the object and on its Namespace.
    pub const fn inputs(&self) -> [&BTreeMap<String, String>; 2] {
        [&self.texts, &self.defaults]
    }

    /// The effective annotations: its own, and those that it inherits.
    pub fn in_force(&self) -> Cow<'_, BTreeMap<String, String>> {
        texts::in_force(&self.texts, &self.defaults)
    }

    /// Whether it has its own schedule and its state matches that, so that edits of its Namespace cause no
    /// write.
    pub fn rests_on_itself(&self) -> bool {
        let is_of = |owner: &String| texts::is_fingerprint(owner, &self.in_force(), &self.uid);
        texts::has_schedule(&self.texts) && self.state.owner.as_ref().is_none_or(is_of)
    }

    /// Whether it has no schedule and no state of dayshift.
    pub fn has_no_schedule_or_state(&self) -> bool {
        self.has_no_state() && !texts::has_schedule(&self.defaults)
    }

    /// The count that a start restores. An on/off field that is off without a stop by dayshift was set by a
    /// user.
    pub fn remembered(&self, state: &State) -> Option<u32> {
        self.wanted(state.remembered())
    }

    /// The count that a start restores if `known` is the known count.
    pub fn wanted(&self, known: Option<u32>) -> Option<u32> {
        let is_wish = self.is_switch() && self.replicas == 0;
        known.or(is_wish.then_some(0))
    }

    /// Whether it has no label or annotation that dayshift writes.
    pub fn has_no_state(&self) -> bool {
        self.texts.is_empty()
            && self.state == State::default()
            && self.error.is_none()
            && self.began.is_none()
    }

    /// The larger of the running and the saved count: the count that a start or restore can reach.
    pub fn recoverable(&self) -> u32 {
        self.replicas.max(self.state.saved.unwrap_or(0))
    }
}

impl State {
    /// The value of `override-began` that matches this state.
    pub fn began(&self) -> Option<String> {
        self.phase.filter(|phase| phase.is_held())?;
        let at = DateTime::from_timestamp(self.last?, 0).unwrap();
        Some(at.format("%Y-%m-%dT%H:%M:%SZ").to_string())
    }

    /// The count that a start restores: 0 if dayshift started it before and saved nothing.
    pub fn remembered(&self) -> Option<u32> {
        let has_started = matches!(self.phase, Some(Phase::Running | Phase::Woken));
        self.saved.or(has_started.then_some(0))
    }

    /// Whether only the saved count is left, because the schedule was removed.
    pub fn is_only_saved(&self) -> bool {
        let only = Self {
            saved: self.saved,
            ..Self::default()
        };
        self.saved.is_some() && self.read() == only
    }

    /// The state after the removal of the schedule.
    pub fn after_removal(&self, replicas: u32) -> Self {
        Self {
            saved: self.saved.filter(|saved| *saved > replicas),
            ..Self::default()
        }
    }

    /// Whether a later version of dayshift wrote it.
    pub fn is_of_later_version(&self) -> bool {
        self.owner
            .as_deref()
            .is_some_and(texts::is_of_later_version)
    }

    /// The state without unreadable labels.
    pub fn read(&self) -> Self {
        Self {
            garbled: BTreeSet::new(),
            ..self.clone()
        }
    }

    fn of(labels: &Value) -> Self {
        let text = |key: &str| labels[prefix::full(key)].as_str();
        let instant = |key: &str| {
            let at = NaiveDateTime::parse_from_str(text(key)?, "%Y-%m-%dT%H.%M.%SZ").ok()?;
            Some(at.and_utc().timestamp())
        };
        let state = Self {
            phase: text("state").and_then(|name| match name {
                "adopted" => Some(Phase::Adopted),
                "running" => Some(Phase::Running),
                "stopped" => Some(Phase::Stopped),
                "woken" => Some(Phase::Woken),
                "slept" => Some(Phase::Slept),
                "paused" => Some(Phase::Paused),
                _ => None,
            }),
            last: instant("last"),
            next: match text("next") {
                Some("never") => Some(NEVER),
                _ => instant("next"),
            },
            saved: text("saved-replicas").and_then(|count| count.parse().ok()),
            owner: text("fingerprint")
                .filter(|label| texts::is_any_fingerprint(label))
                .map(str::to_owned),
            garbled: BTreeSet::new(),
        };
        let read = [
            ("state", state.phase.is_some()),
            ("last", state.last.is_some()),
            ("next", state.next.is_some()),
            ("saved-replicas", state.saved.is_some()),
            ("fingerprint", state.owner.is_some()),
        ];
        let garbled = read
            .into_iter()
            .filter(|(key, is_read)| !is_read && text(key).is_some());
        Self {
            garbled: garbled.map(|(key, _)| key).collect(),
            ..state
        }
    }
}

/// The object without the fields that dayshift may write, and without those that the server changes
/// at each write.
fn rest(value: &Value) -> Value {
    let switch = KindInfo::of_spec(&value["spec"]).switch;
    let annotation = switch.filter(|it| it.is_annotation).map(|it| it.member);
    let mut rest = value.clone();
    let metadata = rest["metadata"].as_object_mut().unwrap();
    for key in ["resourceVersion", "generation", "managedFields", "uid"] {
        metadata.remove(key);
    }
    for map in ["labels", "annotations"] {
        if let Some(Value::Object(members)) = metadata.get_mut(map) {
            members.retain(|key, _| prefix::strip(key).is_none() && annotation != Some(&**key));
        }
        if metadata
            .get(map)
            .and_then(Value::as_object)
            .is_some_and(serde_json::Map::is_empty)
        {
            metadata.remove(map);
        }
    }
    let spec = rest["spec"].as_object_mut().unwrap();
    spec.remove(switch.map_or("replicas", |it| it.member));
    for key in ["kind", "apiVersion", "status"] {
        rest.as_object_mut().unwrap().remove(key);
    }
    rest
}
