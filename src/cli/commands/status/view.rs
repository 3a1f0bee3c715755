//! What `dayshift status` shows, once or as it changes.

use std::{
    io::{self, Write as _},
    sync::Arc,
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::{
    Query,
    clock::Clock,
    connect::server_time,
    decode::WithManagers,
    read::{
        Autoscalers, FindError, Found, NamespaceDefaults, Services, UnreadablePart, WaitingStarts,
        find, missing_namespaces, no_namespaces,
    },
};
use dayshift_operations::status::{
    HPA_REFRESH, KindWatches, LiveView, NAMESPACE_REFRESH, PROBE, SeenWorkloads, StatusContext,
    Unreadable, WorkloadStatus, asks_for_wakes, clock_ahead,
};
use dayshift_text::counted;
use dayshift_workload::savings::Price;
use kube::Client;

use crate::cli::{
    args::{schedule_args::ScheduleArgs, targets::Targets},
    exit::Exit,
    output::{
        live_screen::LiveScreen,
        messages::{as_far_as_seen, print_beside, print_error},
        status::{SortBy, StatusOutput},
        style::Style,
        terminal::{stdout_width, style},
    },
};

/// The output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Output {
    Table,
    Wide,
    Json,
}

/// How often a terminal shows that time passes.
const TICK: TimeDelta = TimeDelta::seconds(1);

/// What is shown, and how.
pub(super) struct View {
    pub(super) output: Output,
    pub(super) sort_by: SortBy,
    pub(super) problems: bool,
    pub(super) price: Option<Arc<Price>>,
    pub(super) schedules: ScheduleArgs,
}

/// What is known of the cluster at one moment.
#[derive(Clone, Copy)]
struct Live<'a> {
    found: &'a Found<WithManagers>,
    refused: &'a [UnreadablePart],
    autoscalers: &'a Autoscalers,
    services: &'a Services,
    waiting_starts: &'a WaitingStarts,
    defaults: &'a NamespaceDefaults,
}

/// All that is shown at one moment.
struct Shown {
    /// What goes to standard output.
    out: Vec<u8>,
    /// What is said beside it: what may not be read, what was named and is not there, or that there
    /// is nothing.
    beside: Vec<String>,
    exit: Exit,
    /// Whether a start is overdue, which may wait for a place.
    has_overdue_start: bool,
}

impl Shown {
    /// Says that beside the rest, after which the exit is at least as bad as this.
    fn say(&mut self, exit: Exit, line: String) {
        self.beside.push(line);
        self.exit = self.exit.worse(exit);
    }
}

impl View {
    /// Shows it once.
    pub(super) async fn show(&self, client: &Client, targets: &Targets) -> Result<Exit, FindError> {
        let query = targets.query(client.default_namespace());
        let (found, defaults) = tokio::join!(
            find::<WithManagers>(client, &query),
            self.defaults(client, &query)
        );
        let (found, refused) = found?;
        let (now, autoscalers, services) = tokio::join!(
            now(client),
            autoscalers(client, &query, &found),
            self.services(client, &query, &found, &defaults)
        );
        let shown_with = |waiting_starts: &WaitingStarts| {
            let live = Live {
                found: &found,
                refused: &refused,
                autoscalers: &autoscalers,
                services: &services,
                waiting_starts,
                defaults: &defaults,
            };
            self.of(live, &query, now, style(&io::stdout()), stdout_width())
        };
        let mut shown = shown_with(&WaitingStarts::default());
        if shown.has_overdue_start {
            shown = shown_with(&WaitingStarts::find(client, &query).await);
        }
        let is_found = |name: &str| {
            let mut workloads = found.workloads.iter();
            workloads.any(|(_, it)| it.workload.namespace() == name)
        };
        let missing = missing_namespaces(client, &query, is_found).await;
        if !missing.is_empty() {
            if found.workloads.is_empty() {
                shown.beside.clear();
            }
            let error = format!("error: {}", no_namespaces(&missing));
            shown.say(Exit::CouldNotRun, error);
        }
        for line in &shown.beside {
            print_beside(line);
        }
        Ok(written(io::stdout().write_all(&shown.out)).unwrap_or(shown.exit))
    }

    /// Shows all of it after each change, until the reader leaves or what is sought cannot be
    /// watched; on a terminal also as time passes.
    pub(super) async fn follow(
        &self,
        client: &Client,
        targets: &Targets,
    ) -> Result<Exit, FindError> {
        let query = targets.query(client.default_namespace());
        let clock = Clock::system();
        let ahead = now(client).await - clock.now();
        let mut live = LiveView::new(query.clone());
        let is_text = matches!(self.output, Output::Table | Output::Wide);
        let mut screen = LiveScreen::new(is_text);
        // Changes that come together are shown together.
        let mut watches = KindWatches::of(client, &query, &clock);
        let mut probe = clock.now();
        let (mut hpas, mut services) = (Autoscalers::default(), Services::default());
        let mut waiting_starts = WaitingStarts::default();
        let mut waits_known_until = clock.now();
        let mut hpas_known_until = clock.now();
        let mut defaults = self.defaults(client, &query).await;
        let mut defaults_known_until = clock.now() + NAMESPACE_REFRESH;
        loop {
            let tick = clock.now() + TICK;
            tokio::select! {
                shown = watches.next() => live.take_in(shown?, watches.refused()),
                () = clock.doze_until(tick) => {
                    if live.outage().is_some() && clock.now() >= probe {
                        probe = clock.now() + PROBE;
                        if server_time(client).await.is_some() {
                            live.answered();
                        }
                    } else if live.outage().is_none() && clock.now() >= defaults_known_until {
                        let found = self.defaults(client, &query).await;
                        defaults_known_until = clock.now() + NAMESPACE_REFRESH;
                        let is_news = found != defaults;
                        defaults = found;
                        if !is_news && !screen.ticks() {
                            continue;
                        }
                    } else if !screen.ticks() {
                        continue;
                    }
                }
            }
            let at = clock.now() + ahead;
            screen.set_outage(live.outage().map(ToString::to_string), at);
            if !live.is_complete() {
                continue;
            }
            let found = live.found();
            if live.outage().is_none() && clock.now() >= hpas_known_until {
                (hpas, services) = tokio::join!(
                    autoscalers(client, &query, &found),
                    self.services(client, &query, &found, &defaults)
                );
                hpas_known_until = clock.now() + HPA_REFRESH;
            }
            let shown_with = |waiting_starts: &WaitingStarts| {
                let known = Live {
                    found: &found,
                    refused: live.refused(),
                    autoscalers: &hpas,
                    services: &services,
                    waiting_starts,
                    defaults: &defaults,
                };
                self.of(known, &query, at, screen.style(), stdout_width())
            };
            let mut shown = shown_with(&waiting_starts);
            if shown.has_overdue_start
                && live.outage().is_none()
                && clock.now() >= waits_known_until
            {
                waiting_starts = WaitingStarts::find(client, &query).await;
                waits_known_until = clock.now() + HPA_REFRESH;
                shown = shown_with(&waiting_starts);
            }
            if let Some(exit) = written(screen.show(&shown.beside, &shown.out)) {
                return Ok(exit);
            }
        }
    }

    /// What is inherited where the query looks.
    async fn defaults(&self, client: &Client, query: &Query) -> NamespaceDefaults {
        let prefix = &self.schedules.prefix.annotation_prefix;
        NamespaceDefaults::find(client, query, prefix).await
    }

    /// The Services where the query looks; nothing is asked where no workload asks to be woken by
    /// a request.
    async fn services(
        &self,
        client: &Client,
        query: &Query,
        found: &Found<WithManagers>,
        defaults: &NamespaceDefaults,
    ) -> Services {
        let prefix = &self.schedules.prefix.annotation_prefix;
        let mut all = found.workloads.iter();
        if !all.any(|(kind, it)| asks_for_wakes(*kind, it, defaults, prefix)) {
            return Services::default();
        }
        Services::find(client, query).await
    }

    /// All that is shown of this at `now`, on a terminal of that style and width.
    fn of(
        &self,
        live: Live<'_>,
        query: &Query,
        now: DateTime<Utc>,
        style: Style,
        width: Option<usize>,
    ) -> Shown {
        let mut unreadable = Unreadable::of(query, live.refused, live.autoscalers, live.services);
        let mut shown = Shown {
            out: Vec::new(),
            beside: Vec::new(),
            exit: Exit::Done,
            has_overdue_start: false,
        };
        for it in &unreadable {
            if it.hides_workloads {
                // What is not seen may have a problem.
                shown.say(Exit::CouldNotRun, format!("error: {it}"));
            } else {
                shown.say(Exit::Done, format!("note: {it}"));
            }
        }
        let found = live.found.workloads.len();
        let mut statuses = self.statuses(live, query, now, &mut shown);
        shown.has_overdue_start = statuses.iter().any(WorkloadStatus::has_overdue_start);
        if (statuses.is_empty() || query.is_by_name() && statuses.len() < found)
            && let Some(it) = Unreadable::namespaces(live.defaults)
        {
            shown.say(Exit::Done, format!("note: {it}"));
            unreadable.push(it);
        }
        if statuses.is_empty() && !query.is_by_name() {
            let is_partial = !live.refused.is_empty();
            let nothing = as_far_as_seen(query.nothing_scheduled(), is_partial);
            shown.say(Exit::Done, sentence(&nothing));
        } else if self.problems {
            let all = statuses.len();
            statuses.retain(WorkloadStatus::has_problem);
            if statuses.is_empty() {
                let none = format!("No problem among {}.", counted(all, "workload"));
                shown.say(Exit::Done, none);
            }
        }
        let output = StatusOutput::new(
            &statuses,
            &unreadable,
            &self.schedules.prefix.annotation_prefix,
            now,
            self.sort_by,
            self.price.as_deref(),
        );
        if output.have_problems() {
            shown.exit = shown.exit.worse(Exit::Problems);
        }
        // Writing to memory does not fail.
        let _ = match self.output {
            Output::Table => output.write_table(&mut shown.out, style, false, width),
            Output::Wide => output.write_table(&mut shown.out, style, true, width),
            Output::Json => output.write_json(&mut shown.out),
        };
        shown
    }

    /// How the workloads stand that have a schedule; what was named and has none or is not there is
    /// said beside them.
    fn statuses(
        &self,
        live: Live<'_>,
        query: &Query,
        now: DateTime<Utc>,
        shown: &mut Shown,
    ) -> Vec<WorkloadStatus> {
        let all = live.found.workloads.iter().map(|(kind, it)| (*kind, it));
        let context = StatusContext {
            workloads: &SeenWorkloads::of(query, live.refused, all),
            defaults: live.defaults,
            autoscalers: live.autoscalers,
            services: live.services,
            waiting_starts: live.waiting_starts,
            prefix: &self.schedules.prefix.annotation_prefix,
            parse_context: &self.schedules.context_of_others(),
            now,
        };
        let mut statuses = Vec::new();
        for (kind, managed) in &live.found.workloads {
            match WorkloadStatus::of(*kind, managed, &context) {
                Some(status) => statuses.push(status),
                None if query.is_by_name() => {
                    let name = managed.workload.name();
                    let (kind, group) = (kind.singular(), kind.group());
                    let error = format!("error: {kind}.{group}/{name} has no schedule");
                    shown.say(Exit::Problems, error);
                }
                None => {}
            }
        }
        for missing in &live.found.missing {
            shown.say(Exit::CouldNotRun, format!("error: {missing}"));
        }
        statuses
    }
}

/// The HPAs where the query looks; nothing is asked where it has found nothing.
async fn autoscalers(client: &Client, query: &Query, found: &Found<WithManagers>) -> Autoscalers {
    if found.workloads.is_empty() {
        return Autoscalers::default();
    }
    Autoscalers::find(client, query).await
}

/// How to end where writing has failed.
fn written(result: io::Result<()>) -> Option<Exit> {
    match result {
        Ok(()) => None,
        // Who reads only the beginning has what they want.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Some(Exit::Done),
        Err(error) => {
            print_error(&format!("cannot write the status: {error}"));
            Some(Exit::CouldNotRun)
        }
    }
}

/// With a capital and a full stop.
fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|it| it.to_ascii_uppercase());
    first.into_iter().chain(characters).chain(['.']).collect()
}

/// The time by which schedules are followed.
async fn now(client: &Client) -> DateTime<Utc> {
    let here = Clock::system().now();
    let there = server_time(client).await.unwrap_or(here);
    here + clock_ahead(there, here)
}
