//! `dayshift status`: the state of scheduled workloads, once or as it changes.

use std::{
    io::{self, Write as _},
    time::Duration,
};

use chrono::{DateTime, Utc};
use dayshift_cluster::{
    Query,
    clock::Clock,
    read::{FindError, NamespaceDefaults},
};
use dayshift_operations::{
    EventNeeds, LiveView, SharedView,
    status::{DependencyChecks, StatusContext, Unreadable, WorkloadStatus},
    suggest_workload,
};
use dayshift_text::counted;
use dayshift_workload::{Observed, ParseContext, Prefix};
use kube::Client;
use tokio::time::timeout;

use crate::cli::{
    args::{
        connection::ConnectionArgs,
        kinds::KindFiles,
        schedules::{ScheduleArgs, schedule_name},
        targets::{TargetArgs, Targets},
        values::PriceArgs,
    },
    outcome::{CommandError, print_result},
    output::{
        messages::{as_far_as_seen, missing_namespaces_text, print_beside},
        screen::LiveScreen,
        status::{SortBy, StatusColumns, StatusOutput},
        terminal::{Style, stdout_width, style},
    },
    process::Exit,
};

/// Show the state of scheduled workloads, their next changes, and problems
///
/// Workloads with a problem come first. Below the table are errors, their remedies, and how you
/// should configure an HPA, Argo CD, Flux or Helm to ignore replicas. Columns that do not fit the
/// terminal are left out.
#[derive(Debug, clap::Args)]
#[command(
    after_help = EXIT_STATUS,
    after_long_help = format!("{AFTER_LONG_HELP}\n\n{EXIT_STATUS}")
)]
pub(crate) struct StatusArgs {
    /// The output format
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: StatusFormat,

    /// The order of the rows
    #[arg(long, value_name = "COLUMN", default_value = "problems")]
    sort_by: SortBy,

    /// Show only workloads with a problem: those that make the exit status 1
    #[arg(long)]
    problems: bool,

    /// Show only workloads that follow this named schedule; repeatable, or a list with commas
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = schedule_name)]
    schedule: Vec<String>,

    /// Keep running: a terminal is refreshed in place, other output gets all of it at each change
    #[arg(short, long)]
    watch: bool,

    #[command(flatten)]
    price: PriceArgs,

    #[command(flatten)]
    targets: TargetArgs,

    #[command(flatten)]
    connection: ConnectionArgs,

    #[command(flatten)]
    schedules: ScheduleArgs,
}

const EXIT_STATUS: &str = "\
Exit status: 0 done, 1 a workload has a problem, 2 wrong usage, 3 no cluster, no such workload, \
or a permission to read is missing.";

const AFTER_LONG_HELP: &str = "\
A problem is one of these: a rejected schedule; a start, stop or override that is more than 10 s \
overdue; a workload that is stopped without a schedule, against its schedule or without a saved \
count; a workload without a ready replica 10 minutes after its start; a dependency in \
dayshift/after that cannot become ready in time; and a count that another controller has \
reverted.

With -o json the output is one document; its schema is docs/reference/schemas/status.json.

Standard error and unread list missing permissions: {\"resource\", such as \"cronjobs.batch\", \
\"message\", \"cure\": the fix, or null}. If one concerns a requested kind or workload, the \
others are shown and the exit status is 3. For Namespaces, Services, HPAs and ScaledObjects the \
exit status does not change.";

impl StatusArgs {
    pub(crate) fn run(self, kind_files: &KindFiles) -> Result<Exit, CommandError> {
        self.schedules.warn_of_unreadable();
        let targets = self.targets.targets(kind_files)?;
        let view = StatusView {
            parse_context: self.schedules.context_of_others(kind_files),
            args: &self,
        };
        let connection = self.connection.clone();
        connection.on_cluster("status", async |client| {
            if self.watch {
                view.follow(&client, &targets).await
            } else {
                within_limit(view.show(&client, &targets)).await
            }
        })
    }
}

/// How long `status` may take without `--watch`. Each request has a limit of its own, but a list has
/// any number of pages.
const LIMIT: Duration = Duration::from_secs(300);

async fn within_limit<T>(
    work: impl Future<Output = Result<T, CommandError>>,
) -> Result<T, CommandError> {
    let minutes = LIMIT.as_secs() / 60;
    let late =
        || FindError::Unavailable(format!("it has not sent everything within {minutes} min"));
    let done = timeout(LIMIT, work).await;
    done.unwrap_or_else(|_| Err(late().into()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum StatusFormat {
    Table,
    Wide,
    Json,
}

/// The options of the output.
struct StatusView<'a> {
    args: &'a StatusArgs,
    parse_context: ParseContext,
}

/// The output for one state of the cluster.
struct StatusPage {
    /// For standard output.
    out: Vec<u8>,
    /// For standard error: unreadable resources, missing names, or a note that nothing was found.
    beside: Vec<String>,
    exit: Exit,
    /// The Events that can explain something on it.
    needs: EventNeeds,
}

impl StatusPage {
    /// Adds a line for standard error, and makes the exit status at least this bad.
    fn say(&mut self, exit: Exit, line: String) {
        self.beside.push(line);
        self.exit = self.exit.worse(exit);
    }
}

impl StatusView<'_> {
    fn prefix(&self) -> &Prefix {
        &self.args.schedules.prefix.annotation_prefix
    }

    /// Reads the workloads of a query.
    async fn read(&self, client: &Client, query: Query) -> Result<LiveView, FindError> {
        LiveView::read(client, query, self.prefix(), NamespaceDefaults::default()).await
    }

    /// Prints the status once.
    async fn show(&self, client: &Client, targets: &Targets) -> Result<Exit, CommandError> {
        let clock = Clock::system();
        let query = targets.query(client.default_namespace());
        let mut live = self.read(client, query).await?;
        live.explain(client, &clock).await;
        let now = clock.now() + live.ahead();
        let rendered =
            |live: &LiveView| self.render(live, now, style(&io::stdout()), stdout_width());
        let mut shown = rendered(&live);
        if shown.needs.any() {
            live.read_events(client, shown.needs).await;
            shown = rendered(&live);
        }
        let missing = live.missing_namespaces(client).await;
        if !missing.is_empty() {
            if live.workloads().next().is_none() {
                shown.beside.clear();
            }
            let error = missing_namespaces_text(client, &missing, &self.parse_context.kinds).await;
            let error = format!("error: {error}");
            shown.say(Exit::CouldNotRun, error);
        }
        for missing in &live.missing() {
            let line = format!("error: {missing}");
            if let Some(hint) = suggest_workload(client, missing).await
                && let Some(shown) = shown.beside.iter_mut().find(|shown| **shown == line)
            {
                *shown += &format!("; {hint}");
            }
        }
        if let Some(hint) = self.other_namespaces(client, &live).await {
            shown.beside.push(hint);
        }
        for line in &shown.beside {
            print_beside(line);
        }
        print_result(|out, _| out.write_all(&shown.out))?;
        Ok(shown.exit)
    }

    /// Prints the status after each change until the reader closes the output or the workloads
    /// cannot be watched. On a terminal it also refreshes the relative times.
    async fn follow(&self, client: &Client, targets: &Targets) -> Result<Exit, CommandError> {
        let clock = Clock::system();
        let query = targets.query(client.default_namespace());
        let live = SharedView::new(LiveView::new(query, self.prefix()));
        let mut follower = live.follow(client, &clock).await;
        let mut screen = match self.args.output {
            StatusFormat::Table | StatusFormat::Wide => LiveScreen::for_text(),
            StatusFormat::Json => LiveScreen::for_documents(),
        };
        let mut shown_version = None;
        loop {
            follower.update().await?;
            let now = {
                let live = live.get();
                let now = clock.now() + live.ahead();
                screen.set_outage(live.outage().map(ToString::to_string), now);
                let is_shown = shown_version == Some(live.version());
                if !live.is_complete() || is_shown && !screen.ticks() {
                    continue;
                }
                now
            };
            let rendered = || self.render(&live.get(), now, screen.style(), stdout_width());
            let mut shown = rendered();
            if shown.needs.any() && follower.are_events_due() {
                follower.read_events(shown.needs).await;
                shown = rendered();
            }
            shown_version = Some(live.get().version());
            let written = screen.show(&shown.beside, &shown.out);
            written.map_err(CommandError::Write)?;
        }
    }

    /// The number of scheduled workloads in other namespaces, if the queried ones have none.
    async fn other_namespaces(&self, client: &Client, live: &LiveView) -> Option<String> {
        let query = live.query();
        let is_limited = !query.is_by_name() && !query.namespaces().is_empty();
        if !is_limited || live.workloads().next().is_some() {
            return None;
        }
        let selector = query.selector().map(str::to_owned);
        let everywhere = Query::all(&query.kinds(), &[], selector);
        let all = self.read(client, everywhere).await.ok()?;
        let is_scheduled =
            |observed: &Observed| observed.inputs.has_schedule() || observed.phase().is_some();
        let count = all.observed().filter(is_scheduled).count();
        let workloads = counted(count, "workload");
        (count > 0).then(|| format!("{workloads} in other namespaces: use -A."))
    }

    /// Renders the status at `now` for a terminal with this style and width.
    fn render(
        &self,
        live: &LiveView,
        now: DateTime<Utc>,
        style: Style,
        width: Option<usize>,
    ) -> StatusPage {
        let query = live.query();
        let mut unreadable = Unreadable::list(live);
        let mut shown = StatusPage {
            out: Vec::new(),
            beside: Vec::new(),
            exit: Exit::Done,
            needs: EventNeeds::of([]),
        };
        for resource in &unreadable {
            if resource.hides_workloads {
                // A workload that cannot be read might have a problem.
                shown.say(Exit::CouldNotRun, format!("error: {resource}"));
            } else {
                shown.say(Exit::Done, format!("note: {resource}"));
            }
        }
        let found = live.workloads().count();
        let mut statuses = self.statuses(live, now, &mut shown);
        let all = statuses.len();
        let names = &self.args.schedule;
        if !names.is_empty() {
            statuses.retain(|status| {
                let name = status.schedule.as_ref();
                name.is_some_and(|name| names.contains(name))
            });
        }
        shown.needs = EventNeeds::of(&statuses);
        if (statuses.is_empty() || query.is_by_name() && statuses.len() < found)
            && let Some(resource) = Unreadable::namespaces(live.defaults())
        {
            shown.say(Exit::Done, format!("note: {resource}"));
            unreadable.push(resource);
        }
        if statuses.is_empty() && all > 0 && !names.is_empty() {
            let (all, names) = (counted(all, "workload"), names.join(" or "));
            let none = format!("None of {all} follows the schedule {names}.");
            shown.say(Exit::Done, none);
        } else if statuses.is_empty() && !query.is_by_name() {
            let nothing = query.nothing_scheduled();
            let nothing = as_far_as_seen(nothing, &live.unreadable_parts());
            shown.say(Exit::Done, sentence(&nothing));
        } else if self.args.problems {
            let all = statuses.len();
            statuses.retain(WorkloadStatus::has_problem);
            if statuses.is_empty() {
                let none = format!("No problem among {}.", counted(all, "workload"));
                shown.say(Exit::Done, none);
            }
        }
        statuses.sort_by(|one, other| self.args.sort_by.order(one, other));
        let output = StatusOutput {
            statuses: &statuses,
            unreadable: &unreadable,
            prefix: self.prefix(),
            now,
            price: self.args.price.price.as_deref(),
            tzdata: &self.args.schedules.tzdata(),
        };
        if output.have_problems() {
            shown.exit = shown.exit.worse(Exit::Problems);
        }
        // Writing to memory does not fail.
        let out = &mut shown.out;
        let _ = match self.args.output {
            StatusFormat::Table => output.write_table(out, style, StatusColumns::Fitting, width),
            StatusFormat::Wide => output.write_table(out, style, StatusColumns::Wide, width),
            StatusFormat::Json => output.write_json(out),
        };
        shown
    }

    /// The statuses of workloads that have a schedule. Named workloads that have none or do not
    /// exist are reported on the page.
    fn statuses(
        &self,
        live: &LiveView,
        now: DateTime<Utc>,
        shown: &mut StatusPage,
    ) -> Vec<WorkloadStatus> {
        let context = StatusContext {
            live,
            parse_context: &self.parse_context,
            checks: &DependencyChecks::default(),
            now,
        };
        let mut statuses = Vec::new();
        for (kind, managed) in live.workloads() {
            match WorkloadStatus::new(kind, managed, &context) {
                Some(status) => statuses.push(status),
                None if live.query().is_by_name() => {
                    let name = managed.workload.name();
                    let (kind, group) = (kind.singular(), kind.group());
                    let error = format!("error: {kind}.{group}/{name} has no schedule");
                    shown.say(Exit::Problems, error);
                }
                None => {}
            }
        }
        for missing in &live.missing() {
            shown.say(Exit::CouldNotRun, format!("error: {missing}"));
        }
        statuses
    }
}

/// Adds a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters
        .next()
        .map(|initial| initial.to_ascii_uppercase());
    first.into_iter().chain(characters).chain(['.']).collect()
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_status_that_takes_too_long_ends() {
        let begin = Instant::now();
        let ended = within_limit(std::future::pending::<Result<(), _>>()).await;
        assert_eq!(begin.elapsed(), LIMIT);
        let text = ended.map_err(|error| error.to_string());
        let expected = "the API server is not available: it has not sent everything within 5 min";
        assert_eq!(text, Err(expected.to_owned()));
    }
}
