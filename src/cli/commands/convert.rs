//! `dayshift convert`: rewrites the schedules of other tools as dayshift annotations, in files or as kubectl
//! commands, and lists findings and changes.

use std::{
    fs,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
};

use dayshift_cluster::clock::Clock;
use dayshift_manifest::{
    OpenedFiles, Severity, SourceFile,
    convert::{ChangeTarget, Conversion, Converter, ObjectChange, SpanDefaults},
};
use dayshift_operations::LiveSchedules;
use dayshift_schedule::Zone;
use dayshift_text::{counted, printable, quote, shell_word};
use dayshift_workload::{Key, Prefix};
use serde_json::{Map, Value, json};
use tempfile::NamedTempFile;

use crate::cli::{
    args::{
        connection::ConnectionArgs,
        kinds::{KindArgs, KindFiles},
        schedules::{PrefixArgs, ZoneinfoArgs},
        targets::{
            FileArgs, ScopeArgs, TargetArgs, Targets, files_and_names, parse_namespace_target,
        },
        values::one_namespace,
    },
    outcome::{CommandError, print_result},
    output::{
        findings::{Fold, printable_line, write_findings},
        messages::{print_error, print_line, print_note, print_warning},
        terminal::{self, Paint, Style},
    },
    process::{Exit, usage_error},
};

/// Convert the schedules of other tools: GoKubeDownscaler, py-kube-downscaler, kube-green,
/// kubernetes-cronhpa-controller and KEDA's cron trigger
///
/// Files are written to standard output with dayshift's annotations in place of the other tool's;
/// comments, order and quotes stay. For live workloads it prints the kubectl commands that make
/// the change: read them, then pipe them into sh. A saved count (downscaler/original-replicas) becomes
/// the label dayshift/saved-replicas in the same patch. Settings without an equivalent stay as they are, and a
/// warning on standard error gives the reason. docs/guides/migrate.md has every rule and the steps of a
/// migration.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("namespace", |arg| arg.help(
        "The namespace of live workloads [default: the namespace of the context], or of objects in \
         files that name none [default: default]; with flags of the other tool, the Namespace that \
         gets them"
    )),
    mut_arg("all_namespaces", |arg| arg.help("All live workloads, in all namespaces")),
    mut_arg("selector", |arg| arg.help("Live workloads by a label selector, such as team=web,tier!=db")),
    after_help = "\
Examples:
  dayshift convert web.yaml                 the file with dayshift's annotations
  dayshift convert --check manifests/       only list the objects to convert
  dayshift convert -i manifests/            change the files
  helm template chart | dayshift convert -  standard input
  dayshift convert -A                       the commands for all live objects
  dayshift convert deploy/web -n dev | sh   convert one live workload
  dayshift convert --default-uptime \"Mon-Fri 07:30-20:30 CET\" -n team-a
                                            another tool's flag for a Namespace

Exit status: 0 done, 1 something has no equivalent (with --check: or can be converted), 2 wrong usage, \
3 a file or the cluster cannot be read."
)]
pub(crate) struct ConvertArgs {
    /// Files of YAML or JSON, directories of such files, - for standard input; or live workloads, such as
    /// deploy/web, and namespaces, such as ns/team. A word that could name a workload names one: write
    /// ./deploy/web for a directory
    #[arg(value_name = "FILE|WORKLOAD")]
    files: Vec<String>,

    #[command(flatten)]
    given: FileArgs,

    /// Write the changed files in place
    #[arg(short, long)]
    in_place: bool,

    /// Write nothing, and list the objects to convert and all findings; the exit status is 1 if
    /// there are any
    #[arg(long, conflicts_with = "in_place")]
    check: bool,

    /// Keep the other tool's annotations beside dayshift's; both tools then act
    #[arg(long)]
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
    pub(crate) fn run(self, kind_files: &KindFiles) -> Result<Exit, CommandError> {
        let input = self.input(kind_files)?;
        let namespaces = &self.scope.namespace;
        let mut converter = Converter {
            now: Clock::system().now(),
            prefix: self.prefix.annotation_prefix.clone(),
            namespace: namespaces.first().cloned().unwrap_or("default".to_owned()),
            defaults: SpanDefaults {
                tzdata: self.zoneinfo.tzdata(),
                ..self.downscaler.defaults()
            },
            flags: self.downscaler.annotations(),
            flagged: Vec::new(),
            keeps: self.keep,
        };
        match input {
            ConvertInput::Files(files) => {
                let opened = self.given.open(&files);
                let mut conversion = converter.convert(&opened.sources);
                let skipped = converter.check_skipped(&opened.skipped);
                conversion.findings.extend(skipped);
                self.finish_files(&opened, &conversion)
            }
            ConvertInput::Live(targets, namespaces) => {
                let done = self.live(&converter, &targets, &namespaces);
                let exit = done.unwrap_or_else(|error| error.report());
                if let ([word], Exit::CouldNotRun) = (&*self.files, exit)
                    && !word.contains('/')
                    && !Path::new(word).exists()
                {
                    let word = quote(word);
                    print_note(&format!(
                        "there is no file `{word}`, so it was taken as the name of a workload"
                    ));
                }
                Ok(exit)
            }
            ConvertInput::Flags => {
                converter.flagged.clone_from(namespaces);
                let conversion = converter.convert(&[]);
                Ok(self.finish_live(conversion, &[]))
            }
        }
    }

    fn live(
        &self,
        converter: &Converter,
        targets: &Targets,
        namespaces: &[String],
    ) -> Result<Exit, CommandError> {
        let connection = self.connection.clone();
        let live = connection.on_cluster("convert", async |client| {
            let query = targets.query(client.default_namespace());
            let is_only_namespaces = !namespaces.is_empty() && !targets.are_chosen();
            if query.is_by_name() || is_only_namespaces {
                return Ok(LiveSchedules::named(&client, &query, namespaces).await?);
            }
            let namespace = query.namespaces().first().copied();
            Ok(LiveSchedules::all(&client, namespace, query.selector()).await?)
        })?;
        let mut conversion = converter.convert(&live.sources);
        // The Namespace comes last, so that its workloads are excluded and have their saved counts
        // first.
        conversion.changes.sort_by_key(
            |change| matches!(&change.target, ChangeTarget::Object(object) if object.kind == "Namespace"),
        );
        Ok(self.finish_live(conversion, &live.problems))
    }

    fn finish_live(&self, mut conversion: Conversion, problems: &[String]) -> Exit {
        for problem in problems {
            print_warning(problem);
        }
        // Live objects have no file that could be shown.
        for finding in &mut conversion.findings {
            finding.place = None;
        }
        for command in conversion.changes.iter().filter_map(kubectl_command) {
            print_line(&command);
        }
        self.print_conversion(&conversion, &[]);
        if problems.is_empty() {
            self.exit(&conversion)
        } else {
            Exit::CouldNotRun
        }
    }

    fn finish_files(
        &self,
        opened: &OpenedFiles,
        conversion: &Conversion,
    ) -> Result<Exit, CommandError> {
        opened.errors.iter().for_each(print_error);
        self.write_files(opened, conversion)?;
        self.print_conversion(conversion, &opened.sources);
        Ok(
            if opened.errors.is_empty() && conversion.count(Severity::Error) == 0 {
                self.exit(conversion)
            } else {
                Exit::CouldNotRun
            },
        )
    }

    /// Prints the findings, a summary and proposals to standard error. Findings with the same message are
    /// shown once, unless each is to be listed.
    fn print_conversion(&self, conversion: &Conversion, sources: &[SourceFile]) {
        let stderr = io::stderr();
        let style = terminal::style(&stderr);
        let fold = Fold {
            from: Severity::Warning,
            hint: "--check lists each",
        };
        let fold = (!self.check).then_some(fold);
        let prefix = &self.prefix.annotation_prefix;
        let mut stderr = stderr.lock();
        // Errors are ignored, because there is no reader.
        let _ = write_conversion(&mut stderr, conversion, sources, fold, style)
            .and_then(|()| write_shared_schedules(&mut stderr, conversion, prefix));
    }

    fn exit(&self, conversion: &Conversion) -> Exit {
        let is_to_do = self.check && !conversion.changes.is_empty();
        if is_to_do || conversion.count(Severity::Warning) > 0 {
            Exit::Problems
        } else {
            Exit::Done
        }
    }

    fn write_files(
        &self,
        opened: &OpenedFiles,
        conversion: &Conversion,
    ) -> Result<(), CommandError> {
        let sources = &opened.sources;
        if self.in_place {
            for (source, text) in sources.iter().zip(&conversion.texts) {
                if let Some(text) = text {
                    replace(source.path(), text).map_err(CommandError::Write)?;
                }
            }
        }
        if self.check {
            return print_result(|out, style| write_changes(out, conversion, sources, style));
        }
        if self.in_place {
            return Ok(());
        }
        let control_characters = match io::stdout().is_terminal() {
            true => ControlCharacters::Escaped,
            false => ControlCharacters::Verbatim,
        };
        let texts = &conversion.texts;
        print_result(|out, _| write_documents(out, sources, texts, control_characters))
    }
}

#[derive(Debug, clap::Args)]
#[command(
    next_help_heading = "Flags and variables of GoKubeDownscaler and py-kube-downscaler, for every Namespace"
)]
struct DownscalerArgs {
    /// Their --default-uptime or DEFAULT_UPTIME
    #[arg(long, value_name = "SPANS")]
    default_uptime: Option<String>,

    /// Their --default-downtime or DEFAULT_DOWNTIME
    #[arg(long, value_name = "SPANS")]
    default_downtime: Option<String>,

    /// Their --upscale-period or UPSCALE_PERIOD
    #[arg(long, value_name = "SPANS")]
    upscale_period: Option<String>,

    /// Their --downscale-period or DOWNSCALE_PERIOD
    #[arg(long, value_name = "SPANS")]
    downscale_period: Option<String>,

    /// Their --downtime-replicas
    #[arg(long, value_name = "N")]
    downtime_replicas: Option<String>,

    /// Their --grace-period or GRACE_PERIOD: seconds, or for example 15m; it becomes dayshift/enforce
    #[arg(long, value_name = "TIME")]
    grace_period: Option<String>,

    /// The zone of time spans without one: DEFAULT_TIMEZONE, or the clock of a
    /// CronHorizontalPodAutoscaler's controller
    #[arg(long, value_name = "ZONE", value_parser = Zone::parse)]
    default_timezone: Option<Zone>,

    /// The days of time spans without any: DEFAULT_WEEKFRAME, such as Mon-Fri
    #[arg(long, value_name = "DAYS", value_parser = week_frame)]
    default_weekframe: Option<(u32, u32)>,
}

fn week_frame(text: &str) -> Result<(u32, u32), String> {
    SpanDefaults::week_frame(text).ok_or_else(|| "write days such as Mon-Fri".to_owned())
}

impl DownscalerArgs {
    pub(crate) fn defaults(&self) -> SpanDefaults {
        SpanDefaults {
            zone: self.default_timezone,
            days: self.default_weekframe,
            ..SpanDefaults::default()
        }
    }

    /// The given flags as the annotations of the other tool with the same meaning.
    pub(crate) fn annotations(&self) -> Vec<(String, String)> {
        let all = [
            ("uptime", &self.default_uptime),
            ("downtime", &self.default_downtime),
            ("upscale-period", &self.upscale_period),
            ("downscale-period", &self.downscale_period),
            ("downtime-replicas", &self.downtime_replicas),
            ("grace-period", &self.grace_period),
        ];
        let given = all
            .into_iter()
            .filter_map(|(key, text)| Some((key, text.clone()?)));
        given.map(|(key, text)| (key.to_owned(), text)).collect()
    }
}

/// The objects to convert.
#[derive(Debug)]
enum ConvertInput {
    Files(Vec<PathBuf>),
    /// Live objects, and Namespaces by name.
    Live(Targets, Vec<String>),
    /// Only the flags of the other tool are converted.
    Flags,
}

impl ConvertArgs {
    /// Decides between files, live objects and flags.
    ///
    /// # Errors
    /// If the arguments select nothing, or both files and live objects.
    fn input(&self, kind_files: &KindFiles) -> Result<ConvertInput, clap::Error> {
        let usage = |message: &str| Err(usage_error(message));
        let (paths, words) = files_and_names(&self.files, kind_files);
        let is_live = !words.is_empty() || self.scope.is_wide();
        let namespaces = &self.scope.namespace;
        let files = self.given.all(&paths);
        if is_live && !files.is_empty() {
            return usage(
                "give either files or live objects: FILE…, or for example deploy/web, --selector or --all-namespaces",
            );
        }
        if is_live && self.in_place {
            return usage("--in-place changes files; for live objects, pipe the commands into sh");
        }
        if namespaces.len() > 1 {
            return usage("convert one namespace at a time, or all with -A");
        }
        if self.in_place && files.iter().any(|file| file == Path::new("-")) {
            return usage("standard input cannot be changed in place; leave --in-place out");
        }
        if !files.is_empty() {
            return Ok(ConvertInput::Files(files));
        }
        if !is_live && !self.downscaler.annotations().is_empty() {
            if namespaces.is_empty() {
                return usage(
                    "name the Namespace for these flags: -n team-a; or give files, or -A",
                );
            }
            return Ok(ConvertInput::Flags);
        }
        if !is_live && namespaces.is_empty() {
            return usage(
                "name the objects to convert: a file, - for standard input, deploy/web, or -A; see dayshift convert --help",
            );
        }
        let namespaces = words.iter().filter_map(|word| parse_namespace_target(word));
        let namespaces: Vec<_> = namespaces.map(str::to_owned).collect();
        if let Some(name) = namespaces.iter().find(|name| one_namespace(name).is_err()) {
            return usage(&format!("`{}` is not the name of a namespace", quote(name)));
        }
        let targets = TargetArgs {
            workloads: words
                .into_iter()
                .filter(|word| parse_namespace_target(word).is_none())
                .collect(),
            scope: self.scope.clone(),
            kinds: KindArgs::default(),
        };
        Ok(ConvertInput::Live(targets.targets(kind_files)?, namespaces))
    }
}

/// Replaces a file atomically.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    // If the path is a symbolic link, its target is replaced.
    let path = fs::canonicalize(path)?;
    let written = write_beside(&path, text);
    written.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

fn write_beside(path: &Path, text: &str) -> io::Result<()> {
    let permissions = fs::metadata(path)?.permissions();
    let directory = path.parent().unwrap_or_else(|| Path::new("."));
    let mut file = NamedTempFile::new_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(permissions)?;
    file.persist(path)?;
    Ok(())
}

/// Writes findings, the commands for objects outside the files, and a summary.
fn write_conversion(
    out: &mut impl Write,
    conversion: &Conversion,
    sources: &[SourceFile],
    fold: Option<Fold>,
    style: Style,
) -> io::Result<()> {
    write_findings(out, &conversion.findings, sources, fold, style)?;
    let changes = conversion.changes.iter();
    let elsewhere = changes.filter(|change| change.place.is_none());
    let elsewhere: Vec<_> = elsewhere.filter_map(kubectl_command).collect();
    if !elsewhere.is_empty() && !sources.is_empty() {
        writeln!(out, "Objects that are not in the files:")?;
        for command in elsewhere {
            writeln!(out, "  {}", printable_line(&command))?;
        }
        writeln!(out)?;
    }
    writeln!(out, "{}", summary(conversion))
}

/// The maximum number of proposed named schedules.
const MAX_PROPOSED: usize = 3;

/// Proposes named schedules if many objects share one.
fn write_shared_schedules(
    out: &mut impl Write,
    conversion: &Conversion,
    prefix: &Prefix,
) -> io::Result<()> {
    let shared = conversion.shared_schedules(prefix);
    if shared.is_empty() {
        return Ok(());
    }
    let key = prefix.annotation(Key::NamedSchedule);
    writeln!(
        out,
        "\nMany objects have the same schedule. You can define it once in a file for --schedules, and \
         write\n{key}: NAME on the objects instead (docs/guides/named-schedules.md):"
    )?;
    for (number, shared) in (1..).zip(shared.iter().take(MAX_PROPOSED)) {
        let texts = shared.texts.iter();
        let texts = texts.map(|(key, text)| format!("{key}: {}", Value::from(text.as_str())));
        let texts = texts.collect::<Vec<_>>().join(", ");
        let objects = counted(shared.objects, "object");
        let line = format!("  schedule-{number}: {{{texts}}}  # {objects}");
        writeln!(out, "{}", printable_line(&line))?;
    }
    match shared.len().saturating_sub(MAX_PROPOSED) {
        0 => Ok(()),
        more => writeln!(out, "  ({})", counted(more, "more schedule")),
    }
}

/// Writes each change, with its removed and added annotations.
fn write_changes(
    out: &mut impl Write,
    conversion: &Conversion,
    sources: &[SourceFile],
    style: Style,
) -> io::Result<()> {
    for change in &conversion.changes {
        let Some((at, place)) = &change.place else {
            continue;
        };
        let name = sources.get(*at).map_or("", SourceFile::name);
        let place = format!("{}:{}:{}", printable_line(name), place.line, place.column);
        writeln!(
            out,
            "{}: {}",
            style.paint(Paint::Bold, &place),
            printable_line(&target_name(change))
        )?;
        let line = |sign: &str, paint, name: &str, text: &str| {
            style.paint(paint, &printable_line(&format!("  {sign} {name}{text}")))
        };
        for name in &change.remove {
            writeln!(out, "{}", line("-", Paint::Red, name, ""))?;
        }
        for (name, text) in &change.set {
            let text = format!(": \"{text}\"");
            writeln!(out, "{}", line("+", Paint::Green, name, &text))?;
        }
        for (name, text) in &change.labels {
            let text = format!(": \"{text}\" (a label)");
            writeln!(out, "{}", line("+", Paint::Green, name, &text))?;
        }
    }
    Ok(())
}

fn target_name(change: &ObjectChange) -> String {
    match &change.target {
        ChangeTarget::Object(object) => object.to_string(),
        ChangeTarget::All {
            kinds, namespace, ..
        } => format!("{kinds} of {namespace}"),
    }
}

fn summary(conversion: &Conversion) -> String {
    let count = |severity, what| counted(conversion.count(severity), what);
    let errors = match conversion.count(Severity::Error) {
        0 => String::new(),
        errors => format!(", {}", counted(errors, "error")),
    };
    format!(
        "{} to convert{errors}, {}, {}",
        counted(conversion.changes.len(), "object"),
        count(Severity::Warning, "warning"),
        count(Severity::Info, "info")
    )
}

/// How control characters are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ControlCharacters {
    Verbatim,
    /// Escaped, as a terminal needs it.
    Escaped,
}

/// Writes each file, separated by `---`.
fn write_documents(
    out: &mut impl Write,
    sources: &[SourceFile],
    texts: &[Option<String>],
    control_characters: ControlCharacters,
) -> io::Result<()> {
    let mut ends_line = true;
    for (at, source) in sources.iter().enumerate() {
        let text = texts.get(at).and_then(Option::as_deref);
        let text = text.unwrap_or_else(|| source.text());
        if at > 0 && !begins_document(text) {
            writeln!(out, "{}---", if ends_line { "" } else { "\n" })?;
        }
        ends_line = text.ends_with('\n');
        if control_characters == ControlCharacters::Verbatim {
            out.write_all(text.as_bytes())?;
            continue;
        }
        for line in text.split_inclusive('\n') {
            let content = line.trim_end_matches(['\r', '\n']);
            let end = if content == line { "" } else { "\n" };
            write!(out, "{}{end}", printable(&content.replace('\t', "    ")))?;
        }
    }
    Ok(())
}

/// Whether a text needs no separator before it.
fn begins_document(text: &str) -> bool {
    let mut lines = text
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let is_json = text.trim_start().starts_with('{');
    is_json
        || lines
            .next()
            .is_some_and(|line| line.starts_with("---") || line.starts_with('%'))
}

/// The command for a change: `kubectl annotate`, or one patch if labels change too, so that the
/// saved count and the schedule change together. `None` for an object that no cluster can have,
/// because the output may be piped into a shell.
pub(crate) fn kubectl_command(change: &ObjectChange) -> Option<String> {
    let what = match &change.target {
        ChangeTarget::Object(object) if !object.is_possible() => return None,
        ChangeTarget::Object(object) => {
            let namespace = match &*object.namespace {
                "" => String::new(),
                namespace => format!(" -n {}", shell_word(namespace)),
            };
            format!(
                "{} {}{namespace}",
                shell_word(&object.resource()),
                shell_word(&object.name)
            )
        }
        ChangeTarget::All {
            kinds,
            namespace,
            selector,
            field_selector,
        } => {
            let by = [("-l", selector), ("--field-selector", field_selector)];
            let by = by.iter().filter_map(|(flag, text)| {
                Some(format!("{flag} {}", shell_word(text.as_deref()?)))
            });
            let which = match &*by.collect::<Vec<_>>().join(" ") {
                "" => "--all".to_owned(),
                which => which.to_owned(),
            };
            format!("{} {which} -n {}", shell_word(kinds), shell_word(namespace))
        }
    };
    if !change.labels.is_empty() {
        let patch = patch(change).to_string();
        let patch = shell_word(&patch);
        return Some(format!("kubectl patch {what} --type merge -p {patch}"));
    }
    let set = change.set.iter();
    let set = set.map(|(name, text)| format!(" {}={}", shell_word(name), shell_word(text)));
    let taken = |name: &&String| !change.set.iter().any(|entry| entry.0 == **name);
    let remove = change.remove.iter().filter(taken);
    let remove = remove.map(|name| format!(" {}", shell_word(&format!("{name}-"))));
    let words: String = set.chain(remove).collect();
    Some(format!("kubectl annotate {what}{words}"))
}

fn patch(change: &ObjectChange) -> Value {
    let mut annotations = Map::new();
    for name in &change.remove {
        annotations.insert(name.clone(), Value::Null);
    }
    let pair = |(name, text): &(String, String)| (name.clone(), Value::from(text.as_str()));
    annotations.extend(change.set.iter().map(pair));
    let labels: Map<_, _> = change.labels.iter().map(pair).collect();
    let mut metadata = json!({"labels": labels});
    if !annotations.is_empty() {
        metadata["annotations"] = annotations.into();
    }
    json!({"metadata": metadata})
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn replacing_a_file_keeps_its_permissions_and_leaves_no_other_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("web.yaml");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let link = directory.path().join("link.yaml");
        symlink(&path, &link).unwrap();
        replace(&link, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
    }

    fn documents(texts: &[&str], control_characters: ControlCharacters) -> String {
        let sources: Vec<_> = texts
            .iter()
            .map(|text| SourceFile::new("a.yaml", *text))
            .collect();
        let mut out = Vec::new();
        write_documents(&mut out, &sources, &[None, None], control_characters).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn separates_several_files() {
        for (texts, expected) in [
            (&["a: 1\n", "b: 2\n"][..], "a: 1\n---\nb: 2\n"),
            (&["a: 1", "b: 2"], "a: 1\n---\nb: 2"),
            (
                &["a: 1\n", "# why\n---\nb: 2\n"],
                "a: 1\n# why\n---\nb: 2\n",
            ),
            (&["{}\n", "{\"b\": 2}\n"], "{}\n{\"b\": 2}\n"),
        ] {
            assert_eq!(documents(texts, ControlCharacters::Verbatim), expected);
        }
    }

    #[test]
    fn escapes_control_characters() {
        let text = "a: \"\u{1b}[31m\u{9b}\"\r\n\tb: 日\n";
        assert_eq!(documents(&[text], ControlCharacters::Verbatim), text);
        assert_eq!(
            documents(&[text], ControlCharacters::Escaped),
            "a: \"\\u{1b}[31m\\u{9b}\"\n    b: 日\n"
        );
    }
}
