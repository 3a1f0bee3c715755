//! The data of a page: [`View`], its [`Row`]s with their findings, and savings.

use std::{
    collections::{BTreeMap, HashMap},
    mem,
    sync::{Arc, OnceLock},
};

use chrono::{DateTime, Datelike, Days, NaiveDate, NaiveTime, Utc};
use dayshift_cluster::Query;
use dayshift_controller::Telemetry;
use dayshift_manifest::plan::{OperatorResource, OtherManagers};
use dayshift_operations::{SelectedWorkload, status::WorkloadStatus};
use dayshift_schedule::Zone;
use dayshift_workload::{
    Kind, NamedSchedules, Observed, Origin, ParseContext, ParsedInputs, Phase, Prefix,
    RecordedSchedules, TEAM_CONFIG_MAP, WorkloadRef,
    events::{Condition, Message},
    may_have_suspended_jobs,
    savings::{Price, Saved, SavedSoFar},
};

use crate::dashboard::forecast::Forecast;

/// The state of the cluster at one time.
#[derive(Clone, Debug)]
pub struct View {
    /// The time, by the clock of the API server.
    pub now: DateTime<Utc>,
    /// Every workload with a schedule or with state of one, by namespace and name.
    pub rows: Arc<Vec<Arc<Row>>>,
    /// The requested zone, or the zone that all schedules share.
    pub zone: Option<Zone>,
    /// The context in which annotations were parsed.
    pub context: ParseContext,
    /// Whether the API server was asked. If not, details that only it knows are missing.
    pub asks: bool,
    /// Whether the initial lists are complete.
    pub is_complete: bool,
    /// The reason why the view might be outdated.
    pub outage: Option<String>,
    /// The objects that could not be read, each with the reason.
    pub unseen: Vec<String>,
    /// Whether workloads are missing that this user may not list.
    pub is_partial: bool,
}

/// A workload with its status.
#[derive(Debug)]
pub struct Row {
    /// The status that the command `status` reports.
    pub status: WorkloadStatus,
    /// The observed workload with its Namespace defaults.
    pub observed: Arc<Observed>,
    /// The parsed annotations.
    pub parsed: Arc<ParsedInputs>,
    forecast: OnceLock<Arc<Forecast>>,
}

/// The number of forecasts that are computed at a time.
const FORECASTS: usize = 20;

/// The rows of the last view, by workload. Parsed annotations and forecasts depend only on a workload and the parse
/// context, so those of unchanged workloads are used again.
#[derive(Default)]
pub(super) struct LastRows<'v>(HashMap<&'v WorkloadRef, &'v Row>);

/// A message about one workload.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) level: Level,
    /// The kind of message, which findings about different workloads share.
    pub(super) cause: String,
    pub(super) message: Message,
}

/// A message about one or more workloads.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RowFinding<'v> {
    pub(super) level: Level,
    pub(super) cause: String,
    pub(super) message: Message,
    pub(super) rows: Vec<&'v Row>,
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Level {
    Error,
    Warning,
    Note,
}

impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        self.status.object == other.status.object
    }
}

impl Eq for Row {}

impl Level {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

impl View {
    pub(super) fn rows_of(&self, namespace: &str) -> Vec<&Row> {
        let rows = self.rows.iter();
        rows.map(|row| &**row)
            .filter(|row| &*row.status.object.namespace == namespace)
            .collect()
    }

    /// The workload with these parts of a page's path.
    pub(super) fn row(&self, namespace: &str, kind: &str, name: &str) -> Option<&Row> {
        let mut rows = self.rows.iter().map(|row| &**row);
        rows.find(|row| {
            let object = &row.status.object;
            &*object.namespace == namespace
                && &*object.name == name
                && object.kind.short_name() == kind
        })
    }

    /// The workload with this name in a form, for example `dev/deploy/web`.
    pub(super) fn named(&self, form_name: &str) -> Option<&Row> {
        let (namespace, rest) = form_name.split_once('/')?;
        let (_, name) = rest.rsplit_once('/')?;
        let place = |row: &Arc<Row>| {
            let object = &row.status.object;
            (&*object.namespace, &*object.name).cmp(&(namespace, name))
        };
        let from = self.rows.partition_point(|row| place(row).is_lt());
        let alike = self.rows.iter().skip(from);
        let mut alike = alike.take_while(|row| place(row).is_eq());
        alike
            .find(|row| row.form_name() == form_name)
            .map(|row| &**row)
    }

    /// The view of a user who may list only these workloads. Nothing in it depends on the others: no count,
    /// zone or message.
    pub(super) fn only(&self, given: Option<Zone>, reads: impl Fn(&WorkloadRef) -> bool) -> Self {
        let rows = self.rows.iter().filter(|row| reads(&row.status.object));
        let rows: Vec<_> = rows.cloned().collect();
        Self {
            zone: given.or_else(|| Self::common_zone(&rows)),
            rows: Arc::new(rows),
            // These can name objects in any namespace.
            unseen: Vec::new(),
            is_partial: true,
            now: self.now,
            context: self.context.clone(),
            asks: self.asks,
            is_complete: self.is_complete,
            outage: self.outage.clone(),
        }
    }

    /// Computes the missing forecasts, some at a time: those of thousands of workloads take longer than a controller
    /// on the same thread can wait.
    pub(super) async fn complete_forecasts(&self) {
        let is_missing = |row: &&Arc<Row>| row.forecast.get().is_none();
        for (at, row) in self.rows.iter().filter(is_missing).enumerate() {
            row.forecast(self);
            if at % FORECASTS == FORECASTS - 1 {
                tokio::task::yield_now().await;
            }
        }
    }

    /// The named schedules that these workloads follow, as far as they are known here.
    pub(super) fn named_schedules(&self) -> NamedSchedules {
        let mut recorded = RecordedSchedules::default();
        for row in self.rows.iter() {
            for schedule in row.observed.inputs.schedules() {
                recorded.add(&row.status.object.namespace, schedule);
            }
        }
        let agreed = recorded.agreed();
        NamedSchedules::from_file(agreed.filter_map(|(_, agreed)| agreed.ok()))
    }

    /// The zone that all rows share.
    pub(super) fn common_zone(rows: &[Arc<Row>]) -> Option<Zone> {
        let mut zones = rows.iter().map(|row| row.status.zone);
        let first = zones.next();
        first.filter(|first| zones.all(|zone| zone == *first))
    }

    /// The findings of these rows, most severe first. Equal findings of several rows are merged.
    pub(super) fn findings<'v>(&self, rows: &[&'v Row], prefix: &Prefix) -> Vec<RowFinding<'v>> {
        let mut findings: Vec<RowFinding<'v>> = Vec::new();
        let mut known = HashMap::new();
        for &row in rows {
            for found in row.findings(prefix, self.now) {
                let Finding {
                    level,
                    cause,
                    message,
                } = found;
                let key = (level, message.text.clone());
                let at = *known.entry(key).or_insert(findings.len());
                match findings.get_mut(at) {
                    Some(finding) => {
                        finding.rows.push(row);
                        finding.message.also_for(&message);
                    }
                    None => findings.push(RowFinding {
                        level,
                        cause,
                        message,
                        rows: vec![row],
                    }),
                }
            }
        }
        findings.sort_by_key(|finding| finding.level);
        findings
    }
}

impl<'v> LastRows<'v> {
    pub(super) fn new(last: Option<&'v View>, context: &ParseContext) -> Self {
        let last = last.filter(|last| last.context == *context);
        let rows = last.into_iter().flat_map(|last| last.rows.iter());
        Self(rows.map(|row| (&row.status.object, &**row)).collect())
    }

    /// The parsed annotations of a workload, if it has not changed.
    pub(super) fn parsed(&self, observed: &Observed) -> Option<Arc<ParsedInputs>> {
        Some(Arc::clone(&self.row(observed)?.parsed))
    }

    fn row(&self, observed: &Observed) -> Option<&'v Row> {
        let row = self.0.get(&observed.object).copied();
        row.filter(|row| *row.observed == *observed)
    }
}

impl Row {
    /// A row of a view at `now`, which uses the forecast of the last row if that still holds.
    pub(super) fn new(
        status: WorkloadStatus,
        observed: Observed,
        parsed: Arc<ParsedInputs>,
        last: &LastRows<'_>,
        now: DateTime<Utc>,
    ) -> Self {
        let last = last.row(&observed);
        // A controller reads the annotations again if a calendar has changed.
        let last = last.filter(|row| Arc::ptr_eq(&row.parsed, &parsed));
        let forecast = last.and_then(|row| row.forecast.get());
        let forecast = forecast.filter(|forecast| forecast.holds_at(now));
        Self {
            status,
            observed: observed.into(),
            parsed,
            forecast: forecast.cloned().map_or_else(OnceLock::new, OnceLock::from),
        }
    }

    /// The forecast, which is computed if it is not known. `view` contains this row.
    pub(super) fn forecast(&self, view: &View) -> &Forecast {
        self.forecast.get_or_init(|| {
            let (context, now) = (&view.context, view.now);
            Arc::new(Forecast::new(&self.observed, &self.parsed, context, now))
        })
    }

    pub(super) fn findings(&self, prefix: &Prefix, now: DateTime<Utc>) -> Vec<Finding> {
        let status = &self.status;
        let mut findings = Vec::new();
        let error = |cause: String, text: String| Finding {
            level: Level::Error,
            cause,
            message: text.into(),
        };
        if status.problems.is_empty() {
            let lines = status.error.iter().flat_map(|lines| lines.lines());
            let cause = || "The schedule is rejected".to_owned();
            findings.extend(lines.map(|line| error(cause(), line.to_owned())));
        }
        for problem in &status.problems {
            let place = match problem.origin {
                // Its name has the schedule.
                _ if problem.schedule.is_some() => String::new(),
                Origin::Own => String::new(),
                Origin::Team => format!(
                    " in the ConfigMap {}/{TEAM_CONFIG_MAP}",
                    status.object.namespace
                ),
                Origin::Namespace => {
                    format!(" on the Namespace {}", status.object.namespace)
                }
                Origin::Controller => " by the default of the controller".to_owned(),
            };
            let name = problem.name(prefix);
            let text = format!("{name}{place}: {}", problem.diagnostic);
            findings.push(error(format!("{name} is rejected"), text));
        }
        for note in &status.notes {
            let level = if note.is_warning() {
                Level::Warning
            } else {
                Level::Note
            };
            findings.push(Finding {
                level,
                cause: note.heading().to_owned(),
                message: status.message(note, prefix, now),
            });
        }
        findings
    }

    /// The workload, for a request to change it.
    pub(super) fn selected(&self) -> SelectedWorkload {
        SelectedWorkload {
            observed: Arc::clone(&self.observed),
            parsed: Some(Arc::clone(&self.parsed)),
        }
    }

    /// The order of workloads: by namespace, name and kind.
    pub(super) const fn order(&self) -> (&Arc<str>, &Arc<str>, &Kind) {
        let object = &self.status.object;
        (&object.namespace, &object.name, &object.kind)
    }

    pub(super) fn situation(&self) -> Situation {
        match self.status.phase {
            _ if self.status.has_problem() => Situation::NeedsAttention,
            Some(Phase::Running) => Situation::Running,
            Some(Phase::Stopped) => Situation::Stopped,
            Some(Phase::Woken) => Situation::Awake,
            Some(Phase::Slept) => Situation::Asleep,
            Some(Phase::Paused) => Situation::Paused,
            Some(Phase::Adopted) | None => Situation::NotBegun,
        }
    }

    /// Other managers of this workload.
    pub(super) fn managers(&self) -> OtherManagers {
        let operator = self.status.notes.iter().find_map(|note| match note {
            Condition::Operated { by } => Some(OperatorResource::Unscheduled(by.clone())),
            Condition::OwnerScheduled { .. } => {
                Some(OperatorResource::Scheduled(self.status.counted_with))
            }
            _ => None,
        });
        OtherManagers {
            owners: self.status.owners.clone(),
            operator,
        }
    }

    /// The name in a form, for example `dev/deploy/web`.
    pub(super) fn form_name(&self) -> String {
        let object = &self.status.object;
        let kind = object.kind.short_name();
        format!("{}/{kind}/{}", object.namespace, object.name)
    }

    /// Whether more is saved than runs, or Jobs might be suspended.
    pub(super) fn has_saved(&self) -> bool {
        let status = &self.status;
        let is_down = status.saved.is_some_and(|saved| saved > status.replicas);
        is_down || may_have_suspended_jobs(&self.observed)
    }

    /// Whether another controller changed the count back.
    pub(super) const fn is_reverted(&self) -> bool {
        self.status.reverted_by.is_some()
    }
}

/// Whether a workload runs, and why. Each workload is in exactly one situation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Situation {
    Running,
    Awake,
    Stopped,
    Asleep,
    Paused,
    NeedsAttention,
    NotBegun,
}

impl Situation {
    pub(super) const ALL: [Self; 7] = [
        Self::Running,
        Self::Awake,
        Self::Stopped,
        Self::Asleep,
        Self::Paused,
        Self::NeedsAttention,
        Self::NotBegun,
    ];

    /// The word of a pill, of a bar and of a list. `dayshift status` has the same words, and further ones for
    /// workloads that need attention or were not acted on.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Awake => "awake",
            Self::Stopped => "stopped",
            Self::Asleep => "asleep",
            Self::Paused => "paused",
            Self::NeedsAttention => "needs attention",
            Self::NotBegun => "not acted on yet",
        }
    }

    /// The name after a number of workloads.
    pub(super) const fn name_for(self, workloads: usize) -> &'static str {
        match self {
            Self::NeedsAttention if workloads != 1 => "need attention",
            _ => self.name(),
        }
    }

    /// The number of rows in each situation.
    pub(super) fn count<'r>(rows: impl Iterator<Item = &'r Row>) -> BTreeMap<Self, usize> {
        let mut counts = BTreeMap::new();
        for row in rows {
            *counts.entry(row.situation()).or_default() += 1;
        }
        counts
    }

    /// The value of the filter `state`, and the CSS class of its color.
    pub(super) const fn slug(self) -> &'static str {
        match self {
            Self::Running => "is-running",
            Self::Awake => "is-awake",
            Self::Stopped => "is-stopped",
            Self::Asleep => "is-asleep",
            Self::Paused => "is-paused",
            Self::NeedsAttention => "needs-attention",
            Self::NotBegun => "not-begun",
        }
    }

    pub(super) const fn explanation(self) -> &'static str {
        match self {
            Self::Running => "Its schedule has started it, and it runs until the next stop.",
            Self::Awake => "A user or a request woke it, whatever its schedule requires.",
            Self::Stopped => "Its schedule has stopped it, until the next start.",
            Self::Asleep => "A user put it to sleep, whatever its schedule requires.",
            Self::Paused => "A user paused the schedule: nothing starts or stops it.",
            Self::NeedsAttention => "An error or a warning, with its fix under Problems.",
            Self::NotBegun => "dayshift acts at its next start or stop for the first time.",
        }
    }
}

/// The workloads of a dashboard, and how their annotations are parsed.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The workloads to show.
    pub query: Query,
    /// The prefix of annotations and labels.
    pub prefix: Prefix,
    /// The context for parsing annotations.
    pub context: ParseContext,
    /// The zone for times that concern several workloads, if the user set one.
    pub zone: Option<Zone>,
    /// The title in the page header, for example the name of the context.
    pub title: String,
    /// The name of the controller in this process, if the pages are its own.
    pub controller: Option<String>,
}

/// The sources of savings and of their price.
#[derive(Default)]
pub(super) struct SavingsSource {
    pub(super) counted_by: Option<Arc<Telemetry>>,
    pub(super) price: Option<Arc<Price>>,
}

/// The savings on a page.
#[derive(Debug)]
pub(super) struct SavingsSummary {
    /// The savings of today, this week and this month. `None` if no controller records them.
    pub(super) so_far: Option<SavedSoFar>,
    /// The savings of each of the last days since the controller began to count, the latest last.
    pub(super) days: Vec<(NaiveDate, Saved)>,
    pub(super) price: Option<Arc<Price>>,
}

impl SavingsSource {
    /// The savings until now. They cover all workloads, so a user who sees only a part gets none.
    pub(super) fn summary(&self, view: &View, zone: Zone) -> SavingsSummary {
        let counted_by = self.counted_by.as_ref().filter(|_| !view.is_partial);
        let today = view.now.with_timezone(&zone).date_naive();
        let dates = || (0..DAYS).rev().map(|back| today - Days::new(back.into()));
        let midnight = |date: NaiveDate| zone.instant(date.and_time(NaiveTime::MIN));
        let times = dates().chain(starts(today)).map(midnight);
        let times: Vec<_> = times.collect();
        let mut so_far = counted_by.and_then(|telemetry| telemetry.saved(&times));
        let days = so_far.as_mut().map(|so_far| {
            let since_each = so_far.since_each.split_off(dates().len());
            let since_dates = mem::replace(&mut so_far.since_each, since_each);
            let later = since_dates
                .iter()
                .skip(1)
                .copied()
                .chain([Saved::default()]);
            let each = since_dates
                .iter()
                .zip(later)
                .map(|(from, next)| *from - next);
            let began = so_far.since.with_timezone(&zone).date_naive();
            let days = dates().zip(each).filter(|(date, _)| *date >= began);
            days.collect()
        });
        SavingsSummary {
            so_far,
            days: days.unwrap_or_default(),
            price: self.price.clone(),
        }
    }
}

/// The number of days in the account.
const DAYS: u32 = 14;

/// The first dates of today, this week and this month.
fn starts(today: NaiveDate) -> [NaiveDate; 3] {
    let monday = today - Days::new(today.weekday().num_days_from_monday().into());
    let first = today.with_day(1).unwrap_or(today);
    [today, monday, first]
}
