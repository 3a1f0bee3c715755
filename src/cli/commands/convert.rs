//! `dayshift convert`: other tools' schedules in dayshift's words.

use std::{
    fs,
    io::{self, BufWriter, IsTerminal, Write},
    path::{Path, PathBuf},
};

use clap::{builder::BoolishValueParser, error::ErrorKind};

use crate::{
    cli::{
        args::{
            connection::ConnectionArgs, downscaler_args::DownscalerArgs, exclude::ExcludeArgs,
            kind_args::KindArgs, selector::selector, targets::TargetArgs,
            value_parsers::one_namespace,
        },
        exit::{Exit, wrong_usage},
        output::{
            convert::{commands::command, documents, json, text},
            messages::{print_error, print_line, print_warning},
            terminal,
        },
    },
    clock::Clock,
    cluster::Query,
    convert::{Conversion, Converter, Severity, Target},
    manifest::{OpenError, Opened, Source},
    operations::{LiveQuery, LiveSchedules},
    text::{TerminalSafe, quote},
    workload::Prefix,
};

/// Convert the schedules of other tools: GoKubeDownscaler, py-kube-downscaler, kube-green,
/// kubernetes-cronhpa-controller and KEDA's cron trigger
///
/// Files are written to standard output with dayshift's annotations in place of the other tool's;
/// comments, order and quotes stay. Of live objects the kubectl commands are printed that make the
/// change: read them, then pipe them into sh. A saved count (downscaler/original-replicas) becomes
/// the label dayshift/saved-replicas in the same patch. What has no equal stays as it is, and a
/// warning on standard error says why. docs/migrate.md has every rule, and an hour's move.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dayshift convert web.yaml                     the file with dayshift's annotations
  dayshift convert --check manifests/           only tell what is to be converted
  dayshift convert -i manifests/                change the files
  helm template chart | dayshift convert -      standard input
  dayshift convert -A                           the commands for all that is live
  dayshift convert deploy/web -n dev | sh       do it for one Deployment
  dayshift convert --default-uptime \"Mon-Fri 07:30-20:30 CET\" -n team-a
                                                a flag of the other tool, for a Namespace

Exit status: 0 done, 1 something has no equal (with --check: or is to be converted), 2 wrong usage,
3 a file or the cluster cannot be read.")]
pub(crate) struct ConvertArgs {
    /// Files of YAML or JSON, folders of such files, - for standard input; or live workloads, such as
    /// deploy/web, and namespaces, such as ns/team
    #[arg(value_name = "FILE|WORKLOAD")]
    files: Vec<String>,

    /// A file or folder, as in kubectl; repeatable
    #[arg(short, long, value_name = "FILE")]
    file: Vec<PathBuf>,

    #[command(flatten)]
    exclude: ExcludeArgs,

    /// Write the changed files in place
    #[arg(short, long, value_parser = BoolishValueParser::new())]
    in_place: bool,

    /// Write nothing; list what is to be converted, and end with 1 if there is anything
    #[arg(long, conflicts_with = "in_place", value_parser = BoolishValueParser::new())]
    check: bool,

    /// Leave the other tool's annotations beside dayshift's; then both act
    #[arg(long, value_parser = BoolishValueParser::new())]
    keep: bool,

    /// In place of the files or commands, a report for other programs
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<Output>,

    /// The namespace: of live objects [default: that of the context], of files for those without one
    /// [default: default]; with the flags of the other tool, the Namespace they are for
    #[arg(
        short,
        long,
        value_name = "NAME",
        value_parser = one_namespace
    )]
    namespace: Option<String>,

    /// All that is live, in all namespaces
    #[arg(short = 'A', long, value_parser = BoolishValueParser::new())]
    all_namespaces: bool,

    /// Live workloads by a label selector, such as `team=web,tier!=db`
    #[arg(short = 'l', long, value_name = "SELECTOR", value_parser = selector)]
    selector: Option<String>,

    /// The prefix of annotations and labels, before the slash
    #[arg(
        long,
        value_name = "PREFIX",
        default_value = "dayshift",
        value_parser = Prefix::parse
    )]
    annotation_prefix: Prefix,

    #[command(flatten)]
    downscaler: DownscalerArgs,

    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    /// Changes, commands and findings
    Json,
}

/// Where the objects are that are converted.
#[derive(Debug)]
enum Input {
    Files(Vec<PathBuf>),
    Live(Box<TargetArgs>, Vec<String>),
    /// None: the flags alone.
    Flags,
}

impl ConvertArgs {
    pub(crate) fn run(self) -> Exit {
        let input = match self.input() {
            Ok(input) => input,
            Err(error) => return wrong_usage(&error),
        };
        let mut converter = Converter {
            now: Clock::system().now(),
            prefix: self.annotation_prefix.clone(),
            namespace: self
                .namespace
                .clone()
                .unwrap_or_else(|| "default".to_owned()),
            defaults: self.downscaler.defaults(),
            flags: self.downscaler.annotations(),
            flagged: Vec::new(),
            keeps: self.keep,
        };
        match input {
            Input::Files(files) => {
                let opened = self.exclude.open(&files);
                let conversion = converter.convert(&opened.sources);
                self.finish_files(&opened, &conversion)
            }
            Input::Live(targets, namespaces) => self.live(&converter, &targets, &namespaces),
            Input::Flags => {
                converter.flagged = self.namespace.clone().into_iter().collect();
                let conversion = converter.convert(&[]);
                self.finish_live(&[], &conversion, &[])
            }
        }
    }

    fn input(&self) -> Result<Input, clap::Error> {
        let usage = |message: &str| {
            Err(clap::Error::raw(
                ErrorKind::ValueValidation,
                format!("{message}\n"),
            ))
        };
        let (files, words): (Vec<_>, Vec<_>) =
            self.files.iter().cloned().partition(|it| is_path(it));
        let is_live = !words.is_empty() || self.all_namespaces || self.selector.is_some();
        let files: Vec<_> = files
            .into_iter()
            .map(PathBuf::from)
            .chain(self.file.iter().cloned())
            .collect();
        if is_live && !files.is_empty() {
            return usage(
                "give either files or live objects: FILE…, or for example deploy/web, --selector or --all-namespaces",
            );
        }
        if is_live && self.in_place {
            return usage("--in-place changes files; for live objects, pipe the commands into sh");
        }
        if self.in_place && files.iter().any(|it| it == Path::new("-")) {
            return usage("standard input cannot be changed in place; leave --in-place out");
        }
        if !files.is_empty() {
            return Ok(Input::Files(files));
        }
        let has_flags = !self.downscaler.annotations().is_empty();
        if !is_live && has_flags {
            return match self.namespace {
                Some(_) => Ok(Input::Flags),
                None => {
                    usage("say which Namespace the flags are for: -n team-a; or give files, or -A")
                }
            };
        }
        if !is_live && self.namespace.is_none() {
            return usage(
                "say what to convert: a file, - for standard input, deploy/web, or -A; see dayshift convert --help",
            );
        }
        let namespace_of = |word: &String| {
            let (kind, name) = word.split_once('/')?;
            matches!(kind, "ns" | "namespace" | "namespaces").then(|| name.to_owned())
        };
        let namespaces: Vec<_> = words.iter().filter_map(namespace_of).collect();
        if let Some(name) = namespaces.iter().find(|it| one_namespace(it).is_err()) {
            return usage(&format!("`{}` is not the name of a namespace", quote(name)));
        }
        let targets = TargetArgs {
            deployments: words
                .into_iter()
                .filter(|it| namespace_of(it).is_none())
                .collect(),
            namespace: self.namespace.clone(),
            all_namespaces: self.all_namespaces,
            selector: self.selector.clone(),
            kinds: KindArgs::default(),
        };
        targets.targets()?;
        Ok(Input::Live(Box::new(targets), namespaces))
    }

    fn live(&self, converter: &Converter, targets: &TargetArgs, namespaces: &[String]) -> Exit {
        let targets = match targets.targets() {
            Ok(targets) => targets,
            Err(error) => return wrong_usage(&error),
        };
        let read = self.connection.clone().on_cluster(async |client| {
            let query = targets.query(client.default_namespace());
            let is_only_namespaces = !namespaces.is_empty() && !targets.are_chosen();
            LiveSchedules::read(&client, &live_query(query, namespaces, is_only_namespaces)).await
        });
        let live = match read {
            Ok(live) => live,
            Err(error) => return error.report(),
        };
        let mut conversion = converter.convert(&live.sources);
        // What a Namespace schedules is excluded, and has its saved count, before that.
        conversion.changes.sort_by_key(
            |change| matches!(&change.target, Target::Object(object) if object.kind == "Namespace"),
        );
        self.finish_live(&live.sources, &conversion, &live.problems)
    }

    fn finish_live(
        &self,
        sources: &[Source],
        conversion: &Conversion,
        problems: &[String],
    ) -> Exit {
        for problem in problems {
            print_warning(problem);
        }
        // Nobody can look into these files.
        let mut shown = conversion.clone();
        for finding in &mut shown.findings {
            finding.place = None;
        }
        if self.output == Some(Output::Json) {
            if let Err(error) = self.report(&shown, sources, &[]) {
                return cannot_write(&error);
            }
        } else {
            for change in &conversion.changes {
                print_line(&command(change));
            }
        }
        let stderr = io::stderr();
        let style = terminal::style(&stderr);
        // Where nobody reads, nobody misses it.
        let _ = text::write_findings(&mut stderr.lock(), &shown, &[], style);
        if problems.is_empty() {
            self.exit(conversion)
        } else {
            Exit::CouldNotRun
        }
    }

    fn finish_files(&self, opened: &Opened, conversion: &Conversion) -> Exit {
        opened.errors.iter().for_each(print_error);
        if let Err(error) = self.write_files(opened, conversion)
            && error.kind() != io::ErrorKind::BrokenPipe
        {
            return cannot_write(&error);
        }
        let stderr = io::stderr();
        let style = terminal::style(&stderr);
        // Where nobody reads, nobody misses it.
        let _ = text::write_findings(&mut stderr.lock(), conversion, &opened.sources, style);
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

    fn write_files(&self, opened: &Opened, conversion: &Conversion) -> io::Result<()> {
        let sources = &opened.sources;
        if self.in_place {
            for (source, text) in sources.iter().zip(&conversion.texts) {
                if let Some(text) = text {
                    replace(Path::new(source.name()), text)?;
                }
            }
        }
        if self.output == Some(Output::Json) {
            return self.report(conversion, sources, &opened.errors);
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

    fn report(
        &self,
        conversion: &Conversion,
        sources: &[Source],
        errors: &[OpenError],
    ) -> io::Result<()> {
        let mut out = BufWriter::new(io::stdout().lock());
        let document = json::document(conversion, sources, errors);
        serde_json::to_writer_pretty(TerminalSafe(&mut out), &document)?;
        writeln!(out)?;
        out.flush()
    }
}

fn cannot_write(error: &io::Error) -> Exit {
    print_error(&format!("cannot write: {error}"));
    Exit::CouldNotRun
}

/// Writes a file anew: all of it or nothing.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    // What a link leads to is changed, not the link.
    let path = fs::canonicalize(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.dayshift"));
    let permissions = fs::metadata(&path)?.permissions();
    let written = fs::write(&beside, text)
        .and_then(|()| fs::set_permissions(&beside, permissions))
        .and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        // The first error says more.
        let _ = fs::remove_file(&beside);
    }
    written.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

/// Whether a word is a file or a folder and not a live object.
fn is_path(word: &str) -> bool {
    let ends = [".yaml", ".yml", ".json", "/"];
    let begins = ["./", "../", "/", "~/"];
    word == "-"
        || ends.iter().any(|it| word.ends_with(it))
        || begins.iter().any(|it| word.starts_with(it))
        || Path::new(word).exists()
}

fn live_query(query: Query, namespaces: &[String], is_only_namespaces: bool) -> LiveQuery {
    let version = |name: &str| ("v1".to_owned(), "namespaces".to_owned(), name.to_owned());
    let namespaces = namespaces.iter().map(|it| version(it));
    match query {
        Query::Named { namespace, names } => {
            let names = names.into_iter().map(|(kind, name)| {
                (
                    kind.api_version().to_owned(),
                    kind.plural().to_owned(),
                    name,
                )
            });
            LiveQuery::Named {
                namespace,
                names: names.chain(namespaces).collect(),
            }
        }
        Query::All { namespace, .. } if is_only_namespaces => LiveQuery::Named {
            namespace: namespace.unwrap_or_default(),
            names: namespaces.collect(),
        },
        Query::All {
            namespace,
            selector,
            ..
        } => LiveQuery::All {
            namespace,
            selector,
        },
    }
}
