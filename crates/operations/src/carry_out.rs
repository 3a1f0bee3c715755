//! What a request comes to, in the words of the commands.
//!
//! Waiting until a controller has acted on annotated objects.

use std::{collections::BTreeMap, time::Duration};

use chrono::TimeDelta;
use dayshift_text::counted;
use dayshift_workload::Observed;
use futures::{StreamExt as _, stream::select_all};
use kube::Client;
use tokio::time::timeout;

use dayshift_cluster::{
    Query, Workload,
    read::{FindError, NamespaceDefaults},
    watch::{WorkloadEvent, watch},
};

use crate::{
    namespace_overrides::{AnnotatedNamespace, NamespaceError},
    override_messages::{
        action, action_text, annotations_text, changed, failure_text, obeyed, synced_text,
        unobeyed, unready, waits_for,
    },
    overrides::{AnnotatedWorkload, OverrideRequest, RequestOutcome},
    selection::Selection,
};

/// One thing to be said of a request while it is carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OverrideReport {
    /// What was done.
    Done(String),
    /// What went wrong.
    Failed {
        /// With what, and why.
        text: String,
        /// Whether the object, the request or the controller is the reason, and not the cluster.
        is_refusal: bool,
    },
    /// A controller has acted on so many objects of all.
    Waiting {
        /// Objects on which a controller has acted.
        done: usize,
        /// All objects.
        all: usize,
    },
}

/// Who is told of each, as it comes.
type Tell<'a> = &'a mut (dyn FnMut(OverrideReport) + Send);

fn refused(text: String) -> OverrideReport {
    OverrideReport::Failed {
        text,
        is_refusal: true,
    }
}

fn unable(text: String) -> OverrideReport {
    OverrideReport::Failed {
        text,
        is_refusal: false,
    }
}

impl OverrideRequest {
    /// Annotates the workloads, and waits until a controller has acted on each, for at most
    /// `timeout`; without one it does not wait.
    pub async fn carry_out(
        &self,
        client: &Client,
        selection: &Selection,
        timeout: Option<TimeDelta>,
        tell: Tell<'_>,
    ) {
        let mut annotated = Vec::new();
        self.send(client, selection, |observed, answer| {
            let subject = selection.subject(&observed.object);
            match answer {
                Ok(RequestOutcome::Unchanged) => {
                    tell(OverrideReport::Done(format!("{subject} unchanged")))
                }
                Ok(RequestOutcome::Annotated(it)) => annotated.push(*it),
                Ok(RequestOutcome::Scaled(it)) => {
                    let what = synced_text(it, self.now);
                    tell(OverrideReport::Done(format!(
                        "{subject} {what}{}",
                        self.dry()
                    )));
                }
                Err(error) => {
                    let failed = failure_text(&self.requested);
                    let text = format!("{subject}: {failed}: {error}");
                    let is_refusal = error.is_refusal();
                    tell(OverrideReport::Failed { text, is_refusal });
                }
            }
        })
        .await;
        match timeout.filter(|_| !self.dry_run) {
            Some(timeout) => {
                let limit = timeout.to_std().unwrap_or_default();
                self.wait_for_each(client, selection, limit, &annotated, tell)
                    .await;
            }
            None => {
                for it in &annotated {
                    let subject = selection.subject(&it.object);
                    let texts = annotations_text(&it.annotations, &self.prefix);
                    tell(OverrideReport::Done(format!(
                        "{subject} {texts}{}",
                        self.dry()
                    )));
                }
            }
        }
    }

    /// What is to be said of a start that waits: it is done unless somebody wants it to be ready.
    fn done_unless_ready(&self, text: String) -> OverrideReport {
        if self.until_ready {
            refused(text)
        } else {
            OverrideReport::Done(text)
        }
    }

    const fn dry(&self) -> &'static str {
        if self.dry_run { " (dry run)" } else { "" }
    }

    async fn wait_for_each(
        &self,
        client: &Client,
        selection: &Selection,
        limit: Duration,
        annotated: &[AnnotatedWorkload],
        tell: Tell<'_>,
    ) {
        let subject = |it: &AnnotatedWorkload| selection.subject(&it.object);
        let report = |event: WaitEvent<'_>| match event {
            WaitEvent::Obeyed(it, seen) => {
                let what = obeyed(it, seen, self);
                tell(OverrideReport::Done(format!("{} {what}", subject(it))));
            }
            WaitEvent::TimedOut(it, seen) if let Some(what) = changed(it, seen, &self.prefix) => {
                let subject = subject(it);
                tell(refused(format!(
                    "{subject}: annotated, but somebody has changed that since: {what}"
                )));
            }
            WaitEvent::TimedOut(it, seen) if !self.is_underway(it, seen) => {
                tell(refused(format!(
                    "{}: annotated, but no controller has acted within {} s; {}; it will be {} \
                     when one acts",
                    subject(it),
                    limit.as_secs(),
                    unobeyed(seen, it.zone, self.now),
                    action(it, self.now)
                )));
            }
            event => self.tell_of(&event, subject, limit, tell),
        };
        let (query, defaults) = (&selection.query, &selection.defaults);
        let watched = WaitTargets {
            query,
            defaults,
            annotated,
        };
        self.wait(client, &watched, limit, report).await;
    }

    /// Whether a controller acts on an object: it is not ready yet, or its start waits.
    fn is_underway(&self, annotated: &AnnotatedWorkload, seen: &Observed) -> bool {
        annotated.is_obeyed(&seen.state()) || waits_for(seen, self).is_some()
    }

    /// Tells of what is the same for a workload and for one of a Namespace.
    fn tell_of(
        &self,
        event: &WaitEvent<'_>,
        subject: impl Fn(&AnnotatedWorkload) -> String,
        limit: Duration,
        tell: Tell<'_>,
    ) {
        match *event {
            WaitEvent::Waiting { done, all } => tell(OverrideReport::Waiting { done, all }),
            WaitEvent::Refused(it, why) => {
                for line in why.lines() {
                    let subject = subject(it);
                    tell(refused(format!(
                        "{subject}: its schedule is refused: {line}"
                    )));
                }
            }
            WaitEvent::Deleted(it) => {
                tell(refused(format!("{}: annotated, then deleted", subject(it))));
            }
            WaitEvent::Unwatched(error) => tell(unable(format!(
                "annotated, but the command cannot see whether a controller acts: {error}"
            ))),
            WaitEvent::TimedOut(it, seen) if let Some(waits) = waits_for(seen, self) => {
                let text = format!("{}: annotated; {waits}", subject(it));
                tell(self.done_unless_ready(text));
            }
            WaitEvent::TimedOut(it, seen) | WaitEvent::Obeyed(it, seen) => {
                let (what, subject) = (action(it, self.now), subject(it));
                tell(refused(format!(
                    "{subject}: {what}, but {}",
                    unready(seen, limit)
                )));
            }
        }
    }

    /// Annotates a Namespace, and waits until a controller has acted on what is in it, for at most
    /// `timeout`; without one it does not wait. `query` finds the workloads in it; what was
    /// `previewed` is all that may come of it.
    ///
    /// # Errors
    /// Where the server is absent or unwilling.
    pub async fn carry_out_in_namespace(
        &self,
        client: &Client,
        name: &str,
        query: &Query,
        previewed: Option<&AnnotatedNamespace>,
        timeout: Option<TimeDelta>,
        tell: Tell<'_>,
    ) -> Result<(), FindError> {
        let subject = format!("namespace/{name}");
        let annotated = match self.send_to_namespace(client, name, query, previewed).await {
            Ok(annotated) => annotated,
            Err(NamespaceError::Find(error)) => return Err(error),
            Err(NamespaceError::Missing) => {
                tell(unable(format!("namespace {name} does not exist")));
                return Ok(());
            }
            Err(error) => {
                let advice = if error.is_forbidden() {
                    format!("; `-n {name} --all` annotates the workloads in it instead")
                } else {
                    String::new()
                };
                let failed = failure_text(&self.requested);
                let text = format!("{subject}: {failed}: {error}{advice}");
                let is_refusal = error.is_refusal();
                tell(OverrideReport::Failed { text, is_refusal });
                return Ok(());
            }
        };
        match timeout.filter(|_| !self.dry_run) {
            Some(timeout) => {
                let limit = timeout.to_std().unwrap_or_default();
                self.wait_for_all(client, &subject, limit, &annotated, tell)
                    .await;
            }
            None if annotated.annotations.is_empty() => {
                tell(OverrideReport::Done(format!("{subject} unchanged")));
            }
            None => {
                let texts = annotations_text(&annotated.annotations, &self.prefix);
                tell(OverrideReport::Done(format!(
                    "{subject} {texts}{}",
                    self.dry()
                )));
            }
        }
        for it in &annotated.unreadable {
            tell(unable(format!("{subject}: {it}")));
        }
        Ok(())
    }

    async fn wait_for_all(
        &self,
        client: &Client,
        subject: &str,
        limit: Duration,
        namespace: &AnnotatedNamespace,
        tell: Tell<'_>,
    ) {
        let (mut obeyed, mut late, mut others) = (0, Vec::new(), Vec::new());
        let report = |event: WaitEvent<'_>| match event {
            WaitEvent::Waiting { done, all } => tell(OverrideReport::Waiting { done, all }),
            WaitEvent::Obeyed(..) => obeyed += 1,
            WaitEvent::TimedOut(it, seen) if !self.is_underway(it, seen) => {
                let why = || unobeyed(seen, it.zone, self.now);
                late.push(late.is_empty().then(|| format!("{}: {}", it.object, why())));
            }
            event => {
                let subject = |it: &AnnotatedWorkload| format!("{subject}: {}", it.object);
                self.tell_of(&event, subject, limit, &mut |said| others.push(said));
            }
        };
        let watched = WaitTargets {
            query: &namespace.query,
            defaults: &namespace.defaults,
            annotated: &namespace.affected,
        };
        self.wait(client, &watched, limit, report).await;
        let all = counted(namespace.affected.len(), "workload");
        let action = action_text(namespace.command, namespace.zone, self.now);
        let kept = namespace.kept_text();
        tell(OverrideReport::Done(format!(
            "{subject} {action}: {obeyed} of {all}{kept}"
        )));
        others.into_iter().for_each(&mut *tell);
        if let Some(Some(first)) = late.first() {
            tell(refused(format!(
                "{subject}: annotated, but no controller has acted on {} within {} s; {first}",
                counted(late.len(), "workload"),
                limit.as_secs()
            )));
        }
    }
}

/// What happens while a command waits.
#[derive(Debug)]
pub(crate) enum WaitEvent<'a> {
    /// A controller has acted on so many objects of all.
    Waiting {
        /// Objects on which a controller has acted.
        done: usize,
        /// All objects.
        all: usize,
    },
    /// What was requested of an object is done, and it is now like this.
    Obeyed(&'a AnnotatedWorkload, &'a Observed),
    /// The schedule of an object is refused, for this reason.
    Refused(&'a AnnotatedWorkload, &'a str),
    /// An object was deleted.
    Deleted(&'a AnnotatedWorkload),
    /// Objects cannot be watched, all, those of a kind or one: whether a controller acts is not known.
    Unwatched(&'a FindError),
    /// It is not done in time, and the object was seen last like this.
    TimedOut(&'a AnnotatedWorkload, &'a Observed),
}

/// The objects on which a controller has to act, and where they are watched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaitTargets<'a> {
    /// Where they are.
    pub(crate) query: &'a Query,
    /// What they inherit.
    pub(crate) defaults: &'a NamespaceDefaults,
    /// The objects.
    pub(crate) annotated: &'a [AnnotatedWorkload],
}

impl OverrideRequest {
    /// Watches the objects until what was requested of each is done, for at most `limit`.
    pub(crate) async fn wait(
        &self,
        client: &Client,
        watched: &WaitTargets<'_>,
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
                let is_of_part = |one: &AnnotatedWorkload| parts[at].includes(&one.object);
                let seen = match event {
                    Ok(WorkloadEvent::Is(kind, seen)) => {
                        defaults.applied(seen.observe(kind, &self.prefix))
                    }
                    Ok(WorkloadEvent::Gone {
                        kind,
                        namespace,
                        name,
                    }) => {
                        let is_it = |one: &AnnotatedWorkload| {
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
                    Ok(WorkloadEvent::Complete) => {
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
                    Ok(WorkloadEvent::Interrupted(_)) => continue,
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
