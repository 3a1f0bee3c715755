//! Waiting until a running dayshift has done what objects were told.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use futures::StreamExt as _;
use kube::Client;
use tokio::time::timeout;

use crate::{
    cli::{
        exit::Exit,
        output::{
            messages::{complain, say},
            progress::Progress,
        },
    },
    cluster::{Deployment, Query, WatchEvent, watch},
    workload::{Annotation, ObjectRef, Observed, OverrideCommand, Prefix, Replicas},
};

/// An object that has been told something.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) object: ObjectRef,
    /// The count before.
    pub(super) before: Replicas,
    /// The object as it was told.
    pub(super) now: Observed,
    pub(super) instruction: OverrideCommand,
    pub(super) annotations: Vec<Annotation>,
    /// What will have been done, such as `woken until 22:00 CET`.
    pub(super) deed: String,
}

/// Reports each object as soon as it has obeyed, and after `limit` each that has not.
pub(super) async fn await_obeyed(
    client: &Client,
    query: &Query,
    prefix: &Prefix,
    limit: TimeDelta,
    told: Vec<(String, Told)>,
) -> Exit {
    let all = told.len();
    let mut exit = Exit::Done;
    let mut waiting = BTreeMap::new();
    for (subject, told) in told {
        if told.instruction.is_obeyed(&told.now.state()) {
            say(&obeyed(&subject, &told, &told.now));
        } else {
            waiting.insert(told.object.uid.clone(), (subject, told));
        }
    }
    let mut progress = Progress::new();
    let work = async {
        let mut sights = watch::<Deployment>(client, query);
        while !waiting.is_empty() {
            let done = all - waiting.len();
            progress.say(&format!(
                "waiting for dayshift: {done} of {all} have obeyed"
            ));
            let seen = match sights.next().await {
                Some(Ok(WatchEvent::Is(seen) | WatchEvent::Gone(seen))) => seen.observe(prefix),
                Some(Ok(WatchEvent::Complete)) => continue,
                Some(Err(error)) => {
                    progress.clear();
                    complain(&error);
                    exit = exit.worse(Exit::CouldNotRun);
                    return;
                }
                None => return,
            };
            let uid = &seen.object.uid;
            let Some((subject, told)) = waiting.get(uid) else {
                continue;
            };
            if let Some(why) = &seen.error {
                progress.clear();
                complain(&format!("{subject}: its schedule is refused: {why}"));
                exit = exit.worse(Exit::Problems);
            } else if told.instruction.is_obeyed(&seen.state()) {
                progress.clear();
                say(&obeyed(subject, told, &seen));
            } else {
                continue;
            }
            waiting.remove(uid);
        }
    };
    // A time that no clock holds is as good as for ever.
    let limit = limit.to_std().unwrap_or_default();
    let _ = timeout(limit, work).await;
    progress.clear();
    for (subject, told) in waiting.values() {
        let seconds = limit.as_secs();
        complain(&format!(
            "{subject} is told, but no dayshift has obeyed within {seconds} s: it will be {} when \
             one runs",
            told.deed
        ));
        exit = exit.worse(Exit::Problems);
    }
    exit
}

/// `deployment.apps/web woken until 22:00 CET, 0 -> 3`.
fn obeyed(subject: &str, told: &Told, now: &Observed) -> String {
    let (before, after) = (told.before, now.replicas);
    let counts = if before == after {
        format!("replicas {after}")
    } else {
        format!("{before} -> {after}")
    };
    format!("{subject} {}, {counts}", told.deed)
}
