//! Which slices have to be written or deleted, and when again.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use dayshift_cluster::{Writer, write::PatchError};
use tokio::time::Instant;

use crate::{
    cover::{Cover, SliceName},
    index::Index,
    pauses::Pauses,
    service::StandIn,
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
    wanted: Result<StandIn, Box<str>>,
}

/// The writes that are under way, and those that were.
pub(crate) struct SliceWrites {
    in_flight: HashSet<SliceName>,
    /// What was written last, and until when the watch may not show it.
    written: HashMap<SliceName, (StandIn, Instant)>,
    pauses: Pauses<SliceName>,
}

impl SliceWrites {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            in_flight: HashSet::new(),
            written: HashMap::new(),
            pauses: Pauses::new(seed),
        }
    }

    /// The writes that bring what there is to what should be.
    pub(crate) fn due(&mut self, index: &Index, cover: &Cover) -> Vec<SliceWrite> {
        let at = Instant::now();
        self.written.retain(|_, (_, until)| *until > at);
        self.pauses.forget_calm();
        let mut due = Vec::new();
        for (slice, wanted) in &cover.slices {
            let seen = index.slice_named(&wanted.service, &slice.1);
            let is_there = seen.is_some_and(|it| it.stand_in.as_ref() == Some(wanted));
            let is_others = seen.is_some_and(|it| !it.is_ours);
            let is_written = self.written.get(slice).is_some_and(|(it, _)| it == wanted);
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
