//! `--calendar NAME=FILE`: a calendar and the file that it comes from.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use dayshift_schedule::{Calendar, CalendarError, CalendarName, LoadedCalendar};
use dayshift_text::printable;
use ring::digest::{self, SHA256, SHA256_OUTPUT_LEN};

/// A calendar that was asked for, and what its file held when it was read.
#[derive(Clone, Debug)]
pub struct CalendarFile {
    pub(crate) name: CalendarName,
    pub(crate) path: PathBuf,
    pub(crate) contents: CalendarContents,
}

/// What was in a file when it was read.
#[derive(Clone, Debug)]
pub(crate) struct CalendarContents {
    /// The calendar, or the name of the file and what is wrong with it.
    pub(crate) calendar: LoadedCalendar,
    /// Of its bytes, where they could be had.
    pub(crate) digest: Option<Digest>,
}

type Digest = [u8; SHA256_OUTPUT_LEN];

/// Why a file cannot be had as a calendar. `Display` names no file.
#[derive(Debug, thiserror::Error)]
enum CalendarFileError {
    #[error("it is not a regular file")]
    NotAFile,
    #[error("{0}")]
    Read(#[from] io::Error),
    #[error("{0}")]
    Parse(#[from] CalendarError),
}

impl CalendarFile {
    /// Reads the value of the flag, and the file, which may be wrong or absent: only what names the
    /// calendar needs it.
    ///
    /// # Errors
    /// The value is not a name and a file.
    pub fn parse(text: &str) -> Result<Self, String> {
        let example = "write a name and a file, such as de=/etc/dayshift/de.ics";
        let (name, path) = text.split_once('=').ok_or(example)?;
        let name = CalendarName::parse(name.trim()).map_err(|error| error.to_string())?;
        let path = PathBuf::from(path.trim());
        if path.as_os_str().is_empty() {
            return Err(example.to_owned());
        }
        // Without a digest to compare with, it is always read.
        let contents = CalendarContents::read(&path, None).ok_or(example)?;
        Ok(Self {
            name,
            path,
            contents,
        })
    }
}

impl CalendarContents {
    /// What is in a file now; `None` where its digest is the known one.
    pub(crate) fn read(path: &Path, known: Option<Digest>) -> Option<Self> {
        let mut digest = None;
        let calendar = bytes_of(path).and_then(|bytes| {
            let mut found = [0; SHA256_OUTPUT_LEN];
            found.copy_from_slice(digest::digest(&SHA256, &bytes).as_ref());
            digest = Some(found);
            if known == digest {
                return Ok(None);
            }
            Ok(Some(Arc::new(Calendar::parse(&bytes)?)))
        });
        let said = |error| format!("{}: {error}", printable(&path.to_string_lossy())).into();
        let calendar = calendar.map_err(said).transpose()?;
        Some(Self { calendar, digest })
    }
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, CalendarFileError> {
    // To open a pipe would wait for a writer.
    if !path.metadata()?.is_file() {
        return Err(CalendarFileError::NotAFile);
    }
    let most = u64::try_from(Calendar::MAX_FILE).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    File::open(path)?
        .take(most.saturating_add(1))
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}
