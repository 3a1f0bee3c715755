//! The real program, run to its end.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use serde_json::Value;

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The boundaries of the only workload, a line each: when, what, and the count or `-`.
    pub(crate) fn boundaries(&self) -> Vec<String> {
        let plan = self.json();
        let workloads = plan["workloads"].as_array().unwrap();
        assert_eq!((self.status, workloads.len()), (0, 1), "{self:?}");
        let line = |it: &Value| {
            let count = it["replicas"].as_u64();
            let count = count.map_or_else(|| "-".to_owned(), |it| it.to_string());
            format!(
                "{} {} {count}",
                it["at"].as_str().unwrap(),
                it["action"].as_str().unwrap()
            )
        };
        workloads[0]["boundaries"]
            .as_array()
            .unwrap()
            .iter()
            .map(line)
            .collect()
    }
}

pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dayshift"));
    command
        .env_clear()
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .arg("plan");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs `dayshift plan` with these arguments and this standard input.
pub(crate) fn plan_of(args: &[&str], input: &str) -> Ended {
    ended(program().args(args), input)
}

/// Runs a command to its end.
pub(crate) fn ended(command: &mut Command, input: &str) -> Ended {
    let mut child = command.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    Ended {
        status: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

pub(crate) fn plan(args: &[&str]) -> Ended {
    plan_of(args, "")
}

/// A Deployment `web` with these lines as its annotations.
pub(crate) fn web(lines: &[&str]) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  annotations:\n    {}\n",
        lines.join("\n    ")
    )
}
