//! Files of calendars, read again while the program runs: a mounted ConfigMap is swapped below it.

use std::path::PathBuf;

use chrono::{DateTime, TimeDelta, Utc};
use dayshift_cluster::clock::Clock;
use dayshift_controller::{CalendarPublisher, Telemetry};
use dayshift_schedule::{Calendar, Calendars, LoadedCalendar};
use dayshift_text::printable;

use super::args::values::calendar_file::{CalendarContents, CalendarFile};

/// How often the files are read. A kubelet takes a minute or so to swap a ConfigMap.
const INTERVAL: TimeDelta = TimeDelta::seconds(10);

/// How often that is said.
const REMINDER: TimeDelta = TimeDelta::days(1);

/// Reads the files of calendars again and again, and publishes what has changed. A file that becomes
/// bad or is gone changes nothing: the dates that were read last stay in force. Where none were ever
/// read, what names the calendar is refused until the file is good.
pub struct CalendarWatch {
    files: Vec<Watched>,
    reminded: Option<DateTime<Utc>>,
}

struct Watched {
    file: CalendarFile,
    /// What the calendar is for the controller: the last good one, if there was any.
    in_force: LoadedCalendar,
}

impl CalendarWatch {
    /// Of files that have just been read.
    pub fn new(files: Vec<CalendarFile>) -> Self {
        let watched = |file: CalendarFile| Watched {
            in_force: file.contents.calendar.clone(),
            file,
        };
        Self {
            files: files.into_iter().map(watched).collect(),
            reminded: None,
        }
    }

    /// Reads the files for as long as it is polled.
    pub async fn run(
        mut self,
        clock: &Clock,
        publisher: &CalendarPublisher,
        telemetry: &Telemetry,
    ) {
        if self.files.is_empty() {
            return std::future::pending().await;
        }
        for it in &self.files {
            if it.in_force.is_err() {
                it.log_reading();
            }
            it.publish(telemetry);
        }
        loop {
            self.remind(clock.now());
            clock.sleep_until(clock.now() + INTERVAL).await;
            // A disk that hangs must not keep anything from starting.
            let (path_and_digest, files) = (self.targets(), self.files.len());
            let read = tokio::task::spawn_blocking(move || {
                let each = path_and_digest.into_iter();
                each.map(|(path, digest)| CalendarContents::read(&path, digest))
                    .collect::<Vec<_>>()
            });
            let results = read.await.unwrap_or_default();
            debug_assert_eq!(results.len(), files);
            let mut is_news = false;
            for (it, result) in self.files.iter_mut().zip(results) {
                is_news |= result.is_some_and(|contents| it.take(contents));
                it.publish(telemetry);
            }
            if is_news {
                let named = self.files.iter();
                let named = named.map(|it| (it.file.name.clone(), it.in_force.clone()));
                publisher.publish(Calendars::from_files(named));
                self.reminded = None;
            }
        }
    }

    fn targets(&self) -> Vec<(PathBuf, Option<[u8; 32]>)> {
        let files = self.files.iter().map(|it| &it.file);
        files
            .map(|it| (it.path.clone(), it.contents.digest))
            .collect()
    }

    /// Says which calendars end soon, once a day.
    fn remind(&mut self, now: DateTime<Utc>) {
        if self
            .reminded
            .is_some_and(|at| at <= now && now < at + REMINDER)
        {
            return;
        }
        self.reminded = Some(now);
        for it in &self.files {
            let calendar = it.in_force.as_ref().ok();
            let Some(last) = calendar.and_then(|it| it.ends_on()) else {
                continue;
            };
            if last <= (now + Calendar::ENDS_SOON).date_naive() {
                tracing::warn!(
                    calendar = it.file.name.as_str(),
                    file = &*printable(&it.file.path.to_string_lossy()),
                    "the last date of the calendar is {last}; after it nothing is excepted: give it a newer file"
                );
            }
        }
    }
}

impl Watched {
    /// Takes in what was read; whether that changes what is in force.
    fn take(&mut self, contents: CalendarContents) -> bool {
        let before = std::mem::replace(&mut self.file.contents, contents);
        let read = &self.file.contents.calendar;
        if before.calendar.as_ref().err() != read.as_ref().err() {
            self.log_reading();
        }
        if read == &self.in_force || (read.is_err() && self.in_force.is_ok()) {
            return false;
        }
        if read.is_ok() {
            tracing::info!(
                calendar = self.file.name.as_str(),
                "the calendar has changed"
            );
        }
        self.in_force = read.clone();
        true
    }

    /// Says what is wrong with the file now, or that nothing is any more.
    fn log_reading(&self) {
        let calendar = self.file.name.as_str();
        match (&self.file.contents.calendar, &self.in_force) {
            (Ok(_), _) => tracing::info!(calendar, "the calendar file can be read again"),
            (Err(why), Ok(_)) => tracing::error!(
                calendar,
                "the calendar file cannot be read; the dates read last stay in force until \
                    dayshift restarts: {why}"
            ),
            (Err(why), Err(_)) => tracing::error!(
                calendar,
                "the calendar file cannot be read; every schedule that names it is refused until \
                    it can: {why}"
            ),
        }
    }

    fn publish(&self, telemetry: &Telemetry) {
        let calendar = self.in_force.as_ref().ok();
        telemetry.calendar(
            &self.file.name,
            calendar.and_then(|it| it.ends_on()),
            self.file.contents.calendar.is_ok(),
        );
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;
    use dayshift_controller::CalendarFeed;
    use dayshift_schedule::ExcludedDates;

    const CHRISTMAS: &str =
        "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20261225\nEND:VEVENT\nEND:VCALENDAR";
    const MAY: &str = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20270501\nEND:VEVENT\nEND:VCALENDAR";

    /// A ConfigMap as a kubelet mounts it: a link to a link to a folder, which is swapped.
    fn mount(folder: &Path, version: &str, file: &str) {
        fs::create_dir(folder.join(version)).unwrap();
        fs::write(folder.join(version).join("de.ics"), file).unwrap();
        std::os::unix::fs::symlink(version, folder.join("..data_tmp")).unwrap();
        fs::rename(folder.join("..data_tmp"), folder.join("..data")).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_swapped_file_is_published_and_a_bad_one_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("de.ics");
        mount(folder.path(), "..1", CHRISTMAS);
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
        let story = async {
            pass().await;
            assert!(
                is_good() && feed.current() == Calendars::default(),
                "nothing is new"
            );
            mount(folder.path(), "..2", MAY);
            pass().await;
            assert!(is_good() && holds("2027-05-01") && !holds("2026-12-25"));
            let metrics = telemetry.render();
            let last =
                "dayshift_calendar_last_date_timestamp_seconds{calendar=\"de\"} 1809129600\n";
            assert!(metrics.contains(last), "{metrics}");
            for (version, bad) in [("..3", "<html>"), ("..4", "BEGIN:VCALENDAR\nEND:VCALENDAR")] {
                mount(folder.path(), version, bad);
                pass().await;
                assert!(!is_good() && holds("2027-05-01"), "{bad}");
            }
            fs::remove_file(&path).unwrap();
            pass().await;
            assert!(!is_good() && holds("2027-05-01"));
            fs::create_dir(&path).unwrap();
            pass().await;
            assert!(!is_good() && holds("2027-05-01"));
            // The same file again is good, and no news.
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
            () = story => {}
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_that_is_bad_from_the_start_is_taken_in_once_it_is_good() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("de.ics");
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
        let story = async {
            // What is wrong with it changes, and objects are told of it anew.
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
            () = story => {}
        }
    }

    #[test]
    fn what_is_not_a_name_and_a_file_is_said_at_once() {
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
            let error = file.contents.calendar.unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
