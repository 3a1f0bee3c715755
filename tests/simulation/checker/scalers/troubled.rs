//! Which objects have faults of their own, and how late others may be because of them.

use std::collections::{HashMap, HashSet};

use crate::{checker::objects::object::Object, story::fault::Trouble};

/// How long one request may take, and a little more.
const MAX_REQUEST: i64 = 11_000;

/// What keeps its place for longer gives it up to others, in milliseconds.
const SLOW: i64 = 1_000;

/// `--max-in-flight` where it is not given.
const IN_FLIGHT: usize = 32;

/// With at most this many hanging objects every lane has free places.
const FEW: usize = 3;

/// Instants are in milliseconds by the server's clock.
#[derive(Debug, Default)]
pub struct Troubled {
    /// Until when writes to these fail, or may not have been tried again; and after what, of what has
    /// befallen them since they were in order, it takes longest.
    objects: HashMap<(String, String), (i64, i64)>,
    /// The same of all objects in these namespaces: where a permission is missing, one asks for all.
    forbidden: HashMap<String, (i64, i64)>,
    /// Those that may not be written, as long as that lasts.
    asking: HashSet<(String, String)>,
    /// Until when a request to these may hang.
    hanging: HashMap<(String, String), i64>,
    /// Whether anything at all went wrong.
    is_any: bool,
    /// `--max-in-flight`.
    pub in_flight: usize,
}

impl Troubled {
    /// From now on something befalls writes to this object, or no more.
    pub fn set(&mut self, namespace: &str, name: &str, trouble: Option<Trouble>, at: i64) {
        self.is_any = true;
        let object = (namespace.to_owned(), name.to_owned());
        let is_forbidden = trouble == Some(Trouble::Forbidden);
        let was_forbidden = if is_forbidden {
            !self.asking.insert(object.clone())
        } else {
            self.asking.remove(&object)
        };
        let is_last = self.asking.iter().all(|(place, _)| place != namespace);
        if is_forbidden || was_forbidden && is_last {
            let trouble = trouble.filter(|_| is_forbidden);
            befalls(
                self.forbidden.entry(namespace.to_owned()).or_default(),
                trouble,
                at,
            );
        }
        if trouble == Some(Trouble::Hangs) {
            self.hanging.insert(object.clone(), i64::MAX);
        } else if let Some(hanging) = self.hanging.get_mut(&object) {
            *hanging = (*hanging).min(at + MAX_REQUEST);
        }
        befalls(self.objects.entry(object).or_default(), trouble, at);
    }

    /// Whether a request to any object may hang.
    pub fn any_hangs(&self, at: i64) -> bool {
        self.hanging.values().any(|until| at < *until)
    }

    /// Whether anything at all has gone wrong.
    pub const fn is_any(&self) -> bool {
        self.is_any
    }

    pub const fn set_events(&mut self) {
        self.is_any = true;
    }

    /// Nothing befalls requests any more. Returns when all that something befell has been tried again, and
    /// none where nothing did.
    pub fn end(&mut self, at: i64) -> Option<i64> {
        let objects = self.objects.values_mut();
        let all = objects.chain(self.forbidden.values_mut());
        all.for_each(|it| befalls(it, None, at));
        let hanging = self.hanging.values_mut();
        hanging.for_each(|until| *until = (*until).min(at + MAX_REQUEST));
        let objects = self.objects.values().chain(self.forbidden.values());
        let latest = objects.map(|(until, _)| *until).max();
        self.is_any.then(|| latest.unwrap_or(at).max(at))
    }

    /// Whether writes to this object fail, or have failed and may not have been tried again.
    pub fn is(&self, object: &Object, at: i64) -> bool {
        self.until(object).is_some_and(|until| at < until)
    }

    /// When writes to this object that have failed have been tried again.
    pub fn until(&self, object: &Object) -> Option<i64> {
        let name = (object.namespace.clone(), object.name.clone());
        let until = self.objects.get(&name).max(self.forbidden.get(&name.0));
        until.map(|(until, _)| *until)
    }

    /// How late an object may be that nothing befalls, in milliseconds: what fails at once delays
    /// nobody; what hangs keeps its place for a second, and no namespace takes the last places.
    pub fn may_delay(&self, object: &Object, at: i64) -> i64 {
        let hanging = self.hanging.iter().filter(|(_, until)| at < **until);
        let namespaces: Vec<_> = hanging.map(|((namespace, _), _)| namespace).collect();
        let is_default = self.in_flight == 0 || self.in_flight >= IN_FLIGHT;
        let count = namespaces.len();
        let are_all_elsewhere = namespaces.iter().all(|it| **it != object.namespace);
        let is_one = namespaces.iter().all(|it| it == &namespaces[0]);
        if count == 0 || is_default && (count <= FEW || are_all_elsewhere && is_one) {
            return 0;
        }
        let places = if is_default {
            IN_FLIGHT
        } else {
            self.in_flight
        };
        // Adoptions have half as many places as transitions.
        let waves = (2 * count).div_ceil(places);
        SLOW * i64::try_from(waves).unwrap()
    }
}

/// Something befalls from now on what is known until when it is not in order, or no more.
fn befalls((until, recovery): &mut (i64, i64), trouble: Option<Trouble>, at: i64) {
    match trouble {
        Some(trouble) => {
            let before = if at < *until { *recovery } else { 0 };
            (*until, *recovery) = (i64::MAX, before.max(trouble.recovery()));
        }
        None if *until == i64::MAX => *until = at + *recovery,
        None => {}
    }
}
