//! The filters of the timeline by labels, which the API server resolves when a page is requested: neither the
//! controller nor the dashboard keeps the labels of workloads.

use std::{
    collections::{BTreeSet, HashSet},
    sync::Arc,
    time::Duration,
};

use dayshift_cluster::{
    Query, Workload,
    read::{find, selected_namespaces},
};
use dayshift_workload::{Kind, Prefix, WorkloadRef};
use kube::Client;
use tokio::{sync::Mutex, time::timeout};

use crate::dashboard::{params::Params, view::View};

/// The time limit for both lists, including the wait for the lists of other pages.
const PATIENCE: Duration = Duration::from_secs(10);
/// The maximum length of a label selector in bytes.
const MAX_SELECTOR: usize = 1_000;

/// The kind, namespace and name of a workload.
type WorkloadName = (Kind, Arc<str>, Arc<str>);

/// The workloads that the label filters of a page select.
#[derive(Debug, Default)]
pub(crate) struct LabelMatches {
    /// By the labels of workloads, if they are filtered.
    workloads: Option<HashSet<WorkloadName>>,
    /// By the labels of Namespaces, if they are filtered.
    namespaces: Option<BTreeSet<String>>,
}

impl LabelMatches {
    pub(crate) fn includes(&self, object: &WorkloadRef) -> bool {
        let in_namespaces = self.namespaces.as_ref();
        let in_workloads = self.workloads.as_ref();
        in_namespaces.is_none_or(|names| names.contains(&*object.namespace))
            && in_workloads.is_none_or(|workloads| {
                let namespace = Arc::clone(&object.namespace);
                let key = (object.kind.clone(), namespace, Arc::clone(&object.name));
                workloads.contains(&key)
            })
    }
}

/// Resolves label filters, for one page at a time.
#[derive(Debug, Default)]
pub(crate) struct LabelFilters(Mutex<()>);

impl LabelFilters {
    /// The matches of the filters in `params`; `None` if there are none. `query` selects the workloads of
    /// the dashboard, and `client` has the permissions of the user.
    ///
    /// # Errors
    ///
    /// A message for the page, for example that the API server rejects the selector.
    pub(crate) async fn resolve(
        &self,
        client: Option<&Client>,
        query: &Query,
        prefix: &Prefix,
        params: &Params,
        view: &View,
    ) -> Result<Option<LabelMatches>, String> {
        if params.label.is_none() && params.team.is_none() {
            return Ok(None);
        }
        let client = client.ok_or(
            "These pages do not ask the API server, so they cannot filter by labels. Open `dayshift \
             dashboard`, or a dashboard with a login.",
        )?;
        let texts = [&params.label, &params.team].into_iter().flatten();
        if texts.clone().any(|text| text.len() > MAX_SELECTOR) {
            return Err("The label selector is too long.".to_owned());
        }
        let resolving = async {
            let _turn = self.0.lock().await;
            let namespaces = match &params.team {
                Some(selector) => Some(selected_namespaces(client, selector).await?),
                None => None,
            };
            let workloads = match &params.label {
                Some(selector) => Some(labeled(client, query, prefix, view, selector).await?),
                None => None,
            };
            Ok(Some(LabelMatches {
                workloads,
                namespaces,
            }))
        };
        timeout(PATIENCE, resolving)
            .await
            .unwrap_or_else(|_| Err("The API server does not answer in time.".to_owned()))
    }
}

/// The workloads of the view with these labels.
async fn labeled(
    client: &Client,
    query: &Query,
    prefix: &Prefix,
    view: &View,
    selector: &str,
) -> Result<HashSet<WorkloadName>, String> {
    let objects = view.rows.iter().map(|row| &row.status.object);
    let kinds: HashSet<Kind> = objects.clone().map(|object| object.kind.clone()).collect();
    let kinds: Vec<Kind> = kinds.into_iter().collect();
    // A user who sees only a part may not list all namespaces.
    let namespaces: Vec<String> = if view.is_partial {
        let names: BTreeSet<&str> = objects.map(|object| &*object.namespace).collect();
        names.into_iter().map(str::to_owned).collect()
    } else {
        query.namespaces().into_iter().map(str::to_owned).collect()
    };
    if kinds.is_empty() {
        return Ok(HashSet::new());
    }
    let query = Query::all(&kinds, &namespaces, Some(selector.to_owned())).reading(prefix);
    let (found, refused) = find::<Workload>(client, &query)
        .await
        .map_err(|error| error.to_string())?;
    if let Some(refused) = refused.first() {
        return Err(refused.error.to_string());
    }
    let found = found.iter().map(|(kind, workload)| {
        let object = workload.observe(kind, prefix).object;
        (object.kind, object.namespace, object.name)
    });
    Ok(found.collect())
}
