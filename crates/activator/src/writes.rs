//! Which slices have to be written or deleted, and when to retry.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use dayshift_cluster::{Writer, write::PatchError};
use tokio::time::Instant;

use crate::{
    backoff::Backoffs,
    desired::{DesiredState, SliceName},
    index::ClusterIndex,
    log_limit::LogLimit,
    service::StandInSlice,
};

/// How many slices are written at once.
const MAX_IN_FLIGHT: usize = 16;

/// How many of them for one namespace.
const MAX_OF_NAMESPACE: usize = 4;

/// How long the watch may take to show what was written.
const ECHO: Duration = Duration::from_secs(2);

/// If another writer changes a slice within this time, it is restored with back-off.
const FIGHT: Duration = Duration::from_secs(120);

/// One write.
#[derive(Clone, Debug)]
pub(crate) struct SliceWrite {
    slice: SliceName,
    /// What to write; the UID of what to delete.
    wanted: Result<StandInSlice, Box<str>>,
}

/// The writes that are under way, and those that were.
pub(crate) struct SliceWrites {
    in_flight: HashSet<SliceName>,
    /// What was written last, and when.
    written: HashMap<SliceName, (StandInSlice, Instant)>,
    logs: LogLimit,
    pauses: Backoffs<SliceName>,
}

impl SliceWrites {
    pub(crate) fn new(logs: LogLimit, seed: u64) -> Self {
        Self {
            in_flight: HashSet::new(),
            written: HashMap::new(),
            logs,
            pauses: Backoffs::new(seed),
        }
    }

    /// The writes that bring what there is to what should be.
    pub(crate) fn due(&mut self, index: &ClusterIndex, cover: &DesiredState) -> Vec<SliceWrite> {
        let at = Instant::now();
        self.written.retain(|_, (_, written)| *written + FIGHT > at);
        self.pauses.forget_calm();
        let mut due = Vec::new();
        for (slice, wanted) in &cover.slices {
            let seen = index.slice_named(&wanted.service, &slice.1);
            let is_there = seen.is_some_and(|slice| slice.stand_in.as_ref() == Some(wanted));
            let is_others = seen.is_some_and(|slice| !slice.is_ours);
            let is_written = self
                .written
                .get(slice)
                .is_some_and(|(written, time)| written == wanted && *time + ECHO > at);
            if !is_there && !is_others && !is_written {
                due.push((slice.clone(), Ok(wanted.clone())));
            }
        }
        for (service, name, seen) in index.ours() {
            let slice = (service.namespace.clone(), name.clone());
            if !cover.slices.contains_key(&slice) {
                due.push((slice, Err(seen.uid.clone())));
            }
        }
        let (in_flight, pauses) = (&mut self.in_flight, &self.pauses);
        due.into_iter()
            .filter(|(slice, _)| !pauses.is_paused(slice, at))
            .filter(|(slice, _)| {
                let of_namespace = in_flight.iter().filter(|known| known.0 == slice.0).count();
                of_namespace < MAX_OF_NAMESPACE
                    && in_flight.len() < MAX_IN_FLIGHT
                    && in_flight.insert(slice.clone())
            })
            .map(|(slice, wanted)| SliceWrite { slice, wanted })
            .collect()
    }

    /// A write has ended; whether it was taken.
    pub(crate) fn finished(&mut self, write: SliceWrite, result: Result<(), PatchError>) -> bool {
        let SliceWrite { slice, wanted } = write;
        self.in_flight.remove(&slice);
        match (result, wanted) {
            (Ok(()), Ok(wanted)) => {
                let before = self.written.get(&slice);
                match before.is_some_and(|(before, _)| *before == wanted) {
                    // Another writer has changed the slice since: each time it is restored later.
                    true => self.pauses.fail(slice.clone()),
                    false => self.pauses.clear(&slice),
                }
                self.written.insert(slice, (wanted, Instant::now()));
                true
            }
            (Ok(()) | Err(PatchError::Gone), Err(_)) => {
                // The watch shows it in a moment.
                self.pauses.rest(slice, ECHO);
                true
            }
            (Err(error), _) => {
                let (namespace, name) = &slice;
                if let Some(suppressed) = self.logs.allow(namespace) {
                    tracing::warn!(%namespace, slice = %name, %error, suppressed, "cannot write an EndpointSlice");
                }
                self.pauses.fail(slice);
                false
            }
        }
    }
}

impl SliceWrite {
    /// Sends it.
    pub(crate) async fn send(&self, writer: &Writer) -> Result<(), PatchError> {
        let (namespace, name) = &self.slice;
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
    async fn a_slice_is_written_once_and_deleted_once_nobody_needs_it() {
        let mut cluster = Cluster::new().asleep().with_service();
        let cover = cluster.cover();
        let mut writes = SliceWrites::new(LogLimit::default(), 1);
        let [write] = &writes.due(&cluster.index, &cover)[..] else {
            panic!("not one write")
        };
        assert!(
            writes.due(&cluster.index, &cover).is_empty(),
            "it is under way"
        );
        assert!(writes.finished(write.clone(), Ok(())));
        assert!(
            writes.due(&cluster.index, &cover).is_empty(),
            "the watch is late"
        );
        advance(Duration::from_secs(3)).await;
        assert_eq!(
            writes.due(&cluster.index, &cover).len(),
            1,
            "somebody has taken it away"
        );

        cluster.observe_slice(slice(&cover));
        let mut writes = SliceWrites::new(LogLimit::default(), 1);
        assert!(writes.due(&cluster.index, &cover).is_empty(), "it is there");
        let nothing = DesiredState::default();
        let gone = writes.due(&cluster.index, &nothing);
        assert_eq!(gone.len(), 1);
        assert!(
            writes.finished(gone[0].clone(), Err(PatchError::Gone)),
            "another replica did it"
        );
    }

    /// Without the right to delete, say: the loop looks again after each answer.
    #[tokio::test(start_paused = true)]
    async fn a_slice_that_may_not_be_deleted_is_tried_again_and_not_at_once() {
        let mut cluster = Cluster::new().asleep().with_service();
        let slice = slice(&cluster.cover());
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
    async fn a_slice_of_somebody_else_is_left_alone_whatever_its_name() {
        let mut cluster = Cluster::new().asleep().with_service();
        let cover = cluster.cover();
        let mut theirs = slice(&cover);
        theirs["metadata"]["labels"]["endpointslice.kubernetes.io/managed-by"] = json!("me");
        cluster.observe_slice(theirs);
        assert!(
            SliceWrites::new(LogLimit::default(), 1)
                .due(&cluster.index, &cover)
                .is_empty()
        );
    }

    #[tokio::test(start_paused = true)]
    async fn slice_that_another_writer_keeps_changing_is_restored_with_backoff() {
        let cluster = Cluster::new().asleep().with_service();
        let cover = cluster.cover();
        let mut writes = SliceWrites::new(LogLimit::default(), 1);
        let mut tries = Vec::new();
        for second in 0..120 {
            // The watch never shows the slice as it was written.
            for write in writes.due(&cluster.index, &cover) {
                tries.push(second);
                assert!(writes.finished(write, Ok(())));
            }
            advance(Duration::from_secs(1)).await;
        }
        assert!((4..=16).contains(&tries.len()), "{tries:?}");
    }
}
