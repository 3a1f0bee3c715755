//! Which objects have their own faults, and how late others can be because of them.

use std::collections::{HashMap, HashSet};

use crate::{checker::objects::object::Object, scenario::fault::Trouble};

/// The maximum time of one request, plus a margin.
const MAX_REQUEST: i64 = 11_000;

/// A request that takes longer releases its slot, in milliseconds.
const SLOW: i64 = 1_000;

/// The default of `--max-in-flight`.
const IN_FLIGHT: usize = 32;

/// With at most this many hanging objects every queue has free slots.
const FEW: usize = 3;

/// Times are in milliseconds by the server's clock.
#[derive(Debug, Default)]
pub struct Troubled {
    /// Until when writes to these fail or might not have been retried; and the longest recovery
    /// among their faults since they were last in order.
    objects: HashMap<(String, String), (i64, i64)>,
    /// The same of all objects in these namespaces: if a permission is missing, one object probes
    /// for all.
    forbidden: HashMap<String, (i64, i64)>,
    /// Objects that may not be written while the fault lasts.
    asking: HashSet<(String, String)>,
    /// Until when a request to these might hang.
    hanging: HashMap<(String, String), i64>,
    /// Whether there was any fault.
    is_any: bool,
    /// `--max-in-flight`.
    pub in_flight: usize,
}

impl Troubled {
    /// Writes to this object have this fault from now on, or none.
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

    /// Whether a request to any object might hang.
    pub fn any_hangs(&self, at: i64) -> bool {
        self.hanging.values().any(|until| at < *until)
    }

    /// Whether there was any fault.
    pub const fn is_any(&self) -> bool {
        self.is_any
    }

    pub const fn set_events(&mut self) {
        self.is_any = true;
    }

    /// Requests have no faults any more. Returns when everything has been retried, or `None` if
    /// nothing had a fault.
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

    /// Whether writes to this object fail, or failed and might not have been retried.
    pub fn is(&self, object: &Object, at: i64) -> bool {
        self.until(object).is_some_and(|until| at < until)
    }

    /// When failed writes to this object have been retried.
    pub fn until(&self, object: &Object) -> Option<i64> {
        let name = (object.namespace.clone(), object.name.clone());
        let until = self.objects.get(&name).max(self.forbidden.get(&name.0));
        until.map(|(until, _)| *until)
    }

    /// How late an object without faults can be, in milliseconds: immediate failures delay nothing;
    /// a hanging request holds its slot for a second, and no namespace takes the last slots.
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
        // Adoptions have half as many slots as transitions.
        let waves = (2 * count).div_ceil(places);
        SLOW * i64::try_from(waves).unwrap()
    }
}

/// Starts or ends a fault of an entry that records until when it is not in order.
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
