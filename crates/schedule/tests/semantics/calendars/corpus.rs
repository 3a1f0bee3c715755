//! Files in the style of several calendar programs, compared with the dates that another library
//! reads from them.
//!
//! `corpus/oracle.py` wrote the `.dates` next to each file with recurring-ical-events and
//! icalendar from PyPI. `.ci/nightly calendars` runs it on thousands of other files in the
//! directory that `CALENDARS` names.

use std::{fs, path::Path};

use chrono::NaiveDate;
use dayshift_schedule::{Calendar, CalendarReason};

use super::reading::date;

/// The days of a file from 2020 to 2031, or the error.
fn days(file: &[u8]) -> Result<Vec<NaiveDate>, String> {
    let all = date("2020-01-01").iter_days();
    let all = all.take_while(|it| *it < date("2032-01-01"));
    match Calendar::parse(file) {
        Ok(calendar) => Ok(all.filter(|it| calendar.contains(*it)).collect()),
        Err(error) if error.reason() == CalendarReason::NoDates => Ok(Vec::new()),
        Err(error) => Err(error.to_string()),
    }
}

/// Compares each file of a directory with the dates next to it. Returns the number of files and of
/// rejected files. Only files from packages may be rejected, because some of their tests are
/// invalid on purpose.
fn compare(directory: &Path) -> (usize, usize) {
    let (mut count, mut refused) = (0, 0);
    let mut differences = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|it| it != "ics") {
            continue;
        }
        count += 1;
        let expected = fs::read_to_string(path.with_extension("dates")).unwrap();
        let expected: Vec<NaiveDate> = expected.lines().map(|it| it.parse().unwrap()).collect();
        let differs = match days(&fs::read(&path).unwrap()) {
            Ok(found) => {
                let is_other = |it: &&NaiveDate| !found.contains(it) || !expected.contains(it);
                let all = found.iter().chain(&expected);
                let others: Vec<_> = all.filter(is_other).collect();
                (!others.is_empty()).then(|| format!("{} days, {others:?}", others.len()))
            }
            Err(_) if is_of_package(&path) => {
                refused += 1;
                None
            }
            Err(error) => Some(error),
        };
        differences.extend(differs.map(|it| format!("{}: {it}", path.display())));
    }
    differences.sort();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    (count, refused)
}

fn is_of_package(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_string_lossy();
    name.starts_with("package-")
}

#[test]
fn days_of_a_file_agree_with_the_oracle() {
    let corpus = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/semantics/calendars/corpus"
    );
    assert_eq!(compare(Path::new(corpus)), (9, 0));
    if let Some(directory) = std::env::var_os("CALENDARS") {
        let (count, refused) = compare(Path::new(&directory));
        assert!(count > refused, "no file");
        println!(
            "{count} files of {}, {refused} refused",
            directory.display()
        );
    }
}
