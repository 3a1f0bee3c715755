//! The program and its subcommands.

use std::{
    env,
    ffi::{OsStr, OsString},
    io::{self, Write as _},
    path::Path,
    sync::LazyLock,
};

use clap::{
    Arg, ArgAction, ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand,
    builder::EnumValueParser, error::ErrorKind,
};
use dayshift_operations::RequestedOverride;
use dayshift_schedule::Tzdata;
use dayshift_text::printable;

use crate::cli::{
    args::{activator_args::ActivatorArgs, run_args::RunArgs},
    commands::{
        complete::complete,
        completions::CompletionsArgs,
        convert::ConvertArgs,
        dashboard::DashboardArgs,
        kinds::KindsArgs,
        lint::LintArgs,
        overrides::{AFTER_HELP as OVERRIDES_END, LastingArgs, OverrideArgs},
        plan::PlanArgs,
        restore::RestoreArgs,
        sandbox::SandboxArgs,
        status::StatusArgs,
    },
    exit::{Exit, wrong_usage},
    kind_files,
    output::{messages::print_warning, terminal},
    variables::{naming_the_variable, with_variables},
    word_order::subcommand_first,
    zoneinfo,
};

/// The whole command line. A subcommand is a variant of `Command` and a file of its own.
#[derive(Debug, Parser)]
#[command(
    name = "dayshift",
    version = VERSION.as_str(),
    about = "Starts and stops Kubernetes workloads at the times in their annotations",
    after_help = AFTER_HELP,
    arg_required_else_help = true
)]
pub struct Program {
    #[command(subcommand)]
    command: Command,

    /// What somebody should know about the time zones that count.
    #[arg(skip)]
    about_zones: Option<String>,

    /// What is wrong with rows of `--kind-file`.
    #[arg(skip)]
    about_kinds: Vec<String>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(Box<RunArgs>),
    Plan(Box<PlanArgs>),
    Lint(Box<LintArgs>),
    Convert(Box<ConvertArgs>),
    Status(Box<StatusArgs>),
    /// Start workloads now, and keep them running until a time
    #[command(after_long_help = OVERRIDES_END)]
    Wake(Box<LastingArgs>),
    /// Stop workloads now, and keep them stopped until a time
    #[command(after_long_help = OVERRIDES_END)]
    Sleep(Box<LastingArgs>),
    /// Do now what the schedule says, until its next boundary
    ///
    /// A new or edited schedule scales nothing by itself, and a manual change holds until the next
    /// boundary. This starts or stops the workload now if the schedule says so. It ends a wake or a
    /// sleep that holds. Where none holds, it writes one, which ends at the next boundary: an edit of
    /// the schedule does not end it sooner, `dayshift resume` does.
    #[command(after_long_help = OVERRIDES_END)]
    Sync(Box<OverrideArgs>),
    /// Leave workloads as they are, until a time or until `resume`
    #[command(after_long_help = OVERRIDES_END)]
    Pause(Box<LastingArgs>),
    /// End a wake, a sleep or a pause now, and follow the schedule again
    #[command(after_long_help = OVERRIDES_END)]
    Resume(Box<OverrideArgs>),
    Restore(Box<RestoreArgs>),
    Dashboard(Box<DashboardArgs>),
    Kinds(Box<KindsArgs>),
    Activator(Box<ActivatorArgs>),
    Sandbox(Box<SandboxArgs>),
    Completions(CompletionsArgs),
}

const AFTER_HELP: &str = "\
See it at work:      dayshift sandbox; in a browser: dayshift sandbox --dashboard 127.0.0.1:0
Write a schedule:    kubectl annotate deploy/web dayshift/hours=\"09:00-19:00\"
See what it will do: dayshift plan deploy/web; of a file: dayshift plan -f FILE
Carry it out:        dayshift run

Each flag of run has a variable: DAYSHIFT_LOG_FORMAT sets --log-format. \
DAYSHIFT_KUBECONFIG, _CONTEXT, _AS, _AS_GROUP, _TIMEZONE, _ANNOTATION_PREFIX and \
_ZONEINFO count in every command.
Exit status: 0 done, 1 found problems, 2 wrong usage, 3 could not run.";

static VERSION: LazyLock<String> = LazyLock::new(|| {
    let (program, tzdata) = (env!("CARGO_PKG_VERSION"), Tzdata::in_use());
    format!(
        "{program} (tzdata {}, {})",
        tzdata.version(),
        tzdata.source()
    )
});

impl Program {
    /// Reads the arguments and the `DAYSHIFT_…` variables of this process.
    ///
    /// # Errors
    /// How to end, where there is nothing to run: help or version was asked for and is printed,
    /// or the usage is wrong and what is wrong has been said.
    pub fn from_arguments() -> Result<Self, Exit> {
        let arguments: Vec<_> = env::args_os().collect();
        let zoneinfo = zoneinfo::given(&arguments, env::var_os(zoneinfo::VARIABLE));
        let folder = zoneinfo.as_ref().map(|(_, folder)| &**folder);
        let about_zones = zoneinfo::take_into_use(folder);
        let command = Self::command().mut_subcommands(with_color);
        let arguments = subcommand_first(&command, arguments);
        let kind_files = kind_files::given(&arguments, env::var_os(kind_files::VARIABLE));
        let about_kinds = kind_files::take_up(&kind_files);
        let mut command = with_variables(command, &arguments)
            .mut_subcommands(with_repeated)
            .mut_subcommands(with_short_help);
        // There the timeline is what is read, and the log would only say it again.
        if cfg!(feature = "sandbox") {
            command = command.mut_subcommand("sandbox", |sandbox| {
                sandbox.mut_arg("log_level", |flag| flag.default_value("error"))
            });
        }
        if let Some(words) = to_complete(&arguments) {
            // Where nobody reads, nobody misses it.
            let _ = io::stdout().write_all(complete(command, &words).as_bytes());
            return Err(Exit::Done);
        }
        if is_plugin(arguments.first().map(OsStr::new)) {
            command = command.bin_name("kubectl dayshift");
        }
        let about_zones = about_zones.map_err(|error| {
            let named_by = zoneinfo.as_ref().map_or("zoneinfo", |(by, _)| by);
            let text = format!("{named_by}: {error}");
            wrong_usage(&command.error(ErrorKind::ValueValidation, text))
        })?;
        let about_kinds = about_kinds.map_err(|error| {
            let text = format!("--kind-file: {error}");
            wrong_usage(&command.error(ErrorKind::ValueValidation, printable(&text)))
        })?;
        let mut read = |arguments: &[OsString]| {
            let matches = command.try_get_matches_from_mut(arguments);
            let program = matches.and_then(|matches| {
                let of_subcommand = matches.subcommand().map(|(_, it)| it);
                let color = of_subcommand.and_then(|it| it.get_one(COLOR));
                terminal::set_color(color.copied().unwrap_or_default());
                Self::from_arg_matches(&matches)
            });
            program.map_err(|error| naming_the_variable(error, &command, arguments))
        };
        let program = read(&arguments).map_err(|error| {
            // What is typed is quoted, and may have been pasted.
            let tame: Vec<_> = arguments
                .iter()
                .map(|it| printable(&it.to_string_lossy()).into())
                .collect();
            wrong_usage(read(&tame).as_ref().err().unwrap_or(&error))
        })?;
        Ok(Self {
            about_zones,
            about_kinds,
            ..program
        })
    }

    /// Does what was asked for.
    pub fn run(self) -> Exit {
        if let (Some(about), false) = (&self.about_zones, matches!(self.command, Command::Run(_))) {
            print_warning(about);
        }
        let is_checked = matches!(self.command, Command::Run(_) | Command::Lint(_));
        if !is_checked {
            self.about_kinds.iter().for_each(|it| print_warning(it));
        }
        match self.command {
            Command::Run(args) => args.run(self.about_zones.as_deref(), &self.about_kinds),
            Command::Plan(args) => args.run(),
            Command::Lint(args) => args.run(&self.about_kinds),
            Command::Convert(args) => args.run(),
            Command::Status(args) => args.run(),
            Command::Wake(args) => args.until(RequestedOverride::Wake),
            Command::Sleep(args) => args.until(RequestedOverride::Sleep),
            Command::Sync(args) => args.now(RequestedOverride::Sync),
            Command::Pause(args) => args.pause(),
            Command::Resume(args) => args.now(RequestedOverride::Resume),
            Command::Restore(args) => args.run(),
            Command::Dashboard(args) => args.run(),
            Command::Kinds(args) => args.run(),
            Command::Activator(args) => args.run(),
            Command::Sandbox(args) => args.run(),
            Command::Completions(args) => args.run(),
        }
    }
}

const COLOR: &str = "color";

/// Gives a subcommand `--color`.
fn with_color(subcommand: clap::Command) -> clap::Command {
    let flag = Arg::new(COLOR)
        .long(COLOR)
        .value_name("WHEN")
        .default_value("auto")
        .value_parser(EnumValueParser::<ColorChoice>::new())
        .help("When to use colour; auto is on a terminal, unless NO_COLOR is set")
        .help_heading(None);
    subcommand.arg(flag)
}

/// Leaves out of the help of `-h` what few people need, so that it fits a terminal. What starts `run`
/// is a manifest, whose writer wants all of it.
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

/// Lets each flag of a subcommand be repeated that takes no value, and in `run` every flag: what
/// starts it may add flags at the end. Elsewhere two values of which one does not count would be a
/// command that acts elsewhere than was meant.
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

/// The words to complete, where that is wanted: by `dayshift __complete`, or by the name under
/// which kubectl asks a plugin.
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
    Path::new(program).file_stem().is_some_and(|it| it == name)
}

/// Whether the program was called by kubectl, which finds `kubectl dayshift` by that name.
fn is_plugin(program: Option<&OsStr>) -> bool {
    program.is_some_and(|path| is_called(path, "kubectl-dayshift"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn every_flag_of_run_has_a_variable_and_other_commands_have_those_that_mean_the_same() {
        let command = with_variables(Program::command(), &[]);
        command.clone().debug_assert();
        let flags = |command: &clap::Command| -> HashMap<String, (Option<String>, String)> {
            let flags = command.get_arguments().filter(|it| it.get_long().is_some());
            let text = |flag: &Arg| {
                let variable = flag.get_env().map(|it| it.to_string_lossy().into_owned());
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

    #[test]
    fn under_cluster_help_has_the_flags_that_name_the_cluster() {
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
    fn a_flag_stands_under_the_same_heading_in_each_command() {
        let command = Program::command().mut_subcommands(with_color);
        let mut headings = HashMap::new();
        for subcommand in command.get_subcommands() {
            for flag in subcommand.get_arguments() {
                // They mean another thing in another command.
                let is_other = |it: &&str| ["dry-run", "for", "until"].contains(it);
                let Some(long) = flag.get_long().filter(|it| !is_other(it)) else {
                    continue;
                };
                let heading = flag.get_help_heading();
                let known = *headings.entry(long.to_owned()).or_insert(heading);
                assert_eq!(heading, known, "{} --{long}", subcommand.get_name());
            }
        }
    }

    #[test]
    fn only_the_terminal_breaks_the_lines_of_help() {
        // clap breaks them again where the terminal is narrower than somebody thought.
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
    fn kubectl_calls_it_by_another_name() {
        for (path, expected) in [
            ("/usr/bin/kubectl-dayshift", true),
            ("kubectl-dayshift.exe", true),
            ("/usr/bin/dayshift", false),
        ] {
            assert_eq!(is_plugin(Some(OsStr::new(path))), expected, "{path}");
        }
    }
}
