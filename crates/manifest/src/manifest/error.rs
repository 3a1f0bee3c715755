//! Why a file cannot be read.

use std::{io, path::Path};

use super::tree::location::Location;

/// The largest file that is read, in bytes.
pub const MAX_BYTES: usize = 32 << 20;

/// Why a file or folder could not be opened. Each names it as it was given.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It is not there, may not be read, or ended early.
    #[error("cannot read {name}: {error}")]
    Read {
        /// The file or folder.
        name: String,
        /// What the system said.
        error: io::Error,
    },
    /// It is longer than [`MAX_BYTES`].
    #[error("{name} is too large; at most {} MiB are read, so split it", MAX_BYTES >> 20)]
    TooLarge {
        /// The file.
        name: String,
    },
    /// It is not UTF-8, which YAML and JSON are written in.
    #[error("{name}:{line}: this line is not UTF-8 text; save the file as UTF-8")]
    NotText {
        /// The file.
        name: String,
        /// The first line that is not, from 1.
        line: usize,
    },
    /// It is a folder without a manifest.
    #[error(
        "{name} has no file to read: none ends in .yaml, .yml or .json, or all are excluded or ignored by Git"
    )]
    EmptyFolder {
        /// The folder.
        name: String,
    },
}

impl OpenError {
    pub(super) fn read(path: &Path, error: io::Error) -> Self {
        let name = path.display().to_string();
        Self::Read { name, error }
    }

    /// The file or folder, as it was given.
    pub fn name(&self) -> &str {
        let (Self::Read { name, .. }
        | Self::TooLarge { name }
        | Self::NotText { name, .. }
        | Self::EmptyFolder { name }) = self;
        name
    }
}

/// What in a file makes it no manifest, in the form `FILE:LINE:COLUMN: …` that editors know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{}:{}: {message}", .place.line, .place.column)]
pub struct SyntaxError {
    /// The file, as it was given.
    pub file: String,
    /// Where in it.
    pub place: Location,
    /// What is wrong there.
    pub message: String,
    /// Whether the text is good YAML, and an object in it is at fault.
    pub in_object: bool,
    /// The kind of that object, where it is known.
    pub kind: Option<&'static str>,
    /// Whether a tool fills in what is at fault before anything is applied.
    pub is_filled_in: bool,
}
