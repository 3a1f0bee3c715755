//! The workloads that a user may list or change, by the API server's access reviews.

use std::{collections::HashSet, sync::Arc, time::Duration};

use dayshift_cluster::read::{FindError, may_list, may_patch};
use dayshift_workload::{Kind, WorkloadRef};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use kube::Client;
use tokio::{
    sync::Mutex,
    time::{Instant, timeout},
};

/// How long an answer about permissions is reused. The API server itself caches webhook answers for five
/// minutes.
const KEPT: Duration = Duration::from_secs(60);
/// How long an error is reused, so that not every page waits for an API server that does not answer.
const ERROR_KEPT: Duration = Duration::from_secs(5);
/// The number of concurrent access reviews of one user.
const AT_ONCE: usize = 8;
/// The maximum number of access reviews of single namespaces for one answer. Otherwise, each user without a
/// cluster-wide permission would cause as many requests every minute as there are namespaces and kinds.
const MAX_REVIEWS: usize = 2_000;
/// The time limit for all access reviews of one user.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a user may do with workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    List,
    Patch,
}

/// The workloads for which a user has one permission.
#[derive(Debug, Default)]
pub(crate) struct Permissions {
    /// Kinds for which the user has it in all namespaces.
    everywhere: HashSet<Kind>,
    /// Further kinds, each with a namespace.
    in_namespaces: HashSet<(Kind, Arc<str>)>,
    /// Whether the user has it for all kinds in all namespaces.
    pub(crate) is_all: bool,
}

impl Permissions {
    /// Reviews each kind of these objects cluster-wide, and, if that is denied, in each of their namespaces, at
    /// most [`MAX_REVIEWS`] in alphabetical order. The user has no permission for the others.
    ///
    /// # Errors
    ///
    /// The API server does not answer.
    pub(crate) async fn ask(
        client: &Client,
        verb: Verb,
        kinds: &[Kind],
        places: HashSet<(Kind, Arc<str>)>,
    ) -> Result<Self, FindError> {
        let asking = async {
            let everywhere = allowed(kinds.to_vec(), |kind| {
                may(client.clone(), verb, kind.clone(), None)
            });
            let everywhere: HashSet<Kind> = everywhere.await?.into_iter().collect();
            let mut others: Vec<_> = places
                .into_iter()
                .filter(|(kind, _)| !everywhere.contains(kind))
                .collect();
            if others.len() > MAX_REVIEWS {
                others.sort_by(|(kind, namespace), (other_kind, other)| {
                    namespace.cmp(other).then_with(|| kind.cmp(other_kind))
                });
                let left_out = others.len() - MAX_REVIEWS;
                tracing::warn!(
                    left_out,
                    "too many namespaces to ask for the permissions of a user in each"
                );
                others.truncate(MAX_REVIEWS);
            }
            let in_namespaces = allowed(others, |(kind, namespace)| {
                may(
                    client.clone(),
                    verb,
                    kind.clone(),
                    Some(Arc::clone(namespace)),
                )
            });
            Ok(Self {
                is_all: kinds.iter().all(|kind| everywhere.contains(kind)),
                in_namespaces: in_namespaces.await?.into_iter().collect(),
                everywhere,
            })
        };
        in_time(PATIENCE, asking).await
    }

    pub(crate) fn includes(&self, object: &WorkloadRef) -> bool {
        let place = || (object.kind.clone(), Arc::clone(&object.namespace));
        self.everywhere.contains(&object.kind) || self.in_namespaces.contains(&place())
    }
}

/// The kinds of objects, each with a namespace in which there are some.
pub(crate) fn places<'a>(
    objects: impl Iterator<Item = &'a WorkloadRef>,
) -> HashSet<(Kind, Arc<str>)> {
    let mut places = HashSet::new();
    let mut last: Option<&WorkloadRef> = None;
    for object in objects {
        // Neighbors are often of one kind and in one namespace.
        let is_same =
            |last: &WorkloadRef| (&last.kind, &last.namespace) == (&object.kind, &object.namespace);
        if !last.is_some_and(is_same) {
            places.insert((object.kind.clone(), Arc::clone(&object.namespace)));
        }
        last = Some(object);
    }
    places
}

/// The kinds of these places.
pub(crate) fn kinds_of(places: &HashSet<(Kind, Arc<str>)>) -> Vec<Kind> {
    let kinds: HashSet<&Kind> = places.iter().map(|(kind, _)| kind).collect();
    kinds.into_iter().cloned().collect()
}

async fn may(
    client: Client,
    verb: Verb,
    kind: Kind,
    namespace: Option<Arc<str>>,
) -> Result<bool, FindError> {
    match verb {
        Verb::List => may_list(&client, &kind, namespace.as_deref()).await,
        Verb::Patch => may_patch(&client, &kind, namespace.as_deref(), None).await,
    }
}

/// The objects that the user may change by their names, although not by their kind.
///
/// # Errors
///
/// The API server does not answer.
pub(crate) async fn patchable_by_name(
    client: &Client,
    objects: Vec<WorkloadRef>,
) -> Result<HashSet<WorkloadRef>, FindError> {
    let patchable = allowed(objects, |object| {
        let (client, object) = (client.clone(), object.clone());
        async move {
            let (namespace, name) = (Some(&*object.namespace), Some(&*object.name));
            may_patch(&client, &object.kind, namespace, name).await
        }
    });
    Ok(in_time(PATIENCE, patchable).await?.into_iter().collect())
}

/// The answer about one permission, as long as it is reused.
#[derive(Debug, Default)]
pub(crate) struct KnownPermissions(Mutex<Option<(Instant, PermissionAnswer)>>);

type PermissionAnswer = Result<Arc<Permissions>, FindError>;

impl KnownPermissions {
    /// The permissions, at most a minute old. Concurrent callers share one review. If `is_complete` is
    /// false, some objects are missing, and the answer is not reused.
    ///
    /// # Errors
    ///
    /// The API server did not answer, now or in the last seconds.
    pub(crate) async fn get(
        &self,
        is_complete: bool,
        ask: impl Future<Output = Result<Permissions, FindError>>,
    ) -> PermissionAnswer {
        let mut known = self.0.lock().await;
        let now = Instant::now();
        if let Some((asked, answer)) = &*known {
            let kept = match answer {
                Ok(_) => KEPT,
                Err(_) => ERROR_KEPT,
            };
            if now - *asked < kept {
                return answer.clone();
            }
        }
        let answer = ask.await.map(Arc::new);
        *known = is_complete.then(|| (now, answer.clone()));
        answer
    }
}

/// The answer of the API server, or an error after a time limit.
pub(super) async fn in_time<T>(
    limit: Duration,
    asking: impl Future<Output = Result<T, FindError>>,
) -> Result<T, FindError> {
    timeout(limit, asking).await.unwrap_or_else(|_| {
        let reason = "the API server does not answer in time".to_owned();
        Err(FindError::Unavailable(reason))
    })
}

/// The items that the API server allows.
async fn allowed<T, F>(all: Vec<T>, ask: impl Fn(&T) -> F) -> Result<Vec<T>, FindError>
where
    F: Future<Output = Result<bool, FindError>>,
{
    let asked = all.into_iter().map(|item| {
        let answer = ask(&item);
        async move { Ok::<_, FindError>(answer.await?.then_some(item)) }
    });
    let answers = stream::iter(asked).buffer_unordered(AT_ONCE);
    answers
        .try_filter_map(async |item| Ok(item))
        .try_collect()
        .await
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use http::{Request, Response};
    use kube::client::Body;
    use serde_json::json;
    use tower::service_fn;

    use super::*;

    /// An API server that denies cluster-wide permissions and counts the reviews.
    fn server(reviews: &Arc<AtomicUsize>) -> Client {
        let reviews = Arc::clone(reviews);
        let service = service_fn(move |request: Request<Body>| {
            let reviews = Arc::clone(&reviews);
            async move {
                reviews.fetch_add(1, Ordering::Relaxed);
                let body = request
                    .into_body()
                    .collect_bytes()
                    .await
                    .unwrap_or_default();
                let text = String::from_utf8_lossy(&body);
                let review = json!({
                    "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
                    "metadata": {}, "spec": {}, "status": {"allowed": text.contains("team-")},
                });
                let response = Response::builder().status(201);
                let response = response.body(Body::from(review.to_string().into_bytes()));
                Ok::<_, Infallible>(response.unwrap())
            }
        });
        Client::new(service, "default")
    }

    #[tokio::test]
    async fn reviews_of_a_user_are_limited_and_reused() {
        let reviews = Arc::default();
        let client = server(&reviews);
        let kinds = [Kind::DEPLOYMENT, Kind::STATEFUL_SET, Kind::CRON_JOB];
        let namespaces = (0..3_000).map(|number| Arc::from(format!("team-{number:04}")));
        let all = namespaces.flat_map(|namespace: Arc<str>| {
            kinds.clone().map(|kind| (kind, Arc::clone(&namespace)))
        });
        let all: HashSet<_> = all.collect();
        let known = KnownPermissions::default();
        for _ in 0..3 {
            let ask = Permissions::ask(&client, Verb::List, &kinds, all.clone());
            let permissions = known.get(true, ask).await.unwrap();
            assert_eq!(permissions.in_namespaces.len(), MAX_REVIEWS);
            // Whole namespaces, in alphabetical order.
            assert!(kinds.iter().all(|kind| {
                let first = (kind.clone(), Arc::from("team-0000"));
                permissions.in_namespaces.contains(&first)
            }));
        }
        assert_eq!(reviews.load(Ordering::Relaxed), MAX_REVIEWS + kinds.len());
    }
}
