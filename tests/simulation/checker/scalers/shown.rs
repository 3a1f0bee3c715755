//! The responses and events that each process has received.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use serde_json::Value;

use crate::{
    checker::{
        objects::object::Object,
        scalers::{
            known::{Done, Instants, Known},
            namespaces::Namespaces,
            request::{NAMESPACES, Request, name_of},
        },
    },
    scenario::holidays::Holidays,
};

/// What one process knows about an object: now, and before each update of the last millisecond in which
/// there was one.
#[derive(Default)]
struct Track {
    known: Option<Known>,
    /// The object and its version while it has no schedule; a Namespace might give it one.
    bystander: Option<(Object, u64)>,
    before: Vec<Known>,
    at: i64,
}

/// Namespace and name.
type Name = (String, String);

/// The responses and events that one process has received.
#[derive(Default)]
pub struct Shown {
    tracks: HashMap<Name, Track>,
    /// The objects of incomplete lists, by path.
    lists: HashMap<String, HashSet<Name>>,
    namespaces: Namespaces,
    /// The calendars that the process has read.
    holidays: Arc<Holidays>,
}

impl Shown {
    /// The possible current knowledge about an object: more than one if there was an update in this
    /// millisecond.
    pub fn known(&self, namespace: &str, name: &str, truth: i64) -> Vec<Known> {
        let Some(track) = self.tracks.get(&(namespace.into(), name.into())) else {
            return Vec::new();
        };
        let mut all: Vec<_> = track.known.iter().cloned().collect();
        if track.at == truth {
            all.extend(track.before.iter().cloned());
        }
        all
    }

    /// The limit of corrections was reported; returns how often so far.
    pub fn record_correction_limit_event(&mut self, uid: &str, clock: i64) -> usize {
        let known = self.tracks.values_mut().filter_map(|it| it.known.as_mut());
        let known = known.filter(|known| known.object.uid == uid);
        known
            .map(|known| known.reports_limit(clock))
            .max()
            .unwrap_or(0)
    }

    /// A patch was accepted while the process waits for the response to a patch of the same object. If it
    /// receives no response, it takes the accepted patch for its own. `is_own` is whether it really is.
    pub fn record_possible_own_write(&mut self, written: &Object, done: &Done, is_own: bool) {
        let name = (written.namespace.clone(), written.name.clone());
        let track = self.tracks.get_mut(&name);
        if let Some(known) = track.and_then(|it| it.known.as_mut()) {
            known.record_possible_own_write(done, is_own.then_some(written));
        }
    }

    /// The clock of the process was set back, so a known state can now be too far in the future.
    pub fn set_back(&mut self, at: Instants) {
        for track in self.tracks.values_mut() {
            if let Some(known) = track.known.clone() {
                let (object, version) = (known.object.clone(), known.version);
                track.replace_known(Some(known.shown(object, version, at)), at.truth);
            }
        }
    }

    fn observe(&mut self, value: &Value, at: Instants) {
        let object = Object::shown(value);
        let defaults = self.namespaces.defaults(&object.namespace);
        let object = object.beside(&defaults);
        let version = version_of(value);
        let name = (object.namespace.clone(), object.name.clone());
        let track = self.tracks.entry(name).or_default();
        let same = track
            .known
            .as_ref()
            .filter(|it| it.object.uid == object.uid);
        let known = match same {
            Some(known) if version < known.version => return,
            Some(known) => known.clone().shown(object, version, at),
            None => {
                let bystander = track.bystander.as_ref();
                let bystander = bystander.filter(|(it, _)| it.uid == object.uid);
                if bystander.is_some_and(|(_, known)| version < *known) {
                    return;
                }
                Known::first(object, version, at, self.holidays.clone())
            }
        };
        let ahead = track.ahead_of_its_namespace(&known, at);
        track.store(known, at.truth);
        track.before.extend(ahead);
    }

    /// Whether the process has observed all Namespaces.
    pub fn knows_namespaces(&self) -> bool {
        self.namespaces.are_known()
    }

    /// Whether the process watches Namespaces.
    pub const fn asks_for_namespaces(&self) -> bool {
        self.namespaces.are_watched()
    }

    /// A process that watches these Namespaces and has read these calendars.
    pub fn of(namespaces: Namespaces, holidays: Arc<Holidays>) -> Self {
        Self {
            namespaces,
            holidays,
            ..Self::default()
        }
    }

    /// The process reads the calendars. Returns whether they changed.
    pub fn reads(&mut self, holidays: &Arc<Holidays>, at: Instants) -> bool {
        let is_news = *holidays != self.holidays;
        if is_news {
            self.holidays.clone_from(holidays);
            for track in self.tracks.values_mut() {
                if let Some(known) = track.known.clone() {
                    track.replace_known(Some(known.reads(holidays.clone())), at.truth);
                }
            }
        }
        is_news
    }

    /// The annotations that workloads inherit in a Namespace with these annotations.
    pub fn inherited(&self, annotations: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        self.namespaces.inherited(annotations)
    }

    /// The process observes a Namespace: its workloads might have other defaults now.
    fn observe_namespace(&mut self, value: &Value, at: Instants) {
        let Some((namespace, defaults)) = self.namespaces.observe(value, version_of(value)) else {
            return;
        };
        let tracks = self.tracks.iter_mut();
        for (_, track) in tracks.filter(|((place, _), _)| *place == namespace) {
            if let Some(known) = track.known.clone() {
                let object = known.object.clone().beside(&defaults);
                let version = known.version;
                track.store(known.shown(object, version, at), at.truth);
            } else if let Some((object, version)) = track.bystander.take() {
                let object = object.beside(&defaults);
                let known = Known::first(object, version, at, self.holidays.clone());
                track.store(known, at.truth);
            }
        }
    }

    /// The server accepted a patch of this process.
    pub fn wrote(&mut self, value: &Value, done: &Done, at: Instants) {
        let object = Object::shown(value);
        let name = (object.namespace.clone(), object.name.clone());
        if let Some(track) = self.tracks.get_mut(&name)
            && let Some(known) = track.known.clone()
            && known.object.uid == object.uid
        {
            let known = known.wrote_it(done, &object, at);
            track.replace_known(Some(known), at.truth);
        }
        self.observe(value, at);
    }

    fn remove(&mut self, namespace: &str, name: &str, uid: Option<&str>, at: Instants) {
        if let Some(track) = self.tracks.get_mut(&(namespace.into(), name.into())) {
            let known = track.known.as_ref();
            if known.is_some_and(|known| uid.is_none_or(|uid| known.object.uid == uid)) {
                track.replace_known(None, at.truth);
            }
            let bystander = track.bystander.as_ref();
            if bystander.is_some_and(|(object, _)| uid.is_none_or(|uid| object.uid == uid)) {
                track.bystander = None;
            }
        }
    }

    /// The process opened a watch.
    pub fn opens(&mut self, request: &Request) {
        if request.path == NAMESPACES {
            return;
        }
        if request.begins {
            self.lists.insert(request.path.clone(), HashSet::new());
        }
    }

    /// The process receives these watch events.
    pub fn receive_events(&mut self, request: &Request, lines: &[u8], at: Instants) {
        let lines = lines.split(|byte| *byte == b'\n');
        for line in lines.filter(|line| !line.is_empty()) {
            let Ok(event) = serde_json::from_slice::<Value>(line) else {
                continue;
            };
            let (object, metadata) = (&event["object"], &event["object"]["metadata"]);
            let text = |key: &str| metadata[key].as_str().unwrap_or_default();
            let is_of_namespaces = request.path == NAMESPACES;
            match event["type"].as_str() {
                Some("ADDED" | "MODIFIED") if is_of_namespaces => {
                    self.observe_namespace(object, at);
                }
                Some("DELETED") if is_of_namespaces => {}
                Some("ADDED" | "MODIFIED") => self.observe_listed(&request.path, object, at),
                Some("DELETED") => {
                    self.remove(text("namespace"), text("name"), Some(text("uid")), at);
                }
                Some("BOOKMARK")
                    if metadata["annotations"]["k8s.io/initial-events-end"] == "true" =>
                {
                    self.list_ends(request, at);
                }
                _ => {}
            }
        }
    }

    /// The process receives a complete response of the server.
    pub fn receive_response(
        &mut self,
        request: &Request,
        code: u16,
        body: &[u8],
        done: Option<&Done>,
        at: Instants,
    ) {
        let Ok(value) = serde_json::from_slice::<Value>(body) else {
            return;
        };
        if request.is_list && code == 200 {
            self.opens(request);
            for item in value["items"].as_array().into_iter().flatten() {
                if request.path == NAMESPACES {
                    self.observe_namespace(item, at);
                } else {
                    self.observe_listed(&request.path, item, at);
                }
            }
            let more = value["metadata"]["continue"].as_str().unwrap_or_default();
            if more.is_empty() {
                self.list_ends(request, at);
            }
        } else if let Some((namespace, name)) = name_of(&request.path) {
            match code {
                200 if done.is_some() => self.wrote(&value, done.unwrap(), at),
                // Only the watch decides whether an object is in scope, so a response about an unknown object
                // adds nothing.
                200 if self.knows(namespace, name, &value) => self.observe(&value, at),
                200 => self.remove(namespace, name, None, at),
                404 => self.remove(namespace, name, None, at),
                _ => {}
            }
        }
    }

    fn knows(&self, namespace: &str, name: &str, value: &Value) -> bool {
        let Some(track) = self.tracks.get(&(namespace.into(), name.into())) else {
            return false;
        };
        let known = track.known.as_ref().map(|it| &it.object);
        let object = known.or(track.bystander.as_ref().map(|(object, _)| object));
        object.is_some_and(|object| value["metadata"]["uid"] == *object.uid)
    }

    fn observe_listed(&mut self, path: &str, value: &Value, at: Instants) {
        let name = |key: &str| value["metadata"][key].as_str().unwrap().to_owned();
        if let Some(names) = self.lists.get_mut(path) {
            names.insert((name("namespace"), name("name")));
        }
        self.observe(value, at);
    }

    /// Objects that the list did not contain are removed.
    fn list_ends(&mut self, request: &Request, at: Instants) {
        if request.path == NAMESPACES {
            self.namespaces.listed(request.one.as_deref());
            return;
        }
        let path = &request.path;
        let Some(names) = self.lists.remove(path) else {
            return;
        };
        let parts: Vec<_> = path.split('/').collect();
        let namespace = parts.iter().position(|it| *it == "namespaces");
        let namespace = namespace.map(|place| parts[place + 1]);
        for (name, track) in &mut self.tracks {
            let known = track.known.as_ref().map(|it| &it.object);
            let object = known.or(track.bystander.as_ref().map(|(object, _)| object));
            let is_there = object.is_some_and(|object| object.is_in(path));
            if is_there
                && !names.contains(name)
                && namespace.is_none_or(|namespace| namespace == name.0)
            {
                track.replace_known(None, at.truth);
                track.bystander = None;
            }
        }
    }
}

/// The resourceVersion of an object as a number.
pub(crate) fn version_of(value: &Value) -> u64 {
    let text = value["metadata"]["resourceVersion"].as_str();
    text.and_then(|text| text.parse().ok()).unwrap()
}

impl Track {
    /// The knowledge with the previous defaults, if the object and its Namespace have changed in the same
    /// millisecond. Two watches show these changes, and that of the Namespace might be processed last.
    fn ahead_of_its_namespace(&self, shown: &Known, at: Instants) -> Vec<Known> {
        let before = self.before.iter().filter(|_| self.at == at.truth);
        let of_this = before.filter(|it| it.object.uid == shown.object.uid);
        let other = of_this.filter(|it| it.object.defaults != shown.object.defaults);
        other
            .map(|it| {
                let object = shown.object.clone().beside(&it.object.defaults);
                it.clone().shown(object, shown.version, at)
            })
            .collect()
    }

    /// Stores this knowledge, unless the object has no schedule any more.
    fn store(&mut self, known: Known, at: i64) {
        let is_over = known.object.has_no_schedule_or_state() && known.applied.is_none();
        let bystander = is_over.then(|| (known.object.clone(), known.version));
        self.bystander = bystander;
        self.replace_known((!is_over).then_some(known), at);
    }

    fn replace_known(&mut self, known: Option<Known>, at: i64) {
        if self.at != at {
            self.before.clear();
            self.at = at;
        }
        self.before
            .extend(std::mem::replace(&mut self.known, known));
    }
}
