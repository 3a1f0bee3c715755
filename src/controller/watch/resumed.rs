//! Watches that go on sooner than they should: the server may have come back with an older history.
//!
//! A watch that begins at a resourceVersion which is still to come shows nothing, bookmarks included,
//! and is no error (k8s.io/apiserver's cacher). So who resumes one early asks how far the server is.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use http::Uri;
use tokio::{sync::Notify, time::Instant};

use crate::{
    cluster::{Version, kind_of_collection},
    workload::Kind,
};

/// kube lets the server end a watch after 290 s. One that lived that long has not been broken.
const USUAL_LIFE: Duration = Duration::from_secs(285);

/// A question that was not answered is asked again after this.
const AGAIN_AFTER: Duration = Duration::from_secs(5);

/// The watches that were resumed early. Clones share it: whoever sees the answers notes them.
#[derive(Clone, Debug, Default)]
pub(in crate::controller) struct Resumed(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    watches: Mutex<Watches>,
    /// Told that there is one more.
    is_one: Notify,
}

#[derive(Debug, Default)]
struct Watches {
    /// When each was granted last, by its path; none since it was refused or not answered.
    granted: HashMap<Box<str>, Option<Instant>>,
    early: Option<Early>,
}

/// A watch that was resumed early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::controller) struct Early {
    pub(in crate::controller) kind: Kind,
    pub(in crate::controller) namespace: Option<String>,
    /// From where it goes on. A server that is not so far yet has an older history.
    pub(in crate::controller) version: Version,
    /// When to ask for it.
    at: Instant,
}

impl Resumed {
    /// The request for a watch was granted.
    pub(in crate::controller) fn granted(&self, uri: &Uri, now: Instant) {
        let path = uri.path();
        let Some(kind) = kind_of_collection(path) else {
            return;
        };
        let mut watches = self.lock();
        let Some(before) = watches.granted.insert(path.into(), Some(now)) else {
            return;
        };
        let is_early = before.is_none_or(|before| now < before + USUAL_LIFE);
        let query = uri.query().unwrap_or_default();
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        let is_list = query.contains("sendInitialEvents=true");
        if is_early
            && !is_list
            && let Some((_, version)) = pairs.find(|(name, _)| name == "resourceVersion")
        {
            let mut parts = path.split('/').skip_while(|part| *part != "namespaces");
            watches.early = Some(Early {
                kind,
                namespace: parts.nth(1).map(str::to_owned),
                version: Version::parse(&version),
                at: now,
            });
            self.0.is_one.notify_one();
        }
    }

    /// Waits until a watch is resumed early.
    pub(in crate::controller) async fn is_one(&self) {
        self.0.is_one.notified().await;
    }

    /// The request for a watch was refused, or not answered.
    pub(in crate::controller) fn failed(&self, path: &str) {
        if let Some(granted) = self.lock().granted.get_mut(path) {
            *granted = None;
        }
    }

    /// When the server is to be asked how far it is.
    pub(in crate::controller) fn next(&self) -> Option<Instant> {
        self.lock().early.as_ref().map(|early| early.at)
    }

    /// Takes the watch that was resumed early last, if the server is to be asked now. One stands for
    /// all: they are broken together.
    pub(in crate::controller) fn take(&self, now: Instant) -> Option<Early> {
        self.lock().early.take_if(|early| early.at <= now)
    }

    /// The server has not said how far it is.
    pub(in crate::controller) fn ask_again(&self, early: Early, now: Instant) {
        let at = now + AGAIN_AFTER;
        self.lock().early.get_or_insert(Early { at, ..early });
    }

    fn lock(&self) -> MutexGuard<'_, Watches> {
        let watches = self.0.watches.lock();
        watches.unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_is_early_where_it_was_broken_and_goes_on_from_where_it_was() {
        let (resumed, begun) = (Resumed::default(), Instant::now());
        let after = |seconds| begun + Duration::from_secs(seconds);
        let granted = |query: &str, seconds| {
            let uri = format!("/apis/apps/v1/namespaces/dev/deployments?watch=true&{query}");
            resumed.granted(&uri.parse().unwrap(), after(seconds));
            let early = resumed.take(after(seconds));
            early.map(|it| (it.namespace, it.version))
        };
        let at = |version| Some((Some("dev".to_owned()), Version::parse(version)));
        assert_eq!(granted("sendInitialEvents=true&resourceVersion=0", 0), None);
        assert_eq!(granted("resourceVersion=7", 290), None);
        assert_eq!(granted("resourceVersion=8", 300), at("8"));
        assert_eq!(
            granted("sendInitialEvents=true&resourceVersion=0", 310),
            None
        );
        resumed.failed("/apis/apps/v1/namespaces/dev/deployments");
        assert_eq!(granted("resourceVersion=9", 900), at("9"));
        resumed.failed("/apis/batch/v1/cronjobs");
        assert_eq!(resumed.next(), None);
    }
}
