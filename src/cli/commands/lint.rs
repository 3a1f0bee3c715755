//! `dayshift lint`: errors and likely mistakes in the schedules of files, as text, JSON, GitHub workflow
//! commands, JUnit XML, or SARIF.

use std::{
    env,
    io::{self, Write},
    path::PathBuf,
};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use dayshift_cluster::clock::Clock;
use dayshift_manifest::{
    OpenError, OpenedFiles, STANDARD_INPUT, Severity, SourceFile,
    lint::{LintFinding, LintReport, LintRule, Linter},
};
use dayshift_text::counted;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::cli::{
    args::{
        kinds::{KindArgs, KindFiles},
        schedules::{InheritanceArgs, ScheduleArgs},
        targets::FileArgs,
        values::{one_namespace, time_flag},
    },
    outcome::{CommandError, print_result},
    output::{
        documents::{
            AnnotationEntry, ApiVersion, FindingEntry, LintDocument, ObjectEntry, PlaceEntry,
            Unread, write_document,
        },
        findings::{Fold, Region, printable_line, write_findings},
        messages::{note_nothing_scheduled, print_error},
        terminal::Style,
    },
    process::Exit,
    watched_files::NamedScheduleFile,
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

/// Writes the findings and a summary.
fn write_text(
    out: &mut impl Write,
    report: &LintReport,
    sources: &[SourceFile],
    style: Style,
) -> io::Result<()> {
    let fold = Fold {
        from: Severity::Info,
        hint: "--output json lists each",
    };
    write_findings(out, &report.findings, sources, Some(fold), style)?;
    writeln!(out, "{}", summary(report))
}

fn summary(report: &LintReport) -> String {
    let suppressed = match report.suppressed {
        0 => String::new(),
        suppressed => format!(" ({suppressed} suppressed)"),
    };
    let infos = match report.count(Severity::Info) {
        0 => String::new(),
        infos => format!(", {}", counted(infos, "info")),
    };
    format!(
        "{}, {}{infos}{suppressed} in {} of {}",
        counted(report.count(Severity::Error), "error"),
        counted(report.count(Severity::Warning), "warning"),
        counted(report.workloads, "workload"),
        counted(report.files, "file")
    )
}

fn json_document(
    report: &LintReport,
    sources: &[SourceFile],
    errors: &[OpenError],
) -> LintDocument {
    let finding = |finding: &LintFinding| {
        let (source, region) = Region::locate(finding, sources)?;
        Some(FindingEntry {
            rule: finding.rule.id().to_owned(),
            severity: finding.rule.severity().to_string(),
            message: finding.message.clone(),
            help: finding.help.clone(),
            place: PlaceEntry {
                file: source.name().to_owned(),
                line: region.line,
                column: region.column,
                end_line: region.line,
                end_column: region.end_column,
            },
            object: finding.object.as_ref().map(|object| ObjectEntry {
                kind: object.kind.to_string(),
                namespace: object.namespace.to_string(),
                name: object.name.to_string(),
            }),
            annotation: finding.quoted.as_ref().map(|quoted| AnnotationEntry {
                name: quoted.name.clone(),
                text: quoted.text.to_string(),
                start: quoted.span.start,
                end: quoted.span.end,
            }),
        })
    };
    LintDocument {
        api_version: ApiVersion::V1,
        findings: report.findings.iter().filter_map(finding).collect(),
        unread: errors.iter().map(Unread::from).collect(),
        files: report.files,
        workloads: report.workloads,
        errors: report.count(Severity::Error),
        warnings: report.count(Severity::Warning),
        infos: report.count(Severity::Info),
        suppressed: report.suppressed,
    }
}

/// Writes a workflow command for each finding, which GitHub shows beside the changed lines, and for
/// each unreadable file.
fn write_github(
    out: &mut impl Write,
    report: &LintReport,
    sources: &[SourceFile],
    errors: &[OpenError],
) -> io::Result<()> {
    for finding in &report.findings {
        let Some((source, region)) = Region::locate(finding, sources) else {
            continue;
        };
        let object = finding.object.as_ref();
        let object = object.map_or_else(String::new, |object| format!(" ({object})"));
        writeln!(
            out,
            "::{} title={},file={},line={},col={},endLine={},endColumn={}::{}",
            github_level(finding.rule.severity()),
            finding.rule,
            github_property(source.name()),
            region.line,
            region.column,
            region.line,
            region.end_column,
            github_message(&format!("{}\n{}{object}", finding.message, finding.help)),
        )?;
    }
    for error in errors {
        let text = github_message(&error.to_string());
        let file = github_property(error.name());
        writeln!(out, "::error title=unread,file={file}::{text}")?;
    }
    Ok(())
}

fn github_level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    }
}

/// Escapes as `@actions/core` does, after control characters are made visible.
fn github_message(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(printable_line).collect();
    lines.join("\n").replace('%', "%25").replace('\n', "%0A")
}

fn github_property(text: &str) -> String {
    github_message(text).replace(':', "%3A").replace(',', "%2C")
}

/// A suite for each file and a case for each finding, which most build servers read. A file without
/// findings is a passed case.
fn write_junit(
    out: &mut impl Write,
    report: &LintReport,
    sources: &[SourceFile],
    errors: &[OpenError],
) -> io::Result<()> {
    let infos = report.count(Severity::Info);
    let failures = report.findings.len() - infos;
    let is_in = |finding: &LintFinding, at: usize| {
        finding.place.as_ref().is_some_and(|place| place.0 == at)
    };
    let clean = |at: &usize| !report.findings.iter().any(|finding| is_in(finding, *at));
    let passed = (0..sources.len()).filter(clean).count();
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(
        out,
        "<testsuites name=\"dayshift lint\" tests=\"{}\" failures=\"{failures}\" errors=\"{}\">",
        failures + infos + passed + errors.len(),
        errors.len()
    )?;
    let mut findings = report.findings.iter().peekable();
    for (at, source) in sources.iter().enumerate() {
        let name = xml(source.name());
        let mut cases = Vec::new();
        let mut failures = 0;
        while let Some(finding) = findings.next_if(|finding| is_in(finding, at)) {
            let Some((_, region)) = Region::locate(finding, sources) else {
                continue;
            };
            let object = finding.object.as_ref();
            let object = xml(&object.map_or_else(String::new, ToString::to_string));
            let (rule, severity, line) = (finding.rule, finding.rule.severity(), region.line);
            let (message, help) = (xml(&finding.message), xml(&finding.help));
            let (open, close) = match severity {
                Severity::Info => ("<system-out>".to_owned(), "</system-out>"),
                Severity::Error | Severity::Warning => (
                    format!("<failure type=\"{severity}\" message=\"{message}\">"),
                    "</failure>",
                ),
            };
            failures += usize::from(severity != Severity::Info);
            cases.push(format!(
                "    <testcase classname=\"{name}\" name=\"{rule} {object} line {line}\">\n      \
                 {open}{name}:{line}:{}: {message}\n{help}{close}\n    </testcase>",
                region.column,
            ));
        }
        if cases.is_empty() {
            cases.push(format!(
                "    <testcase classname=\"{name}\" name=\"lint\"/>"
            ));
        }
        writeln!(
            out,
            "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{failures}\">",
            cases.len()
        )?;
        for case in cases {
            writeln!(out, "{case}")?;
        }
        writeln!(out, "  </testsuite>")?;
    }
    for error in errors {
        let (name, text) = (xml(error.name()), xml(&error.to_string()));
        writeln!(
            out,
            "  <testsuite name=\"{name}\" tests=\"1\" failures=\"0\" errors=\"1\">\n    \
             <testcase classname=\"{name}\" name=\"read\">\n      \
             <error message=\"{text}\"/>\n    </testcase>\n  </testsuite>"
        )?;
    }
    writeln!(out, "</testsuites>")
}

/// XML cannot represent most control characters, so they are made visible first.
fn xml(text: &str) -> String {
    printable_line(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

/// SARIF 2.1.0 for code scanning.
fn sarif_document(report: &LintReport, sources: &[SourceFile], errors: &[OpenError]) -> Value {
    let rule = |rule: &LintRule| {
        let mut document = json!({
            "id": rule.id(),
            "shortDescription": {"text": rule.summary()},
            "help": {"text": format!("{} docs/reference/lint.md#{rule} has examples.", rule.summary())},
            "defaultConfiguration": {"level": sarif_level(*rule)},
        });
        if let Some(uri) = help_uri(env!("CARGO_PKG_REPOSITORY"), *rule) {
            document["helpUri"] = json!(uri);
        }
        document
    };
    let result = |finding: &LintFinding| {
        let (source, region) = Region::locate(finding, sources)?;
        Some(json!({
            "ruleId": finding.rule.id(),
            "ruleIndex": LintRule::ALL.iter().position(|rule| *rule == finding.rule),
            "level": sarif_level(finding.rule),
            "message": {"text": format!("{}; {}", finding.message, finding.help)},
            "locations": [{
                "physicalLocation": {
                    "artifactLocation": artifact(source.name()),
                    "region": {
                        "startLine": region.line,
                        "startColumn": region.column,
                        "endLine": region.line,
                        "endColumn": region.end_column,
                    },
                },
                "logicalLocations": finding.object.iter().map(|object| json!({
                    "fullyQualifiedName": object.to_string(), "kind": "object",
                })).collect::<Vec<_>>(),
            }],
        }))
    };
    let notification = |error: &OpenError| {
        json!({
            "level": "error",
            "message": {"text": error.to_string()},
            "locations": [{"physicalLocation": {"artifactLocation": artifact(error.name())}}],
        })
    };
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "dayshift",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": LintRule::ALL.iter().map(rule).collect::<Vec<_>>(),
            }},
            "invocations": [{
                "executionSuccessful": errors.is_empty(),
                "toolExecutionNotifications": errors.iter().map(notification).collect::<Vec<_>>(),
            }],
            "originalUriBaseIds": base(),
            "columnKind": "unicodeCodePoints",
            "results": report.findings.iter().filter_map(result).collect::<Vec<_>>(),
        }],
    })
}

const fn sarif_level(rule: LintRule) -> &'static str {
    match rule.severity() {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// The documentation of the rule in this version, or `None` if `Cargo.toml` names no repository.
/// SARIF requires an absolute URI (3.49.12).
fn help_uri(repository: &str, rule: LintRule) -> Option<String> {
    let version = env!("CARGO_PKG_VERSION");
    let repository = Some(repository.trim_end_matches('/')).filter(|url| !url.is_empty())?;
    Some(format!(
        "{repository}/blob/v{version}/docs/reference/lint.md#{rule}"
    ))
}

/// The name that SARIF recommends for the root directory of the sources (3.14.14, NOTE 2).
const BASE: &str = "%SRCROOT%";

/// Everything except unreserved characters (RFC 3986, 2.3) and the slash.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

/// The location of a file: a `file` URI for an absolute path, or a URI relative to the working
/// directory (3.4.4). Standard input has a description instead.
fn artifact(name: &str) -> Value {
    if name == STANDARD_INPUT {
        json!({"description": {"text": STANDARD_INPUT}})
    } else if name.starts_with('/') {
        json!({"uri": format!("file://{}", uri(name))})
    } else {
        json!({"uri": uri(name), "uriBaseId": BASE})
    }
}

/// The base of relative paths (3.14.14). GitHub ignores it and uses the root of the repository.
fn base() -> Value {
    let directory = env::current_dir().unwrap_or_default();
    let directory = uri(&directory.to_string_lossy());
    let directory = directory.trim_end_matches('/');
    json!({BASE: {"uri": format!("file://{directory}/")}})
}

/// Percent-encodes a path (RFC 3986).
fn uri(path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    utf8_percent_encode(path, ESCAPED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_text_in_a_workflow_command() {
        assert_eq!(github_message("100%\n::error::x"), "100%25%0A::error::x");
        assert_eq!(github_property("a:b,c"), "a%3Ab%2Cc");
    }

    #[test]
    fn links_a_rule_to_the_repository_if_there_is_one() {
        assert_eq!(help_uri("", LintRule::BadTimes), None);
        let expected = concat!(
            "https://git.example.com/dayshift/blob/v",
            env!("CARGO_PKG_VERSION"),
            "/docs/reference/lint.md#bad-times"
        );
        for repository in [
            "https://git.example.com/dayshift",
            "https://git.example.com/dayshift/",
        ] {
            assert_eq!(
                help_uri(repository, LintRule::BadTimes).as_deref(),
                Some(expected)
            );
        }
    }

    #[test]
    fn converts_a_path_to_a_uri() {
        assert_eq!(uri("./a b/é.yaml"), "a%20b/%C3%A9.yaml");
        for (name, expected) in [
            (
                "a:b.yaml",
                json!({"uri": "a%3Ab.yaml", "uriBaseId": "%SRCROOT%"}),
            ),
            ("/a b.yaml", json!({"uri": "file:///a%20b.yaml"})),
            (
                "../a.yaml",
                json!({"uri": "../a.yaml", "uriBaseId": "%SRCROOT%"}),
            ),
            (
                "standard input",
                json!({"description": {"text": "standard input"}}),
            ),
        ] {
            assert_eq!(artifact(name), expected);
        }
    }
}
