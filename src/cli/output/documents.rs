//! The JSON documents of the commands. The JSON Schemas in `docs/reference/schemas` are generated from
//! these types, so their comments are for readers of the schemas.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use dayshift_manifest::{OpenError, plan::NamespaceSummary};
use dayshift_operations::status::Unreadable;
use dayshift_text::TerminalSafe;
use dayshift_workload::RequestCoverage;
use serde::Serialize;

/// Writes a document in lines, without characters that could control a terminal.
pub(crate) fn write_document(out: &mut impl Write, document: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(TerminalSafe(&mut *out), document)?;
    writeln!(out)
}

/// The version of the document. Within a version, fields are added, but not changed or removed.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) enum ApiVersion {
    #[serde(rename = "dayshift/v1")]
    V1,
}

/// A file or resource that could not be read.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(crate) enum Unread {
    /// A file or directory.
    File { file: String, message: String },
    /// A resource of the cluster.
    Resource {
        /// For example `cronjobs.batch`.
        resource: String,
        message: String,
        /// The fix, if it is known.
        cure: Option<String>,
    },
}

impl From<&OpenError> for Unread {
    fn from(error: &OpenError) -> Self {
        Self::File {
            file: error.name().to_owned(),
            message: error.to_string(),
        }
    }
}

impl From<&Unreadable> for Unread {
    fn from(unreadable: &Unreadable) -> Self {
        Self::Resource {
            resource: unreadable.resource.clone(),
            message: unreadable.text.clone(),
            cure: unreadable.fix.clone(),
        }
    }
}

/// Defines the structs of documents. Their fields are camel case in JSON, and tests generate a schema of
/// each.
macro_rules! documents {
    ($($document:item)*) => {
        $(
            #[derive(Debug, Serialize)]
            #[cfg_attr(test, derive(schemars::JsonSchema))]
            #[serde(rename_all = "camelCase")]
            $document
        )*
    };
}

documents! {
    /// The output of `dayshift status -o json`. Times are RFC 3339 in the time zone of the workload.
    pub(crate) struct StatusDocument {
        pub(crate) api_version: ApiVersion,
        pub(crate) workloads: Vec<StatusEntry>,
        pub(crate) unread: Vec<Unread>,
        pub(crate) tzdata: TzdataEntry,
    }

    /// The time zone database in use.
    pub(crate) struct TzdataEntry {
        /// For example `2026f`.
        pub(crate) version: String,
        /// `bundled`, or the directory.
        pub(crate) from: String,
    }

    /// The status of a workload.
    pub(crate) struct StatusEntry {
        pub(crate) kind: String,
        pub(crate) namespace: String,
        pub(crate) name: String,
        /// The time zone of the schedule.
        pub(crate) timezone: String,
        /// Where the schedule is defined: `object`, `team`, `namespace` or `scaler`.
        pub(crate) from: String,
        /// The named schedule that it follows.
        pub(crate) schedule: Option<String>,
        /// The current count.
        pub(crate) replicas: u32,
        /// Whether all replicas are ready.
        pub(crate) ready: Option<bool>,
        pub(crate) ready_replicas: Option<u32>,
        /// `adopted`, `running`, `stopped`, `woken`, `slept` or `paused`; null until a controller has
        /// observed the workload.
        pub(crate) state: Option<String>,
        /// The time of the last action.
        pub(crate) since: Option<String>,
        /// The count that a start restores.
        pub(crate) saved_replicas: Option<u32>,
        /// The requests of one replica.
        pub(crate) requests: RequestsEntry,
        /// The replicas that the schedule has stopped.
        pub(crate) held_down: HeldDownEntry,
        /// The time of the next change.
        pub(crate) next: Option<String>,
        /// `start`, `stop` or `scale to N`; null if it is not known in advance, as after a pause.
        pub(crate) next_action: Option<String>,
        /// The timer that stops the workload.
        pub(crate) stop_after: Option<StopAfterEntry>,
        /// The dependencies of a start that is due.
        pub(crate) waits_for: Option<WaitsForEntry>,
        /// The Services that wake the workload.
        #[cfg_attr(test, schemars(with = "Option<tests::OnRequestEntry>"))]
        pub(crate) on_request: Option<RequestCoverage>,
        /// The active override.
        #[serde(rename = "override")]
        pub(crate) active_override: Option<OverrideEntry>,
        /// The errors of the schedule as one text.
        pub(crate) error: Option<String>,
        pub(crate) problems: Vec<ProblemEntry>,
        /// Since when an action is overdue.
        pub(crate) overdue_since: Option<String>,
        /// The notes below the table.
        pub(crate) notes: Vec<String>,
        /// The command that restores a stopped workload without a schedule.
        pub(crate) restore: Option<String>,
        /// The controller that has reverted the count.
        pub(crate) reverted_by: Option<RevertEntry>,
        /// The other controllers that set the count, such as `HPA`.
        pub(crate) owners: Vec<String>,
    }

    pub(crate) struct RequestsEntry {
        pub(crate) cpu_cores: f64,
        pub(crate) memory_bytes: u64,
    }

    pub(crate) struct HeldDownEntry {
        pub(crate) replicas: u64,
        pub(crate) cpu_cores: f64,
        pub(crate) memory_bytes: u64,
    }

    /// The annotation `dayshift/stop-after`.
    pub(crate) struct StopAfterEntry {
        /// How long the workload runs before it is stopped.
        pub(crate) seconds: i64,
        /// `start`, or `creation` if later starts do not restart the timer.
        pub(crate) since: String,
        /// The time from which it counts; null before a controller has recorded it, and after a manual stop.
        pub(crate) started: Option<String>,
    }

    pub(crate) struct WaitsForEntry {
        /// For example `sts/db`.
        pub(crate) objects: Vec<String>,
        /// The latest time of the start.
        pub(crate) until: Option<String>,
    }

    pub(crate) struct OverrideEntry {
        /// `wake`, `sleep` or `pause`.
        pub(crate) action: String,
        pub(crate) until: Option<String>,
        /// Where it is defined: `object`, `team` or `namespace`.
        pub(crate) from: String,
        /// The user, if the API server recorded it.
        pub(crate) by: Option<String>,
        pub(crate) reason: Option<String>,
    }

    pub(crate) struct ProblemEntry {
        /// The name of the annotation.
        pub(crate) annotation: String,
        pub(crate) message: String,
        /// The first invalid byte of its value.
        pub(crate) start: usize,
        /// The end of the invalid bytes, exclusive.
        pub(crate) end: usize,
        /// Where it is defined: `object`, `team`, `namespace` or `scaler`.
        pub(crate) from: String,
    }

    pub(crate) struct RevertEntry {
        /// The field manager.
        pub(crate) manager: String,
        pub(crate) at: Option<String>,
        /// The setting that prevents it.
        pub(crate) cure: Option<String>,
    }

    /// The output of `dayshift schedules -o json`.
    pub(crate) struct SchedulesDocument {
        pub(crate) api_version: ApiVersion,
        pub(crate) schedules: Vec<NamedScheduleEntry>,
        pub(crate) unread: Vec<Unread>,
    }

    /// A named schedule.
    pub(crate) struct NamedScheduleEntry {
        pub(crate) name: String,
        /// Its values by key: those of the file, or else those that a workload has recorded.
        pub(crate) values: BTreeMap<String, String>,
        /// The time zone of its times; null if it has no times.
        pub(crate) timezone: Option<String>,
        /// The time of its next boundary without jitter, in RFC 3339.
        pub(crate) next: Option<String>,
        /// `start`, `stop` or `scale to N`.
        pub(crate) next_action: Option<String>,
        /// The number of workloads that follow it.
        pub(crate) workloads: usize,
        /// Why it is invalid or unknown.
        pub(crate) error: Option<String>,
    }

    /// The output of `dayshift lint -o json`.
    pub(crate) struct LintDocument {
        pub(crate) api_version: ApiVersion,
        pub(crate) findings: Vec<FindingEntry>,
        pub(crate) unread: Vec<Unread>,
        /// The number of files.
        pub(crate) files: usize,
        /// The number of workloads.
        pub(crate) workloads: usize,
        pub(crate) errors: usize,
        pub(crate) warnings: usize,
        pub(crate) infos: usize,
        /// The number of findings that annotations or `--ignore` suppress.
        pub(crate) suppressed: usize,
    }

    /// A finding of a lint rule.
    pub(crate) struct FindingEntry {
        /// The ID of the rule.
        pub(crate) rule: String,
        /// `error`, `warning` or `info`.
        pub(crate) severity: String,
        pub(crate) message: String,
        pub(crate) help: String,
        pub(crate) place: PlaceEntry,
        pub(crate) object: Option<ObjectEntry>,
        pub(crate) annotation: Option<AnnotationEntry>,
    }

    /// Lines and columns begin at 1. Columns count characters.
    pub(crate) struct PlaceEntry {
        pub(crate) file: String,
        pub(crate) line: usize,
        pub(crate) column: usize,
        pub(crate) end_line: usize,
        /// The column after the last one.
        pub(crate) end_column: usize,
    }

    pub(crate) struct ObjectEntry {
        pub(crate) kind: String,
        pub(crate) namespace: String,
        pub(crate) name: String,
    }

    /// The annotation that the finding is about.
    pub(crate) struct AnnotationEntry {
        pub(crate) name: String,
        /// Its value.
        pub(crate) text: String,
        /// The first invalid byte of its value.
        pub(crate) start: usize,
        /// The end of the invalid bytes, exclusive.
        pub(crate) end: usize,
    }

    /// The output of `dayshift kinds -o json`.
    pub(crate) struct KindsDocument {
        pub(crate) api_version: ApiVersion,
        pub(crate) kinds: Vec<KindEntry>,
    }

    /// A kind that dayshift can scale.
    pub(crate) struct KindEntry {
        /// In the form of `--kinds`.
        pub(crate) kind: String,
        pub(crate) name: String,
        /// The JSON Pointer of the field that dayshift sets.
        pub(crate) field: String,
        /// Its value while stopped.
        pub(crate) stopped: String,
        /// Its value while running.
        pub(crate) running: String,
        /// Whether `--kinds` includes it.
        pub(crate) looked_at: bool,
        /// Whether the cluster serves it; null if the cluster did not respond.
        pub(crate) served: Option<bool>,
        /// The missing permissions; null if the cluster did not respond.
        pub(crate) not_allowed: Option<Vec<String>>,
    }

    /// The output of `wake`, `sleep`, `pause`, `resume`, `sync` and `restore` with `-o json`.
    pub(crate) struct ActionDocument {
        pub(crate) api_version: ApiVersion,
        /// The name of the command.
        pub(crate) command: String,
        /// Whether nothing was written because of `--dry-run`.
        pub(crate) dry_run: bool,
        /// The results in the order of the text output.
        pub(crate) results: Vec<ActionResult>,
    }

    /// The result for a workload or a Namespace.
    pub(crate) struct ActionResult {
        pub(crate) outcome: ActionOutcome,
        /// The line of the text output, which begins with the object.
        pub(crate) message: String,
    }

    /// The output of `dayshift plan -o json`.
    pub(crate) struct PlanDocument<'p> {
        pub(crate) api_version: ApiVersion,
        // It has a serializer of its own, because it can contain millions of boundaries.
        #[cfg_attr(test, schemars(with = "Vec<tests::PlannedWorkload>"))]
        pub(crate) workloads: &'p [dayshift_manifest::plan::WorkloadPlan],
        pub(crate) unread: Vec<Unread>,
    }

    /// The output of `dayshift plan -o summary-json`.
    pub(crate) struct SummaryDocument<'s> {
        pub(crate) api_version: ApiVersion,
        pub(crate) namespaces: Vec<NamedSummary<'s>>,
        /// The sums of all namespaces.
        #[cfg_attr(test, schemars(with = "tests::PlannedSummary"))]
        pub(crate) all: NamespaceSummary,
        pub(crate) unread: Vec<Unread>,
    }

    /// The summary of a namespace.
    pub(crate) struct NamedSummary<'s> {
        pub(crate) namespace: &'s str,
        #[serde(flatten)]
        #[cfg_attr(test, schemars(with = "tests::PlannedSummary"))]
        pub(crate) summary: &'s NamespaceSummary,
    }
}

#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum ActionOutcome {
    /// The request is done.
    Done,
    /// The request failed because of the object, the controller or the request itself.
    Failed,
    /// The request failed because of the cluster or missing permissions.
    Unable,
}

#[cfg(test)]
#[expect(dead_code, reason = "only the schemas of these types are used")]
mod tests {
    use std::{env, fs, path::Path};

    use schemars::{JsonSchema, generate::SchemaSettings};

    use super::*;

    #[derive(JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub(crate) struct OnRequestEntry {
        /// The names of the Services.
        services: Vec<String>,
        /// Whether their connections prolong a wake (`while-used`).
        while_used: bool,
        /// The Services that do not wake it, with the reasons.
        not_covered: Vec<String>,
    }

    /// The plan of a workload.
    #[derive(JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub(crate) struct PlannedWorkload {
        kind: String,
        namespace: String,
        name: String,
        timezone: String,
        /// Where the schedule is defined, unless it is the object: `team`, `namespace` or `scaler`.
        #[serde(skip_serializing_if = "Option::is_none")]
        from: Option<String>,
        boundaries: Vec<Boundary>,
        /// The dependencies of its starts.
        #[serde(skip_serializing_if = "Option::is_none")]
        after: Option<Dependencies>,
        /// The timer that stops the workload. Its boundaries include these stops.
        #[serde(skip_serializing_if = "Option::is_none")]
        stop_after: Option<PlannedTimer>,
        /// The excluded dates of calendars.
        #[serde(skip_serializing_if = "Option::is_none")]
        holidays: Option<Vec<Holiday>>,
        /// The dates that are treated as another day.
        #[serde(skip_serializing_if = "Option::is_none")]
        treated_as: Option<Vec<TreatedDate>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        saved_replica_hours: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        saved_cpu_core_hours: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        saved_memory_gib_hours: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        saved_cost: Option<Cost>,
        #[serde(skip_serializing_if = "Option::is_none")]
        on_request: Option<OnRequestEntry>,
        problems: Vec<PlannedProblem>,
    }

    /// A start, stop or scale.
    #[derive(JsonSchema)]
    struct Boundary {
        /// RFC 3339 in the time zone of the schedule.
        at: String,
        /// `start`, `stop` or `scale`.
        action: String,
        /// The count afterwards; null if it depends on the saved count.
        replicas: Option<u32>,
        /// `false` if an override prevents it.
        #[serde(skip_serializing_if = "Option::is_none")]
        applied: Option<bool>,
        /// The override that ends at this time, such as `wake-until`.
        #[serde(skip_serializing_if = "Option::is_none")]
        ends: Option<String>,
    }

    #[derive(JsonSchema)]
    #[serde(rename_all = "camelCase")]
    struct Dependencies {
        /// For example `sts/db`.
        objects: Vec<String>,
        /// The maximum wait in seconds.
        within_seconds: i64,
    }

    /// The annotation `dayshift/stop-after`.
    #[derive(JsonSchema)]
    struct PlannedTimer {
        /// How long the workload runs before it is stopped.
        seconds: i64,
        /// `start`, or `creation` if later starts do not restart the timer.
        since: String,
    }

    #[derive(JsonSchema)]
    struct Holiday {
        /// For example `2026-12-25`.
        date: String,
        calendar: String,
        name: String,
    }

    #[derive(JsonSchema)]
    struct TreatedDate {
        date: String,
        /// For example `Mon`.
        #[serde(rename = "as")]
        day: String,
    }

    #[derive(JsonSchema)]
    struct Cost {
        amount: f64,
        currency: Option<String>,
    }

    #[derive(JsonSchema)]
    struct PlannedProblem {
        annotation: String,
        message: String,
        /// The first invalid byte of the value.
        start: usize,
        /// The end of the invalid bytes, exclusive.
        end: usize,
        /// Where it is defined, unless it is the object.
        #[serde(skip_serializing_if = "Option::is_none")]
        from: Option<String>,
    }

    #[derive(JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub(crate) struct PlannedSummary {
        workloads: usize,
        /// The workloads with a schedule.
        scheduled: usize,
        /// The earliest stop, in RFC 3339.
        next_stop: Option<String>,
        /// The workloads whose next stop lowers the count.
        stops: usize,
        /// The replicas that these stops remove.
        replicas: u64,
        autoscaled: usize,
        set_by_others: usize,
        operated: usize,
        lose_volumes: usize,
        refused: usize,
    }

    /// Compares the published schema with the types. Each document on which the tests of the commands
    /// run is checked against the published schema there.
    fn compare<T: JsonSchema>(name: &str) {
        let settings = SchemaSettings::draft2020_12().for_serialize();
        let schema = settings.into_generator().into_root_schema_for::<T>();
        let schema = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/schemas");
        let path = path.join(name).with_extension("json");
        if env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&path, &schema).unwrap();
        }
        let published = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            published == schema,
            "{name}: UPDATE_GOLDEN=1 cargo test --lib"
        );
    }

    #[test]
    fn the_published_schemas_are_current() {
        compare::<StatusDocument>("status");
        compare::<PlanDocument<'_>>("plan");
        compare::<SummaryDocument<'_>>("plan-summary");
        compare::<LintDocument>("lint");
        compare::<KindsDocument>("kinds");
        compare::<SchedulesDocument>("schedules");
        compare::<ActionDocument>("actions");
    }
}
