//! The `dayshift` program as a child process.

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
use super::kubernetes::output::Output;
use super::timing::{processor_waits, wait::eventually};

/// A running `dayshift`. It is killed when dropped. If the test failed, its log is printed.
pub(crate) struct Dayshift {
    program: ChildGuard,
    directory: TempDir,
}

impl Dayshift {
    /// Runs `dayshift` with the shipped RBAC: it applies the manifest if necessary, and uses a token of the
    /// ServiceAccount. Probes are served on a free port.
    pub(crate) fn run(plane: &ControlPlane, arguments: &[&str]) -> Self {
        Self::run_as(plane.install(), arguments)
    }

    /// Runs `dayshift` with this kubeconfig.
    pub(crate) fn run_as(kubeconfig: &Path, arguments: &[&str]) -> Self {
        let program = Path::new(env!("CARGO_BIN_EXE_dayshift"));
        Self::run_program(program, kubeconfig, arguments)
    }

    /// Runs another build of `dayshift`.
    pub(crate) fn run_program(program: &Path, kubeconfig: &Path, arguments: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let log = File::create(directory.path().join("log")).unwrap();
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("KUBECONFIG", kubeconfig)
            .env("DAYSHIFT_LISTEN", "127.0.0.1:0")
            .env("NO_COLOR", "1")
            .current_dir(directory.path())
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        let program = ChildGuard::spawn(&mut command, None).unwrap();
        processor_waits::watch(program.id(), Some(thread::current().id()));
        Self { program, directory }
    }

    /// Waits until `/readyz` responds with 200.
    pub(crate) fn wait_ready(&mut self) -> &mut Self {
        eventually("dayshift is ready", || {
            if let Some(status) = self.program.exited() {
                panic!("dayshift ended: {status}\n{}", self.log());
            }
            (self.get("/readyz")?.0 == 200).then_some(())
        });
        self
    }

    /// Waits until it is ready and reports no missing watch. Right after the initial list, a watch might not
    /// be established yet.
    pub(crate) fn await_every_watch(&self) {
        eventually("dayshift is ready and watches everything", || {
            (self.get("/readyz")? == (200, "ok\n".to_owned())).then_some(())
        });
    }

    /// The address of the probes: the first loopback port in its log besides the API server's.
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

    /// The `Cookie` header with the dashboard's key, once its address is printed.
    pub(crate) fn cookie(&self) -> Option<String> {
        let (log, port) = (self.log(), self.address()?.port());
        let (_, key) = log.split_once("/?key=")?;
        let key = key.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
        Some(format!("Cookie: dayshift-{port}={key}.scenario\r\n"))
    }

    /// The status and body of a GET to its server. `None` if it does not respond.
    pub(crate) fn get(&self, path: &str) -> Option<(u16, String)> {
        get(self.address()?, path)
    }

    /// A page of `dayshift dashboard`. `None` until it shows the cluster.
    pub(crate) fn page(&self, path: &str) -> Option<String> {
        let (status, body) = get_with(self.address()?, path, &self.cookie()?)?;
        (status == 200 && !body.contains("Reading the cluster")).then_some(body)
    }

    /// The process ID.
    pub(crate) fn id(&self) -> u32 {
        self.program.id()
    }

    pub(crate) fn signal(&mut self, signal: Signal) {
        self.program.signal(signal);
    }

    /// Sends SIGTERM and waits for the exit.
    pub(crate) fn stop(&mut self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.wait_exit(Duration::from_secs(15))
    }

    /// Sends SIGKILL and waits for the exit.
    pub(crate) fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.wait_exit(Duration::from_secs(5));
    }

    /// Panics if the process still runs after `timeout`.
    pub(crate) fn wait_exit(&mut self, timeout: Duration) -> ExitStatus {
        let status = self.program.wait(timeout);
        status.unwrap_or_else(|| panic!("dayshift still runs after {timeout:?}\n{}", self.log()))
    }

    /// Standard output and standard error so far.
    pub(crate) fn log(&self) -> String {
        let bytes = fs::read(self.directory.path().join("log")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Runs a command of `dayshift` to its end with this kubeconfig.
pub(crate) fn dayshift(kubeconfig: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dayshift"));
    command
        .args(arguments)
        .env("KUBECONFIG", kubeconfig)
        .env("NO_COLOR", "1");
    Output::of(&arguments.join(" "), &mut command)
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

/// The status and body of a GET. `None` if the server does not respond.
pub(super) fn get(address: SocketAddr, path: &str) -> Option<(u16, String)> {
    get_with(address, path, "")
}

/// The same with additional header lines.
fn get_with(address: SocketAddr, path: &str, headers: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    let head = format!("GET {path} HTTP/1.0\r\nHost: {address}\r\n{headers}\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some((status, body.to_owned()))
}
