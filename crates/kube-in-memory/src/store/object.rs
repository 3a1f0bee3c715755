//! One object in one of its versions, and one write of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use hyper::body::Bytes;
use serde_json::Value;

/// All objects of one kind, by key.
pub(crate) type Objects = BTreeMap<Arc<str>, Arc<Object>>;

/// One stored version of an object.
#[derive(Debug)]
pub(crate) struct Object {
    pub key: Arc<str>,
    pub revision: u64,
    pub labels: Vec<(String, String)>,
    /// Whether it has a `deletionTimestamp`.
    pub deleting: bool,
    /// JSON without `kind` and `apiVersion`, as it stands in lists.
    pub body: Bytes,
}

impl Object {
    /// A version that is answered with, but not kept.
    pub(crate) fn unstored(key: Arc<str>, revision: u64, value: &Value) -> Self {
        Self {
            key,
            revision,
            labels: Vec::new(),
            deleting: false,
            body: Bytes::from(value.to_string()),
        }
    }

    pub(crate) fn value(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Its `status.phase`, where it has one.
    pub(crate) fn phase(&self) -> String {
        let value = self.value();
        let phase = value["status"]["phase"].as_str();
        phase.unwrap_or_default().to_owned()
    }

    pub(crate) fn namespace(&self) -> &str {
        self.key
            .split_once('/')
            .map_or("", |(namespace, _)| namespace)
    }

    pub(crate) fn name(&self) -> &str {
        self.key
            .split_once('/')
            .map_or(&*self.key, |(_, name)| name)
    }
}

/// One write. `before` is absent for a creation; a deletion has the last state as its `object`.
#[derive(Debug)]
pub(crate) struct Change {
    pub revision: u64,
    pub before: Option<Arc<Object>>,
    pub object: Arc<Object>,
    pub deleted: bool,
    pub at: DateTime<Utc>,
}

/// The state asked for is no longer known.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Compacted {
    /// The oldest revision that still is.
    pub oldest: u64,
}
