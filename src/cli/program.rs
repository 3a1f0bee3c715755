//! The program and its subcommands.

use std::{
    env,
    ffi::{OsStr, OsString},
    io::{self, IsTerminal as _, Write as _},
    path::Path,
    sync::{Arc, OnceLock},
};

use clap::{
    Arg, ArgAction, ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand,
    builder::EnumValueParser, error::ErrorKind,
};
use dayshift_operations::RequestedOverride;
use dayshift_schedule::Tzdata;
use dayshift_text::printable;
use dayshift_workload::KindTable;

use crate::cli::{
    args::{
        kinds::{self, KindFiles},
        schedules::with_tzdata,
    },
    command_line::{naming_the_variable, subcommand_first, with_variables},
    commands::{
        activator::{ActivatorArgs, kind_with_pods},
        completion::{CompletionsArgs, complete},
        convert::ConvertArgs,
        dashboard::DashboardArgs,
        kinds::KindsArgs,
        lint::LintArgs,
        named_schedules::SchedulesArgs,
        overrides::{
            LastingArgs, OverrideArgs, PAUSE_HELP, RESUME_HELP, SLEEP_HELP, SYNC_HELP, SleepArgs,
            WAKE_HELP, WakeArgs,
        },
        plan::PlanArgs,
        restore::RestoreArgs,
        run::RunArgs,
        schedule::SetScheduleArgs,
        status::StatusArgs,
    },
    output::{messages::print_warning, terminal},
    process::{Exit, wrong_usage},
    zoneinfo,
};

#[cfg(not(feature = "sandbox"))]
use crate::cli::commands::no_sandbox::SandboxArgs;
#[cfg(feature = "sandbox")]
use crate::cli::commands::sandbox::SandboxArgs;

/// The parsed command line.
#[derive(Debug, Parser)]
#[command(
    name = "dayshift",
    about = "Starts and stops Kubernetes workloads at the times in their annotations",
    after_help = AFTER_HELP,
    arg_required_else_help = true
)]
pub struct Program {
    #[command(subcommand)]
    command: Command,

    /// A warning about the time zone database, if there is one.
    #[arg(skip)]
    about_zones: Option<String>,

    #[arg(skip)]
    kind_files: KindFiles,

    #[arg(skip)]
    tzdata: Tzdata,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(Box<RunArgs>),
    Plan(Box<PlanArgs>),
    Lint(Box<LintArgs>),
    Convert(Box<ConvertArgs>),
    Status(Box<StatusArgs>),
    /// Start workloads now, and keep them running until a time
    #[command(after_long_help = WAKE_HELP)]
    Wake(Box<WakeArgs>),
    /// Stop workloads now, and keep them stopped until a time
    #[command(after_long_help = SLEEP_HELP)]
    Sleep(Box<SleepArgs>),
    /// Apply the schedule now, until its next boundary
    ///
    /// A new or edited schedule scales nothing by itself, and a manual change is kept until the
    /// next boundary. If the workload should be running or stopped now, this command starts or
    /// stops it. It ends an active wake or sleep. If there is none, it writes one that ends at the
    /// next boundary; an edit of the schedule does not end it earlier, but `dayshift resume` does.
    #[command(after_long_help = SYNC_HELP)]
    Sync(Box<OverrideArgs>),
    /// Leave workloads as they are, until a time or until `resume`
    #[command(after_long_help = PAUSE_HELP)]
    Pause(Box<LastingArgs>),
    /// End a wake, a sleep or a pause now, and follow the schedule again
    #[command(after_long_help = RESUME_HELP)]
    Resume(Box<OverrideArgs>),
    Restore(Box<RestoreArgs>),
    Dashboard(Box<DashboardArgs>),
    Kinds(Box<KindsArgs>),
    Activator(Box<ActivatorArgs>),
    Sandbox(Box<SandboxArgs>),
    Schedule(Box<SetScheduleArgs>),
    Schedules(Box<SchedulesArgs>),
    Completions(CompletionsArgs),
}

const AFTER_HELP: &str = "\
See it at work:      dayshift sandbox; in a browser: dayshift sandbox --dashboard 127.0.0.1:0
Write a schedule:    dayshift schedule deploy/web \"Mon-Fri 09:00-19:00\"
See what it will do: dayshift plan deploy/web; of a file: dayshift plan -f FILE
Run the controller:  dayshift run

Each flag of run has an environment variable: DAYSHIFT_LOG_FORMAT sets --log-format. \
DAYSHIFT_KUBECONFIG, _CONTEXT, _AS, _AS_GROUP, _TIMEZONE, _ANNOTATION_PREFIX and \
_ZONEINFO apply to every command.
Exit status: 0 done, 1 found problems, 2 wrong usage, 3 could not run.";

/// clap needs a static string.
static VERSION: OnceLock<String> = OnceLock::new();

fn version(tzdata: &Tzdata) -> String {
    let program = env!("CARGO_PKG_VERSION");
    format!(
        "{program} (tzdata {}, {})",
        tzdata.version(),
        tzdata.source()
    )
}

impl Program {
    /// Parses the arguments and the `DAYSHIFT_…` variables of this process.
    ///
    /// # Errors
    /// The exit status if there is nothing to run: the help or version was printed, or the usage
    /// error was reported.
    pub fn from_arguments() -> Result<Self, Exit> {
        let arguments: Vec<_> = env::args_os().collect();
        let zoneinfo = zoneinfo::given(&arguments, env::var_os(zoneinfo::VARIABLE));
        let directory = zoneinfo.as_ref().map(|(_, directory)| &**directory);
        let (tzdata, about_zones) = match zoneinfo::choose(directory) {
            Ok((tzdata, warning)) => (tzdata, Ok(warning)),
            Err(error) => (Tzdata::default(), Err(error)),
        };
        let command = Self::command()
            .version(VERSION.get_or_init(|| version(&tzdata)).as_str())
            .mut_subcommands(with_color)
            .mut_subcommands(|command| with_tzdata(command, &tzdata));
        let arguments = subcommand_first(&command, arguments);
        let kind_files =
            kinds::given_kind_files(&arguments, env::var_os(kinds::KIND_FILE_VARIABLE));
        let kind_files = KindFiles::load(&kind_files);
        let table = kind_files.as_ref().map_or_else(
            |_| Arc::new(KindTable::default()),
            |files| Arc::clone(&files.table),
        );
        let mut command = with_variables(command, &arguments)
            .mut_subcommands(|subcommand| with_kinds(subcommand, &table))
            .mut_subcommands(with_repeated)
            .mut_subcommands(with_short_help);
        // The sandbox prints a timeline, and the log would repeat it.
        if cfg!(feature = "sandbox") {
            command = command.mut_subcommand("sandbox", |sandbox| {
                sandbox.mut_arg("log_level", |flag| flag.default_value("error"))
            });
        }
        if let Some(words) = to_complete(&arguments) {
            // Errors are ignored, because there is no reader.
            let _ = io::stdout().write_all(complete(command, &words, &tzdata, &table).as_bytes());
            return Err(Exit::Done);
        }
        if !io::stdout().is_terminal() {
            command = command.term_width(terminal::stdout_width().unwrap_or(PIPED_HELP_WIDTH));
        }
        if is_plugin(arguments.first().map(OsStr::new)) {
            command = command.bin_name("kubectl dayshift");
        }
        let about_zones = about_zones.map_err(|error| {
            let named_by = zoneinfo.as_ref().map_or("zoneinfo", |(by, _)| by);
            let text = format!("{named_by}: {error}");
            wrong_usage(&command.error(ErrorKind::ValueValidation, text))
        })?;
        let kind_files = kind_files.map_err(|error| {
            let text = format!("--kind-file: {error}");
            wrong_usage(&command.error(ErrorKind::ValueValidation, printable(&text)))
        })?;
        let mut read = |arguments: &[OsString]| {
            let matches = command.try_get_matches_from_mut(arguments);
            let program = matches.and_then(|matches| {
                let of_subcommand = matches.subcommand().map(|(_, matches)| matches);
                let color = of_subcommand.and_then(|matches| matches.get_one(COLOR));
                terminal::set_color(color.copied().unwrap_or_default());
                Self::from_arg_matches(&matches)
            });
            program.map_err(|error| naming_the_variable(error, &command, arguments))
        };
        let program = read(&arguments).map_err(|error| {
            // Errors quote the arguments, which can contain control characters if they were pasted.
            let tame: Vec<_> = arguments
                .iter()
                .map(|word| printable(&word.to_string_lossy()).into())
                .collect();
            wrong_usage(read(&tame).as_ref().err().unwrap_or(&error))
        })?;
        Ok(Self {
            about_zones,
            kind_files,
            tzdata,
            ..program
        })
    }

    /// Runs the command.
    pub fn run(self) -> Exit {
        if let (Some(about), false) = (&self.about_zones, matches!(self.command, Command::Run(_))) {
            print_warning(about);
        }
        let is_checked = matches!(self.command, Command::Run(_) | Command::Lint(_));
        if !is_checked {
            self.kind_files
                .problems
                .iter()
                .for_each(|problem| print_warning(problem));
        }
        let ended = match self.command {
            Command::Run(args) => args.run(self.about_zones.as_deref(), &self.kind_files),
            Command::Plan(args) => args.run(&self.kind_files),
            Command::Lint(args) => args.run(&self.kind_files),
            Command::Convert(args) => args.run(&self.kind_files),
            Command::Status(args) => args.run(&self.kind_files),
            Command::Wake(args) => args.run(&self.kind_files),
            Command::Sleep(args) => args.run(&self.kind_files),
            Command::Sync(args) => args.now(RequestedOverride::Sync, &self.kind_files),
            Command::Pause(args) => args.pause(&self.kind_files),
            Command::Resume(args) => args.now(RequestedOverride::Resume, &self.kind_files),
            Command::Restore(args) => args.run(&self.kind_files),
            Command::Dashboard(args) => args.run(&self.kind_files),
            Command::Kinds(args) => args.run(&self.kind_files),
            Command::Activator(args) => args.run(&self.tzdata, &self.kind_files),
            Command::Sandbox(args) => args.run(&self.kind_files),
            Command::Schedule(args) => args.run(&self.kind_files),
            Command::Schedules(args) => args.run(&self.kind_files),
            Command::Completions(args) => Ok(args.run()),
        };
        ended.unwrap_or_else(|error| error.report())
    }
}

const COLOR: &str = "color";

/// The width of help in a pipe, which is the default of clap.
const PIPED_HELP_WIDTH: usize = 100;

/// Adds `--color` to a subcommand.
fn with_color(subcommand: clap::Command) -> clap::Command {
    let flag = Arg::new(COLOR)
        .long(COLOR)
        .value_name("WHEN")
        .default_value("auto")
        .value_parser(EnumValueParser::<ColorChoice>::new())
        .help("When to use color; auto is on a terminal, unless NO_COLOR is set")
        .help_heading(None);
    subcommand.arg(flag)
}

/// Lets `--kinds` take the kinds of this table. Those of the activator must have pods.
fn with_kinds(subcommand: clap::Command, table: &Arc<KindTable>) -> clap::Command {
    let parse = match subcommand.get_name() {
        "activator" => kind_with_pods,
        _ => kinds::parse_kind,
    };
    subcommand.mut_args(|arg| {
        if arg.get_id() != "kinds" {
            return arg;
        }
        let table = Arc::clone(table);
        arg.value_parser(move |text: &str| parse(text, &table))
    })
}

/// Hides rarely used flags from `-h`, so that it fits a terminal. The help of `run` stays complete,
/// because it is used to write a manifest.
fn with_short_help(subcommand: clap::Command) -> clap::Command {
    if subcommand.get_name() == "run" {
        return subcommand;
    }
    subcommand.mut_args(|arg| {
        let is_rare = matches!(arg.get_help_heading(), Some("Cluster" | "Schedules"));
        let is_color = arg.get_id() == COLOR;
        let is_hidden = is_rare || is_color || arg.is_hide_short_help_set();
        arg.hide_short_help(is_hidden)
    })
}

/// Lets flags without a value be repeated, and all flags of `run`, because a manifest can append
/// flags. In other commands, a repeated value could make the command act on the wrong objects, so
/// it is an error.
fn with_repeated(subcommand: clap::Command) -> clap::Command {
    let is_run = subcommand.get_name() == "run";
    subcommand.mut_args(|arg| {
        let id = arg.get_id().clone();
        match arg.get_action() {
            ArgAction::Append => arg,
            ArgAction::Set if !is_run => arg,
            _ => arg.overrides_with(id),
        }
    })
}

/// The words to complete, if the program was called as `dayshift __complete` or under the name of
/// kubectl's completion plugin.
fn to_complete(arguments: &[OsString]) -> Option<Vec<String>> {
    let (program, words) = arguments.split_first()?;
    let words = if is_called(program, "kubectl_complete-dayshift") {
        words
    } else {
        words.strip_prefix(&[OsString::from("__complete")])?
    };
    let text = |word: &OsString| word.to_string_lossy().into_owned();
    Some(words.iter().map(text).collect())
}

fn is_called(program: &OsStr, name: &str) -> bool {
    Path::new(program)
        .file_stem()
        .is_some_and(|stem| stem == name)
}

/// Whether kubectl runs the program as a plugin, `kubectl dayshift`.
fn is_plugin(program: Option<&OsStr>) -> bool {
    program.is_some_and(|path| is_called(path, "kubectl-dayshift"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use dayshift_workload::{After, Dependency};

    use super::*;
    use crate::cli::commands::activator::Activation;

    #[test]
    fn variables_exist_for_all_flags_of_run_and_have_one_meaning() {
        let command = with_variables(Program::command(), &[]);
        command.clone().debug_assert();
        let flags = |command: &clap::Command| -> HashMap<String, (Option<String>, String)> {
            let flags = command
                .get_arguments()
                .filter(|flag| flag.get_long().is_some());
            let text = |flag: &Arg| {
                let variable = flag
                    .get_env()
                    .map(|variable| variable.to_string_lossy().into_owned());
                let help = flag.get_help().unwrap().to_string();
                (flag.get_long().unwrap().to_owned(), (variable, help))
            };
            flags.map(text).collect()
        };
        let run = flags(command.find_subcommand("run").unwrap());
        for (flag, (variable, _)) in &run {
            let expected = format!("DAYSHIFT_{}", flag.replace('-', "_").to_uppercase());
            assert_eq!(variable.as_ref(), Some(&expected), "{flag}");
        }
        for subcommand in command.get_subcommands() {
            for (flag, (variable, help)) in flags(subcommand) {
                if variable.is_some() {
                    assert_eq!(run[&flag], (variable, help), "{}", subcommand.get_name());
                }
            }
        }
    }

    /// Otherwise a dependency of such a kind would not be woken.
    #[test]
    fn activator_knows_the_kinds_of_its_flags_in_after() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kinds.yaml");
        let row =
            "- {resource: gizmos.example.com, kind: Gizmo, field: spec.size, holds: replicas}";
        std::fs::write(&file, row).unwrap();
        let files = KindFiles::load(std::slice::from_ref(&file)).unwrap();
        let command = Program::command();
        let mut command = command.mut_subcommands(|command| with_kinds(command, &files.table));
        let file = format!("--kind-file={}", file.display());
        let kinds = "--kinds=deployments,gizmos.example.com,rollouts.argoproj.io";
        let matches = command.try_get_matches_from_mut(["dayshift", "activator", kinds, &file]);
        let program = Program::from_arg_matches(&matches.unwrap()).unwrap();
        let Command::Activator(args) = program.command else {
            panic!("{:?}", program.command)
        };
        let settings = Activation::new(*args, &Tzdata::default(), &files).settings;
        let after = "gizmos.example.com/db; rollouts.argoproj.io/api";
        let after = After::parse(after, &settings.kind_table).unwrap();
        let expected = settings.kinds[1..].iter().zip(["db", "api"]);
        let expected: Vec<_> = expected
            .map(|(kind, name)| Dependency::workload(kind, name))
            .collect();
        assert_eq!(after.named(), expected);
        assert_eq!(settings.kinds.len(), 3);
        assert_eq!(settings.kinds[1].field(), "size");
    }

    #[test]
    fn cluster_heading_lists_the_connection_flags() {
        for subcommand in Program::command().get_subcommands() {
            let flags = subcommand.get_arguments();
            let of_cluster = flags.filter(|flag| flag.get_help_heading() == Some("Cluster"));
            let names: Vec<_> = of_cluster.filter_map(Arg::get_long).collect();
            let expected: &[&str] = match subcommand.get_name() {
                "lint" | "sandbox" | "completions" => &[],
                _ => &["kubeconfig", "context", "as", "as-group"],
            };
            assert_eq!(names, expected, "{}", subcommand.get_name());
        }
    }

    #[test]
    fn each_flag_has_one_heading_in_all_commands() {
        let command = Program::command().mut_subcommands(with_color);
        let mut headings = HashMap::new();
        for subcommand in command.get_subcommands() {
            for flag in subcommand.get_arguments() {
                // These flags have another meaning in other commands.
                let is_other = |long: &&str| ["dry-run", "for", "from", "until"].contains(long);
                let Some(long) = flag.get_long().filter(|long| !is_other(long)) else {
                    continue;
                };
                let heading = flag.get_help_heading();
                let known = *headings.entry(long.to_owned()).or_insert(heading);
                assert_eq!(heading, known, "{} --{long}", subcommand.get_name());
            }
        }
    }

    #[test]
    fn help_lines_are_wrapped_only_by_clap() {
        // clap would wrap these lines a second time on a narrow terminal.
        for subcommand in Program::command().get_subcommands() {
            let after = [
                subcommand.get_after_help(),
                subcommand.get_after_long_help(),
            ];
            for text in after.into_iter().flatten().map(ToString::to_string) {
                for line in text.lines().filter(|line| !line.is_empty()) {
                    let is_paragraph = !line.contains("  ") && line.ends_with(['.', ':']);
                    let fits = line.chars().count() <= 80;
                    assert!(is_paragraph || fits, "{}: {line}", subcommand.get_name());
                }
            }
        }
    }

    #[test]
    fn detects_a_call_as_kubectl_plugin() {
        for (path, expected) in [
            ("/usr/bin/kubectl-dayshift", true),
            ("kubectl-dayshift.exe", true),
            ("/usr/bin/dayshift", false),
        ] {
            assert_eq!(is_plugin(Some(OsStr::new(path))), expected, "{path}");
        }
    }
}
