//! The output of commands.

use std::process::{Command, Stdio};

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) command: String,
    pub(crate) ok: bool,
    /// The exit status. `None` if a signal ended the command.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Output {
    /// Runs a command to its end, without input. `line` describes it in messages.
    pub(crate) fn of(line: &str, command: &mut Command) -> Self {
        let output = command.stdin(Stdio::null()).output().unwrap();
        Self {
            command: line.to_owned(),
            ok: output.status.success(),
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The exit status, and standard output followed by standard error.
    pub(crate) fn code_and_text(self) -> (Option<i32>, String) {
        (self.code, self.stdout + &self.stderr)
    }

    /// The standard output. Panics with the complete output if the command failed.
    pub(crate) fn success(self) -> String {
        assert!(
            self.ok,
            "{} failed:\n{}{}",
            self.command, self.stdout, self.stderr
        );
        self.stdout
    }
}
