//! Files that are read again while a command runs, because a kubelet updates a mounted ConfigMap in place.

use std::{
    fmt::Display,
    fs::File,
    io::{self, Read},
    path::Path,
    sync::Arc,
};

use chrono::TimeDelta;
use dayshift_text::printable;
use ring::digest::{self, SHA256, SHA256_OUTPUT_LEN};

/// How often the files are read. A kubelet takes about a minute to update a ConfigMap.
pub(crate) const INTERVAL: TimeDelta = TimeDelta::seconds(10);

/// The value in a file, or an error that includes the name of the file.
pub(crate) type FileValue<T> = Result<T, Arc<str>>;

pub(crate) type FileDigest = [u8; SHA256_OUTPUT_LEN];

/// The contents of a file when it was last read.
#[derive(Clone, Debug)]
pub(crate) struct FileContents<T> {
    pub(crate) value: FileValue<T>,
    /// The digest of the file, if it could be read.
    pub(crate) digest: Option<FileDigest>,
}

impl<T> FileContents<T> {
    /// Reads a file of at most `max` bytes, and one byte more of a larger file. Returns `None` if its
    /// digest is the known one.
    pub(crate) fn read<E: Display>(
        path: &Path,
        known: Option<FileDigest>,
        max: usize,
        parse: impl FnOnce(Vec<u8>) -> Result<T, E>,
    ) -> Option<Self> {
        let error = |error: &dyn Display| {
            let name = printable(&path.to_string_lossy());
            Err(format!("{name}: {error}").into())
        };
        let bytes = match read_bytes(path, max) {
            Ok(bytes) => bytes,
            Err(why) => {
                let value = error(&why);
                let digest = None;
                return Some(Self { value, digest });
            }
        };
        let mut digest = [0; SHA256_OUTPUT_LEN];
        digest.copy_from_slice(digest::digest(&SHA256, &bytes).as_ref());
        (known != Some(digest)).then(|| Self {
            value: parse(bytes).or_else(|why| error(&why)),
            digest: Some(digest),
        })
    }
}

fn read_bytes(path: &Path, max: usize) -> io::Result<Vec<u8>> {
    // Opening a pipe would block until another process writes to it.
    if !path.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let most = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Puts a new value into use, and returns whether that is a change. An invalid file does not replace a
/// value.
pub(crate) fn put_into_use<T: Clone + PartialEq>(
    in_use: &mut FileValue<T>,
    read: &FileValue<T>,
) -> bool {
    let is_change = in_use != read && (read.is_ok() || in_use.is_err());
    if is_change {
        in_use.clone_from(read);
    }
    is_change
}
