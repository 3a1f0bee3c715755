//! The cost of a running program, from proc(5).

use std::{fs, time::Duration};

/// A program by its process id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Process(pub(crate) u32);

impl Process {
    /// The peak resident memory, in bytes.
    pub(crate) fn peak_memory(self) -> u64 {
        self.status("VmHWM:")
    }

    /// The resident memory, in bytes.
    pub(crate) fn memory(self) -> u64 {
        self.status("VmRSS:")
    }

    /// The CPU time of all its threads.
    pub(crate) fn cpu(self) -> Duration {
        let threads = fs::read_dir(format!("/proc/{}/task", self.0)).unwrap();
        let nanoseconds = threads.map(|thread| {
            let text = fs::read_to_string(thread.unwrap().path().join("schedstat")).unwrap();
            text.split(' ').next().unwrap().parse::<u64>().unwrap()
        });
        Duration::from_nanos(nanoseconds.sum())
    }

    fn status(self, field: &str) -> u64 {
        let text = fs::read_to_string(format!("/proc/{}/status", self.0)).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(field));
        let kibibytes = line.unwrap().trim().trim_end_matches(" kB");
        kibibytes.parse::<u64>().unwrap() * 1024
    }
}
