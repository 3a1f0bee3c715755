//! The data of a page: [`View`], its [`Row`]s with their findings, and savings.

use std::{collections::HashMap, sync::Arc};

use chrono::{DateTime, Datelike, Days, NaiveTime, Utc};
use dayshift_cluster::Query;
use dayshift_controller::Telemetry;
use dayshift_manifest::plan::OtherManagers;
use dayshift_operations::status::{Note, WorkloadStatus};
use dayshift_schedule::Zone;
use dayshift_workload::{
    Observed, Origin, ParseContext, ParsedInputs, Prefix, WorkloadRef,
    savings::{Price, SavedSoFar},
};

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
    pub observed: Observed,
    /// The parsed annotations, if the source has them.
    pub parsed: Option<Arc<ParsedInputs>>,
}

/// A message about one or more workloads.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RowFinding<'v> {
    pub(super) level: Level,
    pub(super) text: String,
    /// The command that helps, for the first workload.
    pub(super) command: String,
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
            for (level, text, command) in row.findings(prefix, self.now) {
                let at = *known.entry((level, text.clone())).or_insert(findings.len());
                match findings.get_mut(at) {
                    Some(finding) => finding.rows.push(row),
                    None => findings.push(RowFinding {
                        level,
                        text,
                        command,
                        rows: vec![row],
                    }),
                }
            }
        }
        findings.sort_by_key(|finding| finding.level);
        findings
    }
}

impl Row {
    /// The findings of this workload: severity, text and command.
    pub(super) fn findings(
        &self,
        prefix: &Prefix,
        now: DateTime<Utc>,
    ) -> Vec<(Level, String, String)> {
        let status = &self.status;
        let mut findings = Vec::new();
        if status.problems.is_empty() {
            let lines = status.error.iter().flat_map(|lines| lines.lines());
            findings.extend(lines.map(|line| (Level::Error, line.to_owned(), String::new())));
        }
        for problem in &status.problems {
            let place = match problem.origin {
                Origin::Own => String::new(),
                Origin::Namespace => {
                    format!(" on the Namespace {}", status.object.namespace)
                }
                Origin::Scaler => " by the default of the scaler".to_owned(),
            };
            let text = format!("{}{place}: {}", problem.name(prefix), problem.diagnostic);
            findings.push((Level::Error, text, String::new()));
        }
        for note in &status.notes {
            let level = if note.is_warning() {
                Level::Warning
            } else {
                Level::Note
            };
            let said = status.note_text(note.clone(), prefix, now);
            findings.push((level, said.text, said.command));
        }
        findings
    }

    /// Other managers of this workload.
    pub(super) fn managers(&self) -> OtherManagers {
        let operated_by = self.status.notes.iter().find_map(|note| match note {
            Note::Operated { by } => Some(by.clone()),
            _ => None,
        });
        OtherManagers {
            owners: self.status.owners.clone(),
            operated_by,
        }
    }

    /// The name in a form, for example `dev/deploy/web`.
    pub(super) fn form_name(&self) -> String {
        let object = &self.status.object;
        let kind = object.kind.short_name();
        format!("{}/{kind}/{}", object.namespace, object.name)
    }

    /// Whether another controller changed the count back.
    pub(super) const fn is_reverted(&self) -> bool {
        self.status.reverted_by.is_some()
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
    /// The title in the page header, for example the server's address.
    pub title: String,
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
    pub(super) price: Option<Arc<Price>>,
}

impl SavingsSource {
    /// The savings until now. They cover all workloads, so a user who sees only a part gets none.
    pub(super) fn summary(&self, view: &View, zone: Zone) -> SavingsSummary {
        let counted_by = self.counted_by.as_ref().filter(|_| !view.is_partial);
        SavingsSummary {
            so_far: counted_by.and_then(|telemetry| telemetry.saved(starts(view.now, zone))),
            price: self.price.clone(),
        }
    }
}

/// The beginnings of today, this week and this month in a zone.
fn starts(now: DateTime<Utc>, zone: Zone) -> [DateTime<Utc>; 3] {
    let today = now.with_timezone(&zone).date_naive();
    let monday = today - Days::new(today.weekday().num_days_from_monday().into());
    let first = today.with_day(1).unwrap_or(today);
    [today, monday, first].map(|date| zone.instant(date.and_time(NaiveTime::MIN)))
}
