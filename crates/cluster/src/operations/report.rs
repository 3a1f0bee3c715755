//! What a request comes to, in the words of the commands.

use std::time::Duration;

use chrono::TimeDelta;
use dayshift_text::counted;
use dayshift_workload::Observed;
use kube::Client;

use super::{
    namespace_override::{AnnotatedNamespace, NamespaceError},
    override_request::{Annotated, OverrideRequest, RequestOutcome},
    override_words::{
        action, action_of, annotations, changed, failed, obeyed, scaled, unobeyed, unready,
        waits_for,
    },
    selection::Selection,
    wait::{WaitEvent, Watched},
};
use crate::cluster::{FindError, Query};

/// One thing to be said of a request while it is carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
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
type Tell<'a> = &'a mut (dyn FnMut(Said) + Send);

fn refused(text: String) -> Said {
    Said::Failed {
        text,
        is_refusal: true,
    }
}

fn unable(text: String) -> Said {
    Said::Failed {
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
                Ok(RequestOutcome::Unchanged) => tell(Said::Done(format!("{subject} unchanged"))),
                Ok(RequestOutcome::Annotated(it)) => annotated.push(*it),
                Ok(RequestOutcome::Scaled(it)) => {
                    let what = scaled(it, self.now);
                    tell(Said::Done(format!("{subject} {what}{}", self.dry())));
                }
                Err(error) => {
                    let failed = failed(&self.requested);
                    let text = format!("{subject}: {failed}: {error}");
                    let is_refusal = error.is_refusal();
                    tell(Said::Failed { text, is_refusal });
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
                    let texts = annotations(&it.annotations, &self.prefix);
                    tell(Said::Done(format!("{subject} {texts}{}", self.dry())));
                }
            }
        }
    }

    /// What is to be said of a start that waits: it is done unless somebody wants it to be ready.
    fn done_unless_ready(&self, text: String) -> Said {
        if self.until_ready {
            refused(text)
        } else {
            Said::Done(text)
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
        annotated: &[Annotated],
        tell: Tell<'_>,
    ) {
        let subject = |it: &Annotated| selection.subject(&it.object);
        let report = |event: WaitEvent<'_>| match event {
            WaitEvent::Obeyed(it, seen) => {
                let what = obeyed(it, seen, self);
                tell(Said::Done(format!("{} {what}", subject(it))));
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
        let watched = Watched {
            query,
            defaults,
            annotated,
        };
        self.wait(client, &watched, limit, report).await;
    }

    /// Whether a controller acts on an object: it is not ready yet, or its start waits.
    fn is_underway(&self, annotated: &Annotated, seen: &Observed) -> bool {
        annotated.is_obeyed(&seen.state()) || waits_for(seen, self).is_some()
    }

    /// Tells of what is the same for a workload and for one of a Namespace.
    fn tell_of(
        &self,
        event: &WaitEvent<'_>,
        subject: impl Fn(&Annotated) -> String,
        limit: Duration,
        tell: Tell<'_>,
    ) {
        match *event {
            WaitEvent::Waiting { done, all } => tell(Said::Waiting { done, all }),
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
                let failed = failed(&self.requested);
                let text = format!("{subject}: {failed}: {error}{advice}");
                let is_refusal = error.is_refusal();
                tell(Said::Failed { text, is_refusal });
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
                tell(Said::Done(format!("{subject} unchanged")));
            }
            None => {
                let texts = annotations(&annotated.annotations, &self.prefix);
                tell(Said::Done(format!("{subject} {texts}{}", self.dry())));
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
            WaitEvent::Waiting { done, all } => tell(Said::Waiting { done, all }),
            WaitEvent::Obeyed(..) => obeyed += 1,
            WaitEvent::TimedOut(it, seen) if !self.is_underway(it, seen) => {
                let why = || unobeyed(seen, it.zone, self.now);
                late.push(late.is_empty().then(|| format!("{}: {}", it.object, why())));
            }
            event => {
                let subject = |it: &Annotated| format!("{subject}: {}", it.object);
                self.tell_of(&event, subject, limit, &mut |said| others.push(said));
            }
        };
        let watched = Watched {
            query: &namespace.query,
            defaults: &namespace.defaults,
            annotated: &namespace.affected,
        };
        self.wait(client, &watched, limit, report).await;
        let all = counted(namespace.affected.len(), "workload");
        let action = action_of(namespace.command, namespace.zone, self.now);
        let kept = namespace.kept_text();
        tell(Said::Done(format!(
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
