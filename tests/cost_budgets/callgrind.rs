//! Instructions, counted by valgrind's callgrind: this program runs itself under it.

use std::{
    collections::HashMap,
    env,
    fs::{self, File},
    io,
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

use super::{
    case::Case,
    measure::{NAME, counted_operation},
};

/// Set if this program runs under callgrind.
const COUNTED: &str = "DAYSHIFT_COSTS_COUNTED";

/// The reason why nothing was counted.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum NoCount {
    #[error("valgrind is not installed; on Debian: apt-get install valgrind")]
    NoValgrind,
    #[error("{0}")]
    Failed(String),
}

/// Runs every operation to be counted, if this program was started for that.
pub(crate) fn is_counted(cases: &[Case]) -> bool {
    if env::var_os(COUNTED).is_none() {
        return false;
    }
    for case in counted(cases) {
        drop(counted_operation(case.ready()));
    }
    true
}

fn counted(cases: &[Case]) -> impl Iterator<Item = &Case> {
    cases.iter().filter(|case| case.instructions)
}

/// One run of all operations in a separate process; callgrind writes the counts at the end of each operation.
/// Allocations of this process do not affect them.
#[derive(Debug)]
pub(crate) struct Count {
    valgrind: Child,
    directory: TempDir,
}

impl Count {
    /// Starts counting.
    pub(crate) fn begin() -> Result<Self, NoCount> {
        let directory = tempfile::tempdir().unwrap();
        let profile = directory.path().join("profile");
        let valgrind = Command::new("valgrind")
            .args(["--tool=callgrind", "--collect-atstart=no"])
            .arg(format!("--toggle-collect={NAME}"))
            .arg(format!("--dump-after={NAME}"))
            .arg(format!("--callgrind-out-file={}", profile.display()))
            .arg(env::current_exe().unwrap())
            .env(COUNTED, "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(directory.path().join("said")).unwrap())
            .spawn();
        let valgrind = valgrind.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => NoCount::NoValgrind,
            _ => NoCount::Failed(error.to_string()),
        })?;
        Ok(Self {
            valgrind,
            directory,
        })
    }

    /// The instructions of each operation by name, divided by its number of units.
    pub(crate) fn end(mut self, cases: &[Case]) -> Result<HashMap<&'static str, f64>, NoCount> {
        let file = |name: &str| fs::read_to_string(self.directory.path().join(name));
        let output = || NoCount::Failed(file("said").unwrap_or_default());
        if !self.valgrind.wait().is_ok_and(|status| status.success()) {
            return Err(output());
        }
        // The dumps are numbered from 1.
        counted(cases)
            .enumerate()
            .map(|(at, case)| {
                let dump = file(&format!("profile.{}", at + 1)).map_err(|_| output())?;
                let total = dump.lines().find_map(|line| {
                    let total = line.strip_prefix("totals:")?;
                    total.trim().parse::<f64>().ok()
                });
                Ok((
                    case.name,
                    total.ok_or_else(output)? / f64::from(case.each_of),
                ))
            })
            .collect()
    }
}
