//! Which objects have faults of their own, and how late others may be because of them.

use std::collections::HashMap;

use crate::{checker::objects::object::Object, story::fault::Trouble};

/// How long after the last refusal of a write to one object it has been tried again.
pub const REFUSED: i64 = 11 * 60_000;

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
    /// Until when writes to these fail, or may not have been tried again.
    objects: HashMap<(String, String), i64>,
    /// The same of all objects in these namespaces: where a permission is missing, one asks for all.
    forbidden: HashMap<String, i64>,
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
        let until = trouble.map_or(at + REFUSED, |_| i64::MAX);
        if trouble == Some(Trouble::Forbidden) {
            self.forbidden.insert(namespace.to_owned(), i64::MAX);
        }
        if trouble == Some(Trouble::Hangs) {
            self.hanging.insert(object.clone(), i64::MAX);
        } else if let Some(hanging) = self.hanging.get_mut(&object) {
            *hanging = (*hanging).min(at + MAX_REQUEST);
        }
        self.objects.insert(object, until);
    }

    /// Whether a request to any object may hang.
    pub fn any_hangs(&self, at: i64) -> bool {
        self.hanging.values().any(|until| at < *until)
    }

    pub const fn set_events(&mut self) {
        self.is_any = true;
    }

    /// Nothing befalls requests any more; whether something did.
    pub fn end(&mut self, at: i64) -> bool {
        let objects = self.objects.values_mut();
        let all = objects.chain(self.forbidden.values_mut());
        all.for_each(|until| *until = at + REFUSED);
        let hanging = self.hanging.values_mut();
        hanging.for_each(|until| *until = (*until).min(at + MAX_REQUEST));
        self.is_any
    }

    /// Whether writes to this object fail, or have failed and may not have been tried again.
    pub fn is(&self, object: &Object, at: i64) -> bool {
        self.until(object).is_some_and(|until| at < until)
    }

    /// When writes to this object that have failed have been tried again.
    pub fn until(&self, object: &Object) -> Option<i64> {
        let name = (object.namespace.clone(), object.name.clone());
        let until = self.objects.get(&name).max(self.forbidden.get(&name.0));
        until.copied()
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
