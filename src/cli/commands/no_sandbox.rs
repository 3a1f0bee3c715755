//! `dayshift sandbox` in a binary that was built without the feature `sandbox`.

use std::ffi::OsString;

use crate::cli::{
    args::kinds::KindFiles, outcome::CommandError, output::messages::print_error, process::Exit,
};

/// Watch the controller at work on a cluster in memory (not in this program)
#[derive(Debug, clap::Args)]
pub(crate) struct SandboxArgs {
    #[arg(hide = true, allow_hyphen_values = true, trailing_var_arg = true)]
    ignored: Vec<OsString>,
}

impl SandboxArgs {
    pub(crate) fn run(self, _: &KindFiles) -> Result<Exit, CommandError> {
        drop(self.ignored);
        print_error(
            &"this binary was built without the sandbox, like that of the image; run \
                `dayshift sandbox` of a release for your machine, or \
             `cargo run -- sandbox` in the repository",
        );
        Ok(Exit::CouldNotRun)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        args: SandboxArgs,
    }

    #[test]
    fn reports_a_missing_sandbox_for_any_flags() {
        let words = [
            "sandbox",
            "--for",
            "1d",
            "web.yaml",
            "--dashboard=127.0.0.1:0",
        ];
        let program = Program::try_parse_from(words).unwrap();
        assert_eq!(program.args.run(&KindFiles::default()), Exit::CouldNotRun);
    }
}
