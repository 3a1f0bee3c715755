//! Waiting until a controller has acted on annotated objects.

use std::{collections::BTreeMap, time::Duration};

use futures::StreamExt as _;
use kube::Client;
use tokio::time::timeout;

use super::override_request::Annotated;
use crate::{
    cluster::{FindError, NamespaceDefaults, Query, WatchEvent, Workload, watch},
    workload::{Observed, Prefix},
};

/// What happens while a command waits.
#[derive(Debug)]
pub enum WaitEvent<'a> {
    /// A controller has acted on so many objects of all.
    Waiting {
        /// Objects on which a controller has acted.
        done: usize,
        /// All objects.
        all: usize,
    },
    /// A controller has acted on an object, which is now like this.
    Obeyed(&'a Annotated, &'a Observed),
    /// The schedule of an object is refused, for this reason.
    Refused(&'a Annotated, &'a str),
    /// An object was deleted.
    Deleted(&'a Annotated),
    /// Objects cannot be watched, all or those of a kind: whether a controller acts is not known.
    Unwatched(&'a FindError),
    /// No controller has acted on an object in time, which was seen last like this.
    TimedOut(&'a Annotated, &'a Observed),
}

/// Watches the objects until a controller has acted on each, for at most `limit`.
pub async fn wait(
    client: &Client,
    query: &Query,
    (prefix, defaults): (&Prefix, &NamespaceDefaults),
    limit: Duration,
    annotated: &[Annotated],
    mut report: impl FnMut(WaitEvent<'_>),
) {
    let all = annotated.len();
    let mut waiting = BTreeMap::new();
    for one in annotated {
        if one.is_obeyed(&one.now.state()) {
            report(WaitEvent::Obeyed(one, &one.now));
        } else {
            waiting.insert(one.object.uid.clone(), one);
        }
    }
    let mut seen_last = BTreeMap::new();
    let work = async {
        let mut events = watch::<Workload>(client, query);
        while !waiting.is_empty() {
            let done = all - waiting.len();
            report(WaitEvent::Waiting { done, all });
            let seen = match events.next().await {
                Some(Ok(WatchEvent::Is(kind, seen))) => {
                    defaults.applied(seen.observe(kind, prefix))
                }
                Some(Ok(WatchEvent::Gone {
                    kind,
                    namespace,
                    name,
                })) => {
                    let is_it = |one: &Annotated| {
                        let object = &one.object;
                        (object.kind, &*object.namespace, &*object.name)
                            == (kind, &*namespace, &*name)
                    };
                    waiting.retain(|_, one| {
                        if is_it(one) {
                            report(WaitEvent::Deleted(one));
                        }
                        !is_it(one)
                    });
                    continue;
                }
                Some(Ok(WatchEvent::Complete)) => {
                    // What it does not show was deleted before it began.
                    waiting.retain(|uid, one| {
                        let is_there = seen_last.contains_key(uid);
                        if !is_there {
                            report(WaitEvent::Deleted(one));
                        }
                        is_there
                    });
                    continue;
                }
                Some(Ok(WatchEvent::Interrupted(_))) => continue,
                Some(Err(error)) => {
                    let kind = error.kind();
                    let before = waiting.len();
                    waiting.retain(|_, one| kind.is_some_and(|kind| one.object.kind != kind));
                    if waiting.len() < before {
                        report(WaitEvent::Unwatched(&error));
                    }
                    continue;
                }
                None => return,
            };
            let uid = &seen.object.uid;
            let Some(one) = waiting.get(uid) else {
                continue;
            };
            if let Some(why) = &seen.error {
                report(WaitEvent::Refused(one, why));
            } else if one.is_obeyed(&seen.state()) {
                report(WaitEvent::Obeyed(one, &seen));
            } else {
                seen_last.insert(uid.clone(), seen);
                continue;
            }
            waiting.remove(uid);
        }
    };
    // What is left waiting is reported below.
    let _ = timeout(limit, work).await;
    for (uid, one) in &waiting {
        let seen = seen_last.get(uid).unwrap_or(&one.now);
        report(WaitEvent::TimedOut(one, seen));
    }
}
