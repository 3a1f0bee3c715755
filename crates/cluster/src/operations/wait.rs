//! Waiting until a controller has acted on annotated objects.

use std::{collections::BTreeMap, time::Duration};

use dayshift_workload::Observed;
use futures::{StreamExt as _, stream::select_all};
use kube::Client;
use tokio::time::timeout;

use super::override_request::{Annotated, OverrideRequest};
use crate::cluster::{FindError, NamespaceDefaults, Query, WatchEvent, Workload, watch};

/// What happens while a command waits.
#[derive(Debug)]
pub(super) enum WaitEvent<'a> {
    /// A controller has acted on so many objects of all.
    Waiting {
        /// Objects on which a controller has acted.
        done: usize,
        /// All objects.
        all: usize,
    },
    /// What was requested of an object is done, and it is now like this.
    Obeyed(&'a Annotated, &'a Observed),
    /// The schedule of an object is refused, for this reason.
    Refused(&'a Annotated, &'a str),
    /// An object was deleted.
    Deleted(&'a Annotated),
    /// Objects cannot be watched, all, those of a kind or one: whether a controller acts is not known.
    Unwatched(&'a FindError),
    /// It is not done in time, and the object was seen last like this.
    TimedOut(&'a Annotated, &'a Observed),
}

/// The objects on which a controller has to act, and where they are watched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watched<'a> {
    /// Where they are.
    pub(super) query: &'a Query,
    /// What they inherit.
    pub(super) defaults: &'a NamespaceDefaults,
    /// The objects.
    pub(super) annotated: &'a [Annotated],
}

impl OverrideRequest {
    /// Watches the objects until what was requested of each is done, for at most `limit`.
    pub(super) async fn wait(
        &self,
        client: &Client,
        watched: &Watched<'_>,
        limit: Duration,
        mut report: impl FnMut(WaitEvent<'_>),
    ) {
        let (annotated, defaults) = (watched.annotated, watched.defaults);
        let all = annotated.len();
        let mut waiting = BTreeMap::new();
        for one in annotated {
            if self.is_done(one, &one.now) {
                report(WaitEvent::Obeyed(one, &one.now));
            } else {
                waiting.insert(one.object.uid.clone(), one);
            }
        }
        let mut seen_last = BTreeMap::new();
        let work = async {
            // Each part may be refused by itself.
            let (parts, watches): (Vec<_>, Vec<_>) = watched
                .query
                .parts()
                .into_iter()
                .enumerate()
                .map(|(at, (part, query))| {
                    let events = watch::<Workload>(client, &query);
                    (part, events.map(move |event| (at, event)))
                })
                .unzip();
            let mut events = select_all(watches);
            while !waiting.is_empty() {
                let done = all - waiting.len();
                report(WaitEvent::Waiting { done, all });
                let Some((at, event)) = events.next().await else {
                    return;
                };
                let is_of_part = |one: &Annotated| parts[at].includes(&one.object);
                let seen = match event {
                    Ok(WatchEvent::Is(kind, seen)) => {
                        defaults.applied(seen.observe(kind, &self.prefix))
                    }
                    Ok(WatchEvent::Gone {
                        kind,
                        namespace,
                        name,
                    }) => {
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
                    Ok(WatchEvent::Complete) => {
                        // What it does not show was deleted before it began.
                        waiting.retain(|uid, one| {
                            let is_there = !is_of_part(one) || seen_last.contains_key(uid);
                            if !is_there {
                                report(WaitEvent::Deleted(one));
                            }
                            is_there
                        });
                        continue;
                    }
                    Ok(WatchEvent::Interrupted(_)) => continue,
                    Err(error) => {
                        let before = waiting.len();
                        waiting.retain(|_, one| error.is_refusal() && !is_of_part(one));
                        if waiting.len() < before {
                            report(WaitEvent::Unwatched(&error));
                        }
                        continue;
                    }
                };
                let uid = &seen.object.uid;
                let Some(one) = waiting.get(uid) else {
                    continue;
                };
                // What was wrong before is no answer to what is requested now.
                let error = seen.error.as_deref();
                if let Some(why) = error.filter(|why| one.now.error.as_deref() != Some(*why)) {
                    report(WaitEvent::Refused(one, why));
                } else if self.is_done(one, &seen) {
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
}
