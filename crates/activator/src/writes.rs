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
    service::StandInSlice,
};

/// How many slices are written at once.
const MAX_IN_FLIGHT: usize = 16;

/// How long the watch may take to show what was written.
const ECHO: Duration = Duration::from_secs(2);

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
    /// What was written last, and until when the watch may not show it.
    written: HashMap<SliceName, (StandInSlice, Instant)>,
    pauses: Backoffs<SliceName>,
}

impl SliceWrites {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            in_flight: HashSet::new(),
            written: HashMap::new(),
            pauses: Backoffs::new(seed),
        }
    }

    /// The writes that bring what there is to what should be.
    pub(crate) fn due(&mut self, index: &ClusterIndex, cover: &DesiredState) -> Vec<SliceWrite> {
        let at = Instant::now();
        self.written.retain(|_, (_, until)| *until > at);
        self.pauses.forget_calm();
        let mut due = Vec::new();
        for (slice, wanted) in &cover.slices {
            let seen = index.slice_named(&wanted.service, &slice.1);
            let is_there = seen.is_some_and(|slice| slice.stand_in.as_ref() == Some(wanted));
            let is_others = seen.is_some_and(|slice| !slice.is_ours);
            let is_written = self
                .written
                .get(slice)
                .is_some_and(|(written, _)| written == wanted);
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
            .filter(|(slice, _)| in_flight.len() < MAX_IN_FLIGHT && in_flight.insert(slice.clone()))
            .map(|(slice, wanted)| SliceWrite { slice, wanted })
            .collect()
    }

    /// A write has ended; whether it was taken.
    pub(crate) fn finished(&mut self, write: SliceWrite, result: Result<(), PatchError>) -> bool {
        let SliceWrite { slice, wanted } = write;
        self.in_flight.remove(&slice);
        match (result, wanted) {
            (Ok(()), Ok(wanted)) => {
                self.pauses.clear(&slice);
                self.written.insert(slice, (wanted, Instant::now() + ECHO));
                true
            }
            (Ok(()) | Err(PatchError::Gone), Err(_)) => {
                // The watch shows it in a moment.
                self.pauses.rest(slice, ECHO);
                true
            }
            (Err(error), _) => {
                let (namespace, name) = &slice;
                tracing::warn!(%namespace, slice = %name, %error, "cannot write an EndpointSlice");
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
        let mut writes = SliceWrites::new(1);
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
        let mut writes = SliceWrites::new(1);
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
        let mut writes = SliceWrites::new(1);
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
        assert!(SliceWrites::new(1).due(&cluster.index, &cover).is_empty());
    }
}
