//! What a request comes to, in the words of the commands.

use std::time::Duration;

use chrono::TimeDelta;
use kube::Client;

use super::{
    namespace_override::{AnnotatedNamespace, NamespaceError},
    override_request::{Annotated, OverrideRequest, RequestOutcome},
    override_words::{
        action, action_of, annotations, changed, failed, obeyed, scaled, unobeyed, unready,
        waits_for,
    },
    selection::Selection,
    wait::{WaitEvent, wait},
};
use crate::{
    cluster::{FindError, Query},
    text::counted,
};

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
            WaitEvent::Waiting { done, all } => tell(Said::Waiting { done, all }),
            WaitEvent::Obeyed(it, seen) => {
                let what = obeyed(it, seen, self);
                tell(Said::Done(format!("{} {what}", subject(it))));
            }
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
            WaitEvent::TimedOut(it, seen) if let Some(what) = changed(it, seen, &self.prefix) => {
                let subject = subject(it);
                tell(refused(format!(
                    "{subject}: annotated, but somebody has changed that since: {what}"
                )));
            }
            WaitEvent::TimedOut(it, seen) if it.is_obeyed(&seen.state()) => {
                let (what, subject) = (action(it, self.now), subject(it));
                tell(refused(format!(
                    "{subject}: {what}, but {}",
                    unready(seen, limit)
                )));
            }
            WaitEvent::TimedOut(it, seen) if let Some(waits) = waits_for(seen, self) => {
                let text = format!("{}: annotated; {waits}", subject(it));
                tell(self.done_unless_ready(text));
            }
            WaitEvent::TimedOut(it, seen) => tell(refused(format!(
                "{}: annotated, but no controller has acted within {} s; {}; it will be {} when \
                 one acts",
                subject(it),
                limit.as_secs(),
                unobeyed(seen, it.zone, self.now),
                action(it, self.now)
            ))),
        };
        let (query, defaults) = (&selection.query, &selection.defaults);
        wait(
            client,
            query,
            &self.prefix,
            defaults,
            limit,
            annotated,
            |one, seen| self.is_done(one, seen),
            report,
        )
        .await;
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
        annotated: &AnnotatedNamespace,
        tell: Tell<'_>,
    ) {
        let (mut obeyed, mut errors, mut late) = (0, Vec::new(), Vec::new());
        let mut waiting = Vec::new();
        let report = |event: WaitEvent<'_>| match event {
            WaitEvent::Waiting { done, all } => tell(Said::Waiting { done, all }),
            WaitEvent::Obeyed(..) => obeyed += 1,
            WaitEvent::Refused(it, why) => {
                for line in why.lines() {
                    let text = format!("{}: its schedule is refused: {line}", it.object);
                    errors.push((text, true));
                }
            }
            WaitEvent::Deleted(it) => errors.push((format!("{}: deleted", it.object), true)),
            WaitEvent::Unwatched(error) => {
                let text = format!("the command cannot see whether a controller acts: {error}");
                errors.push((text, false));
            }
            WaitEvent::TimedOut(it, seen) if it.is_obeyed(&seen.state()) => {
                errors.push((format!("{}: {}", it.object, unready(seen, limit)), true));
            }
            WaitEvent::TimedOut(it, seen) if let Some(text) = waits_for(seen, self) => {
                waiting.push(format!("{}: {text}", it.object));
            }
            WaitEvent::TimedOut(it, seen) => {
                let why = || unobeyed(seen, it.zone, self.now);
                late.push(late.is_empty().then(|| format!("{}: {}", it.object, why())));
            }
        };
        let (query, defaults) = (&annotated.query, &annotated.defaults);
        let affected = &annotated.affected;
        wait(
            client,
            query,
            &self.prefix,
            defaults,
            limit,
            affected,
            |one, seen| self.is_done(one, seen),
            report,
        )
        .await;
        let all = counted(annotated.affected.len(), "workload");
        let action = action_of(annotated.command, annotated.zone, self.now);
        let kept = annotated.kept_text();
        tell(Said::Done(format!(
            "{subject} {action}: {obeyed} of {all}{kept}"
        )));
        for text in waiting {
            tell(self.done_unless_ready(text));
        }
        if let Some(Some(first)) = late.first() {
            let text = format!(
                "no controller has acted on {} within {} s; {first}",
                counted(late.len(), "workload"),
                limit.as_secs()
            );
            errors.push((text, true));
        }
        for (error, is_refusal) in errors {
            let text = format!("{subject}: annotated, but {error}");
            tell(Said::Failed { text, is_refusal });
        }
    }
}
