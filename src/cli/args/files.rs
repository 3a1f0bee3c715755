//! The files that a command reads, and how words that name files differ from words that name workloads.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

use dayshift_manifest::{FileSearch, OpenedFiles};
use dayshift_text::quote;

use crate::cli::{
    args::{
        kinds::KindFiles,
        targets::{parse_names, parse_namespace_target},
    },
    output::messages::print_warning,
};

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
