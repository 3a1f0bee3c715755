//! The live workloads that a command writes to.
//!
//! Writing to one object again, where that can help.

use std::time::Duration;

use dayshift_workload::{Observed, Prefix, WorkloadRef};
use kube::Client;

use dayshift_cluster::{
    Query, Workload, Writer,
    read::{FindError, MissingWorkload, NamespaceDefaults, find, missing_namespaces},
    write::ReadError,
};

use crate::status::unreadable::Unreadable;

/// The workloads that a user has selected, as they are.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The workloads.
    pub observed: Vec<Observed>,
    /// Those that the user named and that do not exist.
    pub missing: Vec<MissingWorkload>,
    /// What may not be read of what was asked for, and is left alone.
    pub unreadable: Vec<Unreadable>,
    /// Where they were looked for, without what may not be read.
    pub query: Query,
    /// What they inherit.
    pub defaults: NamespaceDefaults,
    /// Whether a workload is left alone whose annotations are others by the time of the write:
    /// somebody has confirmed what would become of these.
    pub is_previewed: bool,
}

impl Selection {
    /// Looks for the workloads. Where none is named, only those for which `includes` holds are
    /// selected.
    ///
    /// # Errors
    /// Where the server is absent or unwilling, and where nothing of it may be read.
    pub async fn find(
        client: &Client,
        query: Query,
        prefix: &Prefix,
        includes: impl Fn(&Observed) -> bool,
    ) -> Result<Self, FindError> {
        let (found, defaults) = tokio::join!(
            find::<Workload>(client, &query),
            NamespaceDefaults::find(client, &query, prefix)
        );
        let (found, refused) = found?;
        let named = query.is_by_name();
        let workloads = found.workloads.iter();
        let observed = workloads.map(|(kind, it)| defaults.applied(it.observe(*kind, prefix)));
        Ok(Self {
            observed: observed.filter(|it| named || includes(it)).collect(),
            missing: found.missing,
            unreadable: Unreadable::workloads(&query, &refused, "left alone"),
            query: query.without(&refused),
            defaults,
            is_previewed: false,
        })
    }

    /// The namespaces of those that were asked for that do not exist, as far as that may be known.
    pub async fn missing_namespaces(&self, client: &Client) -> Vec<String> {
        let is_found = |name: &str| {
            let mut observed = self.observed.iter();
            observed.any(|it| &*it.object.namespace == name)
        };
        missing_namespaces(client, &self.query, is_found).await
    }

    /// One of them as it is now.
    pub(crate) async fn read(
        &self,
        writer: &Writer,
        object: &WorkloadRef,
        prefix: &Prefix,
    ) -> Result<Observed, ReadError> {
        let read = writer.read(object).await?;
        Ok(self.defaults.applied(read.observe(object.kind, prefix)))
    }

    /// Whether the user named each of them.
    pub fn is_by_name(&self) -> bool {
        self.query.is_by_name()
    }

    /// `deployment.apps/web`, with its namespace where several are searched.
    pub fn subject(&self, object: &WorkloadRef) -> String {
        let (kind, name) = (object.kind, &object.name);
        let subject = format!("{}.{}/{name}", kind.singular(), kind.group());
        self.placed(subject, &object.namespace)
    }

    /// The name of something else, with its namespace where several are searched.
    pub fn placed(&self, subject: String, namespace: &str) -> String {
        match &*self.query.namespaces() {
            [_] => subject,
            _ => format!("{subject} in {namespace}"),
        }
    }
}

/// How many objects are written to at a time.
pub(crate) const AT_ONCE: usize = 16;

/// How often one object is tried, and how long to wait before the second try; then twice as long
/// each time.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(200);

/// An error that may go by.
pub(crate) trait Retry: From<ReadError> {
    fn is_worth_another_try(&self) -> bool;
}

/// What `attempt` comes to with the object as it is: seen before, and read again before each
/// further try.
pub(crate) async fn retry<O, T, E: Retry>(
    before: &O,
    read: impl AsyncFn() -> Result<O, ReadError>,
    attempt: impl AsyncFn(&O) -> Result<T, E>,
) -> Result<T, E> {
    let mut pause = PAUSE;
    let mut done = attempt(before).await;
    for _ in 1..TRIES {
        match &done {
            Err(error) if error.is_worth_another_try() => {}
            _ => break,
        }
        tokio::time::sleep(pause).await;
        pause *= 2;
        done = match read().await {
            Ok(read) => attempt(&read).await,
            Err(error) => Err(error.into()),
        };
    }
    done
}
