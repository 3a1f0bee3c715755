//! What the pages show at one time: [`View`], its [`Row`]s, what is to be said about them, and savings.

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

/// What the pages show, at one moment.
#[derive(Clone, Debug)]
pub struct View {
    /// The moment, by the clock that the schedules are followed by.
    pub now: DateTime<Utc>,
    /// Every workload with a schedule, or with something left of one, by namespace and name.
    pub rows: Arc<Vec<Arc<Row>>>,
    /// The zone that somebody asked for, or that all of them are in, if they are.
    pub zone: Option<Zone>,
    /// How annotations are read.
    pub context: ParseContext,
    /// Whether the API server is asked: of what it alone knows nothing is shown where it is not.
    pub asks: bool,
    /// Whether all has been shown that there was at first.
    pub is_complete: bool,
    /// Why what is shown may be old.
    pub outage: Option<String>,
    /// What is not seen, and why.
    pub unseen: Vec<String>,
    /// Whether something is left out that the user who looks may not read.
    pub is_partial: bool,
}

/// One workload.
#[derive(Debug)]
pub struct Row {
    /// How it stands.
    pub status: WorkloadStatus,
    /// What it was seen as, with what it inherits.
    pub observed: Observed,
    /// What its annotations say, where somebody keeps that.
    pub parsed: Option<Arc<ParsedInputs>>,
}

/// Something to be said of one workload or of several.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RowFinding<'v> {
    pub(super) level: Level,
    pub(super) text: String,
    /// What helps, of the first of them.
    pub(super) command: String,
    pub(super) rows: Vec<&'v Row>,
}

/// How urgent a finding is.
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
    /// The rows of a namespace.
    pub(super) fn rows_of(&self, namespace: &str) -> Vec<&Row> {
        let rows = self.rows.iter();
        rows.map(|row| &**row)
            .filter(|row| &*row.status.object.namespace == namespace)
            .collect()
    }

    /// What is left for a user who may read these workloads alone: nothing tells of the others, no
    /// count, no zone and no message. All pages of such a user are made from it.
    pub(super) fn only(&self, given: Option<Zone>, reads: impl Fn(&WorkloadRef) -> bool) -> Self {
        let rows = self.rows.iter().filter(|row| reads(&row.status.object));
        let rows: Vec<_> = rows.cloned().collect();
        Self {
            zone: given.or_else(|| Self::common_zone(&rows)),
            rows: Arc::new(rows),
            // These name what cannot be watched, wherever that is.
            unseen: Vec::new(),
            is_partial: true,
            now: self.now,
            context: self.context.clone(),
            asks: self.asks,
            is_complete: self.is_complete,
            outage: self.outage.clone(),
        }
    }

    /// The zone that all of these are in, if they are.
    pub(super) fn common_zone(rows: &[Arc<Row>]) -> Option<Zone> {
        let mut zones = rows.iter().map(|row| row.status.zone);
        let first = zones.next();
        first.filter(|first| zones.all(|zone| zone == *first))
    }

    /// What is to be said of these rows, the most urgent first; what is the same of several, once.
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
    /// What is to be said of it: how urgent that is, what, and what helps.
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
            let said = status.note_text(*note, prefix, now);
            findings.push((level, said.text, said.command));
        }
        findings
    }

    /// Who else has to do with it, as far as that is known.
    pub(super) fn neighbours(&self) -> OtherManagers {
        let operated_by = self.status.notes.iter().find_map(|note| match note {
            Note::Operated { by } => Some(*by),
            _ => None,
        });
        OtherManagers {
            owners: self.status.owners.clone(),
            operated_by,
        }
    }

    /// What a form calls it: `dev/deploy/web`.
    pub(super) fn form_name(&self) -> String {
        let object = &self.status.object;
        let kind = object.kind.short_name();
        format!("{}/{kind}/{}", object.namespace, object.name)
    }

    /// Whether something has changed its count back.
    pub(super) const fn is_reverted(&self) -> bool {
        self.status.reverted_by.is_some()
    }
}

/// What is looked at, and how its annotations are read.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which workloads.
    pub query: Query,
    /// What stands before the slash of annotations and labels.
    pub prefix: Prefix,
    /// How annotations are read.
    pub context: ParseContext,
    /// The zone of what is shown of several objects, where somebody asked for one.
    pub zone: Option<Zone>,
    /// What the head of each page says of it, such as the server's address.
    pub title: String,
}

/// Who counts what is saved, if anybody does, and what that costs.
#[derive(Default)]
pub(super) struct SavingsSource {
    pub(super) counted_by: Option<Arc<Telemetry>>,
    pub(super) price: Option<Arc<Price>>,
}

/// What a page says of it.
#[derive(Debug)]
pub(super) struct SavingsSummary {
    /// Since today, this week and this month began; `None` where nobody counts.
    pub(super) so_far: Option<SavedSoFar>,
    pub(super) price: Option<Arc<Price>>,
}

impl SavingsSource {
    /// What was saved until now, where a controller counts it: nobody else knows what has run. It
    /// counts all workloads together, so who sees a part is told nothing.
    pub(super) fn summary(&self, view: &View, zone: Zone) -> SavingsSummary {
        let counted_by = self.counted_by.as_ref().filter(|_| !view.is_partial);
        SavingsSummary {
            so_far: counted_by.and_then(|telemetry| telemetry.saved(starts(view.now, zone))),
            price: self.price.clone(),
        }
    }
}

/// When today, this week and this month began on the clocks of a zone.
fn starts(now: DateTime<Utc>, zone: Zone) -> [DateTime<Utc>; 3] {
    let today = now.with_timezone(&zone).date_naive();
    let monday = today - Days::new(today.weekday().num_days_from_monday().into());
    let first = today.with_day(1).unwrap_or(today);
    [today, monday, first].map(|date| zone.instant(date.and_time(NaiveTime::MIN)))
}
