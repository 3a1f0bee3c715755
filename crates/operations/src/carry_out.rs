//! Carries out a requested override: writes the annotations, waits until a controller has acted, and
//! reports each result in the words of the commands.

use std::{collections::BTreeMap, time::Duration};

use chrono::TimeDelta;
use dayshift_cluster::{
    Query, Workload,
    read::{FindError, NamespaceDefaults},
    watch::{WorkloadEvent, watch},
};
use dayshift_text::counted;
use dayshift_workload::Observed;
use futures::{StreamExt as _, stream::select_all};
use kube::Client;
use tokio::time::timeout;

use crate::{
    namespace_overrides::{AnnotatedNamespace, DefaultsOwner, NamespaceError},
    override_messages::{
        action, action_text, annotations_text, changed, done_text, failure_text, inaction_reason,
        replaced_text, synced_text, unready_text, waits_for,
    },
    overrides::{AnnotatedWorkload, OverrideRequest, RequestOutcome},
    selection::Selection,
};

/// A report while a request is carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OverrideReport {
    /// The result of a completed request.
    Done(String),
    /// A failure.
    Failed {
        /// The object and the reason.
        text: String,
        /// Whether the failure is about the object, the request or the controller. Otherwise, the
        /// cluster could not be reached or has failed.
        is_refusal: bool,
    },
    /// Progress while the command waits.
    Waiting {
        /// The number of objects on which a controller has acted.
        done: usize,
        /// The number of all objects.
        all: usize,
    },
}

/// Receives each report.
type ReportSink<'a> = &'a mut (dyn FnMut(OverrideReport) + Send);

fn done(subject: &str, what: &str) -> OverrideReport {
    OverrideReport::Done(format!("{subject} {what}"))
}

fn failure(text: String) -> OverrideReport {
    OverrideReport::Failed {
        text,
        is_refusal: true,
    }
}

fn cluster_error(text: String) -> OverrideReport {
    OverrideReport::Failed {
        text,
        is_refusal: false,
    }
}

/// The report of a Namespace request: a failure if it has no effect.
fn namespace_report(annotated: &AnnotatedNamespace, text: String) -> OverrideReport {
    if annotated.is_without_effect() {
        failure(text)
    } else {
        OverrideReport::Done(text)
    }
}

impl OverrideRequest {
    /// Annotates the workloads and waits until a controller has acted on each, for at most `timeout`.
    /// Without a timeout it does not wait.
    pub async fn carry_out(
        &self,
        client: &Client,
        selection: &Selection,
        timeout: Option<TimeDelta>,
        report_to: ReportSink<'_>,
    ) {
        let mut annotated = Vec::new();
        self.send(client, selection, |before, answer| {
            let subject = selection.subject(&before.observed.object);
            match answer {
                Ok(RequestOutcome::Unchanged) => report_to(done(&subject, "unchanged")),
                Ok(RequestOutcome::Annotated(workload)) => annotated.push(*workload),
                Ok(RequestOutcome::Scaled(count)) => {
                    let what = synced_text(count, self.now) + self.dry();
                    report_to(done(&subject, &what));
                }
                Err(error) => {
                    let failed = failure_text(&self.requested);
                    let text = format!("{subject}: {failed}: {error}");
                    let is_refusal = error.is_refusal();
                    report_to(OverrideReport::Failed { text, is_refusal });
                }
            }
        })
        .await;
        match timeout.filter(|_| !self.dry_run) {
            Some(timeout) => {
                let limit = timeout.to_std().unwrap_or_default();
                self.wait_for_each(client, selection, limit, &annotated, report_to)
                    .await;
            }
            None => {
                for workload in &annotated {
                    let subject = selection.subject(&workload.object);
                    let texts = annotations_text(&workload.annotations, &self.prefix);
                    report_to(done(&subject, &(texts + self.dry())));
                }
            }
        }
    }

    /// The report of a start that waits for dependencies. It is a failure only if the user asked for
    /// readiness.
    fn waiting_start_report(&self, text: String) -> OverrideReport {
        if self.until_ready {
            failure(text)
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
        report_to: ReportSink<'_>,
    ) {
        let subject = |workload: &AnnotatedWorkload| selection.subject(&workload.object);
        let report = |event: WaitEvent<'_>| match event {
            WaitEvent::Done(workload, seen) => {
                let what = done_text(workload, seen, self);
                report_to(done(&subject(workload), &what));
            }
            WaitEvent::TimedOut(workload, seen)
                if let Some(what) = changed(workload, seen, &self.prefix) =>
            {
                let text = "annotated, but another client has changed that since";
                report_to(failure(format!("{}: {text}: {what}", subject(workload))));
            }
            WaitEvent::TimedOut(workload, seen) if !self.is_underway(workload, seen) => {
                report_to(failure(format!(
                    "{}: annotated, but no controller has acted within {} s; {}; it will be {} \
                     when one acts",
                    subject(workload),
                    limit.as_secs(),
                    inaction_reason(seen, workload.zone, self.now),
                    action(workload, self.now)
                )));
            }
            event => self.report_event(&event, subject, limit, report_to),
        };
        let (query, defaults) = (&selection.query, &selection.defaults);
        let watched = WaitTargets {
            query,
            defaults,
            annotated,
        };
        self.wait(client, &watched, limit, report).await;
    }

    /// Whether a controller has begun to act: the override is applied but the object is not ready yet,
    /// or the start waits for dependencies.
    fn is_underway(&self, annotated: &AnnotatedWorkload, seen: &Observed) -> bool {
        annotated.is_applied(&seen.state()) || waits_for(seen, self).is_some()
    }

    /// Reports the events that read the same for a workload and for a Namespace.
    fn report_event(
        &self,
        event: &WaitEvent<'_>,
        subject: impl Fn(&AnnotatedWorkload) -> String,
        limit: Duration,
        report_to: ReportSink<'_>,
    ) {
        match *event {
            WaitEvent::Waiting { done, all } => report_to(OverrideReport::Waiting { done, all }),
            WaitEvent::Rejected(workload, why) => {
                let subject = subject(workload);
                for line in why.lines() {
                    let text = format!("{subject}: its schedule is rejected: {line}");
                    report_to(failure(text));
                }
            }
            WaitEvent::Deleted(workload) => {
                let text = format!("{}: annotated, then deleted", subject(workload));
                report_to(failure(text));
            }
            WaitEvent::Unwatched(error) => report_to(cluster_error(format!(
                "annotated, but the command cannot see whether a controller acts: {error}"
            ))),
            WaitEvent::TimedOut(workload, seen) if let Some(waits) = waits_for(seen, self) => {
                let text = format!("{}: annotated; {waits}", subject(workload));
                report_to(self.waiting_start_report(text));
            }
            WaitEvent::TimedOut(workload, seen) | WaitEvent::Done(workload, seen) => {
                let (what, subject) = (action(workload, self.now), subject(workload));
                let but = unready_text(seen, limit);
                report_to(failure(format!("{subject}: {what}, but {but}")));
            }
        }
    }

    /// Annotates a Namespace, or writes the ConfigMap of its team, and waits until a controller has acted on the workloads in it, for at most
    /// `timeout`. Without a timeout it does not wait. `query` selects the workloads. If there was a
    /// preview, the request fails when its effect would differ from the preview.
    ///
    /// # Errors
    /// If the API server cannot be reached or fails.
    pub async fn carry_out_in_namespace(
        &self,
        client: &Client,
        (owner, name): (DefaultsOwner, &str),
        query: &Query,
        previewed: Option<&AnnotatedNamespace>,
        timeout: Option<TimeDelta>,
        report_to: ReportSink<'_>,
    ) -> Result<(), FindError> {
        let subject = owner.subject(name);
        let sent = self.send_to_namespace(client, (owner, name), query, previewed);
        let annotated = match sent.await {
            Ok(annotated) => annotated,
            Err(NamespaceError::Find(error)) => return Err(error),
            Err(NamespaceError::Missing) => {
                report_to(cluster_error(format!("namespace {name} does not exist")));
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
                report_to(OverrideReport::Failed { text, is_refusal });
                return Ok(());
            }
        };
        match timeout.filter(|_| !self.dry_run) {
            Some(timeout) => {
                let limit = timeout.to_std().unwrap_or_default();
                self.wait_for_all(client, name, limit, &annotated, report_to)
                    .await;
            }
            None => {
                let texts = if annotated.annotations.is_empty() {
                    "unchanged".to_owned()
                } else {
                    annotations_text(&annotated.annotations, &self.prefix) + self.dry()
                };
                let text = format!("{subject} {texts}{}", annotated.kept_text(name));
                report_to(namespace_report(&annotated, text));
            }
        }
        for unreadable in &annotated.unreadable {
            report_to(cluster_error(format!("{subject}: {unreadable}")));
        }
        Ok(())
    }

    async fn wait_for_all(
        &self,
        client: &Client,
        name: &str,
        limit: Duration,
        namespace: &AnnotatedNamespace,
        report_to: ReportSink<'_>,
    ) {
        let subject = namespace.owner.subject(name);
        let (mut obeyed, mut late, mut first_late) = (0, 0, None);
        let mut others = Vec::new();
        let report = |event: WaitEvent<'_>| match event {
            WaitEvent::Waiting { done, all } => report_to(OverrideReport::Waiting { done, all }),
            WaitEvent::Done(..) => obeyed += 1,
            WaitEvent::TimedOut(workload, seen) if !self.is_underway(workload, seen) => {
                late += 1;
                first_late.get_or_insert_with(|| {
                    let why = inaction_reason(seen, workload.zone, self.now);
                    format!("{}: {why}", workload.object)
                });
            }
            event => {
                let subject =
                    |workload: &AnnotatedWorkload| format!("{subject}: {}", workload.object);
                self.report_event(&event, subject, limit, &mut |report| others.push(report));
            }
        };
        let watched = WaitTargets {
            query: &namespace.query,
            defaults: &namespace.defaults,
            annotated: &namespace.affected,
        };
        self.wait(client, &watched, limit, report).await;
        let all = counted(namespace.scheduled(), "workload");
        let action = action_text(namespace.command, namespace.zone, self.now);
        let kept = namespace.kept_text(name);
        let replaced = replaced_text(namespace.replaced.as_ref());
        let text = format!("{subject} {action}: {obeyed} of {all}{replaced}{kept}");
        report_to(namespace_report(namespace, text));
        others.into_iter().for_each(&mut *report_to);
        if let Some(first) = first_late {
            let hint = match namespace.owner {
                DefaultsOwner::Namespace => "",
                DefaultsOwner::Team => "; does it run with --team-defaults?",
            };
            report_to(failure(format!(
                "{subject}: annotated, but no controller has acted on {} within {} s; {first}{hint}",
                counted(late, "workload"),
                limit.as_secs()
            )));
        }
    }
}

/// An event while a command waits.
#[derive(Debug)]
pub(crate) enum WaitEvent<'a> {
    /// Progress.
    Waiting {
        /// The number of objects on which a controller has acted.
        done: usize,
        /// The number of all objects.
        all: usize,
    },
    /// The request is done for an object, which is now in this state.
    Done(&'a AnnotatedWorkload, &'a Observed),
    /// The schedule of an object is rejected, for this reason.
    Rejected(&'a AnnotatedWorkload, &'a str),
    /// An object was deleted.
    Deleted(&'a AnnotatedWorkload),
    /// Some objects cannot be watched, so it is unknown whether a controller acts on them.
    Unwatched(&'a FindError),
    /// The request is not done in time; the last known state of the object.
    TimedOut(&'a AnnotatedWorkload, &'a Observed),
}

/// The annotated objects and where they are watched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaitTargets<'a> {
    /// The query that finds the objects.
    pub(crate) query: &'a Query,
    /// The inherited annotations.
    pub(crate) defaults: &'a NamespaceDefaults,
    /// The objects.
    pub(crate) annotated: &'a [AnnotatedWorkload],
}

impl OverrideRequest {
    /// Watches the objects until the request is done for each of them, for at most `limit`.
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
                report(WaitEvent::Done(one, &one.now));
            } else {
                waiting.insert(one.object.uid.clone(), one);
            }
        }
        let mut seen_last = BTreeMap::new();
        let work = async {
            // If one part of the query cannot be watched, the others still can.
            let parts = watched.query.parts();
            let watches = parts.iter().map(|part| {
                let events = watch::<Workload>(client, watched.query, part);
                events.map(move |event| (part, event))
            });
            let mut events = select_all(watches);
            while !waiting.is_empty() {
                let done = all - waiting.len();
                report(WaitEvent::Waiting { done, all });
                let Some((part, event)) = events.next().await else {
                    return;
                };
                let is_of_part = |one: &AnnotatedWorkload| part.includes(&one.object);
                let seen = match event {
                    Ok(WorkloadEvent::Applied(kind, seen)) => {
                        defaults.applied(seen.observe(&kind, &self.prefix))
                    }
                    Ok(WorkloadEvent::Deleted {
                        kind,
                        namespace,
                        name,
                    }) => {
                        waiting.retain(|_, one| {
                            let object = &one.object;
                            let is_it = (&object.kind, &*object.namespace, &*object.name)
                                == (&kind, &*namespace, &*name);
                            if is_it {
                                report(WaitEvent::Deleted(one));
                            }
                            !is_it
                        });
                        continue;
                    }
                    Ok(WorkloadEvent::Complete) => {
                        // An object that is not in the list was deleted before the watch began.
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
                // An earlier error is not a response to this request.
                let error = seen.error.as_deref();
                if let Some(why) = error.filter(|why| one.now.error.as_deref() != Some(*why)) {
                    report(WaitEvent::Rejected(one, why));
                } else if self.is_done(one, &seen) {
                    report(WaitEvent::Done(one, &seen));
                } else {
                    seen_last.insert(uid.clone(), seen);
                    continue;
                }
                waiting.remove(uid);
            }
        };
        // Objects that are still waiting are reported below.
        let _ = timeout(limit, work).await;
        for (uid, one) in &waiting {
            let seen = seen_last.get(uid).unwrap_or(&one.now);
            report(WaitEvent::TimedOut(one, seen));
        }
    }
}
