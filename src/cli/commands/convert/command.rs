//! `dayshift convert`: other tools' schedules in dayshift's words.

use std::io::{self, BufWriter, IsTerminal, Write};

use clap::builder::BoolishValueParser;
use dayshift_cluster::clock::Clock;
use dayshift_manifest::{
    OpenedFiles, Severity,
    convert::{ChangeTarget, Conversion, Converter},
};
use dayshift_operations::LiveSchedules;

use super::{
    in_place::replace,
    input::{Input, InputArgs, live_query},
};
use crate::cli::{
    args::{
        connection::ConnectionArgs,
        downscaler_args::DownscalerArgs,
        files::FileArgs,
        schedule_args::{PrefixArgs, ZoneinfoArgs},
        targets::{ScopeArgs, TargetArgs},
    },
    exit::{Exit, wrong_usage},
    output::{
        convert::{commands::command, documents, text},
        messages::{print_error, print_line, print_warning},
        terminal,
    },
};

/// Convert the schedules of other tools: GoKubeDownscaler, py-kube-downscaler, kube-green,
/// kubernetes-cronhpa-controller and KEDA's cron trigger
///
/// Files are written to standard output with dayshift's annotations in place of the other tool's;
/// comments, order and quotes stay. For live workloads it prints the kubectl commands that make
/// the change: read them, then pipe them into sh. A saved count (downscaler/original-replicas) becomes
/// the label dayshift/saved-replicas in the same patch. What has no equivalent stays as it is, and a
/// warning on standard error says why. docs/guides/migrate.md has every rule, and the
/// steps of a move.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("namespace", |it| it.help(
        "The namespace of live workloads [default: the namespace of the context], or of objects in \
         files that name none [default: default]; with flags of the other tool, the Namespace that \
         gets them"
    )),
    mut_arg("all_namespaces", |it| it.help("All live workloads, in all namespaces")),
    mut_arg("selector", |it| it.help("Live workloads by a label selector, such as team=web,tier!=db")),
    after_help = "\
Examples:
  dayshift convert web.yaml                 the file with dayshift's annotations
  dayshift convert --check manifests/       only list what is to be converted
  dayshift convert -i manifests/            change the files
  helm template chart | dayshift convert -  standard input
  dayshift convert -A                       the commands for all that is live
  dayshift convert deploy/web -n dev | sh   do it for one workload
  dayshift convert --default-uptime \"Mon-Fri 07:30-20:30 CET\" -n team-a
                                            a flag of theirs, for a Namespace

Exit status: 0 done, 1 something has no equivalent (with --check: or is to be converted), 2 wrong usage, \
3 a file or the cluster cannot be read."
)]
pub(crate) struct ConvertArgs {
    /// Files of YAML or JSON, folders of such files, - for standard input; or live workloads, such as
    /// deploy/web, and namespaces, such as ns/team. A word that could name a workload names one: write
    /// ./deploy/web for a folder
    #[arg(value_name = "FILE|WORKLOAD")]
    files: Vec<String>,

    #[command(flatten)]
    given: FileArgs,

    /// Write the changed files in place
    #[arg(short, long, value_parser = BoolishValueParser::new())]
    in_place: bool,

    /// Write nothing; list what is to be converted, and each thing that is said; the exit status is 1 if
    /// there is anything
    #[arg(long, conflicts_with = "in_place", value_parser = BoolishValueParser::new())]
    check: bool,

    /// Leave the other tool's annotations beside dayshift's; then both act
    #[arg(long, value_parser = BoolishValueParser::new())]
    keep: bool,

    #[command(flatten)]
    scope: ScopeArgs,

    #[command(flatten)]
    prefix: PrefixArgs,

    #[command(flatten)]
    downscaler: DownscalerArgs,

    #[command(flatten)]
    zoneinfo: ZoneinfoArgs,

    #[command(flatten)]
    connection: ConnectionArgs,
}

impl ConvertArgs {
    pub(crate) fn run(self) -> Exit {
        let input = InputArgs {
            words: &self.files,
            given: &self.given,
            scope: &self.scope,
            in_place: self.in_place,
            has_flags: !self.downscaler.annotations().is_empty(),
        };
        let input = match input.input() {
            Ok(input) => input,
            Err(error) => return wrong_usage(&error),
        };
        let namespaces = &self.scope.namespace;
        let mut converter = Converter {
            now: Clock::system().now(),
            prefix: self.prefix.annotation_prefix.clone(),
            namespace: namespaces.first().cloned().unwrap_or("default".to_owned()),
            defaults: self.downscaler.defaults(),
            flags: self.downscaler.annotations(),
            flagged: Vec::new(),
            keeps: self.keep,
        };
        match input {
            Input::Files(files) => {
                let opened = self.given.open(&files);
                let conversion = converter.convert(&opened.sources);
                self.finish_files(&opened, &conversion)
            }
            Input::Live(targets, namespaces) => self.live(&converter, &targets, &namespaces),
            Input::Flags => {
                converter.flagged.clone_from(namespaces);
                let conversion = converter.convert(&[]);
                self.finish_live(&conversion, &[])
            }
        }
    }

    fn live(&self, converter: &Converter, targets: &TargetArgs, namespaces: &[String]) -> Exit {
        let targets = match targets.targets() {
            Ok(targets) => targets,
            Err(error) => return wrong_usage(&error),
        };
        let read = self
            .connection
            .clone()
            .on_cluster("convert", async |client| {
                let query = targets.query(client.default_namespace());
                let is_only_namespaces = !namespaces.is_empty() && !targets.are_chosen();
                LiveSchedules::read(&client, &live_query(&query, namespaces, is_only_namespaces))
                    .await
            });
        let live = match read {
            Ok(live) => live,
            Err(error) => return error.report(),
        };
        let mut conversion = converter.convert(&live.sources);
        // What a Namespace schedules is excluded, and has its saved count, before that.
        conversion.changes.sort_by_key(
            |change| matches!(&change.target, ChangeTarget::Object(object) if object.kind == "Namespace"),
        );
        self.finish_live(&conversion, &live.problems)
    }

    fn finish_live(&self, conversion: &Conversion, problems: &[String]) -> Exit {
        for problem in problems {
            print_warning(problem);
        }
        // Nobody can look into these files.
        let mut shown = conversion.clone();
        for finding in &mut shown.findings {
            finding.place = None;
        }
        for command in conversion.changes.iter().filter_map(command) {
            print_line(&command);
        }
        let stderr = io::stderr();
        let style = terminal::style(&stderr);
        // Where nobody reads, nobody misses it.
        let _ = text::write_findings(&mut stderr.lock(), &shown, &[], self.check, style);
        if problems.is_empty() {
            self.exit(conversion)
        } else {
            Exit::CouldNotRun
        }
    }

    fn finish_files(&self, opened: &OpenedFiles, conversion: &Conversion) -> Exit {
        opened.errors.iter().for_each(print_error);
        if let Err(error) = self.write_files(opened, conversion)
            && error.kind() != io::ErrorKind::BrokenPipe
        {
            return cannot_write(&error);
        }
        let stderr = io::stderr();
        let style = terminal::style(&stderr);
        // Where nobody reads, nobody misses it.
        let (mut stderr, sources) = (stderr.lock(), &opened.sources);
        let _ = text::write_findings(&mut stderr, conversion, sources, self.check, style);
        if opened.errors.is_empty() && conversion.count(Severity::Error) == 0 {
            self.exit(conversion)
        } else {
            Exit::CouldNotRun
        }
    }

    fn exit(&self, conversion: &Conversion) -> Exit {
        let is_to_do = self.check && !conversion.changes.is_empty();
        if is_to_do || conversion.count(Severity::Warning) > 0 {
            Exit::Problems
        } else {
            Exit::Done
        }
    }

    fn write_files(&self, opened: &OpenedFiles, conversion: &Conversion) -> io::Result<()> {
        let sources = &opened.sources;
        if self.in_place {
            for (source, text) in sources.iter().zip(&conversion.texts) {
                if let Some(text) = text {
                    replace(source.path(), text)?;
                }
            }
        }
        let stdout = io::stdout();
        let is_terminal = stdout.is_terminal();
        let style = terminal::style(&stdout);
        let mut out = BufWriter::new(stdout.lock());
        if self.check {
            text::write_changes(&mut out, conversion, sources, style)?;
        } else if !self.in_place {
            documents::write(&mut out, sources, &conversion.texts, is_terminal)?;
        }
        out.flush()
    }
}

fn cannot_write(error: &io::Error) -> Exit {
    print_error(&format!("cannot write: {error}"));
    Exit::CouldNotRun
}
