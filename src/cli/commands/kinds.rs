//! `dayshift kinds`: the kinds that can be scheduled, and the permissions that the cluster grants for each,
//! as a table, JSON, or the ClusterRole for the kinds as YAML.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use dayshift_cluster::read::{JOB_VERBS, KindAccess, VERBS, kind_access, lacking_for_jobs};
use dayshift_workload::{CountForm, CountKind, Kind, KindTable, SwitchConstant, pointer};
use serde_json::json;

use crate::cli::{
    args::{
        connection::ConnectionArgs,
        kinds::{KindArgs, KindFiles},
        values::one_namespace,
    },
    outcome::{CommandError, print_result},
    output::{
        documents::{ApiVersion, KindEntry, KindsDocument, write_document},
        table::{Cell, Table},
        terminal::{Paint, Style},
    },
    process::Exit,
};

/// List the kinds that dayshift knows, and those that this cluster has and allows
///
/// If the cluster cannot be reached, the kinds are listed anyway. With -o yaml, the command prints
/// the ClusterRole and the binding that dayshift needs for the kinds in --kinds, without a request
/// to the cluster. With --stop-jobs, the last line is for Jobs, which are not in --kinds.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The table shows your permissions; for those of dayshift, add \
--as=system:serviceaccount:dayshift:dayshift.
Exit status: 0 done, 2 wrong usage, 3 no cluster.")]
pub(crate) struct KindsArgs {
    #[command(flatten)]
    kinds: KindArgs,

    /// Also name Jobs, which dayshift suspends for CronJobs with the annotation dayshift/stop-jobs
    #[arg(long, help_heading = "Which workloads")]
    stop_jobs: bool,

    /// Check the permissions in this namespace [default: in all]
    #[arg(
        short,
        long,
        value_name = "NAME",
        value_parser = one_namespace,
        help_heading = "Which workloads"
    )]
    namespace: Option<String>,

    /// The output format
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: KindsFormat,

    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum KindsFormat {
    /// Columns
    Table,
    /// For other programs
    Json,
    /// The ClusterRole for the kinds of --kinds
    Yaml,
}

impl KindsArgs {
    pub(crate) fn run(self, kind_files: &KindFiles) -> Result<Exit, CommandError> {
        let named = self.kinds.kinds(kind_files);
        if let KindsFormat::Yaml = self.output {
            let jobs = match self.stop_jobs {
                true => JobPermissions::Included,
                false => JobPermissions::Omitted,
            };
            print_result(|out, _| write_roles(out, &named, jobs))?;
            return Ok(Exit::Done);
        }
        let kinds = kind_files.table.known();
        let namespace = self.namespace.clone();
        let asked = self.connection.on_cluster("kinds", async |client| {
            let namespace = namespace.as_deref();
            let access = kind_access(&client, &kinds, namespace).await?;
            Ok((access, lacking_for_jobs(&client, namespace).await?))
        });
        let (exit, (access, jobs)) = match asked {
            Ok(access) => (Exit::Done, access),
            Err(error) => (error.report(), Default::default()),
        };
        let entries = kinds.iter().map(|kind| {
            let access = access.iter().find(|access| access.kind == *kind);
            KindEntry::for_kind(kind, access, named.contains(kind))
        });
        let jobs = KindEntry::for_jobs(jobs.as_deref(), self.stop_jobs);
        let kinds: Vec<_> = entries.chain([jobs]).collect();
        print_result(|out, style| match self.output {
            KindsFormat::Json => {
                let api_version = ApiVersion::V1;
                write_document(out, &KindsDocument { api_version, kinds })
            }
            _ => write_kinds_table(out, &kinds, style),
        })?;
        Ok(exit)
    }
}

const KIND_HEADINGS: [&str; 7] = [
    "KIND",
    "FIELD",
    "STOPPED",
    "RUNNING",
    "LOOKED AT",
    "SERVED",
    "NOT ALLOWED",
];

impl KindEntry {
    /// A kind, and what the cluster grants for it if it responded.
    pub(crate) fn for_kind(kind: &Kind, access: Option<&KindAccess>, looked_at: bool) -> Self {
        let (stopped, running) = values(kind);
        let lacks = access.and_then(|access| access.lacks.as_deref());
        Self {
            kind: kind.argument().to_owned(),
            name: kind.name().to_owned(),
            field: kind.pointer(),
            stopped,
            running,
            looked_at,
            served: access.map(|access| access.is_served),
            not_allowed: lacks.map(verbs),
        }
    }

    /// The Jobs of CronJobs with `stop-jobs`.
    pub(crate) fn for_jobs(lacks: Option<&[&'static str]>, looked_at: bool) -> Self {
        Self {
            kind: "jobs".to_owned(),
            name: "Job".to_owned(),
            field: pointer(&["spec", "suspend"]),
            stopped: "true".to_owned(),
            running: "false".to_owned(),
            looked_at,
            served: lacks.map(|_| true),
            not_allowed: lacks.map(verbs),
        }
    }

    fn cells(&self) -> [Cell; KIND_HEADINGS.len()] {
        let yes = |is: bool| if is { "yes" } else { "no" };
        let lacks = match (self.served, &self.not_allowed) {
            (Some(true), Some(lacks)) => lacks.join(","),
            (Some(false), _) => String::new(),
            _ => "?".to_owned(),
        };
        let paint = match (self.looked_at, self.served) {
            (true, Some(true)) => Paint::Red,
            _ => Paint::Plain,
        };
        let path = self.field.trim_start_matches('/').replace('/', ".");
        [
            self.kind.as_str().into(),
            path.replace("~1", "/").into(),
            self.stopped.as_str().into(),
            self.running.as_str().into(),
            yes(self.looked_at).into(),
            self.served.map_or("?", yes).into(),
            Cell::from(lacks).painted(paint),
        ]
    }
}

fn verbs(lacks: &[&str]) -> Vec<String> {
    lacks.iter().map(ToString::to_string).collect()
}

/// The values of the field while a workload is stopped and while it runs.
fn values(kind: &Kind) -> (String, String) {
    let text = |constant: &SwitchConstant| match constant {
        SwitchConstant::Flag(flag) => flag.to_string(),
        SwitchConstant::Text(text) => text.clone(),
        SwitchConstant::Instant => "a time".to_owned(),
    };
    let pair = |stopped: &str, running: &str| (stopped.to_owned(), running.to_owned());
    match kind.form() {
        CountForm::Number(_) if matches!(kind.counts(), CountKind::Exact | CountKind::Runners) => {
            pair("0", "saved count")
        }
        CountForm::Number(_) => pair("stop-replicas", "saved count"),
        CountForm::Suspended => pair("true", "false"),
        CountForm::PausedReplicas => pair("stop-replicas", "absent"),
        CountForm::Switch(switch) => {
            let running = switch
                .running
                .as_ref()
                .map_or_else(|| "absent".to_owned(), text);
            (
                text(&switch.stopped),
                format!("saved value, else {running}"),
            )
        }
    }
}

fn write_kinds_table(out: &mut impl Write, entries: &[KindEntry], style: Style) -> io::Result<()> {
    let mut table = Table::new(KIND_HEADINGS);
    entries.iter().for_each(|entry| table.push(entry.cells()));
    table.write(out, style)
}

/// Whether a role includes the permissions for the Jobs of CronJobs with `stop-jobs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JobPermissions {
    Included,
    Omitted,
}

/// Writes the ClusterRole for these kinds and its binding, in addition to `manifests/dayshift.yaml`. A
/// comment lists the kinds to add to `manifests/policy/scaler.yaml`.
fn write_roles(out: &mut impl Write, kinds: &[Kind], jobs: JobPermissions) -> io::Result<()> {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for kind in kinds {
        groups.entry(kind.group()).or_default().push(kind.plural());
    }
    write_head(out, "ClusterRole")?;
    writeln!(out, "rules:")?;
    for (group, plurals) in &groups {
        write_rule(out, group, plurals, &VERBS)?;
    }
    if jobs == JobPermissions::Included {
        write_rule(out, "batch", &["jobs"], &JOB_VERBS)?;
    }
    write_head(out, "ClusterRoleBinding")?;
    write!(out, "{BINDING}")?;
    let lines: Vec<String> = kinds.iter().filter_map(policy_line).collect();
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "# The policy of manifests/policy/scaler.yaml, if you use it, rejects dayshift's own stops until its table contains:"
    )?;
    lines
        .iter()
        .try_for_each(|line| writeln!(out, "#   {line},"))
}

/// Writes the beginning of the ClusterRole or of its binding.
fn write_head(out: &mut impl Write, kind: &str) -> io::Result<()> {
    writeln!(
        out,
        "---
apiVersion: rbac.authorization.k8s.io/v1
kind: {kind}
metadata:
  name: dayshift-kinds
  labels:
    app.kubernetes.io/name: dayshift"
    )
}

const BINDING: &str = "\
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: dayshift-kinds
subjects:
  - kind: ServiceAccount
    name: dayshift
    namespace: dayshift
";

/// Writes a rule. JSON lists are YAML too, and their strings are never read as another type.
fn write_rule(
    out: &mut impl Write,
    group: &str,
    plurals: &[&str],
    verbs: &[&str],
) -> io::Result<()> {
    let [plurals, verbs] = [plurals, verbs].map(|words| json!(words));
    let groups = json!([group]);
    writeln!(
        out,
        "  - apiGroups: {groups}\n    resources: {plurals}\n    verbs: {verbs}"
    )
}

/// The entry for a user-defined kind in the policy that restricts dayshift, or `None` if it needs
/// none.
fn policy_line(kind: &Kind) -> Option<String> {
    let table = KindTable::default();
    let mut shipped = Kind::BUILT_IN.iter().chain(table.operators());
    let path = kind.path();
    if path == ["spec", "replicas"] || shipped.any(|known| known == kind) {
        return None;
    }
    let path = match path {
        [metadata, rest @ ..] if metadata == "metadata" => rest,
        path => path,
    };
    let path: Vec<String> = path.iter().map(|token| format!("'{token}'")).collect();
    Some(format!("'{}': [{}]", kind.resource(), path.join(", ")))
}
