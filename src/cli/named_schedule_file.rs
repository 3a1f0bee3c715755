//! The file of `--schedules`.
//!
//! It is read when the flag is parsed, and again every 10 seconds while `run` runs.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use dayshift_cluster::clock::Clock;
use dayshift_controller::{SchedulePublisher, Telemetry};
use dayshift_manifest::{ScheduleFile, SourceFile};
use dayshift_text::printable;
use dayshift_workload::{NamedSchedules, ParseContext};

use crate::cli::file_contents::{FileContents, FileDigest, FileValue, INTERVAL, put_into_use};

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

    use dayshift_controller::ScheduleFeed;
    use dayshift_workload::Key;

    use super::*;

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
        // Atomically, as a kubelet does: the file is read on another thread.
        let replace = |text: &str| {
            let new = folder.path().join("new.yaml");
            fs::write(&new, text).unwrap();
            fs::rename(new, &path).unwrap();
        };
        let pass = async || clock.sleep_until(clock.now() + INTERVAL * 3).await;
        let scenario = async {
            pass().await;
            assert!(!is_good() && !feed.current().is_readable() && hours().is_none());
            replace("- no map");
            pass().await;
            assert!(!is_good() && !feed.current().is_readable());
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
