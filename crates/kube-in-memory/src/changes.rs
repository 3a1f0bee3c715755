//! What is stored, told to somebody in the same process: no HTTP, no line in the log.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::de::DeserializeOwned;

use crate::api::Api;
use crate::objects::DEPLOYMENTS;
use crate::server::Server;
use crate::store::{Listener, Object};

/// The changes of Deployments, in order: see [`Api::changes`].
pub struct Changes {
    server: Arc<Server>,
    /// Everything up to here has been told.
    place: u64,
    changed: Listener,
}

/// A Deployment that was created, changed or deleted.
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
        let store = self.server.store();
        Changes {
            server: Arc::clone(&self.server),
            place: store.revision(),
            changed: store.subscribe(DEPLOYMENTS),
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
        let mut changes = match store.changes_after(DEPLOYMENTS, self.place) {
            Ok(changes) => changes,
            Err(compacted) => store.changes_after(DEPLOYMENTS, compacted.oldest).ok()?,
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
    /// The Deployment as it is now, or as it was last.
    ///
    /// # Errors
    /// Where it is no `T`.
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
