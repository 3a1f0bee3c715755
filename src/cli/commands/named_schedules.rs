//! `dayshift schedules`: the named schedules, with their next boundaries and their users.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use chrono::{DateTime, Utc};
use dayshift_cluster::{
    clock::Clock,
    read::{FindError, NamespaceDefaults},
};
use dayshift_operations::{
    LiveView,
    status::{Unreadable, short_time},
};
use dayshift_schedule::Zone;
use dayshift_workload::{
    Inputs, Key, Kind, NamedSchedule, NamedSchedules, ParseContext, ParsedInputs, Prefix,
    RecordedSchedules, WorkloadRef, read,
};
use kube::Client;

use crate::cli::{
    args::{
        connection::ConnectionArgs,
        kinds::KindFiles,
        schedules::ScheduleArgs,
        targets::{TargetArgs, Targets},
    },
    outcome::{CommandError, print_result},
    output::{
        documents::{ApiVersion, NamedScheduleEntry, SchedulesDocument, Unread, write_document},
        messages::{print_error, print_note, print_warning},
        table::{Cell, Table},
        terminal::{Paint, Style},
    },
    process::Exit,
    watched_files::NamedScheduleFile,
};

/// List the named schedules, their next boundaries, and how many workloads follow each
///
/// Without a file, the schedules that live workloads follow are listed, with the values that the
/// controller has recorded on most of them. With --schedules, those of the file are listed too, and
/// their values are those of the file.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit status: 0 done, 1 a schedule is invalid, or workloads name an unknown one, 2 wrong usage, \
3 no cluster, or not all workloads may be read.")]
pub(crate) struct SchedulesArgs {
    /// The output format
    #[arg(short, long, value_name = "FORMAT", default_value = "table")]
    output: SchedulesFormat,

    /// The file of named schedules that the controller reads
    #[arg(long = "schedules", value_name = "FILE", value_parser = NamedScheduleFile::parse, help_heading = "Schedules")]
    file: Option<NamedScheduleFile>,

    #[command(flatten)]
    targets: TargetArgs,

    #[command(flatten)]
    connection: ConnectionArgs,

    #[command(flatten)]
    schedules: ScheduleArgs,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum SchedulesFormat {
    /// Columns
    Table,
    /// For other programs
    Json,
}

/// A schedule that is listed.
#[derive(Default)]
struct ListedSchedule {
    /// Its values in the file, or else those that the controller has recorded on workloads; `None` if
    /// neither has it. `Err` if equally many namespaces have recorded different values of this key.
    values: Option<Result<NamedSchedule, Key>>,
    users: usize,
}

impl SchedulesArgs {
    pub(crate) fn run(self, kind_files: &KindFiles) -> Result<Exit, CommandError> {
        self.schedules.warn_of_unreadable();
        let targets = self.targets.targets(kind_files)?;
        let error = self.file.as_ref().and_then(NamedScheduleFile::error);
        if let Some(why) = &error {
            print_warning(&format!("the file of schedules cannot be read: {why}"));
        }
        let mut listed = BTreeMap::new();
        let of_file = self.file.as_ref().map(NamedScheduleFile::schedules);
        for schedule in of_file.iter().flat_map(NamedSchedules::iter) {
            let entry: &mut ListedSchedule = listed.entry(schedule.name().to_owned()).or_default();
            entry.values = Some(Ok(schedule.clone()));
        }
        let prefix = self.schedules.prefix.annotation_prefix.clone();
        let found = self.connection.on_cluster("schedules", async |client| {
            Ok(add_users(&client, &targets, &prefix, &mut listed).await?)
        });
        let (unreadable, mut exit) = match found {
            Ok(unreadable) => (unreadable, Exit::Done),
            Err(error) => (Vec::new(), error.report()),
        };
        for resource in &unreadable {
            print_error(resource);
            exit = exit.worse(Exit::CouldNotRun);
        }
        let context = self.schedules.context_of_others(kind_files);
        let now = Clock::system().now();
        let entries: Vec<_> = listed
            .iter()
            .map(|(name, schedule)| entry(name, schedule, &context, now))
            .collect();
        if error.is_some() || entries.iter().any(|entry| entry.error.is_some()) {
            exit = exit.worse(Exit::Problems);
        }
        if entries.is_empty() && matches!(exit, Exit::Done) {
            print_note("no workload follows a named schedule");
        }
        if let SchedulesFormat::Json = self.output {
            let document = SchedulesDocument {
                api_version: ApiVersion::V1,
                schedules: entries,
                unread: unreadable.iter().map(Unread::from).collect(),
            };
            print_result(|out, _| write_document(out, &document))?;
        } else if !entries.is_empty() {
            print_result(|out, style| write_table(out, &entries, now, style))?;
            let wrong = entries.iter().filter_map(|entry| entry.error.as_ref());
            for error in wrong.flat_map(|error| error.lines()) {
                print_error(&error);
            }
        }
        Ok(exit)
    }
}

/// Counts the workloads that follow each schedule, and adds the values that they have recorded.
async fn add_users(
    client: &Client,
    targets: &Targets,
    prefix: &Prefix,
    listed: &mut BTreeMap<String, ListedSchedule>,
) -> Result<Vec<Unreadable>, FindError> {
    let query = targets.query(client.default_namespace());
    let live = LiveView::read(client, query, prefix, NamespaceDefaults::default()).await?;
    let mut recorded = RecordedSchedules::default();
    for observed in live.observed() {
        let Some(name) = observed.inputs.schedule_name() else {
            continue;
        };
        listed.entry(name.to_owned()).or_default().users += 1;
        let mut schedules = observed.inputs.schedules();
        if let Some(schedule) = schedules.find(|schedule| schedule.name() == name) {
            recorded.add(&observed.object.namespace, schedule);
        }
    }
    for (name, agreed) in recorded.agreed() {
        let entry = listed.entry(name.to_owned()).or_default();
        entry.values.get_or_insert(agreed);
    }
    let parts = live.unreadable_parts();
    Ok(Unreadable::workloads(live.query(), &parts, "not counted"))
}

/// The schedule as it is printed. Its times are those of a Deployment without jitter.
fn entry(
    name: &str,
    schedule: &ListedSchedule,
    context: &ParseContext,
    now: DateTime<Utc>,
) -> NamedScheduleEntry {
    let mut entry = NamedScheduleEntry {
        name: name.to_owned(),
        values: BTreeMap::new(),
        timezone: None,
        next: None,
        next_action: None,
        workloads: schedule.users,
        error: None,
    };
    let values = match &schedule.values {
        Some(Ok(values)) => values,
        Some(Err(key)) => {
            entry.error = Some(format!(
                "`{name}` is not known: workloads of different namespaces have recorded different values of `{key}`; \
                 give the file of the controller with --schedules FILE"
            ));
            return entry;
        }
        None => {
            entry.error = Some(format!(
                "`{name}` is not known: no controller has recorded its values on a workload"
            ));
            return entry;
        }
    };
    let text = |key: Key| Some((key.name().to_owned(), values.texts().text(key)?.to_owned()));
    entry.values = Key::ALL.into_iter().filter_map(text).collect();
    let table = NamedSchedules::from_file([values.clone()]);
    let inputs = Inputs::default().with(Key::NamedSchedule, name);
    match read(&inputs.with_schedules(&table), context) {
        ParsedInputs::Invalid(rejection) => entry.error = Some(rejection.to_string()),
        ParsedInputs::Unscheduled => {}
        ParsedInputs::Scheduled(spec) => {
            let zone = spec.schedule.zone();
            entry.timezone = Some(zone.name().to_owned());
            let object = WorkloadRef {
                kind: Kind::DEPLOYMENT,
                namespace: "".into(),
                name: "".into(),
                uid: "".into(),
            };
            let next = spec.next_after(&object, None, now);
            entry.next = next.map(|next| next.at.with_timezone(&zone).to_rfc3339());
            entry.next_action = next.map(|next| next.action.to_string());
        }
    }
    entry
}

/// Writes a row for each schedule.
fn write_table(
    out: &mut impl Write,
    entries: &[NamedScheduleEntry],
    now: DateTime<Utc>,
    style: Style,
) -> io::Result<()> {
    let mut table = Table::new(["NAME", "WEEK", "TIMEZONE", "NEXT", "WORKLOADS"]);
    for entry in entries {
        table.push(row(entry, now));
    }
    table.write(out, style)
}

fn row(entry: &NamedScheduleEntry, now: DateTime<Utc>) -> [Cell; 5] {
    let value = |key: Key| entry.values.get(key.name()).map(String::as_str);
    let week = match (value(Key::Hours), value(Key::Scale)) {
        (Some(text), _) | (None, Some(text)) => text.to_owned(),
        (None, None) => {
            let times = [Key::Start, Key::Stop];
            let times = times.map(|key| Some(format!("{key} {}", value(key)?)));
            times.into_iter().flatten().collect::<Vec<_>>().join(", ")
        }
    };
    let next = entry.next.as_deref().and_then(|next| {
        let at = DateTime::parse_from_rfc3339(next).ok()?;
        let zone = Zone::parse(entry.timezone.as_deref()?).ok()?;
        let action = entry.next_action.as_deref().unwrap_or_default();
        Some(format!("{action} {}", short_time(at.to_utc(), zone, now)))
    });
    let next = match &entry.error {
        Some(_) => Cell::from("invalid").painted(Paint::Red),
        None => next.into(),
    };
    [
        entry.name.as_str().into(),
        week.into(),
        entry.timezone.as_deref().into(),
        next,
        entry.workloads.to_string().into(),
    ]
}
