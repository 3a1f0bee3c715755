//! What the server does to requests about one object alone, or to Events alone.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use serde::{Deserialize, Serialize};

/// What becomes of each such request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trouble {
    /// An admission webhook takes longer than anybody waits.
    Hangs,
    /// An admission webhook does not answer, and the server says so.
    Fails,
    /// An admission webhook says no.
    Denies,
    /// A permission is missing.
    Forbidden,
    /// There are too many.
    Busy,
}

/// Of all scalers.
#[derive(Clone, Default)]
pub struct Troubles(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    /// By the path of the object.
    objects: HashMap<String, Trouble>,
    events: Option<Trouble>,
    happened: usize,
}

impl Trouble {
    /// The code and the message of the API server, as a real one words them.
    pub const fn answer(self) -> (u16, &'static str) {
        match self {
            Self::Hangs => (
                504,
                "Timeout: request did not complete within requested timeout",
            ),
            Self::Fails => (
                500,
                "Internal error occurred: failed calling webhook \"policy.example.com\": failed to \
                 call webhook: Post \"https://policy.ops.svc:443/validate?timeout=10s\": dial tcp \
                 10.96.0.7:443: connect: connection refused",
            ),
            Self::Denies => (
                403,
                "admission webhook \"policy.example.com\" denied the request: not on Fridays",
            ),
            Self::Forbidden => (
                403,
                "deployments.apps \"web\" is forbidden: User \"dayshift\" cannot patch resource \
                 \"deployments\" in API group \"apps\" in the namespace \"dev\"",
            ),
            Self::Busy => (429, "too many requests, please try again later"),
        }
    }
}

impl Troubles {
    pub fn set(&self, namespace: &str, name: &str, trouble: Option<Trouble>) {
        let path = format!("/apis/apps/v1/namespaces/{namespace}/deployments/{name}");
        let objects = &mut self.0.lock().unwrap().objects;
        match trouble {
            Some(trouble) => objects.insert(path, trouble),
            None => objects.remove(&path),
        };
    }

    pub fn set_events(&self, trouble: Option<Trouble>) {
        self.0.lock().unwrap().events = trouble;
    }

    pub fn end(&self) {
        let mut inner = self.0.lock().unwrap();
        inner.objects.clear();
        inner.events = None;
    }

    /// What becomes of this request.
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
