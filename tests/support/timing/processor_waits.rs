//! How long programs wait for a processor, as Linux counts it for each of their threads
//! (`/proc/PID/task/TID/schedstat`, <https://docs.kernel.org/scheduler/sched-stats.html>).

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

static PROGRAMS: Mutex<BTreeMap<u32, Program>> = Mutex::new(BTreeMap::new());

/// A program that a change of dayshift comes from or goes through.
struct Program {
    /// The thread of the story whose own it is; none where all stories share it.
    story: Option<ThreadId>,
    /// How long each of its threads has waited so far.
    threads: HashMap<OsString, Duration>,
}

/// How long a thread of some program has waited since the sample before; that one that waited longest, of
/// the programs of one story, or of those that all share.
pub(super) type Waited = (Option<ThreadId>, Duration);

/// Watches a program with this number from now on, until it ends.
pub(crate) fn watch(id: u32, story: Option<ThreadId>) {
    let threads = HashMap::new();
    let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
    programs.insert(id, Program { story, threads });
}

/// What the programs have waited since the sample before.
pub(super) fn sample() -> Vec<Waited> {
    let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut longest: HashMap<Option<ThreadId>, Duration> = HashMap::new();
    programs.retain(|id, program| {
        let waited = program.take_waited(&Path::new("/proc").join(id.to_string()).join("task"));
        if let Some(waited) = waited {
            let known = longest.entry(program.story).or_default();
            *known = waited.max(*known);
        }
        waited.is_some()
    });
    longest.into_iter().collect()
}

/// How long this thread has waited so far.
pub(super) fn of_this_thread() -> Option<Duration> {
    waited(Path::new("/proc/thread-self/schedstat"))
}

impl Program {
    /// The longest that one of its threads has waited since the last time; none where it has ended.
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

/// The second number, in nanoseconds: how long a thread was ready to run and did not.
fn waited(schedstat: &Path) -> Option<Duration> {
    let text = fs::read_to_string(schedstat).ok()?;
    let nanoseconds = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}
