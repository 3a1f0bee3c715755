//! The flags that decide how annotations are read: the default time zone, tzdata, the prefix, calendars, and
//! the defaults that workloads inherit.

use std::{ffi::OsStr, sync::Arc};

use clap::{
    Arg, ArgAction, Command,
    builder::{BoolishValueParser, TypedValueParser, ValueParser},
};
use dayshift_schedule::{Calendars, Tzdata, Zone};
use dayshift_text::quote;
use dayshift_workload::{
    DefaultSchedule, Inheritance, Inputs, Key, NamedSchedule, NamedSchedules, ParseContext,
    ParsedInputs, Prefix, read,
};

use crate::cli::{
    args::kinds::KindFiles,
    output::messages::print_warning,
    watched_files::{CalendarFile, NamedScheduleFile},
};

/// The time zone database to use. `cli::zoneinfo` reads this flag before the arguments are parsed,
/// and [`with_tzdata`] makes the database its value.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Schedules")]
pub(crate) struct ZoneinfoArgs {
    /// A directory of compiled time zones, such as /usr/share/zoneinfo, or `bundled` for those in the
    /// program [default: /usr/share/zoneinfo if it is newer than the program]
    #[arg(long, value_name = "DIR", value_parser = ChosenTzdata(Tzdata::default()))]
    zoneinfo: Option<Tzdata>,
}

impl ZoneinfoArgs {
    pub(crate) fn tzdata(&self) -> Tzdata {
        self.zoneinfo.clone().unwrap_or_default()
    }
}

/// Makes the flags of a command use this database, in place of the bundled one.
pub(crate) fn with_tzdata(command: Command, tzdata: &Tzdata) -> Command {
    let zone = {
        let tzdata = tzdata.clone();
        move |text: &str| tzdata.parse_zone(text)
    };
    let calendar = {
        let tzdata = tzdata.clone();
        move |text: &str| CalendarFile::parse_with(text, &tzdata)
    };
    let parsers: [(&str, ValueParser); 4] = [
        ("zoneinfo", ChosenTzdata(tzdata.clone()).into()),
        ("timezone", zone.clone().into()),
        ("default_timezone", zone.into()),
        ("calendar", calendar.into()),
    ];
    parsers.into_iter().fold(command, |command, (id, parser)| {
        if command.get_arguments().all(|arg| arg.get_id() != id) {
            return command;
        }
        command.mut_arg(id, |arg| {
            let arg = arg.value_parser(parser);
            // Without the flag, the database of the system might have been chosen.
            if id == "zoneinfo" {
                arg.default_value("").hide_default_value(true)
            } else {
                arg
            }
        })
    })
}

/// Ignores the value and returns the database that was chosen earlier.
#[derive(Clone)]
struct ChosenTzdata(Tzdata);

impl TypedValueParser for ChosenTzdata {
    type Value = Tzdata;

    fn parse_ref(
        &self,
        _: &Command,
        _: Option<&Arg>,
        _: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        Ok(self.0.clone())
    }
}

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

    /// An iCalendar file and its name: with de=holidays.ics, `except` can contain calendar:de;
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
    pub(crate) fn zone(&self) -> Zone {
        self.timezone.unwrap_or(Zone::UTC)
    }

    /// The time zone database to use.
    pub(crate) fn tzdata(&self) -> Tzdata {
        self.zoneinfo.tzdata()
    }

    /// The zone given on the command line, if any.
    pub(crate) fn given_zone(&self) -> Option<Zone> {
        self.timezone
    }

    /// The context in which annotations are parsed.
    pub(crate) fn context(&self, kinds: &KindFiles) -> ParseContext {
        ParseContext {
            default_zone: self.zone(),
            tzdata: self.tzdata(),
            calendars: self.calendars(),
            // Only the controller has the file of schedules.
            schedules: NamedSchedules::default().accepting_any(),
            kinds: Arc::clone(&kinds.table),
            ..ParseContext::default()
        }
    }

    /// The calendars of `--calendar`.
    pub(crate) fn calendars(&self) -> Calendars {
        let files = self.calendar.iter();
        let named = files.map(|file| (file.name.clone(), file.contents.value.clone()));
        Calendars::from_files(named)
    }

    /// Warns about unreadable calendars. If no annotation refers to one of them, nothing else would
    /// report it.
    pub(crate) fn warn_of_unreadable(&self) {
        for file in &self.calendar {
            if let Err(why) = &file.contents.value {
                print_warning(&format!(
                    "the calendar `{}` cannot be read: {why}",
                    file.name
                ));
            }
        }
    }

    /// The same context, but calendars that only the controller can read are accepted without
    /// dates.
    pub(crate) fn context_of_others(&self, kinds: &KindFiles) -> ParseContext {
        let context = self.context(kinds);
        ParseContext {
            calendars: context.calendars.accepting_any(),
            ..context
        }
    }
}

/// The defaults that workloads inherit. All commands should get the same values as `run`.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Schedules")]
pub(crate) struct InheritanceArgs {
    /// Running hours for workloads without a schedule, if their Namespace has none either; never in
    /// kube-* or dayshift's own namespace. `run` also needs --namespace or --namespace-selector
    #[arg(
        long,
        value_name = "HOURS",
        value_parser = |text: &str| schedule(Key::Hours, text),
        conflicts_with_all = ["default_start", "default_stop", "default_schedule"]
    )]
    default_hours: Option<String>,

    /// Start times for these workloads, instead of --default-hours
    #[arg(long, value_name = "TIMES", value_parser = |text: &str| schedule(Key::Start, text))]
    default_start: Option<String>,

    /// Stop times for these workloads, instead of --default-hours
    #[arg(long, value_name = "TIMES", value_parser = |text: &str| schedule(Key::Stop, text))]
    default_stop: Option<String>,

    /// The name of a schedule of --schedules for these workloads, in place of --default-hours
    #[arg(
        long,
        value_name = "NAME",
        value_parser = schedule_name,
        conflicts_with_all = ["default_start", "default_stop"],
        requires = "schedules"
    )]
    default_schedule: Option<String>,

    /// A YAML file of named schedules, for `schedule` on workloads and Namespaces: a map from names to
    /// keys, such as office: {hours: "Mon-Fri 09:00-19:00"}
    #[arg(long, value_name = "FILE", value_parser = NamedScheduleFile::parse)]
    schedules: Option<NamedScheduleFile>,

    /// Use the annotations of a Namespace as defaults for the workloads in it; set it to false
    /// if dayshift may not read Namespaces
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

    /// Use the ConfigMap `dayshift` in a namespace as defaults for the workloads in it, before those of
    /// the Namespace: its keys are annotations without the prefix, and its team may edit it
    #[arg(long)]
    team_defaults: bool,
}

pub(crate) fn schedule_name(text: &str) -> Result<String, String> {
    let text = text.trim();
    if NamedSchedule::is_name(text) {
        return Ok(text.to_owned());
    }
    Err(format!(
        "`{}` is not the name of a schedule; write 1 to 63 of the characters a-z, 0-9 and `-`, such as \
         office-tokyo",
        quote(text)
    ))
}

/// Checks that a default schedule can be parsed.
fn schedule(key: Key, text: &str) -> Result<String, String> {
    let schedule = DefaultSchedule::from_texts([(key, text.to_owned())]);
    let inherited = schedule.as_ref().map(DefaultSchedule::annotations);
    let inputs = Inputs::default().with_defaults(inherited);
    match read(&inputs, &Zone::UTC.into()) {
        ParsedInputs::Invalid(refusal) => {
            let problems = refusal.problems().iter();
            let lines: Vec<_> = problems
                .map(|problem| problem.diagnostic.to_string())
                .collect();
            Err(lines.join("\n"))
        }
        ParsedInputs::Scheduled(_) | ParsedInputs::Unscheduled => Ok(text.to_owned()),
    }
}

impl InheritanceArgs {
    pub(crate) fn inheritance(&self) -> Inheritance {
        let texts = [
            (Key::Hours, &self.default_hours),
            (Key::Start, &self.default_start),
            (Key::Stop, &self.default_stop),
            (Key::NamedSchedule, &self.default_schedule),
        ];
        let given = |(key, text): (Key, &Option<String>)| Some((key, text.clone()?));
        Inheritance {
            from_namespaces: self.namespace_defaults,
            from_teams: self.team_defaults,
            default_schedule: DefaultSchedule::from_texts(texts.into_iter().filter_map(given)),
            schedules: self.schedules(),
        }
    }

    /// The file of `--schedules`.
    pub(crate) const fn schedule_file(&self) -> Option<&NamedScheduleFile> {
        self.schedules.as_ref()
    }

    /// The schedules of `--schedules`.
    pub(crate) fn schedules(&self) -> NamedSchedules {
        let file = self.schedules.as_ref();
        file.map(NamedScheduleFile::schedules).unwrap_or_default()
    }

    /// Warns about an unreadable file, and about mistakes in its entries.
    pub(crate) fn warn_of_mistakes(&self, schedules: &ScheduleArgs, kinds: &KindFiles) {
        let Some(named) = &self.schedules else {
            return;
        };
        if let Some(why) = named.error() {
            print_warning(&format!("the file of schedules cannot be read: {why}"));
        } else if let Ok(file) = named.file() {
            for mistake in file.mistakes(&self.context(schedules, kinds)) {
                print_warning(&mistake);
            }
        }
    }

    /// The context in which files are read, with these schedules.
    pub(crate) fn context(&self, schedules: &ScheduleArgs, kinds: &KindFiles) -> ParseContext {
        ParseContext {
            schedules: self.schedules(),
            ..schedules.context(kinds)
        }
    }
}
