//! What `wake`, `sleep`, `pause` and `resume` do with their arguments.

use std::fmt::Display;

use chrono::{DateTime, TimeDelta, Utc};
use clap::error::ErrorKind;
use kube::Client;

use crate::{
    cli::{
        args::{override_args::OverrideArgs, targets::Targets, values::until::UntilArgs},
        exit::{Exit, wrong_usage},
        output::{
            messages::{as_far_as_seen, left_alone, note_unreadable, print_error},
            report::Report,
        },
    },
    clock::Clock,
    cluster::{FindError, no_namespaces},
    operations::{OverrideRequest, RequestedOverride, Selection, Until},
    workload::{Observed, ParsedInputs, read},
};

impl OverrideArgs {
    /// Requests an override that has to end at some time.
    pub(in crate::cli::commands) fn request_until(
        self,
        until: &UntilArgs,
        requested: fn(Until) -> RequestedOverride,
    ) -> Exit {
        let now = Clock::system().now();
        match until.until(now) {
            Ok(Some(end)) => self.request(now, requested(end), until.reason.clone()),
            Ok(None) => usage(&"set an end: --for 2h, or --until 22:00"),
            Err(error) => usage(&error),
        }
    }

    /// Requests a pause, with an end or without.
    pub(in crate::cli::commands) fn request_pause(self, until: &UntilArgs) -> Exit {
        let now = Clock::system().now();
        match until.until(now) {
            Ok(end) => self.request(now, RequestedOverride::Pause(end), until.reason.clone()),
            Err(error) => usage(&error),
        }
    }

    /// Requests what has no end.
    pub(in crate::cli::commands) fn request_now(self, requested: RequestedOverride) -> Exit {
        self.request(Clock::system().now(), requested, None)
    }

    fn request(
        self,
        now: DateTime<Utc>,
        requested: RequestedOverride,
        reason: Option<String>,
    ) -> Exit {
        self.schedules.warn_of_unreadable();
        let targets = match self.chosen.targets() {
            Ok(targets) => targets,
            Err(error) => return wrong_usage(&error),
        };
        let command = requested.command();
        let request = OverrideRequest {
            context: match requested {
                // What the schedule says now may rest on the dates.
                RequestedOverride::Sync => self.schedules.context(),
                _ => self.schedules.context_of_others(),
            },
            requested,
            prefix: self.schedules.annotation_prefix,
            now,
            reason,
            dry_run: self.wait.dry_run,
        };
        let timeout = (!self.wait.no_wait).then_some(self.wait.timeout);
        self.connection
            .on_cluster(command, async |client| match targets.whole_namespace() {
                Some(name) if !matches!(request.requested, RequestedOverride::Sync) => {
                    let query = targets.query(client.default_namespace());
                    let mut report = Report::new(Exit::Done);
                    let mut said = |said| report.take(said);
                    request
                        .carry_out_in_namespace(&client, name, &query, None, timeout, &mut said)
                        .await?;
                    Ok(report.exit)
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
        it.phase().is_some()
            || !matches!(
                read(&it.inputs, &request.context),
                ParsedInputs::Unscheduled
            )
    };
    let query = targets.query(client.default_namespace());
    let selection = Selection::find(client, query, &request.prefix, has_schedule).await?;
    let missing = selection.missing_namespaces(client).await;
    if !missing.is_empty() {
        print_error(&no_namespaces(&missing));
        return Ok(Exit::CouldNotRun);
    }
    let mut report = Report::new(left_alone(&selection));
    if selection.observed.is_empty() && !selection.is_by_name() {
        let nothing = selection.query.nothing_scheduled();
        let not_all = !selection.unreadable.is_empty();
        print_error(&as_far_as_seen(nothing, not_all));
        note_unreadable(&selection.defaults);
        return Ok(report.exit.worse(Exit::Problems));
    }
    request
        .carry_out(client, &selection, timeout, &mut |said| report.take(said))
        .await;
    Ok(report.exit)
}
