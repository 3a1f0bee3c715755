//! Changes as they are stored, for a reader in the same process: no HTTP, no line in the log.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::de::DeserializeOwned;

use crate::api::Api;
use crate::objects::{DEPLOYMENTS, Resource};
use crate::server::Server;
use crate::status::Status;
use crate::store::{Listener, Object};

/// The changes of one kind, in order: see [`Api::changes`] and [`Api::changes_of`].
pub struct Changes {
    server: Arc<Server>,
    resource: &'static Resource,
    /// Everything up to here has been returned.
    place: u64,
    changed: Listener,
}

/// An object that was created, changed or deleted.
#[derive(Debug)]
pub struct StoredChange {
    /// When, by the server's clock.
    pub at: DateTime<Utc>,
    /// Whether it is gone.
    pub deleted: bool,
    object: Arc<Object>,
}

impl Api {
    /// All changes of Deployments from now on.
    pub fn changes(&self) -> Changes {
        self.changes_of_resource(DEPLOYMENTS)
    }

    /// All changes of a kind from now on.
    ///
    /// # Errors
    /// 400 for a kind that is not served.
    pub fn changes_of(&self, kind: &str) -> Result<Changes, Status> {
        self.server
            .kind(kind)
            .map(|resource| self.changes_of_resource(resource))
    }

    fn changes_of_resource(&self, resource: &'static Resource) -> Changes {
        let store = self.server.store();
        Changes {
            server: Arc::clone(&self.server),
            resource,
            place: store.revision(),
            changed: store.subscribe(resource),
        }
    }
}

impl Changes {
    /// Waits for the next change. What the server has forgotten meanwhile is passed over: it
    /// remembers a hundred thousand changes for five minutes.
    pub async fn next(&mut self) -> Option<StoredChange> {
        loop {
            self.changed.catch_up();
            if let Some(change) = self.read() {
                return Some(change);
            }
            self.changed.notified().await;
        }
    }

    fn read(&mut self) -> Option<StoredChange> {
        let store = self.server.store();
        let mut changes = match store.changes_after(self.resource, self.place) {
            Ok(changes) => changes,
            Err(compacted) => store.changes_after(self.resource, compacted.oldest).ok()?,
        };
        let change = changes.next()?;
        self.place = change.revision;
        Some(StoredChange {
            at: change.at,
            deleted: change.deleted,
            object: Arc::clone(&change.object),
        })
    }
}

impl StoredChange {
    /// The object as it was stored, or as it was last, before it was deleted.
    ///
    /// # Errors
    /// Where it is not a `T`.
    pub fn object<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_slice(&self.object.body)
    }
}

impl std::fmt::Debug for Changes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Changes")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}
