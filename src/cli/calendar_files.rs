//! The iCalendar files of `--calendar NAME=FILE`.
//!
//! They are read when the flag is parsed, and again every 10 seconds while `run` and `dashboard` run,
//! because a kubelet updates a mounted ConfigMap in place.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::clock::Clock;
use dayshift_controller::{CalendarPublisher, Telemetry};
use dayshift_schedule::{Calendar, CalendarName, Calendars, LoadedCalendar, Tzdata};
use dayshift_text::printable;

use crate::cli::file_contents::{FileContents, FileDigest, INTERVAL, put_into_use};

/// A calendar of `--calendar`, and the contents of its file when it was last read.
#[derive(Clone, Debug)]
pub struct CalendarFile {
    pub(crate) name: CalendarName,
    pub(crate) path: PathBuf,
    pub(crate) contents: FileContents<Arc<Calendar>>,
    /// The database for the zones in the file.
    tzdata: Tzdata,
}

/// Reads a calendar. Returns `None` if the digest of the file is the known one.
fn read_calendar(
    path: &Path,
    known: Option<FileDigest>,
    tzdata: &Tzdata,
) -> Option<FileContents<Arc<Calendar>>> {
    FileContents::read(path, known, Calendar::MAX_FILE, |bytes| {
        Calendar::parse_with(&bytes, tzdata).map(Arc::new)
    })
}

impl CalendarFile {
    /// Parses `NAME=FILE` and reads the file. The file may be invalid or missing: only schedules
    /// that use the calendar need it.
    ///
    /// # Errors
    /// If the value is not a name and a file.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::parse_with(text, Tzdata::bundled())
    }

    /// Reads the file with the zones of another database than the bundled one.
    pub(crate) fn parse_with(text: &str, tzdata: &Tzdata) -> Result<Self, String> {
        let example = "write a name and a file, such as de=/etc/dayshift/de.ics";
        let (name, path) = text.split_once('=').ok_or(example)?;
        let name = CalendarName::parse(name.trim()).map_err(|error| error.to_string())?;
        let path = PathBuf::from(path.trim());
        if path.as_os_str().is_empty() {
            return Err(example.to_owned());
        }
        // Without a known digest, the file is always read.
        let contents = read_calendar(&path, None, tzdata).ok_or(example)?;
        Ok(Self {
            tzdata: tzdata.clone(),
            name,
            path,
            contents,
        })
    }
}

/// How often a calendar that ends soon is reported.
const REMINDER: TimeDelta = TimeDelta::days(1);

/// Reads the calendar files periodically and publishes changes. If a file becomes invalid or
/// disappears, the dates that were read last stay in use. If it has never been valid, schedules
/// that use the calendar are rejected until it is.
pub struct CalendarWatch {
    files: Vec<WatchedCalendar>,
    reminded: Option<DateTime<Utc>>,
}

struct WatchedCalendar {
    file: CalendarFile,
    /// The calendar that the controller uses: the last valid one, if there was one.
    in_force: LoadedCalendar,
}

impl CalendarWatch {
    /// Watches files that have just been read.
    pub fn new(files: Vec<CalendarFile>) -> Self {
        let watched = |file: CalendarFile| WatchedCalendar {
            in_force: file.contents.value.clone(),
            file,
        };
        Self {
            files: files.into_iter().map(watched).collect(),
            reminded: None,
        }
    }

    /// Reads the files until the future is dropped.
    pub async fn run(
        mut self,
        clock: &Clock,
        publisher: &CalendarPublisher,
        telemetry: &Telemetry,
    ) {
        if self.files.is_empty() {
            return std::future::pending().await;
        }
        for watched in &self.files {
            if watched.in_force.is_err() {
                watched.log_reading();
            }
            watched.publish(telemetry);
        }
        loop {
            self.remind(clock.now());
            clock.sleep_until(clock.now() + INTERVAL).await;
            let mut is_news = false;
            for watched in &mut self.files {
                let file = watched.file.clone();
                // A slow disk should not block the controller, so files are read on another thread.
                let read = tokio::task::spawn_blocking(move || {
                    read_calendar(&file.path, file.contents.digest, &file.tzdata)
                });
                let read = read.await.ok().flatten();
                is_news |= read.is_some_and(|contents| watched.take(contents));
                watched.publish(telemetry);
            }
            if is_news {
                let named = self.files.iter().map(|WatchedCalendar { file, in_force }| {
                    (file.name.clone(), in_force.clone())
                });
                publisher.publish(Calendars::from_files(named));
                self.reminded = None;
            }
        }
    }

    /// Warns once a day about calendars that end soon.
    fn remind(&mut self, now: DateTime<Utc>) {
        let is_recent = |at: DateTime<Utc>| at <= now && now < at + REMINDER;
        if self.reminded.is_some_and(is_recent) {
            return;
        }
        self.reminded = Some(now);
        for watched in &self.files {
            let calendar = watched.in_force.as_ref().ok();
            let Some(last) = calendar.and_then(|calendar| calendar.ends_on()) else {
                continue;
            };
            if last <= (now + Calendar::ENDS_SOON).date_naive() {
                tracing::warn!(
                    calendar = watched.file.name.as_str(),
                    file = &*printable(&watched.file.path.to_string_lossy()),
                    "the last date of the calendar is {last}; after it no date is excluded; provide a newer file"
                );
            }
        }
    }
}

impl WatchedCalendar {
    /// Records new contents, and returns whether the calendar in use has changed.
    fn take(&mut self, contents: FileContents<Arc<Calendar>>) -> bool {
        let before = std::mem::replace(&mut self.file.contents, contents);
        let read = &self.file.contents.value;
        if before.value.as_ref().err() != read.as_ref().err() {
            self.log_reading();
        }
        let is_change = put_into_use(&mut self.in_force, read);
        if is_change && read.is_ok() {
            let calendar = self.file.name.as_str();
            tracing::info!(calendar, "the calendar has changed");
        }
        is_change
    }

    /// Logs the error of the file, or that it can be read again.
    fn log_reading(&self) {
        let calendar = self.file.name.as_str();
        match (&self.file.contents.value, &self.in_force) {
            (Ok(_), _) => tracing::info!(calendar, "the calendar file can be read again"),
            (Err(why), Ok(_)) => tracing::error!(
                calendar,
                "the calendar file cannot be read; the previous dates stay in use until dayshift restarts: {why}"
            ),
            (Err(why), Err(_)) => tracing::error!(
                calendar,
                "the calendar file cannot be read; every schedule that names it is rejected until it can be read: {why}"
            ),
        }
    }

    fn publish(&self, telemetry: &Telemetry) {
        let calendar = self.in_force.as_ref().ok();
        let end = calendar.and_then(|calendar| calendar.ends_on());
        telemetry.set_calendar_end(&self.file.name, end);
        let is_valid = self.file.contents.value.is_ok();
        telemetry.set_calendar_valid(&self.file.name, is_valid);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use dayshift_controller::CalendarFeed;
    use dayshift_schedule::ExcludedDates;

    use super::*;

    const CHRISTMAS: &str =
        "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20261225\nEND:VEVENT\nEND:VCALENDAR";
    const MAY: &str = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20270501\nEND:VEVENT\nEND:VCALENDAR";

    /// Mounts a file as a kubelet mounts a ConfigMap: through two symbolic links, one of which is
    /// replaced.
    fn mount(directory: &Path, version: &str, file: &str) {
        fs::create_dir(directory.join(version)).unwrap();
        fs::write(directory.join(version).join("de.ics"), file).unwrap();
        std::os::unix::fs::symlink(version, directory.join("..data_tmp")).unwrap();
        fs::rename(directory.join("..data_tmp"), directory.join("..data")).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn publishes_a_replaced_file_and_ignores_an_invalid_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("de.ics");
        mount(directory.path(), "..1", CHRISTMAS);
        std::os::unix::fs::symlink("..data/de.ics", &path).unwrap();
        let file = CalendarFile::parse(&format!("de={}", path.display())).unwrap();
        let clock = Clock::simulated("2026-11-20T10:00:00Z".parse().unwrap());
        let telemetry = Telemetry::new(clock.now());
        let (publisher, feed) = CalendarFeed::open(Calendars::default());
        let watch = CalendarWatch::new(vec![file]);
        let holds = |date: &str| {
            let known = feed.current();
            let mut all = known.iter();
            all.any(|(_, calendar)| calendar.contains(date.parse().unwrap()))
        };
        let is_good = || {
            let metrics = telemetry.render();
            let line = "dayshift_calendar_last_reload_successful{calendar=\"de\"} ";
            let (_, rest) = metrics.split_once(line).unwrap();
            rest.starts_with('1')
        };
        let pass = async || {
            let until = clock.now() + INTERVAL + INTERVAL;
            clock.sleep_until(until).await;
        };
        let scenario = async {
            pass().await;
            assert!(
                is_good() && feed.current() == Calendars::default(),
                "nothing is new"
            );
            mount(directory.path(), "..2", MAY);
            pass().await;
            assert!(is_good() && holds("2027-05-01") && !holds("2026-12-25"));
            let metrics = telemetry.render();
            let last =
                "dayshift_calendar_last_date_timestamp_seconds{calendar=\"de\"} 1809129600\n";
            assert!(metrics.contains(last), "{metrics}");
            for (version, bad) in [("..3", "<html>"), ("..4", "BEGIN:VCALENDAR\nEND:VCALENDAR")] {
                mount(directory.path(), version, bad);
                pass().await;
                assert!(!is_good() && holds("2027-05-01"), "{bad}");
            }
            fs::remove_file(&path).unwrap();
            pass().await;
            assert!(!is_good() && holds("2027-05-01"));
            fs::create_dir(&path).unwrap();
            pass().await;
            assert!(!is_good() && holds("2027-05-01"));
            // Restoring the same file changes nothing.
            fs::remove_dir(&path).unwrap();
            fs::write(&path, MAY).unwrap();
            pass().await;
            assert!(is_good() && holds("2027-05-01"));
            fs::write(&path, CHRISTMAS).unwrap();
            pass().await;
            assert!(is_good() && holds("2026-12-25"));
        };
        tokio::select! {
            () = watch.run(&clock, &publisher, &telemetry) => panic!("it ends"),
            () = scenario => {}
        }
    }

    #[tokio::test(start_paused = true)]
    async fn accepts_a_file_that_was_invalid_at_startup_when_it_becomes_valid() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("de.ics");
        let file = CalendarFile::parse(&format!("de={}", path.display())).unwrap();
        let clock = Clock::simulated("2026-11-20T10:00:00Z".parse().unwrap());
        let telemetry = Telemetry::new(clock.now());
        let (publisher, feed) = CalendarFeed::open(Calendars::default());
        let watch = CalendarWatch::new(vec![file]);
        let refusal = || {
            let read = ExcludedDates::parse_with("calendar:de", &feed.current());
            read.map_err(|error| error.to_string()).err()
        };
        let metric = || {
            let metrics = telemetry.render();
            let line = "dayshift_calendar_last_reload_successful{calendar=\"de\"} ";
            let (_, rest) = metrics.split_once(line).unwrap();
            rest.get(..1).map(str::to_owned)
        };
        let pass = async || {
            let until = clock.now() + INTERVAL + INTERVAL;
            clock.sleep_until(until).await;
        };
        let broken = format!("{CHRISTMAS}\n").replace("20261225", "20261225\nEXDATE:tomorrow");
        let scenario = async {
            // When the error changes, workloads get the new one.
            for (bytes, said) in [
                ("<html>", "`<html>`"),
                (&broken, "`tomorrow` is not a date"),
            ] {
                fs::write(&path, bytes).unwrap();
                pass().await;
                let told = refusal().unwrap();
                assert!(told.contains(said), "{told}");
                assert_eq!(metric().as_deref(), Some("0"));
            }
            fs::write(&path, CHRISTMAS).unwrap();
            pass().await;
            assert_eq!((refusal(), metric().as_deref()), (None, Some("1")));
            fs::remove_file(&path).unwrap();
            pass().await;
            assert_eq!((refusal(), metric().as_deref()), (None, Some("0")));
        };
        tokio::select! {
            () = watch.run(&clock, &publisher, &telemetry) => panic!("it ends"),
            () = scenario => {}
        }
    }

    #[test]
    fn rejects_a_value_that_is_not_a_name_and_a_file() {
        for (text, expected) in [
            (
                "de",
                "write a name and a file, such as de=/etc/dayshift/de.ics",
            ),
            ("de=", "write a name and a file"),
            (
                "De=x.ics",
                "`De` is not the name of a calendar; write 1 to 63 of the characters",
            ),
        ] {
            let error = CalendarFile::parse(text).unwrap_err();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
        for (file, expected) in [
            ("/nonexistent/x.ics", "/nonexistent/x.ics: No such file"),
            ("/dev/null", "/dev/null: it is not a regular file"),
            (
                "Cargo.toml",
                "Cargo.toml: line 1: `[workspace]` is not the beginning of an iCalendar file",
            ),
        ] {
            let file = CalendarFile::parse(&format!("de={file}")).unwrap();
            let error = file.contents.value.unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
