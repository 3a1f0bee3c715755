//! Which files are read, alike in every subcommand that reads files.

use std::{collections::HashSet, fs, path::PathBuf};

use dayshift_manifest::{FileSearch, OpenedFiles};
use dayshift_text::quote;

/// The flags beside `FILE…`.
#[derive(Debug, clap::Args)]
pub(crate) struct FileArgs {
    /// A file of YAML or JSON, a folder of such files, or - for standard input; repeatable
    #[arg(short, long, value_name = "FILE")]
    file: Vec<PathBuf>,

    /// Skip files and folders of a folder that match, written as in .gitignore; repeatable
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
    /// The files and folders of `FILE…` and of `-f`, in this order.
    pub(crate) fn all(&self, words: &[PathBuf]) -> Vec<PathBuf> {
        words.iter().chain(&self.file).cloned().collect()
    }

    /// What these files and folders hold, in their order. What is given twice is read once: by its
    /// own name and in a folder, or through a symbolic link.
    pub(crate) fn open(&self, paths: &[PathBuf]) -> OpenedFiles {
        let search = FileSearch::excluding(&self.exclude);
        let mut opened = OpenedFiles::default();
        let (mut given, mut read) = (HashSet::new(), HashSet::new());
        for path in paths.iter().filter(|it| given.insert(*it)) {
            let mut found = search.open(path);
            found.sources.retain(|it| {
                let canonical = fs::canonicalize(it.path()).ok();
                canonical.is_none_or(|it| read.insert(it))
            });
            opened.sources.extend(found.sources);
            opened.errors.extend(found.errors);
        }
        opened
    }
}
