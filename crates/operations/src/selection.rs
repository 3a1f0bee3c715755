//! The live workloads that a command writes to, and the retries of its writes.

use std::{sync::Arc, time::Duration};

use dayshift_cluster::{
    Query, Writer,
    read::{FindError, MissingWorkload, NamespaceDefaults, missing_namespaces},
    write::ReadError,
};
use dayshift_workload::{Observed, ParsedInputs, Prefix, ScheduleSpec, WorkloadRef};
use futures::{StreamExt as _, stream};
use kube::Client;

use crate::{live_view::LiveView, status::unreadable::Unreadable};

/// The selected workloads in their current state.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The workloads.
    pub workloads: Vec<SelectedWorkload>,
    /// Workloads that the user named and that do not exist.
    pub missing: Vec<MissingWorkload>,
    /// The unreadable part of the selection, which is not changed.
    pub unreadable: Vec<Unreadable>,
    /// The query without its unreadable parts.
    pub query: Query,
    /// The inherited annotations.
    pub defaults: NamespaceDefaults,
    /// Whether the user has confirmed a preview. If so, a workload is skipped if its annotations have
    /// changed since.
    pub is_previewed: bool,
}

/// A selected workload.
#[derive(Clone, Debug)]
pub struct SelectedWorkload {
    /// Its current state.
    pub observed: Arc<Observed>,
    /// Its parsed annotations, if they were parsed before.
    pub parsed: Option<Arc<ParsedInputs>>,
}

impl SelectedWorkload {
    /// The schedule, if it was parsed before and is valid.
    pub(crate) fn spec(&self) -> Option<&ScheduleSpec> {
        self.parsed.as_ref()?.spec()
    }
}

impl From<Observed> for SelectedWorkload {
    fn from(observed: Observed) -> Self {
        Self {
            observed: observed.into(),
            parsed: None,
        }
    }
}

impl Selection {
    /// Finds the workloads. If the query does not name them, only those that match `includes` are
    /// selected.
    ///
    /// # Errors
    /// If the API server cannot be reached or fails, or no part of the query is readable.
    pub async fn find(
        client: &Client,
        query: Query,
        prefix: &Prefix,
        includes: impl Fn(&Observed) -> bool,
    ) -> Result<Self, FindError> {
        let live = LiveView::read(client, query, prefix, NamespaceDefaults::default()).await?;
        let (query, unreadable_parts) = (live.query(), live.unreadable_parts());
        let named = query.is_by_name();
        let observed = live.observed();
        Ok(Self {
            workloads: observed
                .filter(|observed| named || includes(observed))
                .map(SelectedWorkload::from)
                .collect(),
            missing: live.missing(),
            unreadable: Unreadable::workloads(query, &unreadable_parts, "left unchanged"),
            query: query.without(&unreadable_parts),
            defaults: live.defaults,
            is_previewed: false,
        })
    }

    /// The namespaces of the query that do not exist, if that is known.
    pub async fn missing_namespaces(&self, client: &Client) -> Vec<String> {
        let is_found = |name: &str| {
            let mut workloads = self.workloads.iter();
            workloads.any(|workload| &*workload.observed.object.namespace == name)
        };
        missing_namespaces(client, &self.query, is_found).await
    }

    /// Reads one of the workloads again.
    async fn read(
        &self,
        writer: &Writer,
        object: &WorkloadRef,
        prefix: &Prefix,
    ) -> Result<SelectedWorkload, ReadError> {
        let read = writer.read(object).await?;
        let observed = self.defaults.applied(read.observe(&object.kind, prefix));
        Ok(observed.into())
    }

    /// Whether the user named the workloads.
    pub fn is_by_name(&self) -> bool {
        self.query.is_by_name()
    }

    /// For example `deployment.apps/web`, with its namespace if the query has several.
    pub fn subject(&self, object: &WorkloadRef) -> String {
        let (kind, name) = (object.kind.clone(), &object.name);
        let subject = format!("{}.{}/{name}", kind.singular(), kind.group());
        self.placed(subject, &object.namespace)
    }

    /// Adds the namespace to `subject` if the query has several.
    pub fn placed(&self, subject: String, namespace: &str) -> String {
        match &*self.query.namespaces() {
            [_] => subject,
            _ => format!("{subject} in {namespace}"),
        }
    }
}

impl Selection {
    /// Runs `attempt` for each workload, with the workload as it was selected and as it was last read, and
    /// reports the results in the same order.
    pub(crate) async fn for_each<T, E: Retry + From<ReadError>>(
        &self,
        client: &Client,
        prefix: &Prefix,
        attempt: impl AsyncFn(&Writer, &SelectedWorkload, &SelectedWorkload) -> Result<T, E>,
        mut report: impl FnMut(&SelectedWorkload, Result<T, E>),
    ) {
        let writer = Writer::for_command(client.clone(), prefix.clone());
        let mut answers = stream::iter(&self.workloads)
            .map(async |before: &SelectedWorkload| {
                let object = &before.observed.object;
                let read = async || Ok(self.read(&writer, object, prefix).await?);
                let attempt = async |now: &SelectedWorkload| attempt(&writer, before, now).await;
                (before, retry(before, read, attempt).await)
            })
            .buffered(AT_ONCE);
        while let Some((before, answer)) = answers.next().await {
            report(before, answer);
        }
    }
}

/// The number of concurrent writes.
pub(crate) const AT_ONCE: usize = 16;

/// The number of attempts for one object, and the pause before the second. Each further pause is twice
/// as long.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(200);

/// An error that a retry might fix.
pub(crate) trait Retry {
    fn is_retriable(&self) -> bool;
}

/// Runs `attempt` with the object as last read. If a retry might help, the object is read again before
/// each further attempt.
pub(crate) async fn retry<O, T, E: Retry>(
    before: &O,
    read: impl AsyncFn() -> Result<O, E>,
    attempt: impl AsyncFn(&O) -> Result<T, E>,
) -> Result<T, E> {
    let mut pause = PAUSE;
    let mut done = attempt(before).await;
    for _ in 1..TRIES {
        match &done {
            Err(error) if error.is_retriable() => {}
            _ => break,
        }
        tokio::time::sleep(pause).await;
        pause *= 2;
        done = match read().await {
            Ok(read) => attempt(&read).await,
            Err(error) => Err(error),
        };
    }
    done
}
