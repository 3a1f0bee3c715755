//! What was measured, and the table of it.

use std::fs;

use crate::support::too_slow;

/// What one row has come to.
#[derive(Clone, Debug)]
pub(crate) struct Figures {
    /// Deployments whose count was nowhere to be found, at any time.
    pub(crate) lost: usize,
    /// Deployments with a wrong count at the end.
    pub(crate) wrong: usize,
    /// Seconds from the stop until everything was right.
    pub(crate) late: f64,
    /// Seconds from the end of the fault until everything was right; 0 if it was before.
    pub(crate) settled: f64,
    /// Seconds from the beginning of the fault until `/readyz` was not 200; none if it always was.
    pub(crate) unready: Option<f64>,
    /// Seconds from the end of the fault until `/readyz` was 200 for good.
    pub(crate) ready: Option<f64>,
    /// The most memory that a scaler ever had, in bytes.
    pub(crate) memory: u64,
    /// Successful writes for each change.
    pub(crate) writes: f64,
    /// Patches that reached the server for each change.
    pub(crate) tries: f64,
}

impl Figures {
    /// Asserts that `/readyz` told of the fault, which may have come too late for it.
    pub(crate) fn was_not_ready(self) -> Self {
        if self.unready.is_none() {
            too_slow("/readyz was 200 all the time");
        }
        self
    }

    /// Asserts that the fault was in the way: nothing was right so soon after the stop.
    pub(crate) fn was_held_up(self, seconds: i64) -> Self {
        assert!(self.late > seconds as f64, "{} s after the stop", self.late);
        self
    }

    /// Asserts that all was right so soon after the fault. A busy machine has more than one try.
    pub(crate) fn within(self, seconds: f64) -> Self {
        if self.settled > seconds {
            too_slow(&format!("right after {:.1} s", self.settled));
        }
        self
    }
}

/// The table in Markdown, a row for each fault.
pub(crate) fn table<'a>(rows: impl IntoIterator<Item = (&'a str, Option<Figures>)>) -> String {
    let mut text = "\
| fault | lost | wrong | after the stop | after the fault | `/readyz` | writes | patches | memory |
|---|---|---|---|---|---|---|---|---|
"
    .to_owned();
    for (title, figures) in rows {
        let Some(figures) = figures else {
            text += &format!("| {title} | failed | | | | | | | |\n");
            continue;
        };
        let readyz = match (figures.unready, figures.ready) {
            (None, None) => String::new(),
            (None, Some(_)) => "200".to_owned(),
            (Some(from), Some(until)) => format!("503 {from:.1} s, 200 {until:.1} s"),
            (Some(from), None) => format!("503 {from:.1} s"),
        };
        let Figures { lost, wrong, .. } = figures;
        text += &format!(
            "| {title} | {lost} | {wrong} | {:.1} s | {:.1} s | {readyz} | {:.2} | {:.2} | {:.0} MB |\n",
            figures.late,
            figures.settled,
            figures.writes,
            figures.tries,
            figures.memory as f64 / 1e6,
        );
    }
    text
}

/// The most memory of a running program that was ever resident, in bytes (proc(5), `VmHWM`).
pub(crate) fn peak_memory(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.unwrap().trim().trim_end_matches(" kB");
    kibibytes.parse::<u64>().unwrap() * 1024
}
