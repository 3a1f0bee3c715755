//! EndpointSlice writes: which are due, in flight, or backing off.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use dayshift_cluster::{Writer, watch::ObjectName, write::PatchError};
use tokio::time::Instant;

use crate::{
    backoff::Backoffs, desired::DesiredState, index::ClusterIndex, log_limit::LogLimit,
    service::FallbackSlice,
};

/// The maximum number of writes in flight.
const MAX_IN_FLIGHT: usize = 16;

/// The maximum number of writes in flight for one namespace.
const MAX_OF_NAMESPACE: usize = 4;

/// How long the watch can take to show a write.
const ECHO: Duration = Duration::from_secs(2);

/// If another client changes a slice within this time, it is restored with back-off.
const FIGHT: Duration = Duration::from_secs(120);

#[derive(Clone, Debug)]
pub(crate) struct SliceWrite {
    slice: ObjectName,
    /// The content to apply, or the UID of the slice to delete.
    wanted: Result<FallbackSlice, Box<str>>,
}

/// The writes in flight and the recent ones.
pub(crate) struct SliceWrites {
    in_flight: HashSet<ObjectName>,
    /// The last written content and its time.
    written: HashMap<ObjectName, (FallbackSlice, Instant)>,
    logs: LogLimit,
    backoffs: Backoffs<ObjectName>,
}

impl SliceWrites {
    pub(crate) fn new(logs: LogLimit, seed: u64) -> Self {
        Self {
            in_flight: HashSet::new(),
            written: HashMap::new(),
            logs,
            backoffs: Backoffs::new(seed),
        }
    }

    /// The writes that turn the observed slices into the desired ones.
    pub(crate) fn due(&mut self, index: &ClusterIndex, desired: &DesiredState) -> Vec<SliceWrite> {
        let at = Instant::now();
        self.written.retain(|_, (_, written)| *written + FIGHT > at);
        self.backoffs.forget_calm();
        let mut writes = Vec::new();
        for (slice, wanted) in &desired.slices {
            let seen = index.slice_named(&wanted.service, &slice.name);
            let is_there = seen.is_some_and(|slice| slice.fallback.as_ref() == Some(wanted));
            let is_others = seen.is_some_and(|slice| !slice.is_ours);
            let is_written = self
                .written
                .get(slice)
                .is_some_and(|(written, time)| written == wanted && *time + ECHO > at);
            if !is_there && !is_others && !is_written && self.begin(slice, at) {
                let (slice, wanted) = (slice.clone(), Ok(wanted.clone()));
                writes.push(SliceWrite { slice, wanted });
            }
        }
        for (service, name, seen) in index.ours() {
            let slice = ObjectName {
                namespace: service.namespace.clone(),
                name: (&**name).into(),
            };
            if !desired.slices.contains_key(&slice) && self.begin(&slice, at) {
                let wanted = Err(seen.uid.clone());
                writes.push(SliceWrite { slice, wanted });
            }
        }
        writes
    }

    /// Puts a write in flight, unless too many are or the slice is backing off.
    fn begin(&mut self, slice: &ObjectName, at: Instant) -> bool {
        let has_slot = self.in_flight.len() < MAX_IN_FLIGHT
            && !self.in_flight.contains(slice)
            && !self.backoffs.is_paused(slice, at);
        let in_flight = self.in_flight.iter();
        let begins = has_slot
            && in_flight
                .filter(|known| known.namespace == slice.namespace)
                .count()
                < MAX_OF_NAMESPACE;
        if begins {
            self.in_flight.insert(slice.clone());
        }
        begins
    }

    /// Records the result of a write. Returns whether it succeeded.
    pub(crate) fn finished(&mut self, write: SliceWrite, result: Result<(), PatchError>) -> bool {
        let SliceWrite { slice, wanted } = write;
        self.in_flight.remove(&slice);
        match (result, wanted) {
            (Ok(()), Ok(wanted)) => {
                let before = self.written.get(&slice);
                match before.is_some_and(|(before, _)| *before == wanted) {
                    // Another client has changed the slice since. Each time, the next write waits longer.
                    true => self.backoffs.fail(slice.clone()),
                    false => self.backoffs.clear(&slice),
                }
                self.written.insert(slice, (wanted, Instant::now()));
                true
            }
            (Ok(()) | Err(PatchError::Gone), Err(_)) => {
                // The watch will show the deletion.
                self.backoffs.rest(slice, ECHO);
                true
            }
            (Err(error), _) => {
                let ObjectName { namespace, name } = &slice;
                if let Some(suppressed) = self.logs.allow(namespace) {
                    tracing::warn!(%namespace, slice = %name, %error, suppressed, "cannot write an EndpointSlice");
                }
                self.backoffs.fail(slice);
                false
            }
        }
    }
}

impl SliceWrite {
    pub(crate) async fn send(&self, writer: &Writer) -> Result<(), PatchError> {
        let ObjectName { namespace, name } = &self.slice;
        match &self.wanted {
            Ok(wanted) => writer.apply_slice(namespace, name, &wanted.object()).await,
            Err(uid) => writer.delete_slice(namespace, name, uid).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::time::advance;

    use super::*;
    use crate::test_cluster::{Cluster, slice};

    fn refused() -> Result<(), PatchError> {
        Err(PatchError::Rejected("no".to_owned()))
    }

    #[tokio::test(start_paused = true)]
    async fn slice_is_written_once_and_deleted_when_unneeded() {
        let mut cluster = Cluster::new().asleep().with_service();
        let desired = cluster.desired();
        let mut writes = SliceWrites::new(LogLimit::default(), 1);
        let [write] = &writes.due(&cluster.index, &desired)[..] else {
            panic!("expected one write")
        };
        assert!(
            writes.due(&cluster.index, &desired).is_empty(),
            "the write is in flight"
        );
        assert!(writes.finished(write.clone(), Ok(())));
        assert!(
            writes.due(&cluster.index, &desired).is_empty(),
            "the watch has not shown it yet"
        );
        advance(Duration::from_secs(3)).await;
        assert_eq!(
            writes.due(&cluster.index, &desired).len(),
            1,
            "another client has deleted it"
        );

        cluster.observe_slice(slice(&desired));
        let mut writes = SliceWrites::new(LogLimit::default(), 1);
        assert!(
            writes.due(&cluster.index, &desired).is_empty(),
            "the slice exists"
        );
        let nothing = DesiredState::default();
        let gone = writes.due(&cluster.index, &nothing);
        assert_eq!(gone.len(), 1);
        assert!(
            writes.finished(gone[0].clone(), Err(PatchError::Gone)),
            "another replica has deleted it"
        );
    }

    /// For example, without permission to delete.
    #[tokio::test(start_paused = true)]
    async fn forbidden_slice_deletion_is_retried_with_backoff() {
        let mut cluster = Cluster::new().asleep().with_service();
        let slice = slice(&cluster.desired());
        cluster.observe_slice(slice);
        let nothing = DesiredState::default();
        let mut writes = SliceWrites::new(LogLimit::default(), 1);
        let mut tries = Vec::new();
        for second in 0..60 {
            for write in writes.due(&cluster.index, &nothing) {
                tries.push(second);
                assert!(!writes.finished(write, refused()));
            }
            advance(Duration::from_secs(1)).await;
        }
        assert!((4..=8).contains(&tries.len()), "{tries:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn slice_of_another_manager_is_never_written() {
        let mut cluster = Cluster::new().asleep().with_service();
        let desired = cluster.desired();
        let mut theirs = slice(&desired);
        theirs["metadata"]["labels"]["endpointslice.kubernetes.io/managed-by"] = json!("me");
        cluster.observe_slice(theirs);
        assert!(
            SliceWrites::new(LogLimit::default(), 1)
                .due(&cluster.index, &desired)
                .is_empty()
        );
    }

    #[tokio::test(start_paused = true)]
    async fn slice_that_another_writer_keeps_changing_is_restored_with_backoff() {
        let cluster = Cluster::new().asleep().with_service();
        let desired = cluster.desired();
        let mut writes = SliceWrites::new(LogLimit::default(), 1);
        let mut tries = Vec::new();
        for second in 0..120 {
            // The watch never shows the written content.
            for write in writes.due(&cluster.index, &desired) {
                tries.push(second);
                assert!(writes.finished(write, Ok(())));
            }
            advance(Duration::from_secs(1)).await;
        }
        assert!((4..=16).contains(&tries.len()), "{tries:?}");
    }
}
