//! The objects whose writes have a fault, and how much these faults can delay other objects.

use std::collections::{HashMap, HashSet};

use crate::{checker::objects::object::Object, scenario::fault::Trouble};

/// The maximum time of one request, plus a margin.
const MAX_REQUEST: i64 = 11_000;

/// A request that takes longer releases its slot, in milliseconds.
const SLOW: i64 = 1_000;

/// The default of `--max-in-flight`.
const IN_FLIGHT: usize = 32;

/// With at most this many objects whose requests hang, every queue has free slots.
const FEW: usize = 3;

/// Times are in milliseconds by the server's clock.
#[derive(Debug, Default)]
pub struct Troubled {
    /// By object: until when writes fail or are waiting for a retry, and the longest recovery time of its
    /// faults since the last successful write.
    objects: HashMap<(String, String), (i64, i64)>,
    /// The same for all objects of a namespace: if a permission is missing, one object probes for all.
    forbidden: HashMap<String, (i64, i64)>,
    /// Objects whose writes are forbidden.
    forbidden_objects: HashSet<(String, String)>,
    /// By object: until when a request might hang.
    hanging: HashMap<(String, String), i64>,
    /// Whether any fault has occurred.
    is_any: bool,
    /// `--max-in-flight`.
    pub in_flight: usize,
}

impl Troubled {
    /// Writes to this object have this fault from now on; `None` ends it.
    pub fn set(&mut self, namespace: &str, name: &str, trouble: Option<Trouble>, at: i64) {
        self.is_any = true;
        let object = (namespace.to_owned(), name.to_owned());
        let is_forbidden = trouble == Some(Trouble::Forbidden);
        let was_forbidden = if is_forbidden {
            !self.forbidden_objects.insert(object.clone())
        } else {
            self.forbidden_objects.remove(&object)
        };
        let is_last = self
            .forbidden_objects
            .iter()
            .all(|(place, _)| place != namespace);
        if is_forbidden || was_forbidden && is_last {
            let trouble = trouble.filter(|_| is_forbidden);
            set_fault(
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
        set_fault(self.objects.entry(object).or_default(), trouble, at);
    }

    /// Whether a request to any object might hang.
    pub fn any_hangs(&self, at: i64) -> bool {
        self.hanging.values().any(|until| at < *until)
    }

    /// Whether any fault has occurred.
    pub const fn is_any(&self) -> bool {
        self.is_any
    }

    pub const fn set_events(&mut self) {
        self.is_any = true;
    }

    /// All faults of requests end. Returns when everything has been retried, or `None` if no fault has
    /// occurred.
    pub fn end(&mut self, at: i64) -> Option<i64> {
        let objects = self.objects.values_mut();
        let all = objects.chain(self.forbidden.values_mut());
        all.for_each(|it| set_fault(it, None, at));
        let hanging = self.hanging.values_mut();
        hanging.for_each(|until| *until = (*until).min(at + MAX_REQUEST));
        let objects = self.objects.values().chain(self.forbidden.values());
        let latest = objects.map(|(until, _)| *until).max();
        self.is_any.then(|| latest.unwrap_or(at).max(at))
    }

    /// Whether writes to this object fail, or have failed and are waiting for a retry.
    pub fn is(&self, object: &Object, at: i64) -> bool {
        self.until(object).is_some_and(|until| at < until)
    }

    /// When all failed writes to this object have been retried.
    pub fn until(&self, object: &Object) -> Option<i64> {
        let name = (object.namespace.clone(), object.name.clone());
        let until = self.objects.get(&name).max(self.forbidden.get(&name.0));
        until.map(|(until, _)| *until)
    }

    /// The maximum delay of an object without faults, in milliseconds. Immediate failures delay nothing. A
    /// hanging request holds its slot for a second, and one namespace cannot take the last slots.
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
        // Adoptions have half as many slots as starts and stops.
        let waves = (2 * count).div_ceil(places);
        SLOW * i64::try_from(waves).unwrap()
    }
}

/// Starts or ends a fault in an entry of these tables.
fn set_fault((until, recovery): &mut (i64, i64), trouble: Option<Trouble>, at: i64) {
    match trouble {
        Some(trouble) => {
            let before = if at < *until { *recovery } else { 0 };
            (*until, *recovery) = (i64::MAX, before.max(trouble.recovery()));
        }
        None if *until == i64::MAX => *until = at + *recovery,
        None => {}
    }
}
