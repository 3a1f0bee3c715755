//! How long threads wait for a processor, from Linux' scheduler statistics (`/proc/PID/task/TID/schedstat`,
//! <https://docs.kernel.org/scheduler/sched-stats.html>).

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

static PROGRAMS: Mutex<BTreeMap<u32, Program>> = Mutex::new(BTreeMap::new());

/// A watched program.
struct Program {
    /// The thread of the scenario that uses the program. `None` if all scenarios share it.
    scenario: Option<ThreadId>,
    /// The waiting time of each thread so far.
    threads: HashMap<OsString, Duration>,
}

/// The longest wait of a thread since the last sample, by scenario.
pub(super) type Waited = (Option<ThreadId>, Duration);

/// Watches the program with this process ID until it ends.
pub(crate) fn watch(id: u32, scenario: Option<ThreadId>) {
    let threads = HashMap::new();
    let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
    programs.insert(id, Program { scenario, threads });
}

/// The waits since the last sample.
pub(super) fn sample() -> Vec<Waited> {
    let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut longest: HashMap<Option<ThreadId>, Duration> = HashMap::new();
    programs.retain(|id, program| {
        let waited = program.take_waited(&Path::new("/proc").join(id.to_string()).join("task"));
        if let Some(waited) = waited {
            let known = longest.entry(program.scenario).or_default();
            *known = waited.max(*known);
        }
        waited.is_some()
    });
    longest.into_iter().collect()
}

/// The waiting time of the current thread so far.
pub(super) fn of_this_thread() -> Option<Duration> {
    waited(Path::new("/proc/thread-self/schedstat"))
}

impl Program {
    /// The longest wait of a thread since the last call. `None` if the program has ended.
    fn take_waited(&mut self, tasks: &Path) -> Option<Duration> {
        let mut longest = Duration::ZERO;
        for task in fs::read_dir(tasks).ok()?.flatten() {
            let Some(waited) = waited(&task.path().join("schedstat")) else {
                continue;
            };
            let before = self.threads.insert(task.file_name(), waited);
            longest = longest.max(waited.saturating_sub(before.unwrap_or(waited)));
        }
        Some(longest)
    }
}

/// The second number, in nanoseconds: the time that a thread was runnable but did not run.
fn waited(schedstat: &Path) -> Option<Duration> {
    let text = fs::read_to_string(schedstat).ok()?;
    let nanoseconds = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}
