//! Files that are read again while a command runs, because a kubelet updates a mounted ConfigMap in place.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use chrono::TimeDelta;
use ring::digest::{self, SHA256, SHA256_OUTPUT_LEN};

/// How often the files are read. A kubelet takes about a minute to update a ConfigMap.
pub(crate) const INTERVAL: TimeDelta = TimeDelta::seconds(10);

pub(crate) type FileDigest = [u8; SHA256_OUTPUT_LEN];

/// Why a file cannot be read. `Display` does not include the file name.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileReadError {
    #[error("it is not a regular file")]
    NotAFile,
    #[error("{0}")]
    Read(#[from] io::Error),
}

/// Reads a file of at most `max` bytes, and one byte more of a larger file. Returns `None` if its
/// digest is the known one.
///
/// # Errors
/// If the file is missing, not a regular file, or cannot be read.
pub(crate) fn read_changed(
    path: &Path,
    known: Option<FileDigest>,
    max: usize,
) -> Result<Option<(Vec<u8>, FileDigest)>, FileReadError> {
    // Opening a pipe would block until another process writes to it.
    if !path.metadata()?.is_file() {
        return Err(FileReadError::NotAFile);
    }
    let most = u64::try_from(max).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    File::open(path)?
        .take(most.saturating_add(1))
        .read_to_end(&mut bytes)?;
    let mut found = [0; SHA256_OUTPUT_LEN];
    found.copy_from_slice(digest::digest(&SHA256, &bytes).as_ref());
    Ok((known != Some(found)).then_some((bytes, found)))
}
