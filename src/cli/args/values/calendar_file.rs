//! `--calendar NAME=FILE`: a calendar and the file that it comes from.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use ring::digest::{self, SHA256, SHA256_OUTPUT_LEN};

use crate::schedule::{Calendar, CalendarError, CalendarName};

/// A calendar that was read from a file.
#[derive(Clone, Debug)]
pub(crate) struct CalendarFile {
    pub(crate) name: CalendarName,
    pub(crate) path: PathBuf,
    pub(crate) contents: CalendarContents,
}

/// What was in a file when it was read.
#[derive(Clone, Debug)]
pub(crate) struct CalendarContents {
    pub(crate) calendar: Arc<Calendar>,
    pub(crate) digest: [u8; SHA256_OUTPUT_LEN],
}

/// Why a file cannot be had as a calendar. `Display` names no file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CalendarFileError {
    #[error("it is not a regular file")]
    NotAFile,
    #[error("{0}")]
    Read(#[from] io::Error),
    #[error("{0}")]
    Parse(#[from] CalendarError),
}

impl CalendarFile {
    /// Reads the value of the flag, and the file.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let example = "write a name and a file, such as de=/etc/dayshift/de.ics";
        let (name, path) = text.split_once('=').ok_or(example)?;
        let name = CalendarName::parse(name.trim()).map_err(|error| error.to_string())?;
        let path = PathBuf::from(path.trim());
        if path.as_os_str().is_empty() {
            return Err(example.to_owned());
        }
        let contents = CalendarContents::read(&path, None);
        let contents = contents.map_err(|error| format!("{}: {error}", path.display()))?;
        // Without a digest to compare with, it is always read.
        let contents = contents.ok_or(example)?;
        Ok(Self {
            name,
            path,
            contents,
        })
    }
}

impl CalendarContents {
    /// What is in a file; `None` where its digest is that of what is known.
    pub(crate) fn read(
        path: &Path,
        known: Option<[u8; SHA256_OUTPUT_LEN]>,
    ) -> Result<Option<Self>, CalendarFileError> {
        // To open a pipe would wait for a writer.
        if !path.metadata()?.is_file() {
            return Err(CalendarFileError::NotAFile);
        }
        let most = u64::try_from(Calendar::MAX_FILE).unwrap_or(u64::MAX);
        let mut bytes = Vec::new();
        File::open(path)?
            .take(most.saturating_add(1))
            .read_to_end(&mut bytes)?;
        let mut digest = [0; SHA256_OUTPUT_LEN];
        digest.copy_from_slice(digest::digest(&SHA256, &bytes).as_ref());
        if known == Some(digest) {
            return Ok(None);
        }
        Ok(Some(Self {
            calendar: Arc::new(Calendar::parse(&bytes)?),
            digest,
        }))
    }
}
