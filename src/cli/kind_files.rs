//! `--kind-file FILE`: kinds of a user's own, taken up before the arguments are parsed, because
//! `--kinds` and the names of objects are read by them.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use dayshift_manifest::{OpenError, SourceFile, SyntaxError};
use dayshift_workload::Kind;

const FLAG: &str = "--kind-file";
/// Of `run` alone, as the variables of its other flags are.
pub(super) const VARIABLE: &str = "DAYSHIFT_KIND_FILE";

/// The resources of rows that are wrong, so that nobody takes them for kinds with `spec.replicas`.
static REFUSED: OnceLock<Vec<String>> = OnceLock::new();

/// Why no kind of a file can be had.
#[derive(Debug, thiserror::Error)]
pub(super) enum KindFileError {
    #[error("{0}")]
    Open(#[from] OpenError),
    /// What follows in the file is not known.
    #[error("{0}")]
    Syntax(SyntaxError),
}

/// The files that the arguments or the variable name.
pub(super) fn given(arguments: &[OsString], variable: Option<OsString>) -> Vec<PathBuf> {
    let mut given: Vec<PathBuf> = Vec::new();
    let mut words = arguments.iter().take_while(|it| *it != "--");
    while let Some(word) = words.next() {
        if word == FLAG {
            given.extend(words.next().map(PathBuf::from));
        } else if let Some(value) = word.to_str().and_then(|it| it.strip_prefix("--kind-file=")) {
            given.push(value.into());
        }
    }
    let is_run = arguments.get(1).is_some_and(|it| it == "run");
    let variable = variable.filter(|it| is_run && given.is_empty() && !it.is_empty());
    given.extend(variable.map(PathBuf::from));
    given
}

/// Takes up the kinds of files; what is wrong with rows of them, each with its file, line and
/// column. The other rows count.
///
/// # Errors
/// A file cannot be read, or is not YAML.
pub(super) fn take_up(files: &[PathBuf]) -> Result<Vec<String>, KindFileError> {
    let (mut wrong, mut refused) = (Vec::new(), Vec::new());
    for file in files {
        let source = SourceFile::open(Path::new(file))?;
        let found = source.kind_rows();
        for error in found.errors {
            if !error.in_object {
                return Err(KindFileError::Syntax(error));
            }
            wrong.push(error.to_string());
        }
        refused.extend(found.refused);
        for (row, place) in found.rows {
            let (file, resource) = (source.name(), format!("{}.{}", row.plural, row.group));
            if let Err(error) = row.take_up() {
                let (line, column) = (place.line, place.column);
                wrong.push(format!("{file}:{line}:{column}: {resource}: {error}"));
                refused.extend(error.is_unknown().then_some(resource));
            }
        }
    }
    // They are given once in a process.
    let _ = REFUSED.set(refused);
    Ok(wrong)
}

/// Whether the row of a kind is wrong, so that nothing is known of it.
pub(super) fn is_refused(kind: Kind) -> bool {
    let refused = REFUSED.get().map(Vec::as_slice).unwrap_or_default();
    refused.iter().any(|it| it == kind.argument())
}
