//! The workloads that a command acts on, named as in kubectl (`deploy/web`, `sts db cache`, `ns/dev`,
//! `--selector`, `-n`, `-A`), the files that it reads, and how words that name files differ from words
//! that name workloads.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

use dayshift_cluster::Query;
use dayshift_manifest::{FileSearch, OpenedFiles};
use dayshift_operations::{DefaultsOwner, nearest_kind};
use dayshift_text::quote;
use dayshift_workload::{
    Kind,
    names::{is_dns_label, is_dns_subdomain},
};

use crate::cli::{
    args::{
        kinds::{KindArgs, KindFiles, custom_kind},
        values::{one_namespace, selector},
    },
    output::messages::print_warning,
    process::usage_error,
};

#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Which workloads")]
pub(crate) struct TargetArgs {
    /// Such as deploy/web sts/db, or deploy web api; web is a Deployment, dev/web one in the namespace dev,
    /// and ns/dev the whole namespace
    #[arg(value_name = "WORKLOAD")]
    pub(crate) workloads: Vec<String>,

    #[command(flatten)]
    pub(crate) scope: ScopeArgs,

    #[command(flatten)]
    pub(crate) kinds: KindArgs,
}

#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Which workloads")]
pub(crate) struct ScopeArgs {
    /// The namespace; repeatable [default: the context's]
    #[arg(
        short,
        long,
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = one_namespace
    )]
    pub(crate) namespace: Vec<String>,

    /// All namespaces; wins over -n, as in kubectl
    #[arg(short = 'A', long)]
    pub(crate) all_namespaces: bool,

    /// A label selector, such as `team=web,tier!=db`
    #[arg(
        short = 'l',
        long,
        value_name = "SELECTOR",
        value_parser = selector
    )]
    selector: Option<String>,
}

impl ScopeArgs {
    /// The named namespaces; empty for all.
    pub(crate) fn namespaces(&self) -> &[String] {
        if self.all_namespaces {
            &[]
        } else {
            &self.namespace
        }
    }

    pub(crate) fn selector(&self) -> Option<&str> {
        self.selector
            .as_deref()
            .filter(|selector| !selector.is_empty())
    }

    /// Whether it selects by label, or selects all namespaces.
    pub(crate) fn is_wide(&self) -> bool {
        self.all_namespaces || self.selector().is_some()
    }
}

/// The selected workloads. The namespace of the context is added by [`Self::query`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Targets {
    kinds: Vec<Kind>,
    names: TargetNames,
    namespaces: Vec<String>,
    all_namespaces: bool,
    selector: Option<String>,
    /// Whether a whole namespace was named, `ns/team`, or its team with `--team`.
    whole: Option<DefaultsOwner>,
}

impl TargetArgs {
    /// Resolves the arguments.
    ///
    /// # Errors
    /// If a name is invalid or of an unsupported kind, or if two ways to select workloads are
    /// combined.
    pub(crate) fn targets(&self, files: &KindFiles) -> Result<Targets, clap::Error> {
        self.checked(files).map_err(usage_error)
    }

    fn checked(&self, files: &KindFiles) -> Result<Targets, TargetError> {
        if let Some(whole) = self.whole_namespace(files)? {
            return Ok(whole);
        }
        let (kind, names, named_in) = parse_names(&self.workloads, files)?;
        let selector = self.scope.selector().map(str::to_owned);
        if !names.is_empty() && selector.is_some() {
            return Err(TargetError::NameAndSelector);
        }
        if !names.is_empty() && self.scope.all_namespaces {
            return Err(TargetError::NameInAllNamespaces);
        }
        let mut others = self.scope.namespace.iter();
        if let Some(named) = &named_in
            && let Some(other) = others.find(|namespace| *namespace != named)
        {
            let (named, other) = (named.clone(), other.clone());
            return Err(TargetError::NeitherKindNorNamespace(named, other));
        }
        let namespaces =
            named_in.map_or_else(|| self.scope.namespace.clone(), |namespace| vec![namespace]);
        let has_one = namespaces.windows(2).all(|pair| pair[0] == pair[1]);
        if !names.is_empty() && !has_one {
            return Err(TargetError::NameInNamespaces);
        }
        Ok(Targets {
            kinds: kind.map_or_else(|| self.kinds.kinds(files), |kind| vec![kind]),
            names,
            namespaces,
            all_namespaces: self.scope.all_namespaces,
            selector,
            whole: None,
        })
    }

    /// The whole namespace, if the words name one.
    fn whole_namespace(&self, files: &KindFiles) -> Result<Option<Targets>, TargetError> {
        let words: Vec<_> = self.workloads.iter().map(|word| &**word).collect();
        let (name, is_only_word) = match words[..] {
            [word, name] if is_namespace_kind(word) => (name, true),
            _ => match words.iter().find_map(|word| parse_namespace_target(word)) {
                Some(name) => (name, words.len() == 1),
                None => return Ok(None),
            },
        };
        let mut named_in = self.scope.namespace.iter();
        let is_alone =
            is_only_word && named_in.all(|namespace| namespace == name) && !self.scope.is_wide();
        if !is_alone {
            let target = quote(&format!("ns/{name}"));
            return Err(TargetError::NamespaceAndOthers(target));
        }
        if !is_dns_label(name) {
            return Err(TargetError::NoName(quote(name)));
        }
        Ok(Some(Targets {
            kinds: self.kinds.kinds(files),
            names: TargetNames::new(),
            namespaces: vec![name.to_owned()],
            all_namespaces: false,
            selector: None,
            whole: Some(DefaultsOwner::Namespace),
        }))
    }
}

impl Targets {
    /// The query for these workloads. `context` is the namespace of the context
    /// (`kube::Client::default_namespace`).
    pub(crate) fn query(&self, context: &str) -> Query {
        let mut namespaces = self.namespaces.clone();
        if namespaces.is_empty() {
            namespaces.push(context.to_owned());
        }
        if let (false, [namespace, ..]) = (self.names.is_empty(), &*namespaces) {
            return Query::named(namespace, self.names.iter().cloned());
        }
        if self.all_namespaces {
            namespaces.clear();
        }
        Query::all(&self.kinds, &namespaces, self.selector.clone())
    }

    /// The number of workloads that are selected by name.
    pub(crate) const fn named(&self) -> usize {
        self.names.len()
    }

    /// Whether workloads are selected by name or label.
    pub(crate) fn are_chosen(&self) -> bool {
        !self.names.is_empty() || self.selector.is_some() || self.whole.is_some()
    }

    /// Whether all workloads in all namespaces are selected.
    pub(crate) fn are_everything(&self) -> bool {
        self.all_namespaces && !self.are_chosen()
    }

    /// The namespace in `ns/team`, if a whole namespace was named.
    pub(crate) fn whole_namespace(&self) -> Option<&str> {
        let name = self.namespaces.first();
        name.map(|name| &**name)
            .filter(|_| self.whole == Some(DefaultsOwner::Namespace))
    }

    /// Whether the override is written in the ConfigMap of the team.
    pub(crate) fn is_team(&self) -> bool {
        self.whole == Some(DefaultsOwner::Team)
    }

    /// The namespace, if a whole one was named, and the object on which its overrides are written.
    /// `context` is the namespace of the context.
    pub(crate) fn whole<'t>(&'t self, context: &'t str) -> Option<(DefaultsOwner, &'t str)> {
        let name = self.namespaces.first().map_or(context, |name| name);
        Some((self.whole?, name))
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct ChosenArgs {
    #[command(flatten)]
    targets: TargetArgs,

    /// All workloads of the namespace that have a schedule
    #[arg(long, help_heading = "Which workloads")]
    all: bool,

    /// The whole namespace, by its ConfigMap `dayshift`, if you may not edit the Namespace; needs a
    /// controller with --team-defaults
    #[arg(
        long,
        conflicts_with_all = ["workloads", "all", "all_namespaces", "selector"],
        help_heading = "Which workloads",
        hide_short_help = true
    )]
    team: bool,
}

impl ChosenArgs {
    /// Resolves the arguments.
    ///
    /// # Errors
    /// If nothing is selected, or if names are combined with `--all`.
    pub(crate) fn targets(&self, files: &KindFiles) -> Result<Targets, clap::Error> {
        let mut targets = self.targets.targets(files)?;
        if self.team {
            if targets.namespaces.len() > 1 {
                return Err(usage_error("--team is for one namespace; give one -n"));
            }
            targets.whole = Some(DefaultsOwner::Team);
            return Ok(targets);
        }
        let everything = self.all || self.targets.scope.all_namespaces;
        let message = match (targets.are_chosen(), everything) {
            (false, false) => "name the workloads: deploy/web, --selector, --all or -A",
            (true, true) if self.all => "give either names or a selector, or --all",
            _ => return Ok(targets),
        };
        Err(usage_error(message))
    }
}

/// Kinds and names in the order in which they were given.
type TargetNames = Vec<(Kind, String)>;

/// Why the words do not name workloads.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum TargetError {
    #[error(
        "`{0}` is not of a kind that dayshift scales; {1}write for example deploy/web or sts/db"
    )]
    OtherKind(String, String),
    #[error("`{0}` is not the name of a workload; write for example deploy/web, or deploy web api")]
    NoName(String),
    #[error("names need one namespace: use -n NAME instead of -A")]
    NameInAllNamespaces,
    #[error(
        "names need one namespace: give one -n; for several namespaces, use --all or --selector"
    )]
    NameInNamespaces,
    #[error("`{0}` is in another namespace; name the workloads of one namespace at a time")]
    OtherNamespace(String),
    #[error(
        "`{0}` is neither a kind that dayshift scales nor the namespace `{1}`; write for example \
         deploy/web or rollouts.argoproj.io/web"
    )]
    NeitherKindNorNamespace(String, String),
    #[error("`{0}` is a whole namespace; give it alone, without other names, -n, -A or --selector")]
    NamespaceAndOthers(String),
    #[error("give either names or --selector, not both")]
    NameAndSelector,
}

fn is_namespace_kind(word: &str) -> bool {
    matches!(&*word.to_lowercase(), "ns" | "namespace" | "namespaces")
}

/// The namespace in `ns/team`.
pub(crate) fn parse_namespace_target(word: &str) -> Option<&str> {
    let (kind, name) = word.split_once('/')?;
    is_namespace_kind(kind).then_some(name)
}

/// Parses `deploy/web`, `deploy web api`, names without a kind (Deployments), and a kind without
/// names. `dev/web` and `dev/sts/db`, as `status` prints them, include the namespace. Returns the
/// kind, the names and the namespace.
fn parse_names(
    words: &[String],
    files: &KindFiles,
) -> Result<(Option<Kind>, TargetNames, Option<String>), TargetError> {
    let kind = words.first().and_then(|word| named_kind(word, files));
    let words = match words {
        [_, rest @ ..] if kind.is_some() => rest,
        // A single word is a name.
        [kind, _, ..] if is_other_kind(kind) => return Err(other_kind(kind, files)),
        words => words,
    };
    let mut names = TargetNames::new();
    let mut named_in: Option<String> = None;
    for word in words {
        let (namespace, rest) = match word.split_once('/') {
            Some((first, rest)) if is_namespace(first, files) => (Some(first), rest),
            _ => (None, &**word),
        };
        let (kind, name) = match rest.split_once('/') {
            None => (kind.clone().unwrap_or(Kind::DEFAULT_FOR_NAMES), rest),
            Some((kind, name)) => match named_kind(kind, files) {
                Some(kind) => (kind, name),
                None => return Err(other_kind(word, files)),
            },
        };
        if !is_dns_subdomain(name) {
            return Err(TargetError::NoName(quote(word)));
        }
        if let Some(namespace) = namespace {
            if named_in.as_deref().is_some_and(|other| other != namespace) {
                return Err(TargetError::OtherNamespace(quote(word)));
            }
            named_in = Some(namespace.to_owned());
        }
        let named = (kind, name.to_owned());
        if !names.contains(&named) {
            names.push(named);
        }
    }
    Ok((kind, names, named_in))
}

fn named_kind(word: &str, files: &KindFiles) -> Option<Kind> {
    let table = &files.table;
    let kind = table
        .from_argument(word)
        .or_else(|| custom_kind(word, table));
    kind.filter(|kind| !files.is_rejected(kind))
}

fn other_kind(word: &str, files: &KindFiles) -> TargetError {
    let kind = word.split('/').next().unwrap_or_default();
    let similar = nearest_kind(kind, &files.table)
        .map_or_else(String::new, |name| format!("did you mean {name}? Or "));
    TargetError::OtherKind(quote(word), similar)
}

/// Whether the word before a slash can only be a namespace.
fn is_namespace(text: &str, files: &KindFiles) -> bool {
    is_dns_label(text) && files.table.from_argument(text).is_none() && !is_other_kind(text)
}

/// Kinds that dayshift does not scale, but that users might try.
const OTHER_KINDS: &str = "all daemonset daemonsets ds job jobs namespace namespaces ns pdb po pod pods \
    poddisruptionbudget poddisruptionbudgets rc replicationcontroller replicationcontrollers replicaset \
    replicasets rs service services svc";

fn is_other_kind(word: &str) -> bool {
    let word = word.to_lowercase();
    OTHER_KINDS.split_whitespace().any(|kind| kind == word)
}

#[derive(Debug, clap::Args)]
pub(crate) struct FileArgs {
    /// A file of YAML or JSON, a directory of such files, or - for standard input; repeatable
    #[arg(short, long, value_name = "FILE")]
    file: Vec<PathBuf>,

    /// Skip files and directories that match, written as in .gitignore; repeatable
    #[arg(long, value_name = "GLOB", value_parser = glob)]
    exclude: Vec<String>,
}

fn glob(text: &str) -> Result<String, String> {
    let is_glob = FileSearch::is_pattern(text);
    is_glob.then(|| text.to_owned()).ok_or_else(|| {
        format!(
            "`{}` is not a pattern as in .gitignore; write for example *.test.yaml",
            quote(text)
        )
    })
}

impl FileArgs {
    /// The positional files, then those of `-f`.
    pub(crate) fn all(&self, words: &[PathBuf]) -> Vec<PathBuf> {
        words.iter().chain(&self.file).cloned().collect()
    }

    /// Opens the files and directories in the given order. A file that is given twice is read once,
    /// even if the second path is a directory or a symbolic link.
    pub(crate) fn open(&self, paths: &[PathBuf]) -> OpenedFiles {
        let search = FileSearch::excluding(&self.exclude);
        let mut opened = OpenedFiles::default();
        let (mut given, mut read) = (HashSet::new(), HashSet::new());
        for path in paths.iter().filter(|path| given.insert(*path)) {
            let mut found = search.open(path);
            found.sources.retain(|source| {
                let canonical = fs::canonicalize(source.path()).ok();
                canonical.is_none_or(|path| read.insert(path))
            });
            opened.sources.extend(found.sources);
            opened.errors.extend(found.errors);
            opened.skipped.extend(found.skipped);
        }
        opened
    }
}

/// Separates words that name files from words that name live objects, and warns about words that
/// could name either.
pub(crate) fn files_and_names(words: &[String], kinds: &KindFiles) -> (Vec<PathBuf>, Vec<String>) {
    let (files, names): (Vec<_>, Vec<_>) =
        words.iter().cloned().partition(|word| is_path(word, kinds));
    for word in names.iter().filter(|word| Path::new(word).exists()) {
        let word = quote(word);
        print_warning(&format!(
            "`{word}` names a live object; for the file or directory of that name, write ./{word}"
        ));
    }
    (files.into_iter().map(PathBuf::from).collect(), names)
}

/// Whether a word names a file. It does if it looks like a path, or if such a file exists and no
/// workload can have that name. Other files in the working directory do not change the meaning of a
/// word.
fn is_path(word: &str, files: &KindFiles) -> bool {
    let is_name =
        || parse_namespace_target(word).is_some() || parse_names(&[word.to_owned()], files).is_ok();
    looks_like_a_path(word) || !is_name() && Path::new(word).exists()
}

/// Whether a word that could be a workload name is written as a path.
fn looks_like_a_path(word: &str) -> bool {
    let ends = [".yaml", ".yml", ".json", "/"];
    let begins = ["./", "../", "/", "~/"];
    word == "-"
        || ends.iter().any(|end| word.ends_with(end))
        || begins.iter().any(|start| word.starts_with(start))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        targets: TargetArgs,
    }

    fn checked(line: &str) -> Result<Targets, TargetError> {
        let words = ["dayshift"].into_iter().chain(line.split_whitespace());
        Program::parse_from(words)
            .targets
            .checked(&KindFiles::default())
    }

    #[test]
    fn uses_the_namespace_of_the_context_unless_another_is_given() {
        let query = |line: &str| checked(line).unwrap().query("dev");
        let named =
            |namespace: &str| Query::named(namespace, [(Kind::DEPLOYMENT, "web".to_owned())]);
        assert_eq!(query("deploy/web"), named("dev"));
        assert_eq!(query("deploy/web -n test"), named("test"));

        let all = |namespaces: &[&str]| {
            let namespaces: Vec<_> = namespaces.iter().map(ToString::to_string).collect();
            Query::all(&Kind::DEFAULT, &namespaces, None)
        };
        assert_eq!(query(""), all(&["dev"]));
        assert_eq!(query("-n tokyo -n ny"), all(&["tokyo", "ny"]));
        // As in kubectl, `-A` wins over `-n`.
        assert_eq!(query("-n test -A"), all(&[]));
        let of_a_kind = Query::all(&[Kind::STATEFUL_SET], &["dev".to_owned()], None);
        assert_eq!(query("sts"), of_a_kind);
    }

    #[test]
    fn rejects_names_with_other_selections() {
        for (line, error) in [
            ("web -A", TargetError::NameInAllNamespaces),
            ("web -n tokyo -n ny", TargetError::NameInNamespaces),
            ("web -l team=web", TargetError::NameAndSelector),
            (
                "dev/web -n test",
                TargetError::NeitherKindNorNamespace("dev".to_owned(), "test".to_owned()),
            ),
        ] {
            assert_eq!(checked(line), Err(error), "{line}");
        }
    }

    /// The names as `deploy/web`, then the namespace as `-n dev`.
    fn read(line: &str) -> Result<Vec<String>, TargetError> {
        let words: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        let (_, names, named_in) = parse_names(&words, &KindFiles::default())?;
        let shown = names
            .iter()
            .map(|(kind, name)| format!("{}/{name}", kind.short_name()));
        Ok(shown
            .chain(named_in.map(|namespace| format!("-n {namespace}")))
            .collect())
    }

    #[test]
    fn accepts_the_forms_of_kubectl() {
        for (line, expected) in [
            ("", &[][..]),
            ("deploy/web", &["deploy/web"]),
            (
                "deployment/web deployments/api",
                &["deploy/web", "deploy/api"],
            ),
            ("deployment.apps/web", &["deploy/web"]),
            ("deployments.v1.apps/web", &["deploy/web"]),
            ("Deployment/web", &["deploy/web"]),
            ("deploy web api", &["deploy/web", "deploy/api"]),
            ("deploy", &[]),
            ("deploy deploy", &["deploy/deploy"]),
            ("web api.v2 web", &["deploy/web", "deploy/api.v2"]),
            ("sts/db StatefulSet/db deploy/db", &["sts/db", "deploy/db"]),
            ("sts db web", &["sts/db", "sts/web"]),
            ("hpa", &[]),
            ("cj/report hpa/web", &["cj/report", "hpa/web"]),
            ("rollouts.argoproj.io/web", &["rollouts.argoproj.io/web"]),
            ("deploy hpa", &["deploy/hpa"]),
            ("dev/web", &["deploy/web", "-n dev"]),
            ("dev/web dev/sts/db", &["deploy/web", "sts/db", "-n dev"]),
        ] {
            assert_eq!(
                read(line).as_deref(),
                Ok(&*expected.iter().map(ToString::to_string).collect::<Vec<_>>()),
                "{line}"
            );
        }
    }

    #[test]
    fn rejects_kinds_that_are_not_scaled() {
        for line in [
            "ds/web",
            "daemonset web",
            "deploy/web pod/web-0",
            "deployments.extensions/web",
            "dev/ds/web",
            "svc/web",
            "pdb/web",
        ] {
            let error = read(line).unwrap_err();
            assert!(matches!(error, TargetError::OtherKind(..)), "{line}");
            assert!(error.to_string().contains("deploy/web"), "{error}");
        }
        for line in [
            "deploy/",
            "Web",
            "deploy/../pods",
            "a/b/c",
            "dev/web test/web",
            "dev/",
            "web?x=y",
            "-web",
        ] {
            assert!(read(line).is_err(), "{line}");
        }
    }
}
