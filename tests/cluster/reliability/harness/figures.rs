//! The measurements, and their table.

use std::fs;

use chrono::{DateTime, Utc};

use crate::reliability::harness::cases::CaseResult;
use crate::support::{too_late, too_slow};

/// The result of one case.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    /// The results of healthy objects, if the case has any.
    pub(crate) others: Option<Others>,
    /// Deployments whose count was lost at any time.
    pub(crate) lost: usize,
    /// Deployments with a wrong count at the end.
    pub(crate) wrong: usize,
    /// Seconds from the stop until all counts were right.
    pub(crate) late: Option<f64>,
    /// Seconds from the end of the fault until all counts were right; 0 if they were before.
    pub(crate) settled: Option<f64>,
    /// When the fault ended.
    pub(crate) healed: DateTime<Utc>,
    /// Seconds from the beginning of the fault until `/readyz` failed; `None` if it never did.
    pub(crate) unready: Option<f64>,
    /// The maximum seconds after the fault until all counts are right, if the case specifies it.
    pub(crate) bound: f64,
    /// Seconds from the end of the fault until `/readyz` was 200 and remained so.
    pub(crate) ready: Option<f64>,
    /// The peak memory of a controller, in bytes.
    pub(crate) memory: u64,
    /// Successful writes for each change.
    pub(crate) writes: f64,
    /// Patches that reached the server for each change.
    pub(crate) tries: f64,
}

/// The results of healthy objects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Others {
    /// The maximum seconds from a stop until it was applied.
    pub(crate) late: f64,
    /// The maximum seconds from a creation until the adoption, if it is measured.
    pub(crate) unseen: Option<f64>,
    /// The maximum number of requests for the faulty fleet that arrived between the due time of a healthy
    /// object and its stop.
    pub(crate) before: usize,
}

impl Figures {
    /// Asserts that `/readyz` reported the fault, possibly late.
    pub(crate) fn was_not_ready(self) -> Self {
        if self.unready.is_none() {
            too_slow("/readyz was 200 all the time");
        }
        self
    }

    /// Asserts that the fault had an effect: at this time after the stop, some counts were not right yet.
    pub(crate) fn was_held_up(self, seconds: i64) -> Self {
        let late = self.late.unwrap();
        assert!(late > seconds as f64, "{late} s after the stop");
        self
    }

    /// Asserts that all counts were right at this time after the fault.
    pub(crate) fn within(mut self, seconds: f64) -> Self {
        self.bound = seconds;
        let settled = self.settled.unwrap();
        if settled > seconds {
            too_late("all counts were right", self.healed, settled, seconds);
        }
        self
    }
}

/// The maximum memory of a controller, in bytes. All have some 37 MB (`docs/production/reliability.md`).
const MAX_MEMORY: u64 = 80_000_000;

/// The maximum number of patches for each change. Three controllers send 2.9.
const MAX_PATCHES: f64 = 5.0;

/// The maximum seconds from the end of a fault until `/readyz` is 200, unless counts are right even later.
/// Half-open connections take 8.
const MAX_UNREADY: f64 = 20.0;

impl Figures {
    /// Asserts the limits that apply to every fault.
    pub(crate) fn keeps_to_limits(self) -> Self {
        assert!(self.memory <= MAX_MEMORY, "{} bytes of memory", self.memory);
        assert!(
            self.tries <= MAX_PATCHES,
            "{} patches for each change",
            self.tries
        );
        let bound = self.bound.max(MAX_UNREADY);
        if let Some(ready) = self.ready.filter(|it| *it > bound) {
            too_late("/readyz was 200", self.healed, ready, bound);
        }
        self
    }
}

/// The table in Markdown, a row for each fault.
pub(crate) fn table<'a>(
    cases: impl IntoIterator<Item = (&'a str, Option<&'a CaseResult>)>,
) -> String {
    let mut text = "\
| fault | unaffected | lost | wrong | after the stop | after the fault | `/readyz` | writes | patches | memory | tries |
|---|---|---|---|---|---|---|---|---|---|---|
"
    .to_owned();
    for (title, reported) in cases {
        let Some(CaseResult { figures, tries }) = reported else {
            text += &format!("| {title} | failed | | | | | | | | | |\n");
            continue;
        };
        let others = match figures.others {
            None => String::new(),
            Some(Others {
                late,
                unseen,
                before,
            }) => {
                let unseen = unseen.map(|it| format!(", new {it:.3} s"));
                format!(
                    "{late:.3} s, {before} requests{}",
                    unseen.unwrap_or_default()
                )
            }
        };
        let readyz = match (figures.unready, figures.ready) {
            (None, None) => String::new(),
            (None, Some(_)) => "200".to_owned(),
            (Some(from), Some(until)) => format!("503 {from:.1} s, 200 {until:.1} s"),
            (Some(from), None) => format!("503 {from:.1} s"),
        };
        let seconds = |it: Option<f64>| it.map(|it| format!("{it:.1} s")).unwrap_or_default();
        let [late, settled] = [figures.late, figures.settled].map(seconds);
        // The case wrote nothing.
        let writes = match figures.writes {
            0.0 => String::new(),
            writes => format!("{writes:.2}"),
        };
        let Figures { lost, wrong, .. } = figures;
        text += &format!(
            "| {title} | {others} | {lost} | {wrong} | {late} | {settled} | {readyz} | {writes} | {:.2} | {:.0} MB | {tries} |\n",
            figures.tries,
            figures.memory as f64 / 1e6,
        );
    }
    text
}

/// The peak resident memory of a running program, in bytes (proc(5), `VmHWM`).
pub(crate) fn peak_memory(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.unwrap().trim().trim_end_matches(" kB");
    kibibytes.parse::<u64>().unwrap() * 1024
}
