//! Looking on at live Deployments.

use std::{fmt::Debug, pin::Pin};

use futures::{Stream, StreamExt as _, stream::select_all};
use k8s_openapi::NamespaceResourceScope;
use kube::{
    Api, Client, Error, Resource,
    runtime::{WatchStreamExt as _, watcher},
};
use serde::de::DeserializeOwned;

use super::find::{FindError, Query, everywhere_or_in};
use super::list_watch::list_watch;

/// What happens to Deployments.
pub type WatchEvents<D> = Pin<Box<dyn Stream<Item = Result<WatchEvent<D>, FindError>> + Send>>;

/// One thing seen of a Deployment.
#[derive(Clone, Debug)]
pub enum WatchEvent<D> {
    /// It is so, at first or after a change.
    Is(Box<D>),
    /// It has been deleted, and was so before.
    Gone(Box<D>),
    /// All that is there at first has been seen. A watch that was broken and begins anew says
    /// again what there is, and this.
    Complete,
}

/// Watches the Deployments that are sought: what is there first, then each change. A watch that
/// fails begins anew after a pause; what no new try can mend is an error, and the end.
pub fn watch<D>(client: &Client, query: &Query) -> WatchEvents<D>
where
    D: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + Debug
        + DeserializeOwned
        + Send
        + 'static,
{
    let config = watcher::Config::default();
    let place = query.place();
    match query {
        Query::Named { namespace, names } => {
            let each = names.iter().map(|name| {
                let api = Api::namespaced(client.clone(), namespace);
                let config = config.clone().fields(&format!("metadata.name={name}"));
                sights(api, config, place.clone())
            });
            Box::pin(select_all(each))
        }
        Query::All {
            namespace,
            selector,
        } => {
            let api = everywhere_or_in(client, namespace.as_deref());
            let config = match selector {
                Some(selector) => config.labels(selector),
                None => config,
            };
            sights(api, config, place)
        }
    }
}

fn sights<D>(api: Api<D>, config: watcher::Config, place: String) -> WatchEvents<D>
where
    D: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + 'static,
{
    let events = list_watch(api, config).default_backoff();
    let seen = events.filter_map(move |event| {
        let seen = match event {
            Ok(watcher::Event::Init) => None,
            Ok(watcher::Event::InitApply(it) | watcher::Event::Apply(it)) => {
                Some(Ok(WatchEvent::Is(Box::new(it))))
            }
            Ok(watcher::Event::Delete(it)) => Some(Ok(WatchEvent::Gone(Box::new(it)))),
            Ok(watcher::Event::InitDone) => Some(Ok(WatchEvent::Complete)),
            Err(error) => for_good(error, &place).map(Err),
        };
        async move { seen }
    });
    Box::pin(seen)
}

/// The failure of a watch, if it will fail the next time too.
fn for_good(error: watcher::Error, place: &str) -> Option<FindError> {
    let (verb, error) = match error {
        watcher::Error::InitialListFailed(error) => ("list", error),
        watcher::Error::WatchStartFailed(error) | watcher::Error::WatchFailed(error) => {
            ("watch", error)
        }
        watcher::Error::WatchError(status) => ("watch", Error::Api(status)),
        watcher::Error::NoResourceVersion => return None,
    };
    match FindError::sort(verb, place, error) {
        error @ (FindError::Forbidden { .. } | FindError::Unauthorized(_)) => Some(error),
        FindError::Refused(_) | FindError::Unavailable(_) => None,
    }
}
