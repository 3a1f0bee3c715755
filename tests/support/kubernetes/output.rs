//! The output of commands.

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) command: String,
    pub(crate) ok: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Output {
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
