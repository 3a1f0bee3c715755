//! What `wake`, `sleep`, `pause` and `resume` do with their arguments.

use std::fmt::Display;

use chrono::{DateTime, TimeDelta, Utc};
use clap::error::ErrorKind;
use kube::Client;

use super::namespace_override::override_namespace;
use crate::{
    cli::{
        args::{override_args::OverrideArgs, targets::Targets, until::UntilArgs},
        exit::{Exit, wrong_usage},
        output::{
            messages::{no_namespace, note_unreadable, print_error, print_line},
            override_output::{action, annotations, failed, obeyed, unobeyed},
            progress::Progress,
        },
    },
    clock::Clock,
    cluster::{FindError, missing_namespace},
    operations::{
        Annotated, OverrideRequest, RequestOutcome, RequestedOverride, Selection, Until, WaitEvent,
        wait,
    },
    workload::{Observed, ParsedInputs, read},
};

impl OverrideArgs {
    /// Requests an override that has to end at some time.
    pub(super) fn request_until(
        self,
        until: &UntilArgs,
        requested: fn(Until) -> RequestedOverride,
    ) -> Exit {
        let now = Clock::system().now();
        match until.until(now) {
            Ok(Some(until)) => self.request(now, requested(until)),
            Ok(None) => usage(&"set an end: --for 2h, or --until 22:00"),
            Err(error) => usage(&error),
        }
    }

    /// Requests a pause, with an end or without.
    pub(super) fn request_pause(self, until: &UntilArgs) -> Exit {
        let now = Clock::system().now();
        match until.until(now) {
            Ok(until) => self.request(now, RequestedOverride::Pause(until)),
            Err(error) => usage(&error),
        }
    }

    /// Requests what has no end.
    pub(super) fn request_now(self, requested: RequestedOverride) -> Exit {
        self.request(Clock::system().now(), requested)
    }

    fn request(self, now: DateTime<Utc>, requested: RequestedOverride) -> Exit {
        let inheritance = self.inheritance.inheritance(self.schedules.timezone);
        let targets = self.chosen.targets();
        let (targets, inheritance) = match targets.and_then(|it| Ok((it, inheritance?))) {
            Ok(asked) => asked,
            Err(error) => return wrong_usage(&error),
        };
        let request = OverrideRequest {
            context: match requested {
                // What the schedule says now may rest on the dates.
                RequestedOverride::Sync => self.schedules.context(),
                _ => self.schedules.context_of_others(),
            },
            requested,
            prefix: self.schedules.annotation_prefix,
            inheritance,
            now,
            dry_run: self.wait.dry_run,
        };
        let timeout = (!self.wait.no_wait).then_some(self.wait.timeout);
        self.connection
            .on_cluster(async |client| match targets.whole_namespace() {
                Some(name) if !matches!(request.requested, RequestedOverride::Sync) => {
                    let query = targets.query(client.default_namespace());
                    override_namespace(&client, name, &query, &request, timeout).await
                }
                _ => send(&client, &targets, &request, timeout).await,
            })
            .unwrap_or_else(|error| error.report())
    }
}

fn usage(message: &dyn Display) -> Exit {
    wrong_usage(&clap::Error::raw(
        ErrorKind::ValueValidation,
        format!("{message}\n"),
    ))
}

/// Annotates the workloads, and waits until a controller has acted on each.
async fn send(
    client: &Client,
    targets: &Targets,
    request: &OverrideRequest,
    timeout: Option<TimeDelta>,
) -> Result<Exit, FindError> {
    // `--all` means all with a schedule.
    let has_schedule = |it: &Observed| {
        !matches!(
            read(&it.inputs, &request.context),
            ParsedInputs::Unscheduled
        )
    };
    let query = targets.query(client.default_namespace());
    let (prefix, inheritance) = (&request.prefix, &request.inheritance);
    let selection = Selection::find(client, query, prefix, inheritance, has_schedule).await?;
    note_unreadable(&selection.defaults);
    if selection.observed.is_empty()
        && let Some(namespace) = missing_namespace(client, &selection.query).await
    {
        print_error(&no_namespace(namespace));
        return Ok(Exit::CouldNotRun);
    }
    let mut exit = Exit::Done;
    for missing in &selection.missing {
        print_error(missing);
        exit = Exit::CouldNotRun;
    }
    if selection.observed.is_empty() && exit == Exit::Done {
        print_error(&selection.query.nothing_scheduled());
        return Ok(Exit::Problems);
    }
    let mut annotated = Vec::new();
    request
        .send(client, &selection, |observed, answer| {
            let subject = selection.subject(&observed.object);
            match answer {
                Ok(RequestOutcome::Unchanged) => print_line(&format!("{subject} unchanged")),
                Ok(RequestOutcome::Annotated(it)) => annotated.push(*it),
                Err(error) => {
                    print_error(&format!(
                        "{subject}: {}: {error}",
                        failed(&request.requested)
                    ));
                    exit = exit.worse(if error.is_refusal() {
                        Exit::Problems
                    } else {
                        Exit::CouldNotRun
                    });
                }
            }
        })
        .await;
    match timeout.filter(|_| !request.dry_run) {
        Some(timeout) => {
            let waited = wait_for_all(client, &selection, request, timeout, &annotated).await;
            exit = exit.worse(waited);
        }
        None => {
            let dry = if request.dry_run { " (dry run)" } else { "" };
            for it in &annotated {
                let subject = selection.subject(&it.object);
                print_line(&format!(
                    "{subject} {}{dry}",
                    annotations(&it.annotations, &request.prefix)
                ));
            }
        }
    }
    Ok(exit)
}

async fn wait_for_all(
    client: &Client,
    selection: &Selection,
    request: &OverrideRequest,
    timeout: TimeDelta,
    annotated: &[Annotated],
) -> Exit {
    let limit = timeout.to_std().unwrap_or_default();
    let mut exit = Exit::Done;
    let mut progress = Progress::new();
    let report = |event: WaitEvent<'_>| {
        if let WaitEvent::Waiting { done, all } = event {
            progress.say(&format!("waiting for the controller: {done} of {all} done"));
            return;
        }
        progress.clear();
        let subject = |it: &Annotated| selection.subject(&it.object);
        exit = exit.worse(match event {
            WaitEvent::Waiting { .. } => Exit::Done,
            WaitEvent::Obeyed(it, seen) => {
                print_line(&format!(
                    "{} {}",
                    subject(it),
                    obeyed(it, seen, request)
                ));
                Exit::Done
            }
            WaitEvent::Refused(it, why) => {
                for line in why.lines() {
                    print_error(&format!("{}: its schedule is refused: {line}", subject(it)));
                }
                Exit::Problems
            }
            WaitEvent::Deleted(it) => {
                print_error(&format!("{}: annotated, then deleted", subject(it)));
                Exit::Problems
            }
            WaitEvent::Unwatched(error) => {
                print_error(&format!(
                    "annotated, but whether a controller acts is not seen: {error}"
                ));
                Exit::CouldNotRun
            }
            WaitEvent::TimedOut(it, seen) => {
                print_error(&format!(
                    "{}: annotated, but no controller has acted within {} s; {}; it will be {} when \
                     one acts",
                    subject(it),
                    limit.as_secs(),
                    unobeyed(seen, it.zone, request.now),
                    action(it, request.now)
                ));
                Exit::Problems
            }
        });
    };
    wait(
        client,
        &selection.query,
        (&request.prefix, &selection.defaults),
        limit,
        annotated,
        report,
    )
    .await;
    exit
}
