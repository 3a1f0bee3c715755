//! The flags that say how annotations are read, alike in every subcommand that reads any.

use std::ffi::OsString;

use clap::{ArgAction, builder::BoolishValueParser};
use dayshift_schedule::{Calendars, Zone};
use dayshift_workload::{
    DefaultSchedule, Inheritance, Inputs, Key, ParseContext, ParsedInputs, Prefix, read,
};

use crate::cli::{args::values::calendar_file::CalendarFile, output::messages::print_warning};

/// Which copy of the time zone database counts. `cli::zoneinfo` reads it, before any zone is parsed.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Schedules")]
pub(crate) struct ZoneinfoArgs {
    /// A folder of compiled time zones, such as /usr/share/zoneinfo, or `bundled` for those in the
    /// program [default: /usr/share/zoneinfo where it is newer than the program]
    #[arg(long, value_name = "DIR")]
    zoneinfo: Option<OsString>,
}

/// The prefix of dayshift's keys.
#[derive(Debug, clap::Args)]
pub(crate) struct PrefixArgs {
    /// The prefix of annotations and labels, before the slash
    #[arg(
        long,
        value_name = "PREFIX",
        default_value = "dayshift",
        value_parser = Prefix::parse,
        help_heading = "Schedules"
    )]
    pub(crate) annotation_prefix: Prefix,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Schedules")]
pub(crate) struct ScheduleArgs {
    /// The IANA time zone of workloads without a timezone annotation [default: UTC]
    #[arg(long, value_name = "ZONE", value_parser = Zone::parse)]
    timezone: Option<Zone>,

    #[command(flatten)]
    zoneinfo: ZoneinfoArgs,

    #[command(flatten)]
    pub(crate) prefix: PrefixArgs,

    /// An iCalendar file, and its name in `except`: with de=holidays.ics that is calendar:de;
    /// repeatable
    #[arg(
        long,
        value_name = "NAME=FILE",
        value_delimiter = ',',
        value_parser = CalendarFile::parse
    )]
    pub(crate) calendar: Vec<CalendarFile>,
}

impl ScheduleArgs {
    /// The zone of workloads that name none.
    pub(crate) fn zone(&self) -> Zone {
        self.timezone.unwrap_or(Zone::UTC)
    }

    /// The zone that somebody asked for.
    pub(crate) fn given_zone(&self) -> Option<Zone> {
        self.timezone
    }

    /// What texts are read with.
    pub(crate) fn context(&self) -> ParseContext {
        let files = self.calendar.iter();
        let named = files.map(|it| (it.name.clone(), it.contents.calendar.clone()));
        ParseContext {
            default_zone: self.zone(),
            calendars: Calendars::from_files(named),
            ..ParseContext::default()
        }
    }

    /// Says which calendars cannot be read: where nothing names one, nothing else does.
    pub(crate) fn warn_of_unreadable(&self) {
        for file in &self.calendar {
            if let Err(why) = &file.contents.calendar {
                print_warning(&format!(
                    "the calendar `{}` cannot be read: {why}",
                    file.name
                ));
            }
        }
    }

    /// The same, where calendars may be named that only a scaler can read: they have no dates then.
    pub(crate) fn context_of_others(&self) -> ParseContext {
        let context = self.context();
        ParseContext {
            calendars: context.calendars.accepting_any(),
            ..context
        }
    }
}

/// From what workloads inherit: as `run` is told, so the others have to be.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Schedules")]
pub(crate) struct InheritanceArgs {
    /// Running hours for workloads that have no schedule, where their Namespace has none either;
    /// `run` needs --namespace or --namespace-selector too. Never in kube-* or dayshift's own
    /// namespace
    #[arg(
        long,
        value_name = "HOURS",
        value_parser = |text: &str| schedule(Key::Hours, text),
        conflicts_with_all = ["default_start", "default_stop"]
    )]
    default_hours: Option<String>,

    /// Start times for these workloads, in place of --default-hours
    #[arg(long, value_name = "TIMES", value_parser = |text: &str| schedule(Key::Start, text))]
    default_start: Option<String>,

    /// Stop times for these workloads, in place of --default-hours
    #[arg(long, value_name = "TIMES", value_parser = |text: &str| schedule(Key::Stop, text))]
    default_stop: Option<String>,

    /// Use the annotations of a Namespace as defaults for the workloads in it; set it to false
    /// where dayshift may not read Namespaces
    #[arg(
        long,
        value_name = "BOOLEAN",
        default_value = "true",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        action = ArgAction::Set,
        value_parser = BoolishValueParser::new()
    )]
    namespace_defaults: bool,
}

/// A default schedule's text, which can be read.
fn schedule(key: Key, text: &str) -> Result<String, String> {
    let schedule = DefaultSchedule::from_texts([(key, text.to_owned())]);
    let inherited = schedule.as_ref().map(DefaultSchedule::annotations);
    let inputs = Inputs::default().with_defaults(inherited);
    match read(&inputs, &Zone::UTC.into()) {
        ParsedInputs::Invalid(refusal) => {
            let problems = refusal.problems().iter();
            let lines: Vec<_> = problems.map(|it| it.diagnostic.to_string()).collect();
            Err(lines.join("\n"))
        }
        ParsedInputs::Scheduled(_) | ParsedInputs::Unscheduled => Ok(text.to_owned()),
    }
}

impl InheritanceArgs {
    /// From what workloads inherit.
    pub(crate) fn inheritance(&self) -> Inheritance {
        let texts = [
            (Key::Hours, &self.default_hours),
            (Key::Start, &self.default_start),
            (Key::Stop, &self.default_stop),
        ];
        let given = |(key, text): (Key, &Option<String>)| Some((key, text.clone()?));
        Inheritance {
            from_namespaces: self.namespace_defaults,
            default_schedule: DefaultSchedule::from_texts(texts.into_iter().filter_map(given)),
        }
    }
}
