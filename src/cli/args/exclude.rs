//! Which files of a folder are read, alike in every subcommand that reads files.

use std::path::PathBuf;

use crate::{
    manifest::{Opened, Search},
    text::quote,
};

#[derive(Debug, clap::Args)]
pub(crate) struct ExcludeArgs {
    /// Skip files and folders of a folder that match, written as in .gitignore; repeatable
    #[arg(long, value_name = "GLOB", value_parser = glob)]
    exclude: Vec<String>,
}

fn glob(text: &str) -> Result<String, String> {
    let is_glob = Search::is_pattern(text);
    is_glob.then(|| text.to_owned()).ok_or_else(|| {
        format!(
            "`{}` is not a pattern as in .gitignore; write for example *.test.yaml",
            quote(text)
        )
    })
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
