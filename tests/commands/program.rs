//! Runs the binary as a child process.

use std::{
    env,
    ffi::OsStr,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Output, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::schemas::assert_follows_schema;

/// The path of the binary, for tests that copy it, link to it or call it from a shell.
pub(crate) const PATH: &str = env!("CARGO_BIN_EXE_dayshift");

const TIMEOUT: Duration = Duration::from_secs(20);

/// The binary in the directory of the package, with an empty home, the bundled time zones, and no
/// other environment.
pub(crate) fn command() -> Command {
    command_of(PATH)
}

/// The binary at another path.
pub(crate) fn command_of(path: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(path);
    command
        .env_clear()
        .env("HOME", "/nonexistent")
        .env("DAYSHIFT_ZONEINFO", "bundled")
        // If `.ci/nightly dates` sets the clock of the tests, the binary uses the same clock.
        .envs(env::vars_os().filter(|(name, _)| {
            name == "LD_PRELOAD" || name.as_encoded_bytes().starts_with(b"FAKETIME")
        }))
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

/// The text without color codes.
pub(crate) fn without_colors(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let first = pieces.next().unwrap_or_default();
    let rest = pieces.map(|piece| piece.split_once('m').unwrap().1);
    first.to_owned() + &rest.collect::<String>()
}

/// Starts a command with pipes for all streams.
pub(crate) fn start(command: &mut Command) -> Child {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Runs a command to its end with this standard input.
pub(crate) fn run(command: &mut Command, input: &str) -> Ended {
    let mut child = start(command);
    // A command that reads no input might have ended already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap().into()
}

/// Runs the binary to its end.
pub(crate) fn dayshift(args: &[&str]) -> Ended {
    dayshift_with(&[], args, "")
}

/// Runs the binary to its end with these variables and this standard input.
pub(crate) fn dayshift_with(variables: &[(&str, &str)], args: &[&str], input: &str) -> Ended {
    run(command().envs(variables.iter().copied()).args(args), input)
}

/// The result of a finished run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    /// Panics unless standard output contains this text.
    #[track_caller]
    pub(crate) fn assert_out(&self, text: impl AsRef<str>) {
        self.assert(self.out.contains(text.as_ref()), text.as_ref());
    }

    /// Panics if standard output contains this text.
    #[track_caller]
    pub(crate) fn assert_out_lacks(&self, text: impl AsRef<str>) {
        self.assert(!self.out.contains(text.as_ref()), text.as_ref());
    }

    /// Panics unless standard error contains this text.
    #[track_caller]
    pub(crate) fn assert_err(&self, text: impl AsRef<str>) {
        self.assert(self.err.contains(text.as_ref()), text.as_ref());
    }

    /// Panics if standard error contains this text.
    #[track_caller]
    pub(crate) fn assert_err_lacks(&self, text: impl AsRef<str>) {
        self.assert(!self.err.contains(text.as_ref()), text.as_ref());
    }

    #[track_caller]
    fn assert(&self, holds: bool, text: &str) {
        let Self { status, out, err } = self;
        assert!(holds, "{text:?}: status {status}\n{out}\n{err}");
    }

    /// The JSON document on standard output.
    pub(crate) fn json(&self) -> Value {
        let document =
            serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"));
        assert_follows_schema(&document);
        document
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            status: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A Deployment `web` with these annotations; the first is on line 6.
pub(crate) fn web(lines: &[&str]) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  annotations:\n    {}\n",
        lines.join("\n    ")
    )
}

/// Polls until `holds` returns true. Panics with `condition` after two minutes.
#[track_caller]
pub(crate) fn wait_until(condition: &str, mut holds: impl FnMut() -> bool) {
    let late = Instant::now() + Duration::from_secs(120);
    while !holds() {
        assert!(Instant::now() < late, "not {condition}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A child that is killed when it is dropped.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sends a signal by name, for example `TERM`.
pub(crate) fn signal(child: &Child, name: &str) {
    let kill = format!("kill -{name} {}", child.id());
    let done = Command::new("sh").args(["-c", &kill]).status();
    assert!(done.unwrap().success());
}

/// A running `dayshift run` that is killed when it is dropped.
pub(crate) struct Program {
    child: Running,
    log: mpsc::Receiver<String>,
    address: String,
    /// The first line of its log.
    pub(crate) first_line: String,
}

impl Program {
    /// Starts it on a free port and waits until it logs the port.
    pub(crate) fn start(kubeconfig: &str, args: &[&str]) -> Self {
        let mut child = command()
            .args(["run", "--listen", "127.0.0.1:0", "--kubeconfig", kubeconfig])
            .args(args)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (line, log) = mpsc::channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        thread::spawn(move || {
            stderr
                .lines()
                .map_while(Result::ok)
                .try_for_each(|it| line.send(it))
        });
        let first_line = log.recv_timeout(TIMEOUT).unwrap();
        let (_, port) = first_line.rsplit_once("127.0.0.1:").unwrap();
        let port = port.split(|it: char| !it.is_ascii_digit()).next().unwrap();
        Self {
            child: Running(child),
            log,
            address: format!("127.0.0.1:{port}"),
            first_line,
        }
    }

    /// The status and body of the response to a GET.
    pub(crate) fn get(&self, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (
            head.split(' ').nth(1).unwrap().parse().unwrap(),
            body.to_owned(),
        )
    }

    pub(crate) fn signal(&self, name: &str) {
        signal(&self.child.0, name);
    }

    /// Waits for a log line with this text.
    pub(crate) fn wait_for(&self, text: &str) {
        let late = Instant::now() + TIMEOUT;
        loop {
            let line = self.log.recv_timeout(late - Instant::now()).expect(text);
            if line.contains(text) {
                return;
            }
        }
    }

    /// The exit status.
    pub(crate) fn ends_within(&mut self, limit: Duration) -> i32 {
        let late = Instant::now() + limit;
        while Instant::now() < late {
            if let Some(status) = self.child.0.try_wait().unwrap() {
                return status.code().unwrap();
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!(
            "still runs after {limit:?}; its output is {:?}",
            self.lines()
        );
    }

    /// The log lines since the last call, after the first line.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.log.iter().collect()
    }
}
