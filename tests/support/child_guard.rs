//! Child processes that end with the test process, even if it is killed.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// A shell program that reads its standard input until it ends, which means that the test process has died.
/// It then kills the child and removes the directory.
const GUARD: &str = r#"read -r _; kill -9 "$1" 2>/dev/null; sleep 1; [ -z "$2" ] || rm -rf "$2""#;

/// A running program. It is killed when this is dropped and when the test process dies.
#[derive(Debug)]
pub(crate) struct ChildGuard {
    child: Child,
    guard: Option<Child>,
}

impl ChildGuard {
    /// Starts `command`. If the test process is killed, the directory `litter` is removed.
    pub(crate) fn spawn(command: &mut Command, litter: Option<&Path>) -> io::Result<Self> {
        // The guard is in a separate process group, so that Ctrl-C reaches only the test process, which then
        // ends the others.
        let child = command.process_group(0).stdin(Stdio::null()).spawn()?;
        let guard = Command::new("sh")
            .args(["-c", GUARD, "guard", &child.id().to_string()])
            .arg(litter.unwrap_or(Path::new("")))
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mut guarded = Self { child, guard: None };
        guarded.guard = Some(guard?);
        Ok(guarded)
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&mut self, signal: Signal) {
        if self.exited().is_none() {
            kill_process(Pid::from_child(&self.child), signal).unwrap();
        }
    }

    pub(crate) fn exited(&mut self) -> Option<ExitStatus> {
        let status = self.child.try_wait().unwrap();
        if status.is_some() {
            self.release();
        }
        status
    }

    /// Returns `None` if the program still runs after `timeout`.
    pub(crate) fn wait(&mut self, timeout: Duration) -> Option<ExitStatus> {
        let begin = Instant::now();
        loop {
            match self.exited() {
                None if begin.elapsed() < timeout => std::thread::sleep(Duration::from_millis(5)),
                status => return status,
            }
        }
    }

    /// After the child was waited for, its process ID can be reused.
    fn release(&mut self) {
        if let Some(mut guard) = self.guard.take() {
            let _ = guard.kill();
            let _ = guard.wait();
        }
    }
}

impl Drop for ChildGuard {
    fn drop(&mut self) {
        self.release();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
