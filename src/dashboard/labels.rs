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
use tokio::{sync::Semaphore, time::timeout};

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

/// How many label filters are resolved at once. The lists need memory. A user has one request at a time, so a user
/// whose lists take long leaves a place to others.
const AT_ONCE: usize = 2;

/// Resolves label filters, a few at a time.
#[derive(Debug)]
pub(crate) struct LabelFilters(Semaphore);

impl Default for LabelFilters {
    fn default() -> Self {
        Self(Semaphore::new(AT_ONCE))
    }
}

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
            let _permit = self
                .0
                .acquire()
                .await
                .map_err(|closed| closed.to_string())?;
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

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, future::pending};

    use chrono::DateTime;
    use dayshift_schedule::Tzdata;
    use dayshift_workload::ParseContext;
    use http::{Request, Response};
    use kube::client::Body;
    use serde_json::json;
    use tower::service_fn;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn slow_lists_of_one_user_do_not_delay_those_of_another() {
        let slow = service_fn(|_: Request<Body>| pending::<Result<Response<Body>, Infallible>>());
        let quick = service_fn(async |_: Request<Body>| {
            let page = json!({"metadata": {}, "items": []}).to_string();
            Ok::<_, Infallible>(Response::new(Body::from(page.into_bytes())))
        });
        let [slow, quick] = [Client::new(slow, "default"), Client::new(quick, "default")];
        let view = View {
            now: DateTime::UNIX_EPOCH,
            rows: Arc::default(),
            zone: None,
            context: ParseContext::default(),
            asks: true,
            is_complete: true,
            outage: None,
            unseen: Vec::new(),
            is_partial: false,
        };
        let filters = LabelFilters::default();
        let params = Params::parse("team=a%3Db", &Tzdata::default());
        let (query, prefix) = (Query::all(&[], &[], None), Prefix::default());
        let resolved = |client| filters.resolve(Some(client), &query, &prefix, &params, &view);
        tokio::select! {
            biased;
            found = resolved(&slow) => panic!("{found:?}"),
            found = resolved(&quick) => assert!(found.is_ok(), "{found:?}"),
        }
    }
}
