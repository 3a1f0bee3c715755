//! Instructions, counted by valgrind's callgrind: this program runs itself under it.

use std::{
    env, fs, io,
    process::{Command, Stdio},
};

use super::{case::Case, measure::counted_operation};

/// Names the operation where this program runs under callgrind.
const COUNTED: &str = "DAYSHIFT_COSTS_COUNTED";

/// Why nothing was counted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoCount {
    #[error("valgrind is not installed; on Debian: apt-get install valgrind")]
    NoValgrind,
    #[error("{0}")]
    Failed(String),
}

/// Does the one operation that is to be counted, if this is what this program was started for.
pub(crate) fn is_counted(cases: &[Case]) -> bool {
    let Ok(name) = env::var(COUNTED) else {
        return false;
    };
    let case = cases.iter().find(|case| case.name == name).unwrap();
    drop(counted_operation(case.ready()));
    true
}

/// The instructions of an operation, for one of what it does many of.
pub(crate) fn count(case: &Case) -> Result<f64, NoCount> {
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("profile");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--collect-atstart=no"])
        .arg("--toggle-collect=*counted_operation*")
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(env::current_exe().unwrap())
        .env(COUNTED, case.name)
        .stdin(Stdio::null())
        .output();
    let output = output.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => NoCount::NoValgrind,
        _ => NoCount::Failed(error.to_string()),
    })?;
    let said = || NoCount::Failed(String::from_utf8_lossy(&output.stderr).into_owned());
    if !output.status.success() {
        return Err(said());
    }
    let profile = fs::read_to_string(profile).map_err(|_| said())?;
    let total = profile.lines().find_map(|line| {
        let total = line.strip_prefix("totals:")?;
        total.trim().parse::<f64>().ok()
    });
    Ok(total.ok_or_else(said)? / f64::from(case.each_of))
}
