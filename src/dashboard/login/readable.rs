//! What a user may read.

use std::{collections::HashSet, sync::Arc, time::Duration};

use dayshift_cluster::read::{FindError, may_list};
use dayshift_workload::{Kind, WorkloadRef};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use kube::Client;
use tokio::time::timeout;

/// How many questions of one user are asked at once.
const AT_ONCE: usize = 8;
/// How long all of them may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// The workloads that a user may list.
#[derive(Debug, Default)]
pub(crate) struct Readable {
    /// Kinds that they may list in all namespaces.
    everywhere: HashSet<Kind>,
    /// Other kinds, and where.
    in_namespaces: HashSet<(Kind, Arc<str>)>,
    /// Whether they may list every kind everywhere.
    pub(crate) is_all: bool,
}

impl Readable {
    /// Asks the API server, as the client's user: of each kind once, and of each namespace of these
    /// objects where that is not enough.
    pub(super) async fn ask<'a>(
        client: &Client,
        kinds: &[Kind],
        objects: impl Iterator<Item = &'a WorkloadRef>,
    ) -> Result<Self, FindError> {
        let asking = async {
            let everywhere = allowed(kinds.to_vec(), |kind| may_list(client, *kind, None));
            let everywhere: HashSet<Kind> = everywhere.await?.into_iter().collect();
            let others: HashSet<(Kind, Arc<str>)> = objects
                .filter(|it| !everywhere.contains(&it.kind))
                .map(|it| (it.kind, Arc::clone(&it.namespace)))
                .collect();
            let in_namespaces = allowed(others.into_iter().collect(), |(kind, namespace)| {
                let (kind, namespace) = (*kind, Arc::clone(namespace));
                async move { may_list(client, kind, Some(&namespace)).await }
            });
            Ok(Self {
                is_all: kinds.iter().all(|it| everywhere.contains(it)),
                in_namespaces: in_namespaces.await?.into_iter().collect(),
                everywhere,
            })
        };
        timeout(PATIENCE, asking).await.unwrap_or_else(|_| {
            let reason = "the API server does not answer in time".to_owned();
            Err(FindError::Unavailable(reason))
        })
    }

    /// Whether they may read this one.
    pub(crate) fn includes(&self, object: &WorkloadRef) -> bool {
        let place = || (object.kind, Arc::clone(&object.namespace));
        self.everywhere.contains(&object.kind) || self.in_namespaces.contains(&place())
    }
}

/// Those that the server allows.
async fn allowed<T, F>(all: Vec<T>, ask: impl Fn(&T) -> F) -> Result<Vec<T>, FindError>
where
    F: Future<Output = Result<bool, FindError>>,
{
    let asked = all.into_iter().map(|it| {
        let answer = ask(&it);
        async move { Ok::<_, FindError>(answer.await?.then_some(it)) }
    });
    let answers = stream::iter(asked).buffer_unordered(AT_ONCE);
    answers
        .try_filter_map(async |it| Ok(it))
        .try_collect()
        .await
}
