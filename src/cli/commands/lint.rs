//! `dayshift lint`: errors and likely mistakes in the schedules of files.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use dayshift_cluster::clock::Clock;
use dayshift_manifest::{
    OpenedFiles, Severity,
    lint::{LintRule, Linter},
};

use crate::cli::{
    args::{
        files::FileArgs,
        kinds::{KindArgs, KindFiles},
        schedules::{InheritanceArgs, ScheduleArgs},
        values::{one_namespace, time_flag},
    },
    named_schedule_file::NamedScheduleFile,
    outcome::{CommandError, print_result},
    output::{
        documents::write_document,
        lint::{json_document, sarif_document, write_github, write_junit, write_text},
        messages::{note_nothing_scheduled, print_error},
    },
    process::Exit,
};

/// Find errors and likely mistakes in the schedules of files
///
/// No cluster is needed. An annotation suppresses a warning on its object and gives the reason:
/// lint.dayshift/start-without-stop: "stopped manually".
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A time T is local time of --timezone, such as \"2026-11-23\" or \"2026-11-23 09:00\", or RFC 3339, \
such as 2026-11-23T09:00:00+09:00.
Exit status: 0 no finding as severe as --fail-on, 1 findings, 2 wrong usage, \
3 a file cannot be read.")]
pub(crate) struct LintArgs {
    /// Files of YAML or JSON, directories of such files, or - for standard input
    #[arg(value_name = "FILE", required_unless_present_any = ["file", "kind_file"])]
    files: Vec<PathBuf>,

    #[command(flatten)]
    given: FileArgs,

    /// The first day of the year that is checked [default: now]
    #[arg(long, value_name = "T")]
    from: Option<String>,

    /// The output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: LintFormat,

    /// The lowest severity that is shown: error, warning or info
    #[arg(
        long,
        value_name = "LEVEL",
        default_value = "info",
        value_parser = severity()
    )]
    min_severity: Severity,

    /// The lowest severity for which the exit status is 1: error, warning or info. With info, a
    /// directory of charts that lint cannot render fails too [default: warning, or --min-severity
    /// if that is error]
    #[arg(long, value_name = "LEVEL", value_parser = severity())]
    fail_on: Option<Severity>,

    /// A rule to check besides the default ones; repeatable
    #[arg(
        long,
        value_name = "RULE",
        value_delimiter = ',',
        value_parser = rule(LintRule::is_optional)
    )]
    enable: Vec<LintRule>,

    /// A rule not to check, such as either-day; repeatable, or several between commas
    #[arg(
        long,
        value_name = "RULE",
        value_delimiter = ',',
        value_parser = rule(|_| true),
        hide_possible_values = true
    )]
    disable: Vec<LintRule>,

    /// The namespace of objects without one
    #[arg(
        short,
        long,
        value_name = "NAME",
        default_value = "default",
        value_parser = one_namespace,
        help_heading = "Which workloads"
    )]
    namespace: String,

    #[command(flatten)]
    kinds: KindArgs,

    #[command(flatten)]
    schedules: ScheduleArgs,

    #[command(flatten)]
    inheritance: InheritanceArgs,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum LintFormat {
    /// Lines and carets, as in rustc
    Text,
    /// For other programs
    Json,
    /// Workflow commands of GitHub Actions
    Github,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// XML for build servers
    Junit,
}

fn severity() -> impl TypedValueParser<Value = Severity> {
    PossibleValuesParser::new(Severity::ALL.map(Severity::name))
        .map(|name| Severity::from_name(&name).unwrap_or(Severity::Info))
}

fn rule(is_possible: fn(LintRule) -> bool) -> impl TypedValueParser<Value = LintRule> {
    let rules = LintRule::ALL.iter().filter(|rule| is_possible(**rule));
    PossibleValuesParser::new(rules.map(|rule| rule.id()))
        .map(|name| LintRule::from_id(&name).unwrap_or(LintRule::Syntax))
}

impl LintArgs {
    /// The problems of `--kind-file` are reported as findings.
    pub(crate) fn run(self, kind_files: &KindFiles) -> Result<Exit, CommandError> {
        self.schedules.warn_of_unreadable();
        let file = self
            .inheritance
            .schedule_file()
            .map(NamedScheduleFile::file);
        let (file, unreadable) = match file.transpose() {
            Ok(file) => (file, None),
            Err(error) => (None, Some(error)),
        };
        let from = match &self.from {
            Some(text) => time_flag("from", text, self.schedules.zone())?,
            None => Clock::system().now(),
        };
        let mut opened = self.given.open(&self.given.all(&self.files));
        let linter = Linter {
            from,
            context: self.inheritance.context(&self.schedules, kind_files),
            prefix: self.schedules.prefix.annotation_prefix.clone(),
            namespace: self.namespace.clone(),
            kinds: self.kinds.kinds(kind_files),
            inheritance: self.inheritance.inheritance(),
            schedules: file.cloned(),
        };
        let mut report = linter.lint(&opened.sources);
        // Its findings follow those of the other files.
        let file = file.map(|file| file.source().clone());
        opened.sources.extend(file);
        let skipped = linter.check_skipped(&opened.skipped);
        report.findings.extend(skipped);
        let is_checked = |rule: LintRule| {
            (!rule.is_optional() || self.enable.contains(&rule)) && !self.disable.contains(&rule)
        };
        report.findings.retain(|finding| is_checked(finding.rule));
        // Findings that are not shown do not fail a build, unless `--fail-on` is set.
        let least = Severity::Warning.min(self.min_severity);
        let fails = report.is_as_bad_as(self.fail_on.unwrap_or(least));
        report.keep(self.min_severity);
        opened.errors.iter().for_each(print_error);
        unreadable.iter().for_each(print_error);
        kind_files.problems.iter().for_each(print_error);
        if report.has_no_schedule && report.files > 0 && opened.errors.is_empty() {
            note_nothing_scheduled();
        }
        let exit = match !opened.errors.is_empty() || unreadable.is_some() {
            true => Exit::CouldNotRun,
            false if fails || !kind_files.problems.is_empty() => Exit::Problems,
            false => Exit::Done,
        };
        let OpenedFiles {
            sources, errors, ..
        } = &opened;
        print_result(|out, style| match self.output {
            LintFormat::Text => write_text(out, &report, sources, style),
            LintFormat::Github => write_github(out, &report, sources, errors),
            LintFormat::Junit => write_junit(out, &report, sources, errors),
            LintFormat::Json => write_document(out, &json_document(&report, sources, errors)),
            LintFormat::Sarif => write_document(out, &sarif_document(&report, sources, errors)),
        })?;
        Ok(exit)
    }
}
