//! Which files or live objects are converted.

use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use dayshift_cluster::Query;
use dayshift_operations::{LiveName, LiveQuery};
use dayshift_text::quote;

use crate::cli::args::{
    files::FileArgs,
    kind_args::KindArgs,
    target_names::files_and_names,
    targets::{ScopeArgs, TargetArgs},
    values::value_parsers::one_namespace,
};

/// Where the objects are that are converted.
#[derive(Debug)]
pub(super) enum Input {
    Files(Vec<PathBuf>),
    Live(Box<TargetArgs>, Vec<String>),
    /// None: the flags alone.
    Flags,
}

/// The arguments that say it.
#[derive(Clone, Copy, Debug)]
pub(super) struct InputArgs<'a> {
    pub(super) words: &'a [String],
    pub(super) given: &'a FileArgs,
    pub(super) scope: &'a ScopeArgs,
    pub(super) in_place: bool,
    /// Whether flags of the other tool are given.
    pub(super) has_flags: bool,
}

impl InputArgs<'_> {
    /// What these mean.
    ///
    /// # Errors
    /// Where they name nothing, or both files and live objects.
    pub(super) fn input(self) -> Result<Input, clap::Error> {
        let usage = |message: &str| {
            Err(clap::Error::raw(
                ErrorKind::ValueValidation,
                format!("{message}\n"),
            ))
        };
        let (paths, words) = files_and_names(self.words);
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
        if self.in_place && files.iter().any(|it| it == Path::new("-")) {
            return usage("standard input cannot be changed in place; leave --in-place out");
        }
        if !files.is_empty() {
            return Ok(Input::Files(files));
        }
        if !is_live && self.has_flags {
            if namespaces.is_empty() {
                return usage(
                    "say which Namespace the flags are for: -n team-a; or give files, or -A",
                );
            }
            return Ok(Input::Flags);
        }
        if !is_live && namespaces.is_empty() {
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
            workloads: words
                .into_iter()
                .filter(|it| namespace_of(it).is_none())
                .collect(),
            scope: self.scope.clone(),
            kinds: KindArgs::default(),
        };
        targets.targets()?;
        Ok(Input::Live(Box::new(targets), namespaces))
    }
}

/// What is read of the cluster: what the query asks for, and the Namespaces that are named.
pub(super) fn live_query(
    query: &Query,
    namespaces: &[String],
    is_only_namespaces: bool,
) -> LiveQuery {
    let namespaces = namespaces.iter().map(|name| LiveName {
        api_version: "v1".to_owned(),
        plural: "namespaces".to_owned(),
        name: name.clone(),
    });
    let namespace = query.namespaces().first().map(ToString::to_string);
    if !query.is_by_name() && !is_only_namespaces {
        return LiveQuery::All {
            namespace,
            selector: query.selector().map(str::to_owned),
        };
    }
    let names = query.parts().into_iter().filter_map(|(part, _)| {
        Some(LiveName {
            api_version: part.kind.api_version().to_owned(),
            plural: part.kind.plural().to_owned(),
            name: part.name?,
        })
    });
    LiveQuery::Named {
        namespace: namespace.unwrap_or_default(),
        names: names.chain(namespaces).collect(),
    }
}
