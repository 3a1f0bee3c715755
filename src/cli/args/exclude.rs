//! Which files of a folder are read, alike in every subcommand that reads files.

use std::path::PathBuf;

use crate::manifest::{Opened, Search};

#[derive(Debug, clap::Args)]
pub(crate) struct ExcludeArgs {
    /// Skip files and folders of a folder that match, written as in .gitignore; repeatable
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
}

impl ExcludeArgs {
    /// What these files and folders hold, in their order.
    pub(crate) fn open<'f>(&self, files: impl IntoIterator<Item = &'f PathBuf>) -> Opened {
        let search = Search::excluding(&self.exclude);
        let mut opened = Opened::default();
        for file in files {
            let found = search.open(file);
            opened.sources.extend(found.sources);
            opened.errors.extend(found.errors);
        }
        opened
    }
}
