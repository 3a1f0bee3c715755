//! `dayshift wake`, `sleep`, `pause`, `resume` and `sync`, which differ only in the override that they
//! request.

use chrono::{DateTime, DurationRound as _, TimeDelta, Utc};
use dayshift_cluster::clock::Clock;
use dayshift_operations::{
    ExtraWindowRequest, OverrideRequest, RequestedOverride, Selection, Shorten, Until, UntilError,
    WindowEnd, parse_length,
};
use dayshift_text::cut_chars;
use dayshift_workload::{
    KindTable, MAX_REASON, Observed, ParseContext, ParsedInputs, Prefix, READY_WITHIN,
    RequestWakes, read,
};
use kube::Client;

use crate::cli::{
    args::{
        connection::ConnectionArgs,
        kinds::KindFiles,
        schedules::ScheduleArgs,
        targets::{ChosenArgs, Targets},
        values::parse_span,
    },
    outcome::CommandError,
    output::{
        actions::{ActionFormat, ActionOutput, ActionPrinter},
        messages::{
            as_far_as_seen, confirm, left_alone, missing_namespaces_text, note_unreadable,
            print_error, print_note,
        },
    },
    process::{Exit, usage_error},
};

/// Appends the text that the help of all five commands has in common.
macro_rules! help {
    ($examples:literal) => {
        concat!(
            $examples,
            "\nThe command only writes annotations, as kubectl annotate does; a running controller acts on them.\n",
            "Exit status: 0 done, 1 no controller acted in time, or a workload cannot be changed, 2 wrong usage, ",
            "3 could not reach the cluster, a permission to read is missing, or the definition of a kind ",
            "(--kind-file)."
        )
    };
}

pub(crate) const WAKE_HELP: &str = help!(
    "\
Examples:
  dayshift wake deploy/web --for 2h
  dayshift wake deploy/web sts/db --until \"Mon 09:00\" --reason \"load test\"
  dayshift wake ns/dev --until 22:00         a whole namespace
  dayshift wake --team -n dev --until 22:00  the same, without Namespace rights
  dayshift wake -l team=shop --for 1h --wait until all of it is ready
  dayshift wake deploy/web --from \"Sat 09:00\" --until \"Sat 18:00\"
"
);

pub(crate) const SLEEP_HELP: &str = help!(
    "\
Examples:
  dayshift sleep deploy/web --until \"Mon 09:00\"
  dayshift sleep ns/dev --for 12h            a whole namespace
  dayshift sleep --all -n dev --until 08:00 --dry-run
  dayshift sleep deploy/web --for 3d --no-request-wake
"
);

pub(crate) const PAUSE_HELP: &str = help!(
    "\
Examples:
  dayshift pause deploy/web                  until dayshift resume
  dayshift pause ns/dev --until \"2026-12-24 18:00\" --reason \"migration\"
"
);

pub(crate) const SYNC_HELP: &str = help!(
    "\
Examples:
  dayshift sync deploy/web
  dayshift sync --all -n dev                 all workloads with a schedule
"
);

pub(crate) const RESUME_HELP: &str = help!(
    "\
Examples:
  dayshift resume deploy/web
  dayshift resume ns/dev                     a whole namespace
"
);

#[derive(Debug, clap::Args)]
pub(crate) struct OverrideArgs {
    #[command(flatten)]
    chosen: ChosenArgs,

    #[command(flatten)]
    wait: WaitArgs,

    #[command(flatten)]
    schedules: ScheduleArgs,

    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LastingArgs {
    #[command(flatten)]
    until: UntilArgs,

    #[command(flatten)]
    common: OverrideArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct WakeArgs {
    /// The beginning: add a window to the annotation extra, instead of a wake that begins now
    #[arg(
        long,
        value_name = "T",
        conflicts_with_all = ["reason", "wait", "no_wait", "timeout", "shorten"],
        help_heading = "Until when",
        hide_short_help = true
    )]
    from: Option<String>,

    #[command(flatten)]
    lasting: LastingArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SleepArgs {
    /// Let no request wake the workload before the end (wake-on-request)
    #[arg(long, help_heading = "Until when", hide_short_help = true)]
    no_request_wake: bool,

    #[command(flatten)]
    lasting: LastingArgs,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Changes")]
struct WaitArgs {
    /// Write the annotations, and do not wait until a controller has acted
    #[arg(long, hide_short_help = true)]
    no_wait: bool,

    /// Wait until a controller has acted and all replicas are ready
    #[arg(
        long,
        value_name = "FOR",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "ready",
        conflicts_with = "no_wait",
        hide_short_help = true
    )]
    wait: Option<WaitFor>,

    /// How long to wait for a controller to act [default: 10s; 10m with --wait]
    #[arg(long, value_name = "TIME", value_parser = parse_span, hide_short_help = true)]
    timeout: Option<TimeDelta>,

    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,

    /// The output format
    #[arg(
        short,
        long,
        value_name = "FORMAT",
        default_value = "text",
        help_heading = None::<&'static str>,
        hide_short_help = true
    )]
    output: ActionFormat,

    /// Allow an earlier end than that of the active override
    #[arg(long, hide_short_help = true)]
    shorten: bool,

    /// Do not ask for confirmation; a terminal asks before a change in all namespaces
    #[arg(short, long, hide_short_help = true)]
    yes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum WaitFor {
    /// All of it is ready
    Ready,
}

/// How long a command waits for a controller, unless `--timeout` is set.
const TIMEOUT: TimeDelta = TimeDelta::seconds(10);

impl WaitArgs {
    /// How long to wait, or `None` with `--no-wait`.
    fn timeout(&self) -> Option<TimeDelta> {
        let usual = self.wait.map_or(TIMEOUT, |_| READY_WITHIN);
        (!self.no_wait).then_some(self.timeout.unwrap_or(usual))
    }
}

impl WakeArgs {
    pub(crate) fn run(self, kind_files: &KindFiles) -> Result<Exit, CommandError> {
        let Some(from) = self.from else {
            return self.lasting.until(RequestedOverride::Wake, kind_files);
        };
        let now = Clock::system().now();
        let window = self.lasting.until.window(from, now).map_err(usage_error)?;
        let missing = || usage_error("set an end: --until \"Sat 18:00\", or --for 9h");
        let window = window.ok_or_else(missing)?;
        self.lasting.common.add_window(now, window, kind_files)
    }
}

impl SleepArgs {
    pub(crate) fn run(self, kind_files: &KindFiles) -> Result<Exit, CommandError> {
        let requests = match self.no_request_wake {
            true => RequestWakes::Ignored,
            false => RequestWakes::Allowed,
        };
        let requested = |until| RequestedOverride::Sleep(until, requests);
        self.lasting.until(requested, kind_files)
    }
}

impl LastingArgs {
    fn until(
        self,
        requested: impl FnOnce(Until) -> RequestedOverride,
        kind_files: &KindFiles,
    ) -> Result<Exit, CommandError> {
        self.request(kind_files, |until| until.map(requested))
    }

    pub(crate) fn pause(self, kind_files: &KindFiles) -> Result<Exit, CommandError> {
        self.request(kind_files, |until| Some(RequestedOverride::Pause(until)))
    }

    fn request(
        self,
        kind_files: &KindFiles,
        requested: impl FnOnce(Option<Until>) -> Option<RequestedOverride>,
    ) -> Result<Exit, CommandError> {
        let now = Clock::system().now();
        let requested = requested(self.until.until(now).map_err(usage_error)?);
        let missing = || usage_error("set an end: --for 2h, or --until 22:00");
        let requested = requested.ok_or_else(missing)?;
        self.common
            .request(now, requested, self.until.reason, kind_files)
    }
}

impl OverrideArgs {
    /// Requests an override without an end.
    pub(crate) fn now(
        self,
        requested: RequestedOverride,
        kind_files: &KindFiles,
    ) -> Result<Exit, CommandError> {
        self.request(Clock::system().now(), requested, None, kind_files)
    }

    /// The workloads to change. `None` if the user does not confirm a change in all namespaces, which the
    /// question names, such as `wake`.
    fn confirmed_targets(
        &self,
        kind_files: &KindFiles,
        change: &str,
    ) -> Result<Option<Targets>, CommandError> {
        self.schedules.warn_of_unreadable();
        let targets = self.chosen.targets(kind_files)?;
        let is_asked = targets.are_everything() && !self.wait.dry_run && !self.wait.yes;
        let question = format!("{change} all scheduled workloads in all namespaces?");
        if is_asked && !confirm(&question) {
            print_note("nothing was changed");
            return Ok(None);
        }
        Ok(Some(targets))
    }

    const fn output(&self, command: &'static str) -> ActionOutput {
        ActionOutput {
            command,
            dry_run: self.wait.dry_run,
            format: self.wait.output,
        }
    }

    /// Adds a window to the annotation `extra`.
    fn add_window(
        self,
        now: DateTime<Utc>,
        (from, end): (Until, WindowEnd),
        kind_files: &KindFiles,
    ) -> Result<Exit, CommandError> {
        let Some(targets) = self.confirmed_targets(kind_files, "add a window to")? else {
            return Ok(Exit::Usage);
        };
        if targets.is_team() {
            let message =
                "--from adds to the annotation extra; edit the ConfigMap instead of --team";
            return Err(usage_error(message).into());
        }
        let output = self.output("wake");
        let request = ExtraWindowRequest {
            from,
            end,
            context: self.schedules.context(kind_files),
            prefix: self.schedules.prefix.annotation_prefix,
            now,
            dry_run: self.wait.dry_run,
        };
        self.connection.on_cluster("wake", async |client| {
            if let Some(name) = targets.whole_namespace() {
                let mut printer = ActionPrinter::new(Exit::Done, &output);
                let mut print = |report| printer.print(report);
                request
                    .carry_out_in_namespace(&client, name, &mut print)
                    .await;
                return Ok(printer.finish());
            }
            let (context, prefix) = (&request.context, &request.prefix);
            let selected = select_scheduled(&client, &targets, context, prefix, &output);
            let (selection, mut printer) = selected.await?;
            let mut print = |report| printer.print(report);
            request.carry_out(&client, &selection, &mut print).await;
            Ok(printer.finish())
        })
    }

    fn request(
        self,
        now: DateTime<Utc>,
        requested: RequestedOverride,
        reason: Option<String>,
        kind_files: &KindFiles,
    ) -> Result<Exit, CommandError> {
        let command = requested.command();
        let Some(targets) = self.confirmed_targets(kind_files, command)? else {
            return Ok(Exit::Usage);
        };
        let is_sync = matches!(requested, RequestedOverride::Sync);
        if is_sync && targets.is_team() {
            let message = "sync is for each workload by itself; give --all instead of --team";
            return Err(usage_error(message).into());
        }
        let output = self.output(command);
        let request = OverrideRequest {
            context: match requested {
                // The current state of the schedule can depend on calendar dates.
                RequestedOverride::Sync => self.schedules.context(kind_files),
                _ => self.schedules.context_of_others(kind_files),
            },
            requested,
            prefix: self.schedules.prefix.annotation_prefix,
            now,
            reason,
            shorten: match self.wait.shorten {
                true => Shorten::Allowed,
                false => Shorten::Forbidden,
            },
            dry_run: self.wait.dry_run,
            until_ready: self.wait.wait.is_some(),
        };
        let timeout = self.wait.timeout();
        self.connection.on_cluster(command, async |client| {
            let namespace = client.default_namespace();
            if let Some(whole) = targets.whole(namespace).filter(|_| !is_sync) {
                let query = targets.query(namespace);
                let mut printer = ActionPrinter::new(Exit::Done, &output);
                let mut print = |report| printer.print(report);
                request
                    .carry_out_in_namespace(&client, whole, &query, None, timeout, &mut print)
                    .await?;
                return Ok(printer.finish());
            }
            let (context, prefix) = (&request.context, &request.prefix);
            let selected = select_scheduled(&client, &targets, context, prefix, &output);
            let (selection, mut printer) = selected.await?;
            let mut print = |report| printer.print(report);
            request
                .carry_out(&client, &selection, timeout, &mut print)
                .await;
            Ok(printer.finish())
        })
    }
}

/// Selects the workloads that have a schedule, as [`select`] does. Prints it if there are none.
async fn select_scheduled(
    client: &Client,
    targets: &Targets,
    context: &ParseContext,
    prefix: &Prefix,
    output: &ActionOutput,
) -> Result<(Selection, ActionPrinter), CommandError> {
    let has_schedule = |workload: &Observed| {
        workload.phase().is_some()
            || !matches!(read(&workload.inputs, context), ParsedInputs::Unscheduled)
    };
    let selected = select(
        client,
        targets,
        prefix,
        &context.kinds,
        output,
        has_schedule,
    );
    let (selection, mut printer) = selected.await?;
    if selection.workloads.is_empty() && !selection.is_by_name() {
        let nothing = selection.query.nothing_scheduled();
        print_error(&as_far_as_seen(nothing, &selection.unreadable));
        note_unreadable(&selection.defaults);
        printer.exit = printer.exit.worse(Exit::Problems);
    }
    Ok((selection, printer))
}

/// Selects the workloads to change: the named ones, or those that match `includes`. Prints those that are
/// missing or unreadable.
pub(super) async fn select(
    client: &Client,
    targets: &Targets,
    prefix: &Prefix,
    kinds: &KindTable,
    output: &ActionOutput,
    includes: impl Fn(&Observed) -> bool,
) -> Result<(Selection, ActionPrinter), CommandError> {
    let query = targets.query(client.default_namespace());
    let selection = Selection::find(client, query, prefix, includes).await?;
    let missing = selection.missing_namespaces(client).await;
    if !missing.is_empty() {
        let text = missing_namespaces_text(client, &missing, kinds).await;
        return Err(CommandError::Namespaces(text));
    }
    let printer = ActionPrinter::new(left_alone(client, &selection).await, output);
    Ok((selection, printer))
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Until when")]
pub(crate) struct UntilArgs {
    /// The duration from now, such as 2h or 90m
    #[arg(
        long = "for",
        value_name = "TIME",
        value_parser = parse_length,
        conflicts_with = "until",
        allow_hyphen_values = true, // so that `-1h` gets an error with an example
    )]
    length: Option<TimeDelta>,

    /// The end: the next 22:00 or "Mon 09:00" in the workload's own zone, "2026-12-24 18:00", or
    /// RFC 3339
    #[arg(long, value_name = "T")]
    until: Option<String>,

    /// The reason, which status and Events show
    #[arg(long, value_name = "TEXT", value_parser = parse_reason)]
    pub(crate) reason: Option<String>,
}

impl UntilArgs {
    /// The end of the override, or `None` if neither flag is given.
    ///
    /// # Errors
    /// If the text is not a date and time, or is in the past in every zone.
    pub(crate) fn until(&self, now: DateTime<Utc>) -> Result<Option<Until>, UntilError> {
        if let Some(length) = self.length {
            return Ok(Some(Until::At(end_after(now, length))));
        }
        let Some(text) = &self.until else {
            return Ok(None);
        };
        Until::local(text.clone(), now).map(Some)
    }

    /// A window from a time on, or `None` if neither flag is given.
    ///
    /// # Errors
    /// If a text is not a date and time.
    fn window(
        &self,
        from: String,
        now: DateTime<Utc>,
    ) -> Result<Option<(Until, WindowEnd)>, UntilError> {
        let from = Until::local(from, now)?;
        let end = match (self.length, &self.until) {
            (Some(length), _) => WindowEnd::After(length),
            (None, Some(text)) => WindowEnd::At(Until::local(text.clone(), now)?),
            (None, None) => return Ok(None),
        };
        Ok(Some((from, end)))
    }
}

/// The end of an override: a full minute, unless the override is shorter.
fn end_after(now: DateTime<Utc>, length: TimeDelta) -> DateTime<Utc> {
    let end = now + length;
    let minute = TimeDelta::minutes(1);
    if length < minute {
        return end;
    }
    match end.duration_trunc(minute) {
        Ok(full) if full < end => full + minute,
        _ => end,
    }
}

fn parse_reason(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("is empty; write for example \"migration of the database\"".to_owned());
    }
    if cut_chars(text, MAX_REASON) != text {
        return Err(format!("is longer than {MAX_REASON} characters"));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overrides_end_on_a_full_minute() {
        let now: DateTime<Utc> = "2026-11-20T10:00:30Z".parse().unwrap();
        for (length, expected) in [
            (TimeDelta::hours(2), "2026-11-20T12:01:00Z"),
            (TimeDelta::seconds(90), "2026-11-20T10:02:00Z"),
            (TimeDelta::seconds(20), "2026-11-20T10:00:50Z"),
        ] {
            let expected: DateTime<Utc> = expected.parse().unwrap();
            assert_eq!(end_after(now, length), expected, "{length}");
        }
    }
}
