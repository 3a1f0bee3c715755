//! EndpointSlice writes: which are due, in flight, or backing off.

use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use dayshift_cluster::{Writer, log_limit::LogLimit, watch::ObjectName, write::PatchError};
use tokio::time::Instant;

use crate::{
    backoff::Backoffs, desired::DesiredState, index::ClusterIndex, service::FallbackSlice,
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
    /// When the last write of each namespace began.
    last_begun: HashMap<Arc<str>, Instant>,
    logs: LogLimit,
    backoffs: Backoffs<ObjectName>,
}

/// The writes of one namespace that can begin, at most [`MAX_OF_NAMESPACE`].
type Waiting<'d> = VecDeque<(ObjectName, Result<&'d FallbackSlice, &'d str>)>;

impl SliceWrites {
    pub(crate) fn new(logs: LogLimit, seed: u64) -> Self {
        Self {
            in_flight: HashSet::new(),
            written: HashMap::new(),
            last_begun: HashMap::new(),
            logs,
            backoffs: Backoffs::new(seed),
        }
    }

    /// The writes that turn the observed slices into the desired ones. Namespaces take turns: a free slot goes to
    /// the one whose last write began first.
    pub(crate) fn due(&mut self, index: &ClusterIndex, desired: &DesiredState) -> Vec<SliceWrite> {
        let at = Instant::now();
        self.written.retain(|_, (_, written)| *written + FIGHT > at);
        self.last_begun.retain(|_, begun| *begun + FIGHT > at);
        self.backoffs.forget_calm();
        if self.in_flight.len() >= MAX_IN_FLIGHT {
            return Vec::new();
        }
        let waiting = self.waiting(index, desired, at);
        let mut turns: Vec<_> = waiting.into_iter().collect();
        turns.sort_by_key(|(namespace, _)| self.last_begun.get(*namespace).copied());
        let mut turns = VecDeque::from(turns);
        let mut writes = Vec::new();
        while self.in_flight.len() < MAX_IN_FLIGHT
            && let Some((namespace, mut waiting)) = turns.pop_front()
        {
            let Some((slice, wanted)) = waiting.pop_front() else {
                continue;
            };
            self.in_flight.insert(slice.clone());
            self.last_begun
                .insert(Arc::clone(namespace), Instant::now());
            let wanted = wanted.cloned().map_err(Into::into);
            writes.push(SliceWrite { slice, wanted });
            turns.push_back((namespace, waiting));
        }
        writes
    }

    /// The writes that can begin, by namespace.
    fn waiting<'d>(
        &self,
        index: &'d ClusterIndex,
        desired: &'d DesiredState,
        at: Instant,
    ) -> BTreeMap<&'d Arc<str>, Waiting<'d>> {
        let applied = desired.slices.iter().filter_map(|(slice, wanted)| {
            let seen = index.slice_named(&wanted.service, &slice.name);
            let is_there = seen.is_some_and(|slice| slice.fallback.as_ref() == Some(wanted));
            let is_others = seen.is_some_and(|slice| !slice.is_ours);
            let written = self.written.get(slice);
            let is_written =
                written.is_some_and(|(written, time)| written == wanted && *time + ECHO > at);
            let is_due = !is_there && !is_others && !is_written;
            is_due.then(|| (&slice.namespace, slice.clone(), Ok(wanted)))
        });
        let deleted = index.ours().filter_map(|(service, name, seen)| {
            let slice = ObjectName {
                namespace: service.namespace.clone(),
                name: (&**name).into(),
            };
            let is_due = !desired.slices.contains_key(&slice);
            is_due.then_some((&service.namespace, slice, Err(&*seen.uid)))
        });
        let mut waiting: BTreeMap<_, Waiting<'_>> = BTreeMap::new();
        for (namespace, slice, wanted) in applied.chain(deleted) {
            if self.in_flight.contains(&slice) || self.backoffs.is_paused(&slice, at) {
                continue;
            }
            let of_namespace = waiting.entry(namespace).or_default();
            let in_flight = self.in_flight.iter();
            let in_flight = in_flight.filter(|known| known.namespace == *namespace);
            if of_namespace.len() + in_flight.count() < MAX_OF_NAMESPACE {
                of_namespace.push_back((slice, wanted));
            }
        }
        waiting
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
    use crate::test_cluster::{Cluster, name, slice};

    fn refused() -> Result<(), PatchError> {
        Err(PatchError::Rejected("no".to_owned()))
    }

    #[tokio::test(start_paused = true)]
    async fn slice_is_written_once_and_deleted_when_unneeded() {
        let mut cluster = Cluster::new().asleep().with_service();
        let desired = cluster.desired();
        let mut writes = SliceWrites::new(LogLimit::new(10), 1);
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
        let mut writes = SliceWrites::new(LogLimit::new(10), 1);
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

    #[tokio::test(start_paused = true)]
    async fn namespaces_with_many_slice_writes_do_not_delay_those_of_another() {
        let desired = Cluster::new().asleep().with_service().desired();
        let wanted = desired.slices.values().next().unwrap().clone();
        let mut desired = desired.clone();
        let add = |desired: &mut DesiredState, namespace: &str, service: &str| {
            let slice = name(namespace, &format!("{service}-dayshift"));
            let wanted = FallbackSlice {
                service: name(namespace, service),
                ..wanted.clone()
            };
            desired.slices.insert(slice, wanted);
        };
        for number in 0..4_000 {
            add(
                &mut desired,
                &format!("a{}", number % 4),
                &format!("s{number}"),
            );
        }
        let index = Cluster::new().index;
        let mut writes = SliceWrites::new(LogLimit::new(10), 1);
        let mut under_way = VecDeque::from(writes.due(&index, &desired));
        assert_eq!(under_way.len(), MAX_IN_FLIGHT);
        add(&mut desired, "team", "web");
        let mut finished = 0;
        while under_way
            .iter()
            .all(|write| &*write.slice.namespace != "team")
        {
            advance(Duration::from_millis(10)).await;
            let write = under_way.pop_front().unwrap();
            writes.finished(write, Ok(()));
            under_way.extend(writes.due(&index, &desired));
            finished += 1;
            assert!(finished < 10, "the write of another namespace waits");
        }
    }

    /// For example, without permission to delete.
    #[tokio::test(start_paused = true)]
    async fn forbidden_slice_deletion_is_retried_with_backoff() {
        let mut cluster = Cluster::new().asleep().with_service();
        let slice = slice(&cluster.desired());
        cluster.observe_slice(slice);
        let nothing = DesiredState::default();
        let mut writes = SliceWrites::new(LogLimit::new(10), 1);
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
            SliceWrites::new(LogLimit::new(10), 1)
                .due(&cluster.index, &desired)
                .is_empty()
        );
    }

    #[tokio::test(start_paused = true)]
    async fn slice_that_another_writer_keeps_changing_is_restored_with_backoff() {
        let cluster = Cluster::new().asleep().with_service();
        let desired = cluster.desired();
        let mut writes = SliceWrites::new(LogLimit::new(10), 1);
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
