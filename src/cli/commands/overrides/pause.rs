//! `dayshift pause`.

use crate::cli::{
    args::{
        override_args::{AFTER_HELP, OverrideArgs},
        values::until::UntilArgs,
    },
    exit::Exit,
};

/// Leave workloads as they are, until a time or until `resume`
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct PauseArgs {
    #[command(flatten)]
    until: UntilArgs,

    #[command(flatten)]
    common: OverrideArgs,
}

impl PauseArgs {
    pub(crate) fn run(self) -> Exit {
        self.common.request_pause(&self.until)
    }
}
