//! The file of `--schedules`.
//!
//! It is read when the flag is parsed, and again every 10 seconds while `run` runs.

use std::path::{Path, PathBuf};

use dayshift_cluster::clock::Clock;
use dayshift_controller::{SchedulePublisher, Telemetry};
use dayshift_manifest::{ScheduleFile, SourceFile};
use dayshift_text::printable;
use dayshift_workload::{NamedSchedules, ParseContext};

use crate::cli::file_contents::{FileDigest, INTERVAL, read_changed};

/// The file of `--schedules`, and its contents when it was last read.
#[derive(Clone, Debug)]
pub struct NamedScheduleFile {
    path: PathBuf,
    contents: ScheduleContents,
}

/// The contents of a file of named schedules.
#[derive(Clone, Debug)]
struct ScheduleContents {
    /// The file, or an error that includes its name.
    file: Result<ScheduleFile, String>,
    /// The digest of the file, if it could be read.
    digest: Option<FileDigest>,
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
        let contents = ScheduleContents::read(&path, None).ok_or(example)?;
        Ok(Self { path, contents })
    }

    /// The schedules, or those of an unreadable file.
    pub(crate) fn schedules(&self) -> NamedSchedules {
        match self.contents.schedules() {
            Ok(schedules) => schedules,
            Err(why) => NamedSchedules::unreadable(&why),
        }
    }

    /// The file.
    ///
    /// # Errors
    /// If it could not be read. The error includes its name.
    pub(crate) fn file(&self) -> Result<&ScheduleFile, &str> {
        self.contents.file.as_ref().map_err(String::as_str)
    }

    /// Why the file has no schedules, if so.
    pub(crate) fn error(&self) -> Option<String> {
        self.contents.schedules().err()
    }
}

impl ScheduleContents {
    /// Reads the file. Returns `None` if its digest is the known one.
    fn read(path: &Path, known: Option<FileDigest>) -> Option<Self> {
        let name = printable(&path.to_string_lossy());
        let (bytes, digest) = match read_changed(path, known, ScheduleFile::MAX_BYTES) {
            Ok(read) => read?,
            Err(error) => {
                return Some(Self {
                    file: Err(format!("{name}: {error}")),
                    digest: None,
                });
            }
        };
        let text = String::from_utf8(bytes).map_err(|_| format!("{name}: it is not UTF-8 text"));
        Some(Self {
            file: text.map(|text| ScheduleFile::parse(SourceFile::new(name, text))),
            digest: Some(digest),
        })
    }

    fn schedules(&self) -> Result<NamedSchedules, String> {
        let file = self.file.as_ref().map_err(Clone::clone)?;
        file.schedules().map_err(ToString::to_string)
    }
}

/// Reads the file periodically and publishes changes. If it becomes invalid or disappears, the
/// schedules that were read last stay in use. If it has never been valid, the workloads that name a
/// schedule are rejected until it is.
pub struct ScheduleWatch {
    file: Option<NamedScheduleFile>,
    /// The schedules that the controller uses.
    in_force: NamedSchedules,
    /// How the values are read, to report mistakes in the log.
    context: ParseContext,
    /// The mistakes that the log has reported.
    reported: Vec<String>,
}

impl ScheduleWatch {
    /// Watches a file that has just been read.
    pub fn new(file: Option<NamedScheduleFile>, context: ParseContext) -> Self {
        let in_force = file.as_ref().map(NamedScheduleFile::schedules);
        Self {
            file,
            in_force: in_force.unwrap_or_default(),
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
        if let Some(why) = file.error() {
            log_unreadable(&why, UnreadableEffect::RejectsWorkloads);
        }
        telemetry.set_schedules_valid(file.error().is_none());
        self.report_mistakes(&file);
        loop {
            clock.sleep_until(clock.now() + INTERVAL).await;
            // A slow disk or a large file must not block the controller.
            let (path, digest) = (file.path.clone(), file.contents.digest);
            let read = tokio::task::spawn_blocking(move || ScheduleContents::read(&path, digest));
            let Ok(Some(contents)) = read.await else {
                continue;
            };
            let before = file.error();
            file.contents = contents;
            if let Some(schedules) = self.take(before.as_deref(), file.contents.schedules()) {
                publisher.publish(schedules);
            }
            telemetry.set_schedules_valid(file.error().is_none());
            self.report_mistakes(&file);
        }
    }

    /// Records the schedules of the file, or why it has none. Returns the schedules in use if they
    /// have changed.
    fn take(
        &mut self,
        before: Option<&str>,
        read: Result<NamedSchedules, String>,
    ) -> Option<NamedSchedules> {
        let schedules = match read {
            Ok(schedules) => {
                if before.is_some() {
                    tracing::info!("the file of schedules can be read again");
                }
                schedules
            }
            Err(why) => {
                let is_in_force = self.in_force.is_readable();
                let effect = match is_in_force {
                    true => UnreadableEffect::KeepsSchedules,
                    false => UnreadableEffect::RejectsWorkloads,
                };
                if before != Some(why.as_str()) {
                    log_unreadable(&why, effect);
                }
                if is_in_force {
                    return None;
                }
                NamedSchedules::unreadable(&why)
            }
        };
        if schedules == self.in_force {
            return None;
        }
        self.in_force = schedules.clone();
        Some(schedules)
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

/// The effect of a file that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UnreadableEffect {
    KeepsSchedules,
    RejectsWorkloads,
}

fn log_unreadable(why: &str, effect: UnreadableEffect) {
    let effect = match effect {
        UnreadableEffect::KeepsSchedules => {
            "the schedules read last stay in force until dayshift restarts"
        }
        UnreadableEffect::RejectsWorkloads => {
            "every workload that names a schedule is rejected until it can"
        }
    };
    tracing::error!("the file of schedules cannot be read; {effect}: {why}");
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
