//! The real program, as a user would run it.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use tempfile::TempDir;

use super::child_guard::ChildGuard;
use super::kubernetes::control_plane::ControlPlane;
use super::timing::{processor_waits, wait::eventually};

/// A running `dayshift`. It is killed when dropped; if the test has failed, its log is printed.
pub(crate) struct Dayshift {
    program: ChildGuard,
    folder: TempDir,
}

impl Dayshift {
    /// Runs `dayshift` with `arguments` under the shipped RBAC: installs the manifest if need be
    /// and gives it the token of its ServiceAccount. Probes are on a free port.
    pub(crate) fn run(plane: &ControlPlane, arguments: &[&str]) -> Self {
        Self::run_as(plane.install(), arguments)
    }

    /// The same as whoever the kubeconfig says.
    pub(crate) fn run_as(kubeconfig: &Path, arguments: &[&str]) -> Self {
        let program = Path::new(env!("CARGO_BIN_EXE_dayshift"));
        Self::run_program(program, kubeconfig, arguments)
    }

    /// The same with a program that was built elsewhere.
    pub(crate) fn run_program(program: &Path, kubeconfig: &Path, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = File::create(folder.path().join("log")).unwrap();
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("KUBECONFIG", kubeconfig)
            .env("DAYSHIFT_LISTEN", "127.0.0.1:0")
            .env("NO_COLOR", "1")
            .current_dir(folder.path())
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        let program = ChildGuard::spawn(&mut command, None).unwrap();
        processor_waits::watch(program.id(), Some(thread::current().id()));
        Self { program, folder }
    }

    /// Waits until `/readyz` answers 200: the first list is in.
    pub(crate) fn wait_ready(&mut self) -> &mut Self {
        eventually("dayshift is ready", || {
            if let Some(status) = self.program.exited() {
                panic!("dayshift ended: {status}\n{}", self.log());
            }
            (self.get("/readyz")?.0 == 200).then_some(())
        });
        self
    }

    /// Waits until it is ready and has nothing to say against a watch. A list may be shown, and
    /// acted upon, a moment before the watch that continues it is granted.
    pub(crate) fn await_every_watch(&self) {
        eventually("dayshift is ready and watches everything", || {
            (self.get("/readyz")? == (200, "ok\n".to_owned())).then_some(())
        });
    }

    /// Where the probes are: the first loopback port in its log that is not the API server's.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        let log = self.log();
        let host = "127.0.0.1:";
        let (at, _) = log.match_indices(host).find(|(at, _)| {
            let before = &log[..*at];
            !before.ends_with("https://") && !before.ends_with("server=\"http://")
        })?;
        let digits = log[at + host.len()..].find(|c: char| !c.is_ascii_digit())?;
        log[at..at + host.len() + digits].parse().ok()
    }

    /// The line of a request that has the key of the dashboard, once its address is printed.
    pub(crate) fn cookie(&self) -> Option<String> {
        let (log, port) = (self.log(), self.address()?.port());
        let (_, key) = log.split_once("/?key=")?;
        let key = key.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
        Some(format!("Cookie: dayshift-{port}={key}.story\r\n"))
    }

    /// Status and body of a GET to its own server; `None` where nobody answers.
    pub(crate) fn get(&self, path: &str) -> Option<(u16, String)> {
        get(self.address()?, path)
    }

    /// The process number.
    pub(crate) fn id(&self) -> u32 {
        self.program.id()
    }

    pub(crate) fn signal(&mut self, signal: Signal) {
        self.program.signal(signal);
    }

    /// Sends SIGTERM and waits until it has ended.
    pub(crate) fn stop(&mut self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.wait_exit(Duration::from_secs(15))
    }

    /// Sends SIGKILL and waits until it is gone.
    pub(crate) fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.wait_exit(Duration::from_secs(5));
    }

    /// Panics where it is still running after `timeout`.
    pub(crate) fn wait_exit(&mut self, timeout: Duration) -> ExitStatus {
        let status = self.program.wait(timeout);
        status.unwrap_or_else(|| panic!("dayshift still runs after {timeout:?}\n{}", self.log()))
    }

    /// Both of its outputs so far.
    pub(crate) fn log(&self) -> String {
        let bytes = fs::read(self.folder.path().join("log")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Drop for Dayshift {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!(
                "--- log of dayshift {}\n{}---",
                self.program.id(),
                self.log()
            );
        }
    }
}

/// Status and body of a GET; `None` where nobody answers.
pub(super) fn get(address: SocketAddr, path: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some((status, body.to_owned()))
}
