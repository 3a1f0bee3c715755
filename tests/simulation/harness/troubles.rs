//! Faults of requests about one object, or about Events.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use crate::scenario::{fault::Trouble, kinds};

/// The faults of single objects, and of Events, for the requests of every controller.
#[derive(Clone, Default)]
pub struct Troubles(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    /// By the path of the object.
    objects: HashMap<String, Trouble>,
    events: Option<Trouble>,
    happened: usize,
}

impl Troubles {
    pub fn set(&self, namespace: &str, name: &str, trouble: Option<Trouble>) {
        let objects = &mut self.0.lock().unwrap().objects;
        for kind in kinds::ALL {
            let path = kind.path(namespace, name);
            match trouble {
                Some(trouble) => objects.insert(path, trouble),
                None => objects.remove(&path),
            };
        }
    }

    pub fn set_events(&self, trouble: Option<Trouble>) {
        self.0.lock().unwrap().events = trouble;
    }

    pub fn end(&self) {
        let mut inner = self.0.lock().unwrap();
        inner.objects.clear();
        inner.events = None;
    }

    /// The fault of this request, if any.
    pub fn of(&self, method: &http::Method, path: &str) -> Option<Trouble> {
        let mut inner = self.0.lock().unwrap();
        let trouble = match *method {
            http::Method::PATCH => inner.objects.get(path).copied(),
            http::Method::POST if path.ends_with("/events") => inner.events,
            _ => None,
        };
        inner.happened += usize::from(trouble.is_some());
        trouble
    }

    pub fn happened(&self) -> usize {
        self.0.lock().unwrap().happened
    }
}
