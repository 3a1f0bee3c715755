//! The kinds of workload: `--kinds`, and the kind definitions of `--kind-file`.
//!
//! Kind files are loaded before the arguments are parsed, because `--kinds` and the names of workloads can
//! refer to the kinds that they define.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
};

use dayshift_manifest::{Location, OpenError, SourceFile, SyntaxError};
use dayshift_text::quote;
use dayshift_workload::{
    Kind, KindTable, NotStopped,
    names::{is_dns_label, is_dns_subdomain},
};

use crate::cli::command_line::values_of;

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct KindArgs {
    /// The kinds of workload, separated by commas. Besides the default there are
    /// horizontalpodautoscalers, scaledobjects, databases and others that `dayshift kinds` lists, and
    /// any resource with spec.replicas, such as rollouts.argoproj.io
    #[arg(
        long,
        help_heading = "Which workloads",
        hide_short_help = true,
        value_name = "KINDS",
        value_delimiter = ',',
        default_value = "deployments,statefulsets,cronjobs",
        value_parser = |text: &str| parse_kind(text, &KindTable::default())
    )]
    kinds: Vec<Kind>,

    /// A file of kind definitions with the path of the on/off field or the count of each kind, as
    /// docs/reference/operator-kinds.md describes; repeatable
    #[arg(
        long,
        help_heading = "Which workloads",
        hide_short_help = true,
        value_name = "FILE"
    )]
    kind_file: Vec<PathBuf>,
}

impl Default for KindArgs {
    /// The kinds of `Kind::DEFAULT`.
    fn default() -> Self {
        Self {
            kinds: Kind::DEFAULT.to_vec(),
            kind_file: Vec::new(),
        }
    }
}

impl KindArgs {
    /// The kinds in the order in which they were given, without duplicates and without those whose
    /// definition is invalid.
    pub(crate) fn kinds(&self, files: &KindFiles) -> Vec<Kind> {
        let mut kinds = Vec::new();
        for kind in &self.kinds {
            if !kinds.contains(kind) && !files.is_rejected(kind) {
                kinds.push(kind.clone());
            }
        }
        kinds
    }
}

pub(crate) fn parse_kind(text: &str, table: &KindTable) -> Result<Kind, String> {
    let text = text.trim();
    let known = table
        .from_argument(text)
        .or_else(|| custom_kind(text, table));
    let not_stopped =
        || resource(text).and_then(|resource| NotStopped::from_resource(&resource.0, &resource.1));
    known.ok_or_else(|| match not_stopped() {
        Some(kind) => format!("{kind}; leave it out, and {}", kind.instead),
        None => format!(
            "`{}` is not a kind of workload with a count; write for example deployments, or \
             rollouts.argoproj.io for a kind that has spec.replicas",
            quote(text)
        ),
    })
}

/// The kind of `rollouts.argoproj.io` or `rollouts.v1alpha1.argoproj.io`; the API server decides
/// which version is used. `None` if a stop of this kind would not stop anything.
pub(crate) fn custom_kind(text: &str, table: &KindTable) -> Option<Kind> {
    let (plural, group) = resource(text)?;
    let is_stopped = NotStopped::from_resource(&plural, &group).is_none();
    is_stopped.then(|| table.resource(&plural, &group))
}

/// Splits a custom resource into its plural and its group. The group must contain a dot.
fn resource(text: &str) -> Option<(String, String)> {
    let text = text.to_lowercase();
    let (plural, group) = text.split_once('.')?;
    let group = match group.split_once('.') {
        Some((version, rest)) if is_version(version) => rest,
        _ => group,
    };
    let is_one = is_dns_label(plural) && is_dns_subdomain(group) && group.contains('.');
    is_one.then(|| (plural.to_owned(), group.to_owned()))
}

fn is_version(text: &str) -> bool {
    let number = text.strip_prefix('v').unwrap_or_default();
    number.starts_with(|c: char| c.is_ascii_digit())
}

/// Only `run` reads this variable.
pub(crate) const KIND_FILE_VARIABLE: &str = "DAYSHIFT_KIND_FILE";

#[derive(Debug, Default)]
pub(crate) struct KindFiles {
    /// The built-in kinds and those of the files.
    pub(crate) table: Arc<KindTable>,
    /// The invalid definitions, each with its file, line and column.
    pub(crate) problems: Vec<String>,
    /// The resources of invalid definitions, which must not be treated as kinds with `spec.replicas`.
    rejected: Vec<String>,
}

/// Why a kind file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KindFileError {
    #[error("{0}")]
    Open(#[from] OpenError),
    /// The rest of the file is unknown.
    #[error("{0}")]
    Syntax(SyntaxError),
}

/// The kind files named in the arguments, or else in the variable.
pub(crate) fn given_kind_files(arguments: &[OsString], variable: Option<OsString>) -> Vec<PathBuf> {
    let mut given = values_of("--kind-file", arguments);
    let is_run = arguments.get(1).is_some_and(|word| word == "run");
    let variable = variable.filter(|text| is_run && given.is_empty() && !text.is_empty());
    given.extend(variable);
    given.into_iter().map(PathBuf::from).collect()
}

impl KindFiles {
    /// Loads the valid kind definitions of these files and collects the invalid ones.
    ///
    /// # Errors
    /// If a file cannot be read or is not YAML.
    pub(crate) fn load(files: &[PathBuf]) -> Result<Self, KindFileError> {
        let mut loaded = Self::default();
        for file in files {
            let source = SourceFile::open(Path::new(file))?;
            let found = source.kind_definitions();
            for error in found.errors {
                if !error.in_object {
                    return Err(KindFileError::Syntax(error));
                }
                loaded.problems.push(error.to_string());
            }
            loaded.rejected.extend(found.rejected);
            for (row, place) in found.definitions {
                let (file, resource) = (source.name(), format!("{}.{}", row.plural(), row.group()));
                if let Err(error) = loaded.table.add(row) {
                    let Location { line, column, .. } = place;
                    let problem = format!("{file}:{line}:{column}: {resource}: {error}");
                    loaded.problems.push(problem);
                    let unknown = error.is_unknown().then_some(resource);
                    loaded.rejected.extend(unknown);
                }
            }
        }
        Ok(loaded)
    }

    /// Whether the definition of this kind is invalid, so that dayshift cannot stop it.
    pub(crate) fn is_rejected(&self, kind: &Kind) -> bool {
        self.rejected
            .iter()
            .any(|resource| resource == kind.argument())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_built_in_kinds_and_kinds_with_a_group() {
        let table = KindTable::default();
        let rollouts = Some(table.resource("rollouts", "argoproj.io"));
        for (text, expected) in [
            ("deployments", Some(Kind::DEPLOYMENT)),
            (" hpa ", Some(Kind::HORIZONTAL_POD_AUTOSCALER)),
            ("scaledobjects.keda.sh", Some(Kind::SCALED_OBJECT)),
            ("rollouts.argoproj.io", rollouts.clone()),
            ("Rollouts.v1alpha1.argoproj.io", rollouts),
            ("widgets", None),
            ("widgets.example", None),
            ("a b.example.com", None),
            ("", None),
        ] {
            let found = parse_kind(text, &table);
            match expected {
                Some(kind) => assert_eq!(found, Ok(kind), "{text}"),
                None => assert!(found.is_err(), "{text}: {found:?}"),
            }
        }
    }
}
