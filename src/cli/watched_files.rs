//! The files of `--calendar NAME=FILE` and `--schedules`.
//!
//! They are read when the flag is parsed, and again every 10 seconds while `run` and `dashboard` run,
//! because a kubelet updates a mounted ConfigMap in place.

use std::{
    fmt::Display,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::clock::Clock;
use dayshift_controller::{CalendarPublisher, SchedulePublisher, Telemetry};
use dayshift_manifest::{ScheduleFile, SourceFile};
use dayshift_schedule::{Calendar, CalendarName, Calendars, LoadedCalendar, Tzdata};
use dayshift_text::printable;
use dayshift_workload::{NamedSchedules, ParseContext};
use ring::digest::{self, SHA256, SHA256_OUTPUT_LEN};

/// How often the files are read. A kubelet takes about a minute to update a ConfigMap.
const INTERVAL: TimeDelta = TimeDelta::seconds(10);

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
fn put_into_use<T: Clone + PartialEq>(in_use: &mut FileValue<T>, read: &FileValue<T>) -> bool {
    let is_change = in_use != read && (read.is_ok() || in_use.is_err());
    if is_change {
        in_use.clone_from(read);
    }
    is_change
}

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

/// The file of `--schedules`, and its contents when it was last read.
#[derive(Clone, Debug)]
pub struct NamedScheduleFile {
    path: PathBuf,
    contents: FileContents<ScheduleFile>,
}

/// Reads a file of named schedules. Returns `None` if its digest is the known one.
fn read_schedules(path: &Path, known: Option<FileDigest>) -> Option<FileContents<ScheduleFile>> {
    FileContents::read(path, known, ScheduleFile::MAX_BYTES, |bytes| {
        let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text")?;
        let name = printable(&path.to_string_lossy());
        Ok::<_, &str>(ScheduleFile::parse(SourceFile::new(name, text)))
    })
}

/// The schedules in use, or those of an unreadable file.
fn in_use(schedules: FileValue<NamedSchedules>) -> NamedSchedules {
    schedules.unwrap_or_else(|why| NamedSchedules::unreadable(&why))
}

impl NamedScheduleFile {
    /// Reads the file. It may be invalid or missing: only workloads that use a schedule need it.
    ///
    /// # Errors
    /// If the value is empty.
    pub fn parse(text: &str) -> Result<Self, String> {
        let example = "write a file, such as /etc/dayshift/schedules.yaml";
        let path = PathBuf::from(text.trim());
        if path.as_os_str().is_empty() {
            return Err(example.to_owned());
        }
        // Without a known digest, the file is always read.
        let contents = read_schedules(&path, None).ok_or(example)?;
        Ok(Self { path, contents })
    }

    /// The schedules, or those of an unreadable file.
    pub(crate) fn schedules(&self) -> NamedSchedules {
        in_use(self.value())
    }

    /// The file.
    ///
    /// # Errors
    /// If it could not be read. The error includes its name.
    pub(crate) fn file(&self) -> Result<&ScheduleFile, &str> {
        self.contents.value.as_ref().map_err(|why| &**why)
    }

    /// Why the file has no schedules, if so.
    pub(crate) fn error(&self) -> Option<Arc<str>> {
        self.value().err()
    }

    fn value(&self) -> FileValue<NamedSchedules> {
        let file = self.contents.value.as_ref().map_err(Arc::clone)?;
        file.schedules().map_err(|error| error.to_string().into())
    }
}

/// Reads the file periodically and publishes changes. If it becomes invalid or disappears, the
/// schedules that were read last stay in use. If it has never been valid, the workloads that name a
/// schedule are rejected until it is.
pub struct ScheduleWatch {
    file: Option<NamedScheduleFile>,
    /// The schedules that the controller uses.
    in_force: FileValue<NamedSchedules>,
    /// How the values are read, to report mistakes in the log.
    context: ParseContext,
    /// The mistakes that the log has reported.
    reported: Vec<String>,
}

impl ScheduleWatch {
    /// Watches a file that has just been read.
    pub fn new(file: Option<NamedScheduleFile>, context: ParseContext) -> Self {
        let in_force = file.as_ref().map(NamedScheduleFile::value);
        Self {
            file,
            in_force: in_force.unwrap_or_else(|| Ok(NamedSchedules::default())),
            context,
            reported: Vec::new(),
        }
    }

    /// Reads the file until the future is dropped.
    pub async fn run(
        mut self,
        clock: &Clock,
        publisher: &SchedulePublisher,
        telemetry: &Telemetry,
    ) {
        let Some(mut file) = self.file.take() else {
            return std::future::pending().await;
        };
        self.log_reading(None, &self.in_force);
        telemetry.set_schedules_valid(file.error().is_none());
        self.report_mistakes(&file);
        loop {
            clock.sleep_until(clock.now() + INTERVAL).await;
            // A slow disk or a large file must not block the controller.
            let (path, digest) = (file.path.clone(), file.contents.digest);
            let read = tokio::task::spawn_blocking(move || read_schedules(&path, digest));
            let Ok(Some(contents)) = read.await else {
                continue;
            };
            let before = file.error();
            file.contents = contents;
            let read = file.value();
            self.log_reading(before.as_deref(), &read);
            if put_into_use(&mut self.in_force, &read) {
                publisher.publish(in_use(read));
            }
            telemetry.set_schedules_valid(file.error().is_none());
            self.report_mistakes(&file);
        }
    }

    /// Logs why the file has no schedules, or that it has some again. `before` is the previous reason.
    fn log_reading(&self, before: Option<&str>, read: &FileValue<NamedSchedules>) {
        match read {
            Ok(_) if before.is_some() => {
                tracing::info!("the file of schedules can be read again");
            }
            Err(why) if before != Some(&**why) => {
                let effect = match self.in_force {
                    Ok(_) => "the schedules read last stay in force until dayshift restarts",
                    Err(_) => "every workload that names a schedule is rejected until it can",
                };
                tracing::error!("the file of schedules cannot be read; {effect}: {why}");
            }
            _ => {}
        }
    }

    /// Logs the mistakes in the entries that are new.
    fn report_mistakes(&mut self, file: &NamedScheduleFile) {
        // If the whole file is invalid, the log has the reason.
        let valid = file.file().ok().filter(|_| file.error().is_none());
        let mistakes = valid.map_or_else(Vec::new, |file| file.mistakes(&self.context));
        for mistake in &mistakes {
            if !self.reported.contains(mistake) {
                tracing::error!("{mistake}; workloads that use this schedule are rejected");
            }
        }
        self.reported = mistakes;
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use dayshift_controller::{CalendarFeed, ScheduleFeed};
    use dayshift_schedule::ExcludedDates;
    use dayshift_workload::Key;

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

    const OFFICE: &str = "office: {hours: 09:00-19:00}\n";
    const LATE: &str = "office: {hours: 09:00-20:00}\n";

    #[tokio::test(start_paused = true)]
    async fn publishes_a_changed_file_and_keeps_the_last_good_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.yaml");
        let given = path.display().to_string();
        let file = NamedScheduleFile::parse(&given).unwrap();
        let clock = Clock::simulated("2026-11-20T10:00:00Z".parse().unwrap());
        let telemetry = Telemetry::new(clock.now());
        let (publisher, feed) = ScheduleFeed::open(file.schedules());
        let watch = ScheduleWatch::new(Some(file), ParseContext::default());
        let hours = || {
            let known = feed.current();
            let office = known.get("office")?;
            office.texts().text(Key::Hours).map(str::to_owned)
        };
        let is_good = || {
            let metrics = telemetry.render();
            metrics.contains("dayshift_schedules_last_reload_successful 1\n")
        };
        let is_unreadable = || hours().is_none() && feed.current() != NamedSchedules::default();
        // Atomically, as a kubelet does: the file is read on another thread.
        let replace = |text: &str| {
            let new = folder.path().join("new.yaml");
            fs::write(&new, text).unwrap();
            fs::rename(new, &path).unwrap();
        };
        let pass = async || clock.sleep_until(clock.now() + INTERVAL * 3).await;
        let scenario = async {
            pass().await;
            assert!(!is_good() && is_unreadable());
            replace("- no map");
            pass().await;
            assert!(!is_good() && is_unreadable());
            replace(OFFICE);
            pass().await;
            assert!(is_good());
            assert_eq!(hours().as_deref(), Some("09:00-19:00"));
            for bad in ["office: {hours: \"", "- office", "office"] {
                replace(bad);
                pass().await;
                assert!(!is_good(), "{bad}");
                assert_eq!(hours().as_deref(), Some("09:00-19:00"), "{bad}");
            }
            fs::remove_file(&path).unwrap();
            pass().await;
            assert!(!is_good() && hours().is_some());
            replace(LATE);
            pass().await;
            assert!(is_good());
            assert_eq!(hours().as_deref(), Some("09:00-20:00"));
            replace("other: {hours: 10:00-11:00}");
            pass().await;
            assert!(is_good() && hours().is_none(), "the entry was removed");
        };
        tokio::select! {
            () = watch.run(&clock, &publisher, &telemetry) => panic!("it ends"),
            () = scenario => {}
        }
    }
}
