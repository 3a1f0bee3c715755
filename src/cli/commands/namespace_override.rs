//! `wake`, `sleep`, `pause` and `resume` of a whole namespace.

use chrono::TimeDelta;
use kube::Client;

use crate::{
    cli::{
        exit::Exit,
        output::{
            messages::{no_namespace, print_error, print_line},
            override_output::{action_of, annotations, failed, unobeyed},
            progress::Progress,
        },
    },
    cluster::{FindError, Query},
    operations::{AnnotatedNamespace, NamespaceError, OverrideRequest, WaitEvent, wait},
    text::counted,
};

/// Annotates the Namespace, and waits until a controller has acted on what is in it.
pub(super) async fn override_namespace(
    client: &Client,
    name: &str,
    query: &Query,
    request: &OverrideRequest,
    timeout: Option<TimeDelta>,
) -> Result<Exit, FindError> {
    let subject = format!("namespace/{name}");
    let annotated = match request.send_to_namespace(client, name, query).await {
        Ok(annotated) => annotated,
        Err(NamespaceError::Find(error)) => return Err(error),
        Err(NamespaceError::Missing) => {
            print_error(&no_namespace(name));
            return Ok(Exit::CouldNotRun);
        }
        Err(error) => {
            let advice = if error.is_forbidden() {
                format!("; `-n {name} --all` annotates the workloads in it instead")
            } else {
                String::new()
            };
            let failed = failed(&request.requested);
            print_error(&format!("{subject}: {failed}: {error}{advice}"));
            return Ok(if error.is_refusal() {
                Exit::Problems
            } else {
                Exit::CouldNotRun
            });
        }
    };
    match timeout.filter(|_| !request.dry_run) {
        Some(timeout) => {
            Ok(wait_for_all(client, &subject, query, request, timeout, &annotated).await)
        }
        None if annotated.annotations.is_empty() => {
            print_line(&format!("{subject} unchanged"));
            Ok(Exit::Done)
        }
        None => {
            let dry = if request.dry_run { " (dry run)" } else { "" };
            let texts = annotations(&annotated.annotations, &request.prefix);
            print_line(&format!("{subject} {texts}{dry}"));
            Ok(Exit::Done)
        }
    }
}

async fn wait_for_all(
    client: &Client,
    subject: &str,
    query: &Query,
    request: &OverrideRequest,
    timeout: TimeDelta,
    annotated: &AnnotatedNamespace,
) -> Exit {
    let limit = timeout.to_std().unwrap_or_default();
    let mut progress = Progress::new();
    let (mut obeyed, mut errors, mut late, mut exit) = (0, Vec::new(), Vec::new(), Exit::Done);
    let report = |event: WaitEvent<'_>| match event {
        WaitEvent::Waiting { done, all } => {
            progress.say(&format!("waiting for the controller: {done} of {all} done"));
        }
        WaitEvent::Obeyed(..) => obeyed += 1,
        WaitEvent::Refused(it, why) => {
            for line in why.lines() {
                errors.push(format!("{}: its schedule is refused: {line}", it.object));
            }
        }
        WaitEvent::Deleted(it) => errors.push(format!("{}: deleted", it.object)),
        WaitEvent::Unwatched(error) => {
            exit = Exit::CouldNotRun;
            errors.push(format!("whether a controller acts is not seen: {error}"));
        }
        WaitEvent::TimedOut(it, seen) => {
            let why = || unobeyed(seen, it.zone, request.now);
            late.push(late.is_empty().then(|| format!("{}: {}", it.object, why())));
        }
    };
    let with = (&request.prefix, &annotated.defaults);
    wait(client, query, with, limit, &annotated.affected, report).await;
    progress.clear();
    let all = annotated.affected.len();
    let action = action_of(annotated.command, annotated.zone, request.now);
    let kept = match annotated.kept {
        0 => String::new(),
        kept => format!(
            "; {} with an override of its own",
            counted(kept, "workload")
        ),
    };
    print_line(&format!(
        "{subject} {action}: {obeyed} of {}{kept}",
        counted(all, "workload")
    ));
    if let Some(Some(first)) = late.first() {
        errors.push(format!(
            "no controller has acted on {} within {} s; {first}",
            counted(late.len(), "workload"),
            limit.as_secs()
        ));
    }
    for error in &errors {
        print_error(&format!("{subject}: annotated, but {error}"));
    }
    if errors.is_empty() {
        exit
    } else {
        exit.worse(Exit::Problems)
    }
}
