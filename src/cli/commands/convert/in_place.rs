//! Files that are written anew.

use std::{ffi::OsString, fs, io, path::Path};

/// Writes a file anew: all of it or nothing.
pub(super) fn replace(path: &Path, text: &str) -> io::Result<()> {
    // What a link leads to is changed, not the link.
    let path = fs::canonicalize(path)?;
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".dayshift");
    let beside = path.with_file_name(name);
    let permissions = fs::metadata(&path)?.permissions();
    let written = fs::write(&beside, text)
        .and_then(|()| fs::set_permissions(&beside, permissions))
        .and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        // The first error says more.
        let _ = fs::remove_file(&beside);
    }
    written.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}
