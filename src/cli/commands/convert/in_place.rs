//! Files that are written anew.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    process,
};

/// Writes a file anew: all of it or nothing.
pub(super) fn replace(path: &Path, text: &str) -> io::Result<()> {
    // What a link leads to is changed, not the link.
    let path = fs::canonicalize(path)?;
    let written = write_beside(&path, text);
    written.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

fn write_beside(path: &Path, text: &str) -> io::Result<()> {
    let permissions = fs::metadata(path)?.permissions();
    let (mut file, beside) = create_beside(path)?;
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| file.set_permissions(permissions))
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // The first error says more.
        let _ = fs::remove_file(&beside);
    }
    written
}

/// How many names are tried.
const MAX_TRIES: u32 = 100;

/// A new file in the same folder. What has its name already, such as a link that somebody else has put
/// there or the file of another process, is left alone.
fn create_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    let mut created = Err(io::ErrorKind::AlreadyExists.into());
    for number in 0..MAX_TRIES {
        let beside = beside(path, number);
        created = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&beside)
            .map(|file| (file, beside));
        let is_taken = |error: &io::Error| error.kind() == io::ErrorKind::AlreadyExists;
        if !created.as_ref().is_err_and(is_taken) {
            break;
        }
    }
    created
}

fn beside(path: &Path, number: u32) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".dayshift-{}-{number}", process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn what_somebody_has_put_there_before_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("web.yaml"), "old").unwrap();
        fs::set_permissions(at("web.yaml"), fs::Permissions::from_mode(0o640)).unwrap();
        fs::write(at("secret"), "mine").unwrap();
        for number in 0..3 {
            symlink(at("secret"), beside(&at("web.yaml"), number)).unwrap();
        }
        replace(&at("web.yaml"), "new").unwrap();
        let read = |name: &str| fs::read_to_string(at(name)).unwrap();
        assert_eq!((&*read("web.yaml"), &*read("secret")), ("new", "mine"));
        let mode = fs::metadata(at("web.yaml")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        assert!(!beside(&at("web.yaml"), 3).exists(), "nothing is left over");
    }
}
