//! What the commands of a story say.

/// What a command has printed.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) command: String,
    pub(crate) ok: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Output {
    /// The standard output; panics with all of it where the command has failed.
    pub(crate) fn success(self) -> String {
        assert!(
            self.ok,
            "{} failed:\n{}{}",
            self.command, self.stdout, self.stderr
        );
        self.stdout
    }
}
